"""Ops on integers and booleans, which have no scale, and are not changed."""

from __future__ import annotations

from scalify_hlo.ir.traits import LOGICAL
from scalify_hlo.rules.families import source
from scalify_hlo.rules.registry import rule

_SHIFTS = ("shift_left", "shift_right_arithmetic", "shift_right_logical")
rule({*LOGICAL, *_SHIFTS, "count_leading_zeros", "popcnt"}, source, "integers have no scale")
