"""Times of single convolutions in f8 on the GPU of this machine, beside those in bf16.

    python -m benchmarks.gpu_convolutions

Operands have channels last, as cuDNN's kernels for tensor cores take them. The result of an f8
convolution is multiplied by a scale and rounded, which XLA computes in the kernel of cuDNN. A row
has the microseconds of the kernels and the shares of the peaks of their formats that they reached.
Descriptions of targets have such shares. Where no GPU can be used, the benchmark says so and ends
with 0.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from benchmarks.gpu import arrays, device, target_of, versions
from benchmarks.gpu_profile import instruction_times
from benchmarks.roofline_models import Shape
from scalify_hlo.targets.description import Target

RESULTS = Path(__file__).parent / "results" / "gpu_convolutions.json"
DIMENSIONS = ("NHWC", "HWIO", "NHWC")
BF16, F8 = jnp.dtype("bfloat16"), jnp.dtype("float8_e4m3fn")
RESULTS_OF_F8 = ("bfloat16", "float32", "float8_e4m3fn")


class Convolution(NamedTuple):
    """The sizes of a convolution of square images."""

    images: int
    side: int
    inputs: int
    outputs: int
    window: int
    stride: int = 1

    @property
    def flops(self) -> int:
        """Floating-point operations; the windows at the borders count in full."""
        places = self.images * (self.side // self.stride) ** 2
        return 2 * places * self.inputs * self.outputs * self.window**2


CONVOLUTIONS = (
    Convolution(64, 32, 256, 256, 3),
    Convolution(64, 28, 512, 512, 3),
    Convolution(64, 56, 64, 64, 3),
    Convolution(64, 56, 256, 256, 3, 2),
    Convolution(64, 56, 256, 512, 1),
    Convolution(16, 64, 1280, 1280, 3),
)


def convolved(
    x: jax.Array, kernel: jax.Array, scale: jax.Array, *, stride: int, result: Any
) -> jax.Array:
    """A convolution whose result is scaled and rounded."""
    narrow = x.dtype.itemsize == 1
    wide = jnp.bfloat16 if result.itemsize <= 2 else jnp.float32
    made = jax.lax.conv_general_dilated(
        x,
        kernel,
        (stride, stride),
        "SAME",
        dimension_numbers=DIMENSIONS,
        preferred_element_type=wide,
    )
    made = made * scale.astype(wide) if narrow else made
    if result.itemsize == 1:
        made = jnp.clip(made, -448, 448)
    return made.astype(result)


def microseconds(sizes: Convolution, operands: Any, result: Any) -> float:
    """The time of the kernel of a convolution, which is the longest of its program."""
    shapes = (
        Shape((sizes.images, sizes.side, sizes.side, sizes.inputs), BF16),
        Shape((sizes.window, sizes.window, sizes.inputs, sizes.outputs), BF16),
    )
    x, kernel = (each.astype(operands) for each in arrays(shapes))
    step = jax.jit(partial(convolved, stride=sizes.stride, result=result))
    made = step.lower(x, kernel, jnp.float32(0.5)).compile()
    times = instruction_times(partial(made, x, kernel, jnp.float32(0.5)))
    return 1e6 * max(times.values())


def row(sizes: Convolution, target: Target) -> dict[str, Any]:
    """The times of a convolution, and the shares of the peaks."""
    wide = microseconds(sizes, BF16, BF16)
    results = RESULTS_OF_F8 if sizes == CONVOLUTIONS[0] else RESULTS_OF_F8[:1]
    narrow = {name: microseconds(sizes, F8, jnp.dtype(name)) for name in results}
    peaks = {key: 1e-6 * (target.flops(key) or float("nan")) for key in ("f8", "bf16")}
    return {
        "sizes": sizes._asdict(),
        "bf16_us": round(wide, 2),
        "f8_us": {name: round(each, 2) for name, each in narrow.items()},
        "bf16_share": round(sizes.flops / peaks["bf16"] / wide, 3),
        "f8_share": {n: round(sizes.flops / peaks["f8"] / us, 3) for n, us in narrow.items()},
    }


def main() -> int:
    """Measures, writes and prints the figures."""
    found = device("cuda")
    if isinstance(found, str):
        print(f"no GPU can be used, so nothing is measured: {found}")
        return 0
    target = target_of(found.device_kind)
    rows = []
    for sizes in CONVOLUTIONS:
        rows.append(row(sizes, target))
        print(rows[-1], flush=True)
        record = {"device": found.device_kind, "versions": versions(), "rows": rows}
        RESULTS.write_text(json.dumps(record, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
