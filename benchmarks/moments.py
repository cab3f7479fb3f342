"""Second moments in blocks after many steps, over the exact ones, by how they are rounded.

    python -m benchmarks.moments
    python -m benchmarks.moments --steps 500 --decay 0.99

The squares of normal numbers are averaged, as Adam does. Their sizes fall by a factor of 2^16 along
a row of 4096 numbers. After each step the average is stored in blocks, and read again. A row of the
table has the root of the stored average over that of the exact one: mean, standard deviation, least
and largest. `fp8-state8` rounds at random. No bound: it is the figure in `docs/state.md`.
"""

import argparse
import sys
from collections.abc import Callable
from functools import partial

import jax
import numpy as np
import numpy.typing as npt

from scalify_hlo.jax_api.block_scales import from_blocks, to_blocks
from scalify_hlo.program.tensors import DTYPES, Tensor
from scalify_hlo.run.pairs import joined, packed

Array = npt.NDArray[np.float32]
LENGTH = 4096
FORMATS = ("f8E4M3FN", "f8E5M2")


def at_random(value: Array, format_: str) -> Array:
    """Stores and reads a second moment as `fp8-state8` does."""
    return np.asarray(_at_random(value, np.dtype(DTYPES[format_])))


@partial(jax.jit, static_argnums=1)
def _at_random(value: jax.Array, dtype: np.dtype) -> jax.Array:
    data, scale = to_blocks(value, dtype, 2)
    return from_blocks(data, scale, 2)


def to_nearest(value: Array, format_: str) -> Array:
    """Stores it rounded to nearest."""
    tensor = Tensor("v", value.shape, np.dtype(DTYPES[format_]), root=True)
    data, scale = packed(value, tensor)
    return joined(data, scale, tensor).astype(np.float32)


def upwards(value: Array, format_: str) -> Array:
    """Stores it rounded up."""
    tensor = Tensor("v", value.shape, np.dtype(DTYPES[format_]), root=True)
    data, scale = packed(value, tensor)
    below = joined(data, scale, tensor) < value
    data = (data.view(np.uint8) + below.astype(np.uint8)).view(data.dtype)
    return joined(data, scale, tensor).astype(np.float32)


ROUNDINGS: dict[str, Callable[[Array, str], Array]] = {
    "at random": at_random,
    "to nearest": to_nearest,
    "up": upwards,
}


def ratios(rounding: str, format_: str, steps: int, decay: float) -> Array:
    """Returns the roots of stored averages over the exact ones."""
    rng = np.random.default_rng(0)
    sizes = np.exp2(np.linspace(0, -8, LENGTH))
    stored = exact = np.zeros(LENGTH, np.float32)
    for _ in range(steps):
        squares = np.square(rng.normal(size=LENGTH) * sizes)
        stored, exact = (
            (decay * old + (1 - decay) * squares).astype(np.float32) for old in (stored, exact)
        )
        stored = ROUNDINGS[rounding](stored, format_)
    return np.sqrt(stored / exact)


def main() -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--decay", type=float, default=0.999)
    options = parser.parse_args()
    print(f"roots of second moments, {options.steps} steps, decay {options.decay}")
    print("| format | rounding | mean | deviation | least | largest |")
    for format_ in FORMATS:
        for rounding in ROUNDINGS:
            found = ratios(rounding, format_, options.steps, options.decay)
            figures = found.mean(), found.std(), found.min(), found.max()
            print(f"| {format_} | {rounding} | " + " | ".join(f"{n:.2f}" for n in figures) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
