"""All memory of training steps under `fp8-memory`, over that of the originals in bf16 with AdamW.

    pip install "scalify-hlo[cuda]"
    python -m benchmarks.step_memory                        # seven models
    python -m benchmarks.step_memory llama --recipe fp8-state8
    python -m benchmarks.step_memory gpt2 --set activations.saved=keep

Weights and moments of the originals are f32, and the rest is bf16. Those under the recipe are
pairs, in the formats of the recipe. XLA compiles both for a description of the device; arguments,
results and temporaries count. Nothing is run. The exit status is 1 if a bound is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import jax

import scalify_hlo
from benchmarks.common import Row, report
from benchmarks.residuals import GIB, option
from benchmarks.step_models import MODELS
from scalify_hlo.program.program import read_program
from scalify_hlo.targets.compiling import compile_program
from scalify_hlo.targets.description import load_target

MEAN, EACH = 0.55, 0.80
"""The bounds for the mean of all models, and for each."""


def needed(program: jax.export.Exported, target: str) -> int:
    """The bytes that a program needs on a device."""
    module = read_program(program.mlir_module_serialized, "step").module
    return compile_program(module, load_target(target), name="step", timeout=900.0).peak


def measured(
    names: list[str], target: str, recipe: str, settings: Mapping[str, Any]
) -> Iterator[Row]:
    """The memory of each model over that of the original, and their mean."""
    found = []
    for name in names:
        original = MODELS[name]().export(load_target(target).platform)
        made = scalify_hlo.rewrite(original, recipe=recipe, signature="scaled", settings=settings)
        before, after = needed(original, target), needed(made, target)
        found.append(after / before)
        said = f"{name}: {before / GIB:.2f} GiB in bf16, {after / GIB:.2f} GiB"
        print(said, file=sys.stderr, flush=True)
        yield Row(name, found[-1], EACH, ".2f")
    yield Row("mean", sum(found) / len(found), MEAN, ".2f")


def main() -> int:
    """Measures and prints the table; 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="MODEL", help=f"of {', '.join(MODELS)}")
    parser.add_argument("--recipe", default="fp8-memory")
    parser.add_argument("--target", default="h200")
    parser.add_argument(
        "--set", nargs="+", default=[], metavar="NAME=VALUE", help="options of the recipe"
    )
    options = parser.parse_args()
    os.environ.update({"JAX_PLATFORMS": "cpu", "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1"})
    settings, names = dict(map(option, options.set)), options.names or list(MODELS)
    rows = measured(names, options.target, options.recipe, settings)
    return report(f"memory of a step over bf16's, {options.target}", list(rows))


if __name__ == "__main__":
    sys.exit(main())
