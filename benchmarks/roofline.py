"""Estimated speed of FP8 programs on a device that need not be there, against the same in bf16.

    pip install "scalify-hlo[cuda]"
    python -m benchmarks.roofline                              # every model by every recipe
    python -m benchmarks.roofline --model gpt2 --recipe unit   # one of them
    python -m benchmarks.roofline --model gpt2 --optimize      # with faster ops of the same value
    python -m benchmarks.roofline --chosen                     # matmuls by what pays on the device
    python -m benchmarks.roofline --dtype f32 --bf16           # from f32, with compute=bf16
    python -m benchmarks.roofline --dtype f32 --keep --chosen  # from f32, with compute=keep
    python -m benchmarks.roofline --model decode --weights     # weights that are stored in f8
    python -m benchmarks.roofline --show                       # the table of the last figures

Each program is compiled by XLA for a description of the device, in a process of its own, and its
kernels are weighed by a roofline: the sum of max(flops / peak, bytes / bandwidth). Nothing is run.
All ratios are to the original exported in bf16, also for a model exported in f32. A ratio of times
above 1 is faster than bf16, one of memory, kernels or compile time below 1 needs less. `ideal` is
the original with all matmuls in half their time.

The figures are added to `benchmarks/results/roofline.json`, with the versions of all that made
them. In brackets stands the ideal with the matmuls of the vocabulary. The exit status is 1 if XLA
refuses a program.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import jax
from rich.console import Console
from rich.table import Column, Table

import scalify_hlo
from benchmarks.common import SIGNATURES, WIDTH
from benchmarks.roofline_models import MODELS
from scalify_hlo.errors import ScalifyError
from scalify_hlo.program.program import read_program
from scalify_hlo.targets.compiling import compile_program
from scalify_hlo.targets.description import Target, load_target
from scalify_hlo.targets.record import compile_record

RESULTS = Path(__file__).parent / "results" / "roofline.json"
ORIGINAL = "original"
RECIPES = ("fp8", "unit", "fp8-current", "fp8-delayed")
CHOSEN = "+target"
"""The end of the label of a program whose recipe has the device as its target."""
OUTSIDE = "+bf16"
"""The end of the label of a program whose recipe sets `compute` to bf16."""
OUTSIDE_KEPT = "+keep"
"""The end of the label of a program whose recipe sets `compute` to keep, also for the device."""
WEIGHTS = "+weights"
"""The end of the label of a program that takes its weights in f8, with the signature `scaled`."""
VOCABULARY = "+vocabulary"
"""The end of the label of a program with the vocabulary's matmul in f8."""
OPTIMIZED = "+optimize"
"""The end of the label of a program that is rewritten with `optimize=True`."""
ENDS = {
    **{end: end.removeprefix("+") for end in (OUTSIDE, OUTSIDE_KEPT, WEIGHTS, VOCABULARY)},
    CHOSEN: "chosen",
}
"""The options of this command by the ends of labels, in their order."""
SETTINGS: Mapping[str, Mapping[str, object]] = {
    OUTSIDE: {"compute": "bf16"},
    OUTSIDE_KEPT: {"compute": "keep"},
    WEIGHTS: {"state.weight": "f8E4M3FN"},
    VOCABULARY: {"matmul.vocabulary": True},
}
"""The settings of a recipe by the end of a label."""
STATIC = ("fp8", "unit")
"""The recipes that predict scales from those of the inputs."""
DTYPES = {"bf16": "bfloat16", "f32": "float32"}
KEPT = ("versions", "compile_s", "memory", "flops", "f8_share", "launches", "causes", "estimate")
"""The parts of a report that are kept; all kernels would make the file large."""


def program(model: str, dtype: str, label: str, signature: str, target: str) -> jax.export.Exported:
    """The program of a model, rewritten unless the label is `ORIGINAL`."""
    exported = MODELS[model].export(DTYPES[dtype], load_target(target).platform)
    if label == ORIGINAL:
        return exported
    recipe, *ends = label.split("+")
    recipe = "propagate" if recipe == ORIGINAL else recipe
    settings = {k: v for end in ends for k, v in SETTINGS.get(f"+{end}", {}).items()}
    how: Mapping[str, Any] = SIGNATURES[signature] if recipe in STATIC else {}
    how = SIGNATURES["scaled"] if WEIGHTS in label else how
    optimize = OPTIMIZED in label
    device = target if CHOSEN in label or label == ORIGINAL + OPTIMIZED else None
    how = {"settings": settings, "target": device, "optimize": optimize, **how}
    return scalify_hlo.rewrite(exported, recipe=recipe, **how)


def measured(model: str, exported: jax.export.Exported, target: Target, limit: float) -> Any:
    """The parts of the report of a compiled program that are kept."""
    source = read_program(exported.mlir_module_serialized, model)
    how: dict[str, Any] = {"flags": MODELS[model].flags if target.platform == "cuda" else {}}
    how["free_layouts"] = MODELS[model].free_layouts
    compiled = compile_program(source.module, target, name=model, timeout=limit, **how)
    record = compile_record(compiled, target, model)
    return {key: record[key] for key in KEPT} | {"vocabulary_us": vocabulary(record, model)}


def vocabulary(record: Mapping[str, Any], model: str) -> float:
    """The estimated time of the matmuls with the vocabulary's matrix."""
    flops = MODELS[model].vocabulary
    found = (k for k in record["kernels"] if flops and sum(k["flops"].values()) == flops)
    return sum(kernel["times"] * (kernel["us"] or 0) for kernel in found)


def wanted(options: argparse.Namespace) -> Iterator[tuple[str, str, str]]:
    """The models, dtypes and recipes to measure; the original in bf16 first."""
    for model in options.model:
        yield model, "bf16", ORIGINAL
        for dtype in options.dtype:
            for recipe in options.recipe:
                label = recipe + OPTIMIZED * options.optimize
                if recipe != ORIGINAL:
                    label = recipe + "".join(end for end in ENDS if getattr(options, ENDS[end]))
                    label += OPTIMIZED * options.optimize
                yield model, dtype, label


def measure(options: argparse.Namespace, results: dict[str, Any]) -> int:
    """Measures what is wanted, and keeps each figure at once; 1 if anything was refused."""
    target, refused = load_target(options.target), 0
    for model, dtype, recipe in wanted(options):
        key = f"{options.target} {model} {dtype} {recipe}"
        if recipe == ORIGINAL and key in results and not options.again:
            continue
        print(f"compiling {key}", file=sys.stderr, flush=True)
        try:
            made = program(model, dtype, recipe, options.signature, options.target)
            results[key] = measured(model, made, target, options.timeout)
        except ScalifyError as error:
            results[key], refused = {"error": str(error)}, 1
        results[key]["sizes"] = MODELS[model].says
        signature = options.signature if recipe.split("+")[0] in STATIC else "same"
        results[key]["signature"] = "scaled" if WEIGHTS in recipe else signature
        RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    return refused


def ratios(entry: Any, base: Any) -> list[str]:
    """The figures of a program against those of the original in bf16."""
    if "error" in entry or "error" in base:
        return [entry.get("error", base.get("error", ""))[:40], *[""] * 8]
    keys = ("us", "us_with_launches", "us_reached")
    times = ((base["estimate"].get(key), entry["estimate"].get(key)) for key in keys)
    speeds = [f"{before / after:.2f}" if before and after else "" for before, after in times]
    memory = (entry["memory"][key] / max(base["memory"][key], 1) for key in ("temporaries", "peak"))
    rest = (entry[key] / base[key] for key in ("launches", "compile_s"))
    cells = [*speeds, *(f"{ratio:.2f}" for ratio in (*memory, *rest))]
    share = entry["f8_share"]
    return [f"{entry['estimate']['us']:,.0f}", *cells, f"{100 * (share or 0):.0f}"]


def ideal(base: Any) -> str:
    """The speed of the original with its matmuls in half their time, over its own.

    The matmuls of the vocabulary have half their time only in brackets.
    """
    whole, gemm = base["estimate"]["us"], base["causes"]["gemm"]["us"]
    every, others = (
        f"{whole / (whole - each / 2):.2f}" for each in (gemm, gemm - base["vocabulary_us"])
    )
    return f"{others} ({every})" if base["vocabulary_us"] else every


def show(results: Mapping[str, Any]) -> None:
    """Prints a table of the figures for each target."""
    columns = (
        "µs",
        "speed-up",
        "+ 2 µs/kernel",
        "reached",
        "temp.",
        "peak",
        "kernels",
        "compile",
        "f8 %",
    )
    for target in sorted({key.split(" ")[0] for key in results}):
        recipe = Column("recipe", overflow="fold")
        title = f"{target}, against the original in bf16"
        table = Table("model", "exported", recipe, title=title)
        for name in columns:
            table.add_column(name, justify="right")
        for row in rows(results, target):
            table.add_row(*row)
        Console(width=None if sys.stdout.isatty() else WIDTH + 20).print(table)


def rows(results: Mapping[str, Any], target: str) -> Iterator[list[str]]:
    """The rows of a target: for each model the original in bf16, the ideal, and the recipes."""
    order = {name: i for i, name in enumerate((ORIGINAL, *RECIPES))}
    labels = {key.split(" ")[3] for key in results}
    ordered = sorted(labels, key=lambda label: (label.split("+")[1:], order[label.split("+")[0]]))
    for model, dtype, recipe in product(MODELS, DTYPES, ordered):
        base = results.get(f"{target} {model} bf16 {ORIGINAL}", {"error": "no original"})
        entry = results.get(f"{target} {model} {dtype} {recipe}")
        if entry is not None:
            yield [model, dtype, recipe, *ratios(entry, base)]
        if entry == base and "error" not in base:
            yield [model, dtype, "ideal", "", ideal(base)]


def main() -> int:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--recipe", nargs="+", choices=(ORIGINAL, *RECIPES), default=list(RECIPES))
    parser.add_argument("--dtype", nargs="+", choices=DTYPES, default=["bf16"])
    parser.add_argument("--target", default="h200")
    parser.add_argument("--signature", choices=SIGNATURES, default="same")
    parser.add_argument("--chosen", action="store_true", help="for that device")
    parser.add_argument("--optimize", action="store_true", help="with faster ops of the same value")
    parser.add_argument("--bf16", action="store_true", help="with compute=bf16")
    parser.add_argument("--keep", action="store_true", help="with compute=keep")
    parser.add_argument("--weights", action="store_true", help="with weights stored in f8")
    parser.add_argument("--vocabulary", action="store_true", help="with the vocabulary's matmul")
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds for each program")
    parser.add_argument("--again", action="store_true", help="measure originals again too")
    parser.add_argument("--show", action="store_true", help="only print the table")
    options = parser.parse_args()
    os.environ.update({"JAX_PLATFORMS": "cpu", "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1"})
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    refused = 0 if options.show else measure(options, results)
    show(results)
    return refused


if __name__ == "__main__":
    sys.exit(main())
