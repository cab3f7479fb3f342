"""The tables of docs/experiments.md, from the figures in benchmarks/results.

    python -m benchmarks.papers.tables sweep | table3 | outliers | literature

`benchmarks.papers.sweep` and `benchmarks.paired_losses` measure them, with ``--output``.
"""

import json
import math
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.papers.language import CELLS
from scalify_hlo.recipes.toml import literature_names

RESULTS = Path(__file__).resolve().parents[1] / "results"

PUBLISHED: dict[str, tuple[str, float | None]] = {
    "fp16": ("FP16 #1", 0.00),
    "fp16-state": ("FP16 #2", 0.05),
    "fp8": ("FP8 #3", 0.05),
    "fp8-state": ("FP8 #4", 0.06),
    "plain-f16": ("", None),
    "plain-f8": ("", None),
    "loss-scaling": ("", None),
    "auto-loss-scaling": ("", None),
}
"""The experiments of table 3 of the Scalify paper, with their losses less that of FP32, 2.87."""


def lines(name: str) -> list[dict[str, Any]]:
    """The lines of a file of results; none if it is not there."""
    path = RESULTS / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints columns, all but the first to the right, without rows of no figure."""
    cells = [heads, *[row for row in rows if any(row[-len(heads) + 1 :])]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heads))]
    for first, *others in cells:
        columns = [each.rjust(width) for each, width in zip(others, widths[1:], strict=True)]
        print("  ".join([first.ljust(widths[0]), *columns]).rstrip())


def sweep() -> None:
    """The bits per character of the sweep, and the gap of `unit`."""
    found = lines("sweep")
    rows = []
    for cell in CELLS:
        losses = {(e["contender"], e["seed"]): e["loss"] for e in found if e["cell"] == cell.name}
        exact = {seed: loss for (name, seed), loss in losses.items() if name == "f32"}
        gaps = [loss - exact[seed] for (name, seed), loss in losses.items() if name == "unit"]
        if gaps:
            bits = [statistics.mean(each) / math.log(2) for each in (exact.values(), gaps)]
            rows.append((cell.name, f"{bits[0]:.3f}", f"{bits[1]:+.3f}", str(len(gaps))))
    table(("layer/norm/residual", "f32", "unit", "seeds"), rows)


def gap(contender: str, model: str, outlier: int = 0) -> str:
    """The newest gap of a contender, with its error; empty if there is none."""
    about = {"contender": contender, "model": model, "outlier": outlier}
    found = [each for each in lines("experiments") if about.items() <= each.items()]
    return f"{found[-1]['gap']:+.4f} ± {found[-1]['error']:.4f}" if found else ""


def table3() -> None:
    """The experiments of the Scalify paper, and baselines."""
    rows = [
        (name, number, "" if loss is None else f"{loss:+.2f}", ours)
        for name, (number, loss) in PUBLISHED.items()
        if (ours := gap(name, "gpt2"))
    ]
    table(("recipe", "experiment", "theirs", "ours"), rows)


def outliers() -> None:
    """Current scales, those of past steps and those of blocks, with an outlier channel."""
    planted = (0, 16)
    names = ("fp8-current", "fp8-delayed", "mxfp8", "unit")
    rows = [(name, *[gap(name, "gpt2", each) for each in planted]) for name in names]
    table(("recipe", *[f"channel times 2^{each}" for each in planted]), rows)


def literature() -> None:
    """The recipes of the literature on three models."""
    models, names = ("gpt2", "llama", "experts"), ("fp8-current", *literature_names())
    table(("recipe", *models), [(name, *[gap(name, each) for each in models]) for name in names])


TABLES = {"sweep": sweep, "table3": table3, "outliers": outliers, "literature": literature}


def main() -> int:
    """Prints the table that is named."""
    if len(sys.argv) != 2 or sys.argv[1] not in TABLES:
        print(f"name a table: {', '.join(TABLES)}", file=sys.stderr)
        return 2
    TABLES[sys.argv[1]]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
