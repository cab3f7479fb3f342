"""Time to rewrite a GPT-2 small training step, over parsing, cloning and printing it.

The last row is `fp8-current` without a report, over the same with one.
"""

import statistics
import sys
from functools import partial
from pathlib import Path

import scalify_hlo
from benchmarks.common import (
    BLOCKS,
    NARROW,
    SIGNATURES,
    Row,
    arguments,
    gpt2_step,
    interleaved,
    ratio,
    report,
    rewritten,
)
from examples import gpt2
from examples.side_by_side import op_names
from scalify_hlo._compat import ir, new_context
from scalify_hlo.dialect.structure import structural_hash
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.observe import ObservePass
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.passes.roles import RolesPass
from scalify_hlo.profile.histogram import FINITE_BINS
from scalify_hlo.profile.model import Profile, TensorProfile
from scalify_hlo.program.program import read_text

BOUND = 4.0
UNREPORTED = 1.02
"""1, and what two equal runs differ by."""
CALIBRATED, REPORTED = "fp8-calibrated", "fp8-current"
FILE = Path("build/bench/gpt2-small.mlir")


def parse_clone_print(text: str) -> str:
    """The least that a rewriter in Python could do: the same text through the bindings."""
    with new_context():
        module = ir.Module.parse(text)
        return str(module.operation.clone().get_asm(enable_debug_info=True))


def read_and_rewrite(path: Path, signature: str) -> str:
    """Reads, rewrites and prints, as the command does between its start and its end."""
    return rewritten(path.read_text(), signature)


def profile_of(text: str) -> Profile:
    """A profile of a program that was not run: all its tensors are of unit size."""
    module = read_text(text).module
    program = structural_hash(module)
    report = run_passes(module, [NormalizePass(), RolesPass(), ObservePass()])
    unit = TensorProfile(1, 1.0, 1.0, {FINITE_BINS // 2: 1})
    return Profile(program, 1, {name: unit for names in report.tensors for name in names})


def calibrated(path: Path, profile: Profile) -> str:
    """As `read_and_rewrite`, with a profile."""
    return scalify_hlo.rewrite(path.read_text(), profile=profile)


def narrowed(path: Path, report: bool) -> object:
    """Reads and rewrites under a recipe that casts, with a report if asked for."""
    rewrite = partial(scalify_hlo.rewrite, path.read_text(), recipe=REPORTED)
    return rewrite(report=True) if report else rewrite()


def main() -> int:
    """Times each turn by turn with the least; the first round of each is not counted.

    They are paired, as a machine that is shared may change its speed within seconds.
    """
    options = arguments(__doc__ or "", rounds=11)
    text = gpt2_step(gpt2.Config())
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(text)
    names = {
        **dict.fromkeys(SIGNATURES, BOUND),
        **dict.fromkeys(NARROW),
        "unit same": BOUND,
        **dict.fromkeys(BLOCKS, BOUND),
    }
    runs = {name: partial(read_and_rewrite, FILE, name) for name in names}
    runs[CALIBRATED] = partial(calibrated, FILE, profile_of(text))
    names[CALIBRATED] = BOUND
    floor = partial(parse_clone_print, text)
    ops = len(op_names(text))
    least: list[float] = []
    rows: list[Row] = []
    for name, bound in names.items():
        pair = {"floor": floor, name: runs[name]}
        interleaved(pair, 1)
        seconds = interleaved(pair, options.rounds)
        least += seconds["floor"]
        per_op = statistics.median(seconds[name]) / ops * 1e6
        rows += [Row(f"{name}: over parse + clone + print", ratio(seconds, name, "floor"), bound)]
        rows += [Row(f"{name}: microseconds an op", per_op, form=".1f")]
    reports = {name: partial(narrowed, FILE, name == "with") for name in ("with", "without")}
    interleaved(reports, 1)
    seconds = interleaved(reports, options.rounds)
    name = f"{REPORTED}: without a report, over with one"
    rows += [Row(name, ratio(seconds, "without", "with"), UNREPORTED)]
    rows[:0] = [
        Row("StableHLO ops", ops, form=",.0f"),
        Row("parse + clone + print: seconds", statistics.median(least)),
    ]
    return report(f"Rewriting GPT-2 small, medians of {options.rounds} pairs of runs", rows)


if __name__ == "__main__":
    sys.exit(main())
