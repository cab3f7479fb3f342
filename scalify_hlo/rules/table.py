"""The whole table: importing this module enters every rule."""

from __future__ import annotations

from scalify_hlo.rules import (
    chlo,
    collective,
    contraction,
    control,
    elementwise,
    integer,
    movement,
    opaque,
    reduction,
    sharding,
    structural,
)
from scalify_hlo.rules.registry import RULES, Rule

__all__ = [
    "RULES",
    "Rule",
    "chlo",
    "collective",
    "contraction",
    "control",
    "elementwise",
    "integer",
    "movement",
    "opaque",
    "reduction",
    "sharding",
    "structural",
]
