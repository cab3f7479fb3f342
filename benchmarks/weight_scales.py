"""The signal-to-noise ratio of a matmul whose FP8 weights have one scale, or one for each column.

    python -m benchmarks.weight_scales
    python -m benchmarks.weight_scales --rows 1024 --recipe unit

The columns of the weight have sizes that differ by up to a number of octaves, evenly on a log
scale. The weights are stored in E4M3, as for inference. The ratio is that of the worst column of
the result, in dB. The last column has the bytes of the weight and its scales.
"""

import argparse
import sys
from collections.abc import Mapping

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.table import Table

import scalify_hlo
from benchmarks.common import WIDTH

BLOCKS: Mapping[str, str] = {
    "one": "",
    "one for each column": "w=0x1",
    "one for each 64 columns": "w=0x64",
}
OCTAVES = (0, 4, 8, 16, 24)


def measured(recipe: str, rows: int, octaves: int, block: str) -> tuple[float, int]:
    """Returns the ratio of the worst column in dB, and the bytes of data and scales."""
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(rows, rows)), jnp.float32)
    columns = np.exp2(-np.linspace(0, octaves, rows))
    w = jnp.asarray(rng.normal(size=(rows, rows)) / 16 * columns, jnp.float32)
    exported = jax.export.export(jax.jit(lambda w, x: x @ w))(w, x)
    program = scalify_hlo.rewrite(
        exported,
        recipe=recipe,
        signature="scaled",
        settings={
            "state.weight": "e4m3",
            "inputs.weight": ["w"],
            "inputs.blocks": [block] if block else [],
        },
    )
    (weight,) = scalify_hlo.scaled_state(program, (w,))
    result = program.call(weight, scalify_hlo.as_scaled_array(x))
    exact = np.asarray(x, np.float64) @ np.asarray(w, np.float64)
    error = np.asarray(scalify_hlo.asarray(result), np.float64) - exact
    ratios = np.mean(exact**2, axis=0) / np.mean(error**2, axis=0)
    return float(10 * np.log10(ratios.min())), weight.data.nbytes + weight.scale.nbytes


def main() -> int:
    """Prints a row for each kind of scales."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=512)
    parser.add_argument("--recipe", default="fp8")
    options = parser.parse_args()
    table = Table("scales of the weight", *(f"{octaves} octaves" for octaves in OCTAVES), "bytes")
    for name, block in BLOCKS.items():
        found = [measured(options.recipe, options.rows, octaves, block) for octaves in OCTAVES]
        table.add_row(name, *(f"{ratio:.1f}" for ratio, _ in found), f"{found[0][1]:,}")
    Console(width=WIDTH).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
