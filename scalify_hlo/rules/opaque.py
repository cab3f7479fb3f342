"""Ops whose meaning the rewriter does not know."""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.ir.functions import target_of
from scalify_hlo.rules.families import keep, opaque, unscale
from scalify_hlo.rules.registry import CUSTOM_CALLS, rule
from scalify_hlo.rules.scale_rewriter import ScaleRewriter

_ANNOTATIONS = frozenset(
    {
        *("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"),
        *("LayoutConstraint", "annotate_device_placement"),
    }
)


def custom_call(op: ir.Operation, rewriter: ScaleRewriter) -> ir.Operation | None:
    """Keeps the scale in annotations, applies registered rules, and unscales all others."""
    target = target_of(op)
    if target in _ANNOTATIONS and len(op.operands) == len(op.results) == 1:
        keep(op, rewriter)
        return None
    return CUSTOM_CALLS.get(target, opaque)(op, rewriter)


rule(
    "custom_call",
    custom_call,
    "the target's meaning is unknown",
    "Y = custom_call(X_d*X_s, ...); annotations of sharding and layout keep the scale",
    family="opaque",
)
rule("rng", unscale, "bounds, mean and deviation are values", "Y = rng(A_d*A_s, B_d*B_s)")
rule(("outfeed", "send"), opaque, "unscaled around, in its regions too", "Y = {op}(X_d*X_s, ...)")
