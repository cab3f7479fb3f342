"""Ops of CHLO, the dialect above StableHLO that frontends write in.

Functions of one value read it at scale 1. In their expansions, scales would be propagated through
every step of a polynomial in vain, since the result is at scale 1. All other ops are expanded if an
operand is scaled, and the rules of the expansion apply. Without scaled operands they are kept, as
XLA computes some of them more precisely than their expansions.
"""

from __future__ import annotations

from scalify_hlo.ir.traits import where
from scalify_hlo.rules.families import opaque, unscale
from scalify_hlo.rules.registry import rule

rule(where("special", "kernel"), unscale, "no homogeneity to use")
_OF_TWO = "next_after polygamma zeta broadcast_next_after broadcast_polygamma broadcast_zeta"
rule(
    [f"chlo.{name}" for name in _OF_TWO.split()],
    unscale,
    "no homogeneity to use",
    "Y = {op}(A_d*A_s, B_d*B_s)",
)

EXPANDED = "expanded"
"""The family of the ops that are expanded, and have no rule."""

CONSTANTS = frozenset({"chlo.constant", "chlo.constant_like"})
"""The ops that are always expanded, as they are constants, which adopt scales."""

_EXPANSIONS = {
    "broadcast_add": "add",
    "broadcast_and": "and",
    "broadcast_atan2": "atan2",
    "broadcast_compare": "compare",
    "broadcast_complex": "complex",
    "broadcast_divide": "divide",
    "broadcast_maximum": "maximum",
    "broadcast_minimum": "minimum",
    "broadcast_multiply": "multiply",
    "broadcast_or": "or",
    "broadcast_power": "power",
    "broadcast_remainder": "remainder",
    "broadcast_select": "select",
    "broadcast_shift_left": "shift_left",
    "broadcast_shift_right_arithmetic": "shift_right_arithmetic",
    "broadcast_shift_right_logical": "shift_right_logical",
    "broadcast_subtract": "subtract",
    "broadcast_xor": "xor",
    "conj": "real, negate and complex",
    "constant": "constant",
    "constant_like": "constant",
    "is_inf": "abs and compare",
    "is_neg_inf": "compare",
    "is_pos_inf": "compare",
    "mulhi": "multiply and shift_right_logical",
    "scan": "while",
    "square": "multiply",
    "top_k": "sort and slice",
}
for _name, _ops in _EXPANSIONS.items():
    rule(
        f"chlo.{_name}",
        opaque,
        "StableHLO's pass chlo-legalize-to-stablehlo",
        f"as {_ops}, to which it is expanded",
        family=EXPANDED,
    )
