"""The signal-to-noise ratio of a matmul of quantized operands, by recipe and by kind of data.

    python -m benchmarks.blocks
    python -m benchmarks.blocks --rows 2048 --seeds 5
    python -m benchmarks.blocks --weight-gradient

Each column is a kind of data of the left operand: normal numbers; Student's t with three degrees of
freedom, which has heavy tails; and normal numbers of which one channel in 64 is 100 times as large.
The right operand has normal numbers. Both are quantized, so that the error of a result is that of
both.

With `--weight-gradient`, the matmul is that of the gradient of a weight, and both operands have
numbers of the kind, where outlier channels are tokens. The recipes are those with and without
stochastic rounding and the Hadamard transform.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

import scalify_hlo
from scalify_hlo.run.runner import compile_module

Array = npt.NDArray[np.float32]
RECIPES: Mapping[str, Mapping[str, object]] = {
    "fp8-current": {"scaling.fp8_format": "E4M3"},
    "mxfp8": {},
    "mxfp8, floor": {"blocks.rounding": "floor"},
    "fp8-block": {},
    "nvfp4": {},
    "mxfp4": {},
}


_CHANGES: Mapping[str, Mapping[str, object]] = {
    "": {},
    ", Hadamard": {"blocks.hadamard": "wgrad"},
    ", stochastic": {"blocks.gradient_rounding": "stochastic"},
    ", both": {"blocks.hadamard": "wgrad", "blocks.gradient_rounding": "stochastic"},
}
ROUNDED: Mapping[str, Mapping[str, object]] = {
    f"{recipe}{name}": settings
    for recipe in ("mxfp8", "nvfp4", "mxfp4")
    for name, settings in _CHANGES.items()
}
"""The recipes of `--weight-gradient`."""


def samples(rows: int, seed: int) -> dict[str, Array]:
    """Returns square matrices by kind of data."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=(rows, rows)).astype(np.float32)
    channels = normal * np.where(np.arange(rows) % 64 == 0, np.float32(100), np.float32(1))
    return {
        "normal": normal,
        "heavy tails": rng.standard_t(3, size=(rows, rows)).astype(np.float32),
        "outlier channels": channels,
    }


def decibels(recipe: str, settings: Mapping[str, object], value: Array, weight: Array) -> float:
    """Returns the ratio of a matmul to its error, in dB, over all results."""
    exported = jax.export.export(jax.jit(lambda x, w: x @ w))(value, weight)
    exact = value.astype(np.float64) @ weight.astype(np.float64)
    return _decibels(exported, recipe, settings, (value, weight), exact)


def gradient_decibels(recipe: str, settings: Mapping[str, object], x: Array, d: Array) -> float:
    """Returns the ratio of the gradient of a weight to its error, in dB.

    Args:
        recipe: The recipe.
        settings: Its options.
        x: The activations.
        d: The gradients of the result.
    """

    def step(x: jax.Array, w: jax.Array, d: jax.Array) -> tuple[jax.Array, jax.Array]:
        y, pullback = jax.vjp(lambda w: jnp.asarray(x @ w), w)
        return y, pullback(d)[0]

    arrays = x, np.zeros((x.shape[1], d.shape[1]), np.float32), d
    exported = jax.export.export(jax.jit(step))(*arrays)
    exact = x.T.astype(np.float64) @ d.astype(np.float64)
    return _decibels(exported, recipe, settings, arrays, exact)


def _decibels(
    exported: jax.export.Exported,
    recipe: str,
    settings: Mapping[str, object],
    arrays: Sequence[Array],
    exact: npt.NDArray[np.float64],
) -> float:
    name = recipe.partition(",")[0]
    program = scalify_hlo.rewrite(str(exported.mlir_module()), recipe=name, settings=settings)
    *_, found = compile_module(program)(arrays)
    return float(10 * np.log10(np.sum(exact**2) / np.sum((found - exact) ** 2)))


def ratio(recipe: str, settings: Mapping[str, object], kind: str, rows: int, seed: int) -> float:
    """Returns the ratio of `x @ w` to its error for a kind of data and a seed."""
    value = samples(rows, seed)[kind]
    return decibels(recipe, settings, value, samples(rows, seed + 1000)["normal"])


def gradient_ratio(
    recipe: str, settings: Mapping[str, object], kind: str, rows: int, seed: int
) -> float:
    """Returns that of the gradient of a weight, whose outliers are tokens."""
    x, d = (samples(rows, seed + shift)[kind].T for shift in (0, 1000))
    return gradient_decibels(recipe, settings, x, d)


def main() -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=512)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--weight-gradient", action="store_true")
    options = parser.parse_args()
    kinds = list(samples(2, 0))
    measure, recipes, what = ratio, RECIPES, "x @ w"
    if options.weight_gradient:
        measure, recipes, what = gradient_ratio, ROUNDED, "x.T @ d"
    print(f"SNR of {what} in dB, {options.rows} rows, mean of {options.seeds} seeds")
    print("| recipe | " + " | ".join(kinds) + " |")
    for recipe, settings in recipes.items():
        means = [
            np.mean([measure(recipe, settings, k, options.rows, s) for s in range(options.seeds)])
            for k in kinds
        ]
        print(f"| {recipe} | " + " | ".join(f"{mean:.1f}" for mean in means) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
