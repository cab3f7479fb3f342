"""Compile time of FP8 programs for a device that need not be there, over that of bf16.

    pip install "scalify-hlo[cuda]"
    python -m benchmarks.target_compile                        # every model, on a quiet machine
    python -m benchmarks.target_compile --model vit --rounds 3

XLA compiles the original in bf16 and its rewrites for the device in turn, each in a process of its
own. The time is that of XLA, and the median over the rounds. It is the time on a CPU, where XLA
tunes no kernels.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from typing import Any

from benchmarks.roofline import CHOSEN, ORIGINAL, RECIPES, program
from benchmarks.roofline_models import MODELS
from scalify_hlo._compat import ir
from scalify_hlo.errors import ScalifyError
from scalify_hlo.program.program import read_program
from scalify_hlo.targets.compiling import compile_program
from scalify_hlo.targets.description import load_target

BOUND = 2.0
"""The most time over that of bf16."""


def modules(model: str, target: str) -> dict[str, ir.Module]:
    """The original in bf16 and its rewrites for a target; some recipes refuse a model."""
    found = {}
    for label in (ORIGINAL, *(recipe + CHOSEN for recipe in RECIPES)):
        try:
            made = program(model, "bf16", label, "same", target)
        except ScalifyError as error:
            print(f"{model} {label}: {error}", file=sys.stderr)
            continue
        found[label] = read_program(made.mlir_module_serialized, model).module
    return found


def seconds(model: str, target: str, rounds: int) -> dict[str, float]:
    """The medians of the seconds of XLA."""
    device, made, of = load_target(target), modules(model, target), MODELS[model]
    found: dict[str, list[float]] = {label: [] for label in made}
    for _ in range(rounds):
        for label, module in made.items():
            how: dict[str, Any] = {"flags": of.flags, "free_layouts": of.free_layouts}
            compiled = compile_program(module, device, name=model, timeout=900.0, **how)
            found[label].append(compiled.seconds)
    return {label: statistics.median(times) for label, times in found.items()}


def main() -> int:
    """Prints a line for each model; 1 if a ratio is above the bound."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--target", default="h200")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    os.environ.update({"JAX_PLATFORMS": "cpu", "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1"})
    late = False
    for model in options.model:
        found = seconds(model, options.target, options.rounds)
        base = found.pop(ORIGINAL)
        ratios = {label.removesuffix(CHOSEN): time / base for label, time in found.items()}
        late |= any(ratio > BOUND for ratio in ratios.values())
        parts = ", ".join(f"{label} {ratio:.2f}" for label, ratio in ratios.items())
        print(f"{model}: {base:.1f} s in bf16; {parts}", flush=True)
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
