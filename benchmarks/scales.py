"""Where the data of matmul operands and their scales are while the demo model trains.

    python -m benchmarks.scales                       # fp8 and fp8-state, 300 steps
    python -m benchmarks.scales fp8 --steps 50
    python -m benchmarks.scales unit              # static scales, measured from the first state

The rewritten program says it itself: it returns the rms of every operand of a matmul before it is
cast, and its scale, from each step.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

import scalify_hlo
from benchmarks.common import Row, first_scales, gpt2_step, predicts, report
from examples import data, gpt2
from examples.demo import CONFIG
from examples.xla import Executable, flat
from scalify_hlo.api import make_options
from scalify_hlo.io.program import read_text
from scalify_hlo.passes.pipeline import rewrite_module

_SHOWN = 8
"""How many operands are named."""

RMS = {False: 6, True: 9}
"""How far log2 of the rms of a matmul operand's data may be from 0; further where it is predicted.

Nothing corrects a static scale, and E5M2 reaches from 2^-14 to 2^15.
"""

SCALE = 40
"""How far log2 of a scale may be from 0."""


@dataclass
class Watched:
    """A rewritten step, its state, and what it says of its operands.

    Attributes:
        executable: The step.
        state: What it carries.
        names: Of the operands.
        convert: What makes arguments of a batch.
        rms: For each step, log2 of the rms of each operand's data.
        scales: For each step, log2 of the scale of each operand.
    """

    executable: Executable
    state: list[jax.Array]
    names: list[str]
    convert: Callable[[Any], Any]
    rms: list[np.ndarray] = field(default_factory=list)
    scales: list[np.ndarray] = field(default_factory=list)

    def step(self, batch: np.ndarray) -> None:
        """Takes a training step."""
        results = self.executable([*self.state, *flat(self.convert(batch))])
        self.state = results[: len(self.state)]
        told = np.array([float(value) for value in results[-2 * len(self.names) :]])
        with np.errstate(divide="ignore"):
            logs = np.log2(told.reshape(-1, 2))
        self.rms.append(logs[:, 0])
        self.scales.append(logs[:, 1])


def watched(source: str, name: str, settings: Sequence[str]) -> Watched:
    """The step under a preset."""
    program = read_text(source)
    state = gpt2.state(CONFIG, gpt2.ADAMW, 0)
    static = predicts(name)
    tokens = np.zeros((CONFIG.batch, CONFIG.sequence + 1), np.int32)
    scales = first_scales(source, state, tokens) if static else None
    signature = "same" if static else "scaled"
    options = replace(make_options(name, signature, scales, dict(_pairs(settings))), observe=True)
    with program.module.context:
        told = rewrite_module(program.module, options)
        text = program.module.operation.get_asm(enable_debug_info=False)
    executable = Executable(text)
    convert = _as_it_is if static else scalify_hlo.as_scaled_array
    stored = executable.stored(flat(convert(state)))
    return Watched(executable, stored, list(told.observed), convert)


def _as_it_is(tree: Any) -> Any:
    return tree


def _pairs(settings: Sequence[str]) -> list[tuple[str, str]]:
    return [(key, value) for key, _, value in (s.partition("=") for s in settings)]


def rows_of(name: str, entry: Watched) -> list[Row]:
    """The extremes over all steps and operands."""
    rms, scales = np.stack(entry.rms), np.stack(entry.scales)
    finite = np.where(np.isfinite(rms), rms, 0.0)  # zeros have no size
    furthest = np.abs(finite).max(axis=0)
    for i in furthest.argsort()[::-1][:_SHOWN]:
        low, high = finite[:, i].min(), finite[:, i].max()
        print(f"{name}: {entry.names[i]}: 2^{low:.1f} to 2^{high:.1f}", file=sys.stderr)
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
    entries = {name: watched(source, name, options.settings) for name in options.presets}
    for batch in data.batches(CONFIG.batch, CONFIG.sequence, options.steps, 0):
        for entry in entries.values():
            entry.step(batch)
    rows = [row for name, entry in entries.items() for row in rows_of(name, entry)]
    return report(f"Operands of the demo model, {options.steps} steps", rows)


if __name__ == "__main__":
    sys.exit(main())
