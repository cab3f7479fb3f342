"""The tables of docs/experiments.md, from the figures in benchmarks/results.

    python -m benchmarks.papers.tables sweep    # or the name of another table

The programs of `benchmarks.papers` and `benchmarks.paired_losses` measure them, with ``--output``.
"""

import json
import math
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.paired_losses import EXACT, standard_error
from benchmarks.papers.language import CELLS
from benchmarks.papers.steps import PERIODS, RECIPE, SITES, contender
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

SHIFTS = range(-8, 33)
"""The octaves of the loss scales among which the best is sought."""

Lines = dict[tuple[str, int], dict[str, Any]]
"""Lines by the kind of values and the step."""


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
    models, ours = ("gpt2", "llama", "experts"), ("fp8-current", "unit", "mxfp8")
    names = (*ours, *literature_names())
    table(("recipe", *models), [(name, *[gap(name, each) for each in models]) for name in names])


def bert() -> None:
    """The baselines and the recipes of the Unit Scaling paper on BERT's step."""
    names = ("unit", "fp8", "fp8-current", "plain-f16", "loss-scaling", "plain-f8")
    table(("recipe", "ours"), [(name, gap(name, "bert")) for name in names])


def steps(experiment: str) -> list[dict[str, Any]]:
    """The lines of an experiment of `benchmarks.papers.steps` at the size for a CPU."""
    found = [line for line in lines("steps") if line["experiment"] == experiment]
    return [line for line in found if line["size"] == "small"]


def losses() -> None:
    """Losses over steps: of f32, and the gaps of recipes. Each is the mean of five steps."""
    runs: dict[str, list[list[float]]] = {}
    for line in steps("losses"):
        runs.setdefault(line["contender"], []).append(line["losses"])
    names = [name for name in runs if name != EXACT]
    rows = []
    for end in (5, 10, 25, 50, 100):
        each = {n: statistics.mean(x for run in runs[n] for x in run[end - 5 : end]) for n in runs}
        gaps = [f"{each[name] - each[EXACT]:+.3f}" for name in names]
        rows.append((f"{end - 4} to {end}", f"{each[EXACT]:.3f}", *gaps))
    table(("steps", EXACT, *names), rows)


def scales() -> None:
    """Scales of state and of FP8 data in some steps, and how far they move in a step."""
    found = {(line["kind"], line["step"]): line for line in steps("scales")}
    shown = sorted({step for _, step in found})
    print("log2 of scales: least / middle / largest")
    _spreads(found, shown, "scales", ".0f")
    print("\nlog2 of the rms of data: least / middle / largest")
    _spreads(found, shown, "rms", ".1f")
    print("\noctaves by which a scale moves in a step, in the mean")
    kinds = dict.fromkeys(kind for kind, _ in found)
    moved = [[_cell(found.get((kind, n)), "moved") for n in shown[1:]] for kind in kinds]
    rows = [(kind, *cells) for kind, cells in zip(kinds, moved, strict=True)]
    table(("values", *[f"step {n}" for n in shown[1:]]), rows)


def _cell(line: dict[str, Any] | None, key: str) -> str:
    return f"{line[key]:.2f}" if line else ""


def _spreads(found: Lines, shown: Sequence[int], key: str, form: str) -> None:
    """Prints the least, the middle and the largest number of each kind of values."""
    rows = []
    for kind in dict.fromkeys(kind for kind, _ in found):
        each = [found[kind, n][key] if (kind, n) in found else [] for n in shown]
        rows.append((kind, *[" / ".join(format(x, form) for x in three) for three in each]))
    table(("values", *[f"step {n}" for n in shown]), rows)


def periods() -> None:
    """The gaps of rescalings in each step, and now and then."""
    exact: dict[int, float] = {}
    runs: dict[str, list[tuple[int, float]]] = {}
    for line in steps("periods"):
        if line["contender"] == EXACT:
            exact[line["seed"]] = line["loss"]
        else:
            runs.setdefault(line["contender"], []).append((line["seed"], line["loss"]))

    def cell(name: str) -> str:
        gaps = [loss - exact[seed] for seed, loss in runs.get(name, ())]
        return f"{statistics.mean(gaps):+.3f} ± {standard_error(gaps):.3f}" if gaps else ""

    heads = ("rescaled now and then", "each step", *[f"each {n}" for n in PERIODS])
    rows = [(s, cell(RECIPE), *[cell(contender(s, n)) for n in PERIODS]) for s in SITES]
    table(heads, rows)
    print("\nfive steps from states of f32")
    never, always = PERIODS[-1], gap(RECIPE, "gpt2")
    short = [(s, always, gap(contender(s, never), "gpt2")) for s in SITES]
    table(("rescaled now and then", "each step", f"each {never}"), short)


def histograms() -> None:
    """BERT's tensors: the median magnitude, and the share outside of FP16's normal numbers."""
    cells: dict[tuple[str, str], dict[str, str]] = {}
    gradients: dict[str, Counter[int]] = {}
    for line in lines("histograms"):
        if line["layers"] != 4:
            continue
        octaves = Counter(dict(line["octaves"]))
        shown = f"2^{_median(octaves)} ({_outside(octaves):.0%})"
        cells.setdefault((line["kind"], line["place"]), {})[line["figure"]] = shown
        if line["kind"].startswith("grad"):
            gradients.setdefault(line["figure"], Counter()).update(octaves)
    figures = sorted(gradients)
    rows = [(" ".join(each), *[found[f] for f in figures]) for each, found in cells.items()]
    table(("tensors", *figures), sorted(rows))
    print()
    best = [max(SHIFTS, key=lambda n: -_outside(gradients[f], n)) for f in figures]
    rest = [_outside(gradients[f], n) for f, n in zip(figures, best, strict=True)]
    heads = ("gradients", *figures)
    alone = [f"{_outside(gradients[f]):.1%}" for f in figures]
    named = [f"2^{n}" for n in best]
    outside = [f"{share:.1%}" for share in rest]
    rows = [("outside", *alone), ("best loss scale", *named), ("outside with it", *outside)]
    table(heads, rows)


def _median(octaves: Counter[int]) -> int:
    """The octave of the middle element."""
    passed = 0
    for octave in sorted(octaves):
        passed += octaves[octave]
        if 2 * passed >= octaves.total():
            return octave
    return 0


def _outside(octaves: Counter[int], shift: int = 0) -> float:
    """The share of elements outside of FP16's normal numbers, if a loss scale shifts them."""
    outside = (n for octave, n in octaves.items() if not -14 <= octave + shift <= 15)
    return sum(outside) / max(octaves.total(), 1)


TABLES = {
    each.__name__: each
    for each in (sweep, table3, losses, scales, periods, outliers, histograms, bert, literature)
}


def main() -> int:
    """Prints the table that is named."""
    if len(sys.argv) != 2 or sys.argv[1] not in TABLES:
        print(f"name a table: {', '.join(TABLES)}", file=sys.stderr)
        return 2
    TABLES[sys.argv[1]]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
