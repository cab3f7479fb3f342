"""A recipe that was found at a budget as JSON, which ``search.schema.json`` describes."""

from __future__ import annotations

import json
from typing import Any, Final

from scalify_hlo.choose.blame_record import effect_entry, finite
from scalify_hlo.choose.decibels import stored
from scalify_hlo.choose.front import Point
from scalify_hlo.choose.record import rounded, site_entry
from scalify_hlo.choose.search_model import GradientFormat, Search, SearchedSite

VERSION: Final = 1
"""The version of the JSON form."""


def dump_search(search: Search) -> str:
    """Returns a recipe that was found at a budget as JSON.

    Args:
        search: The recipe, as `search` returned it.

    Returns:
        An object with the name of its ``format`` and its ``version``;
        ``scalify_hlo/choose/search.schema.json`` is its JSON Schema.
    """
    content = {
        "format": "scalify-hlo search",
        "version": VERSION,
        "program": search.program,
        "hash": search.hash,
        "recipe": search.recipe,
        "budget": search.budget,
        "loss": finite(search.loss),
        "whole": effect_entry(search.whole) | {"cost": search.whole_cost},
        "formats": [_format(each) for each in search.formats],
        "sites": [_site(each) for each in search.sites],
        "front": [_point(each) for each in search.front],
        "chosen": _point(search.chosen),
        "exclude": list(search.result.matmul.exclude),
        "left_out": [site_entry(site) for site in search.left_out],
        "bound": search.bound,
        "effect": effect_entry(search.effect) | {"cost": search.chosen.cost},
        "toml": search.toml,
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def _format(format_: GradientFormat) -> dict[str, Any]:
    return {"gradient": format_.name, "cost": format_.cost, "taken": format_.taken}


def _site(searched: SearchedSite) -> dict[str, Any]:
    return site_entry(searched.site) | {
        "cost": searched.cost,
        "by": searched.effect,
        "snr_db": stored(searched.snr_db),
        "wide": searched.wide,
    }


def _point(point: Point) -> dict[str, Any]:
    return {
        "gradient": point.gradient,
        "wide": point.wide,
        "narrow": rounded(point.narrow),
        "narrow_flops": rounded(point.flops),
        "cost": point.cost,
    }
