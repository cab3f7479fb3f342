"""The sites that cost accuracy as JSON, which ``blame.schema.json`` describes."""

from __future__ import annotations

import json
import math
from typing import Any, Final

from scalify_hlo.choose.blame_model import Blame, BlamedSite, Effect
from scalify_hlo.choose.record import result_entry, site_entry

VERSION: Final = 1
"""The version of the JSON form."""


def dump_blame(blame: Blame) -> str:
    """Returns the sites that cost accuracy as JSON.

    Args:
        blame: The sites, as `blame` returned them.

    Returns:
        An object with the name of its ``format`` and its ``version``;
        ``scalify_hlo/choose/blame.schema.json`` is its JSON Schema.
    """
    content = {
        "format": "scalify-hlo blame",
        "version": VERSION,
        "program": blame.program,
        "hash": blame.hash,
        "recipe": blame.recipe,
        "snr_db": blame.snr_db,
        "judged": list(blame.judged),
        "loss": finite(blame.loss),
        "whole": effect_entry(blame.whole),
        "wide": effect_entry(blame.wide),
        "sites": [_site(each) for each in blame.sites],
        "rest": {"sites": blame.rest, "share": round(blame.rest_share, 6)},
        "runs": blame.runs,
        "exclude": list(blame.result.matmul.exclude),
        "left_out": [site_entry(site) for site in blame.left_out],
        "effect": effect_entry(blame.effect),
        "toml": blame.toml,
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def _site(blamed: BlamedSite) -> dict[str, Any]:
    share = {"share": round(blamed.share, 6)}
    return site_entry(blamed.site) | share | {"effect": effect_entry(blamed.effect)}


def effect_entry(effect: Effect) -> dict[str, Any]:
    """Returns the error of a rewrite."""
    return {
        "loss_change": finite(effect.loss),
        "narrow": None if effect.narrow is None else round(effect.narrow, 6),
        "results": [result_entry(each) for each in effect.results],
    }


def finite(number: float | None) -> float | None:
    """Returns a number, or None if it is not finite."""
    return number if number is not None and math.isfinite(number) else None
