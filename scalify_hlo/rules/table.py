"""The whole table: importing this module enters every rule."""

from __future__ import annotations

from scalify_hlo.rules import contraction, elementwise, movement, opaque, reduction
from scalify_hlo.rules.registry import RULES, Rule

__all__ = ["RULES", "Rule", "contraction", "elementwise", "movement", "opaque", "reduction"]
