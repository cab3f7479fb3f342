"""A comparison as JSON, which ``compare.schema.json`` describes."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from typing import Any, Final

from scalify_hlo.choose.decibels import stored
from scalify_hlo.choose.model import Comparison, Trial
from scalify_hlo.choose.results import ResultError
from scalify_hlo.choose.sites import Site, SiteError

VERSION: Final = 1
"""The version of the JSON form."""


def dump_comparison(comparison: Comparison) -> str:
    """Returns a comparison as JSON.

    Args:
        comparison: The comparison.

    Returns:
        An object with the name of its ``format`` and its ``version``;
        ``scalify_hlo/choose/compare.schema.json`` is its JSON Schema.
    """
    content = {
        "format": "scalify-hlo compare",
        "version": VERSION,
        "program": comparison.program,
        "hash": comparison.hash,
        "steps": comparison.steps,
        "carry": comparison.carry,
        "snr_db": comparison.snr_db,
        "judged": list(comparison.judged),
        "loss": comparison.loss or None,
        "losses": losses_entry(comparison.losses),
        "recipes": [_trial(trial, comparison) for trial in comparison.trials],
        "suggested": comparison.suggested or None,
        "suggestion": comparison.suggestion,
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def schema(name: str) -> dict[str, Any]:
    """Returns the JSON Schema of ``compare`` or ``blame``."""
    text = files("scalify_hlo.choose").joinpath(f"{name}.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _trial(trial: Trial, comparison: Comparison) -> dict[str, Any]:
    if trial.reason:
        return {"name": trial.name, "reason": trial.reason}
    return {
        "name": trial.name,
        "reason": None,
        "recipe": trial.recipe,
        "passes": trial.passes(comparison.judged, comparison.snr_db),
        "fp8": rounded(trial.fp8),
        "narrow": rounded(trial.narrow),
        "operand_bits": rounded(trial.bits),
        "statistics": trial.statistics,
        "state_bytes": rounded(trial.state),
        "losses": losses_entry(trial.losses),
        "results": [result_entry(each) for each in trial.results],
        "matmuls": [_matmul(each) for each in trial.matmuls],
    }


def losses_entry(losses: tuple[tuple[float, ...], ...]) -> list[list[float | None]]:
    """Returns losses by seeds and steps; a loss that is not finite is null."""
    return [[loss if math.isfinite(loss) else None for loss in each] for each in losses]


def result_entry(error: ResultError) -> dict[str, Any]:
    """Returns the error of a result."""
    return {"name": error.name, "kind": error.kind, "snr_db": stored(error.snr_db)}


def site_entry(site: Site) -> dict[str, Any]:
    """Returns a site."""
    return {
        "site": site.name,
        "pattern": site.pattern,
        "location": site.location,
        "part": site.part,
        "operands": list(site.operands),
        "calls": site.calls,
        "formats": list(site.formats),
    }


def _matmul(error: SiteError) -> dict[str, Any]:
    lhs, rhs = map(stored, error.operands)
    return site_entry(error.site) | {"lhs_db": lhs, "rhs_db": rhs, "snr_db": stored(error.snr_db)}


def rounded(number: float | None) -> float | None:
    """Returns a share or a mean with six decimals."""
    return None if number is None else round(number, 6)
