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

_BROADCASTING = (
    "add and atan2 compare complex divide maximum minimum multiply "
    "or power remainder select shift_left shift_right_arithmetic shift_right_logical subtract xor"
)
_EXPANSIONS = {f"chlo.broadcast_{name}": name for name in _BROADCASTING.split()} | {
    "chlo.conj": "real, negate and complex",
    "chlo.constant": "constant",
    "chlo.constant_like": "constant",
    "chlo.is_inf": "abs and compare",
    "chlo.is_neg_inf": "compare",
    "chlo.is_pos_inf": "compare",
    "chlo.mulhi": "multiply and shift_right_logical",
    "chlo.scan": "while",
    "chlo.square": "multiply",
    "chlo.top_k": "sort and slice",
}
for _name, _ops in _EXPANSIONS.items():
    rule(
        _name,
        opaque,
        "StableHLO's pass chlo-legalize-to-stablehlo",
        f"as {_ops}, to which it is expanded",
        family=EXPANDED,
    )
