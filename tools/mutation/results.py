"""The result file of a run, and the mutants that are named as equivalent."""

from __future__ import annotations

import json
import platform
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from tools.mutation.mutant import BUILD, ROOT, Key, Mutant
from tools.mutation.worker import Outcome

RESULTS = ROOT / "benchmarks" / "results" / "mutation.json"
EQUIVALENT = ROOT / "tests" / "mutation" / "equivalent.toml"
DRAWN = BUILD / "drawn.json"
_PACKAGES = ("cosmic-ray", "coverage", "hypothesis", "jax", "jaxlib", "numpy", "pytest")
# The least part of the mutants, equivalent ones left out, that must be caught.
BOUND = 0.9


def write_drawn(seed: int, candidates: int, mutants: Sequence[Mutant]) -> None:
    """Writes what `report` says about the draw."""
    drawn = {"seed": seed, "candidates": candidates, "drawn": len(mutants)}
    DRAWN.write_text(json.dumps(drawn), encoding="utf-8")


def equivalents() -> dict[Key, str]:
    """Returns the reason of each mutant that computes the same as its module."""
    table = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))
    return {
        (e["file"], e["function"], e["original"], e["mutated"]): e["reason"]
        for e in table["equivalent"]
    }


def printed(outcome: Outcome) -> str:
    """Returns an outcome as text."""
    parts = asdict(outcome) | {"passed": len(outcome.passed)}
    return json.dumps(parts)


def parsed(text: str) -> dict[str, Any]:
    """Reads what `printed` returned."""
    parts: dict[str, Any] = json.loads(text)
    return parts


def line(mutant: Mutant, outcome: Outcome) -> str:
    """Returns a line on a mutant."""
    where = f"{mutant.file}:{mutant.lines[0]} {mutant.function}"
    test = outcome.failed[0] if outcome.failed else f"{len(outcome.passed)} passed"
    return f"{outcome.verdict} {where} [{mutant.original}] -> [{mutant.mutated}] {test}"


def report(ended: Iterable[tuple[Mutant, dict[str, Any]]]) -> int:
    """Writes the result file and prints what it says.

    Args:
        ended: Mutants and their outcomes.

    Returns:
        1 if fewer mutants than `BOUND` were caught, otherwise 0.
    """
    named = equivalents()
    rows = [_row(mutant, outcome, named) for mutant, outcome in ended]
    rows.sort(key=lambda row: tuple(map(str, row.values())))
    counts = Counter(row["outcome"] for row in rows)
    caught = sum(counts[verdict] for verdict in ("failed", "crashed", "timeout"))
    rate = caught / max(1, caught + counts["survived"])
    _write(rows, counts, rate)
    for row in rows:
        if row["outcome"] == "survived":
            print(f"{row['file']} {row['function']}\n  - {row['original']}\n  + {row['mutated']}")
    print(dict(counts), f"caught {rate:.1%}; see {RESULTS.relative_to(ROOT)}")
    return int(rate < BOUND)


def _row(mutant: Mutant, outcome: dict[str, Any], named: dict[Key, str]) -> dict[str, str]:
    """Returns what the result file says about a mutant."""
    verdict = outcome["verdict"]
    if verdict == "survived" and mutant.key in named:
        verdict = "equivalent"
    return {
        "file": mutant.file,
        "function": mutant.function,
        "operator": mutant.operator.removeprefix("core/"),
        "original": mutant.original,
        "mutated": mutant.mutated,
        "outcome": verdict,
        "test": next(iter(outcome["failed"]), ""),
    }


def _write(rows: list[dict[str, str]], counts: Counter[str], rate: float) -> None:
    """Writes the result file, one line for each mutant."""
    drawn = json.loads(DRAWN.read_text(encoding="utf-8"))
    head = drawn | {
        "python": platform.python_version(),
        "versions": {name: version(name) for name in _PACKAGES},
        "outcomes": dict(sorted(counts.items())),
        "caught": round(rate, 4),
        "bound": BOUND,
    }
    mutants = ",\n".join(json.dumps(row) for row in rows)
    text = json.dumps(head, indent=2).removesuffix("\n}")
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(f'{text},\n  "mutants": [\n{mutants}\n]\n}}\n', encoding="utf-8")
