"""Where the scales of FP8 operands come from, and what each way costs, on the demo model.

    python -m benchmarks.scaling                      # 300 steps, XLA CPU
    python -m benchmarks.scaling --steps 20
    python -m benchmarks.scaling --steps 0 --kernels  # H200, no GPU present: uv sync --extra cuda

``fp8`` is the preset of propagated scales; `unit` predicts them, and the others give each operand
of a matmul a scale of its own. All have the same FP8 formats, for all matmuls but the vocabulary's.
A statistic is a reduction over a tensor that the original does not have.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import partial

from benchmarks.common import Row, gpt2_step, interleaved, ratio, report
from benchmarks.gpu_kernels import kernels
from benchmarks.recipes import FOLDER, contenders, final, rewritten
from benchmarks.targets import H200, compile_for, use_no_device
from examples import data, gpt2
from examples.demo import CONFIG
from examples.side_by_side import Contender, op_names, train
from examples.xla import Executable

RECIPES = ("fp8", "fp8-current", "fp8-delayed", "fp8-calibrated", "unit")

GAP = 0.06
STATISTICS = {
    "fp8": 2,
    "fp8-current": 18,
    "fp8-delayed": 18,
    "fp8-calibrated": 0,
    "unit": 0,
}
"""Reductions for each layer and step, at most."""

NO_READS = ("fp8-delayed", "fp8-calibrated", "unit")
"""Recipes that read no tensor for a statistic alone."""

COMPILE = {"fp8-current": 1.5, "fp8-delayed": 1.5, "fp8-calibrated": 1.2, "unit": 1.2}
"""Compile time over the original's, at most: of static scales that of `same`."""

OTHERS = {"fp8": 1, "fp8-delayed": 1}
"""Reductions of no layer: for the gradient of the last norm, and over the history of amaxes."""

WARM_UP = 3


def reductions(text: str) -> int:
    """How many reductions a program has."""
    return op_names(text).count("stablehlo.reduce")


def losses(entries: Sequence[Contender], steps: int, last: int) -> Iterator[Row]:
    """Trains all of them, and gives the gap of each."""
    for step in train(entries, data.batches(CONFIG.batch, CONFIG.sequence, steps)):
        if step % 25 == 0:
            shown = ", ".join(f"{e.name} {final(e, 25):.4f}" for e in entries)
            print(f"step {step}: {shown}", file=sys.stderr, flush=True)
    base = final(entries[0], last)
    yield Row("f32: loss", base)
    for entry in entries[1:]:
        yield Row(f"{entry.name}: loss over f32's", final(entry, last) - base, GAP, ".4f")


def costs(entries: Sequence[Contender], rounds: int) -> Iterator[Row]:
    """Statistics, compile time and step time of each."""
    texts = {entry.name: entry.path.read_text() for entry in entries}
    before = reductions(texts["f32"])
    compiled = interleaved({n: partial(Executable, t) for n, t in texts.items()}, rounds)
    batch = next(data.batches(CONFIG.batch, CONFIG.sequence, 1))
    steps = {entry.name: partial(entry.step, batch) for entry in entries}
    interleaved(steps, WARM_UP)
    ran = interleaved(steps, 10 * rounds)
    for name in list(texts)[1:]:
        more = reductions(texts[name]) - before - OTHERS.get(name, 0)
        yield Row(f"{name}: statistics a layer", more / CONFIG.layers, STATISTICS[name], ".1f")
        yield Row(f"{name}: compile time", ratio(compiled, name, "f32"), COMPILE.get(name))
        yield Row(f"{name}: step time", ratio(ran, name, "f32"))


def reads() -> Iterator[Row]:
    """Kernels of an H200, and those that only read a tensor for a statistic.

    The history of amaxes is none of the program's tensors, but its maximum is a kernel too.
    """
    use_no_device()  # before jax looks for one
    source, state = gpt2_step(), gpt2.state(CONFIG, gpt2.ADAMW)
    first = kernels(compile_for(H200, source))
    for name in RECIPES:
        found = kernels(compile_for(H200, rewritten(name, source, state, seed=0)))
        yield Row(f"{name}: kernels, over the original's", found.launched / first.launched)
        bound = 0 if name in NO_READS else None
        more = found.reducing - first.reducing - OTHERS.get(name, 0)
        yield Row(f"{name}: more kernels that only reduce", more, bound, ".0f")


def main() -> int:
    """Prints the table; 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--last", type=int, default=50, help="steps whose losses are averaged")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kernels", action="store_true", help="compile for an H200 instead")
    options = parser.parse_args()
    if options.kernels:
        rows = list(reads())
    else:
        FOLDER.mkdir(parents=True, exist_ok=True)
        entries = contenders(RECIPES)
        rows = list(losses(entries, options.steps, options.last)) if options.steps else []
        rows += costs(entries, options.rounds)
    return report(f"Scales of FP8, GPT-2 AdamW step, {CONFIG.layers} layers", rows)


if __name__ == "__main__":
    sys.exit(main())
