"""The signal-to-noise ratio of a matmul of quantized operands, by recipe and by kind of data.

    python -m benchmarks.blocks
    python -m benchmarks.blocks --rows 2048 --seeds 5

Each column is a kind of data of the left operand: normal numbers; Student's t with three degrees of
freedom, which has heavy tails; and normal numbers of which one channel in 64 is 100 times as large.
The right operand has normal numbers. Both are quantized, so that the error of a result is that of
both.
"""

import argparse
import sys
from collections.abc import Mapping

import jax
import numpy as np
import numpy.typing as npt

import scalify_hlo
from scalify_hlo.run.check import compile_module

Array = npt.NDArray[np.float32]
RECIPES: Mapping[str, Mapping[str, object]] = {
    "fp8-current": {"scaling.fp8_format": "E4M3"},
    "mxfp8": {},
    "mxfp8, floor": {"blocks.rounding": "floor"},
    "fp8-block": {},
    "nvfp4": {},
    "mxfp4": {},
}


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
    name = recipe.partition(",")[0]
    program = scalify_hlo.rewrite(str(exported.mlir_module()), recipe=name, settings=settings)
    (found,) = compile_module(program)((value, weight))
    exact = value.astype(np.float64) @ weight.astype(np.float64)
    return float(10 * np.log10(np.sum(exact**2) / np.sum((found - exact) ** 2)))


def main() -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=512)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    kinds = list(samples(2, 0))
    print(f"SNR of x @ w in dB, {options.rows} rows, mean of {options.seeds} seeds")
    print("| recipe | " + " | ".join(kinds) + " |")
    for recipe, settings in RECIPES.items():
        means = []
        for kind in kinds:
            found = []
            for seed in range(options.seeds):
                value = samples(options.rows, seed)[kind]
                weight = samples(options.rows, seed + 1000)["normal"]
                found.append(decibels(recipe, settings, value, weight))
            means.append(np.mean(found))
        print(f"| {recipe} | " + " | ".join(f"{mean:.1f}" for mean in means) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
