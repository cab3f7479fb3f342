"""Where the data of matmul operands and their scales are while the demo model trains.

    python -m benchmarks.scales                       # fp8 and fp8-state, 300 steps
    python -m benchmarks.scales fp8 --steps 50
    python -m benchmarks.scales unit              # static scales, measured from the first state

The rewritten program returns the rms of the FP8 data of every operand of a matmul, and their scale,
from each step, as it does for the command `stats`.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import scalify_hlo
from benchmarks.common import Row, first_scales, gpt2_step, predicts, report
from examples import data, gpt2
from examples.demo import CONFIG
from examples.xla import Executable, flat
from scalify_hlo import ValueStats
from scalify_hlo.api import make_options
from scalify_hlo.commands.stats.prepare import Programs
from scalify_hlo.commands.stats.readout import Readout
from scalify_hlo.program.program import read_text
from tests.py.shared.cast_stats import FP8Operands

_SHOWN = 8
"""How many operands are named."""

RMS = {False: 6, True: 9}
"""How far log2 of the rms of a matmul operand's data may be from 0; further where it is predicted.

Nothing corrects a static scale, and E5M2 reaches from 2^-14 to 2^15.
"""

SCALE = 40
"""How far log2 of a scale may be from 0."""


def casts(source: str, name: str, settings: Sequence[str], steps: int) -> list[ValueStats]:
    """Returns the statistics of the FP8 data of a training run under a preset."""
    state = gpt2.state(CONFIG, gpt2.ADAMW, 0)
    static = predicts(name)
    tokens = np.zeros((CONFIG.batch, CONFIG.sequence + 1), np.int32)
    scales = first_scales(source, state, tokens) if static else None
    signature = "same" if static else "scaled"
    options = make_options(name, signature, scales, dict(_pairs(settings)))
    step = Programs(read_text(source).module, name, FP8Operands()).rewritten(options)
    executable = Executable(step.module.operation.get_asm(enable_debug_info=False))
    convert: Callable[[Any], Any] = _as_it_is if static else scalify_hlo.as_scaled_array
    carried, readout = (
        executable.stored(flat(convert(state))),
        Readout(step.instrumented, scaled=True),
    )
    for batch in data.batches(CONFIG.batch, CONFIG.sequence, steps, 0):
        results = executable([*carried, *flat(convert(batch))])
        carried = results[: len(carried)]
        readout.add([np.asarray(result) for result in results])
    return list(readout.values())


def _as_it_is(tree: Any) -> Any:
    return tree


def _pairs(settings: Sequence[str]) -> list[tuple[str, str]]:
    return [(key, value) for key, _, value in (s.partition("=") for s in settings)]


def rows_of(name: str, operands: Sequence[ValueStats]) -> list[Row]:
    """The extremes over all steps and operands."""
    with np.errstate(divide="ignore"):
        rms = np.log2([operand.rms for operand in operands]).T
    scales = np.array([operand.scales for operand in operands], float)
    finite = np.where(np.isfinite(rms), rms, 0.0)
    furthest = np.abs(finite).max(axis=0)
    for i in furthest.argsort()[::-1][:_SHOWN]:
        low, high = finite[:, i].min(), finite[:, i].max()
        print(f"{name}: {operands[i].name}: 2^{low:.1f} to 2^{high:.1f}", file=sys.stderr)
    return [
        Row(f"{name}: operands watched", rms.shape[1], form=".0f"),
        Row(
            f"{name}: log2 of an operand's rms, furthest from 0",
            float(furthest.max()),
            RMS[predicts(name)],
        ),
        Row(f"{name}: smallest", float(finite.min()), form=".2f"),
        Row(f"{name}: largest", float(finite.max()), form=".2f"),
        Row(f"{name}: log2 of a scale, furthest from 0", float(np.abs(scales).max()), SCALE),
    ]


def main() -> int:
    """Trains, and prints how far operands and scales went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("presets", nargs="*", default=["fp8", "fp8-state"])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--set", action="append", default=[], dest="settings")
    options = parser.parse_args()
    Path("build/bench").mkdir(parents=True, exist_ok=True)
    source = gpt2_step()
    rows = [
        row
        for name in options.presets
        for row in rows_of(name, casts(source, name, options.settings, options.steps))
    ]
    return report(f"Operands of the demo model, {options.steps} steps", rows)


if __name__ == "__main__":
    sys.exit(main())
