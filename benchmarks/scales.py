"""Where the data of matmul operands and their scales are while the demo model trains.

    python -m benchmarks.scales                       # fp8 and fp8-state, 300 steps
    python -m benchmarks.scales fp8 --steps 50
    python -m benchmarks.scales unit              # static scales, measured from the first state

`scalify_hlo.collect_stats` returns the rms of the FP8 data of every operand of a matmul, and their
scale, from each step.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import scalify_hlo
from benchmarks.common import Row, first_scales, gpt2_step, predicts, report
from examples import data, gpt2
from examples.demo import CONFIG
from examples.xla import flat
from scalify_hlo import ValueStats

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
    batches = list(data.batches(CONFIG.batch, CONFIG.sequence, steps, 0))
    static = predicts(name)
    record = scalify_hlo.collect_stats(
        source,
        [[np.asarray(array) for array in flat((*state, batch))] for batch in batches],
        recipe=name,
        signature="same" if static else "scaled",
        input_scale=first_scales(source, state, batches[0]) if static else None,
        settings=dict(_pairs(settings)),
        steps=steps,
        carry=True,
    )
    values = record.variants[1].values
    return [v for v in values if v.dtype.startswith("f8") and v.same_as is None]


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
