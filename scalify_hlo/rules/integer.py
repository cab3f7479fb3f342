"""Ops on integers and booleans, which have no scale, and are not changed."""

from __future__ import annotations

from scalify_hlo.rules.families import source
from scalify_hlo.rules.registry import rule

_INTEGER = (
    "and",
    "count_leading_zeros",
    "not",
    "or",
    "popcnt",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "xor",
)
rule(_INTEGER, source, family="source", source="integers have no scale")
