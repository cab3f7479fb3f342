"""Losses of the demonstration's training steps, rewritten against original."""

import sys
from pathlib import Path

from rich.console import Console

from benchmarks.common import Row, arguments, report
from examples import data
from examples.demo import CONFIG, contenders
from examples.side_by_side import train

STEPS = 20
BOUND = 1e-5
"""The largest relative difference of a loss from that of the original."""

EXACT = ("--recipe", "propagate")
VERSIONS = {
    "same": (*EXACT, "--signature", "same", "--input-scale", "*=2^-4"),
    "scaled": (*EXACT, "--signature", "scaled"),
}


def main() -> int:
    """Trains the three versions side by side, through the files and the command line."""
    options = arguments(__doc__ or "", steps=STEPS)
    entries = contenders(CONFIG, Path("build/bench"), Console(stderr=True), VERSIONS)
    for _ in train(entries, data.batches(CONFIG.batch, CONFIG.sequence, options.steps)):
        pass
    rows = [
        Row(
            f"{entry.name}: largest relative difference", entry.difference(entries[0]), BOUND, ".1e"
        )
        for entry in entries[1:]
    ]
    rows += [Row("f32: last loss", entries[0].losses[-1], form=".7f")]
    return report(f"Losses of {options.steps} steps, GPT-2, AdamW, XLA CPU", rows)


if __name__ == "__main__":
    sys.exit(main())
