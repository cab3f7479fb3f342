"""Reductions, by the monoid that their region spells."""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.rules.families import Count, align, opaque, rise, static_product
from scalify_hlo.rules.registry import rule
from scalify_hlo.rules.split import Split
from scalify_hlo.scale import Scaled

_HOMOGENEOUS = frozenset({"stablehlo.add", "stablehlo.maximum", "stablehlo.minimum"})
_TAKES = "takes"


def monoid(region: ir.Region) -> str | None:
    """The op that a region of two scalars is.

    Returns:
        Name of the op; "takes" for a region that returns its second argument; None for any other.
    """
    block = region.blocks[0]
    arguments, body = list(block.arguments), list(block.operations)
    returned = list(body[-1].operands)
    if len(arguments) != 2 or len(returned) != 1 or len(body) > 2:
        return None
    if len(body) == 1:
        return _TAKES if returned[0] == arguments[1] else None
    inner = body[0].operation
    operands = list(inner.operands)
    if inner.results[0] != returned[0] or operands not in (arguments, arguments[::-1]):
        return None
    return str(inner.name)


def reduce(op: ir.OpView, split: Split) -> None:
    """Sums, maxima and minima of one operand run on data."""
    _reduced(op, split, _summed)


def reduce_window(op: ir.OpView, split: Split) -> None:
    """As `reduce`, over windows."""
    _reduced(op, split, _window)


def _summed(op: ir.OpView) -> int | None:
    shape = op.operands[0].type.shape
    return static_product([shape[d] for d in op.attributes["dimensions"]])


def _window(op: ir.OpView) -> int | None:
    return static_product(list(op.attributes["window_dimensions"]))


def _reduced(op: ir.OpView, split: Split, count: Count) -> None:
    name = monoid(op.regions[0]) if len(op.results) == 1 else None
    if name not in _HOMOGENEOUS:
        return opaque(op, split)
    target = split.align(op, (0, 1))
    if name == "stablehlo.add" and isinstance(target, Scaled):
        target = Scaled(target.scale, target.level + rise(count(op)))
    return split.set(op.results[0], target)


def scatter(op: ir.OpView, split: Split) -> None:
    """Overwriting, sums, maxima and minima run on data at the meet of inputs and updates."""
    name = monoid(op.regions[0]) if len(op.results) == 1 else None
    if name != _TAKES and name not in _HOMOGENEOUS:
        return opaque(op, split)
    return align(0, 2)(op, split)


def select_and_scatter(op: ir.OpView, split: Split) -> None:
    """Which element is selected is of degree 0 in the operand; what is scattered keeps a scale."""
    if monoid(op.regions[0]) != "stablehlo.compare" or monoid(op.regions[1]) != "stablehlo.add":
        return opaque(op, split)
    return align(1, 2)(op, split)


_MONOID = "by the monoid: add, maximum and minimum are homogeneous of degree 1"
rule(
    "reduce",
    reduce,
    family="reduce",
    formula="s = meet(X_s, I_s); Y_d = reduce(X_d*X_s/s)/k; Y_s = s*k; "
    "k = 2^floor(log2(sqrt(n))) for sums, 1 for max and min",
    source=f"{_MONOID}; appendix of the Unit Scaling paper for sums",
)
rule(
    "reduce_window",
    reduce_window,
    family="reduce",
    formula="s = meet(X_s, I_s); Y_d = reduce_window(X_d*X_s/s)/k; Y_s = s*k; k as for reduce",
    source=_MONOID,
)
rule(
    "scatter",
    scatter,
    family="align",
    formula="s = meet(X_s, U_s); Y_d = scatter(X_d*X_s/s, U_d*U_s/s); Y_s = s",
    source=f"{_MONOID}; data movement",
)
rule(
    "select_and_scatter",
    select_and_scatter,
    family="align",
    formula="s = meet(U_s, I_s); Y_d = select_and_scatter(X_d, U_d*U_s/s, I_d*I_s/s); Y_s = s",
    source=f"{_MONOID}; selection is of degree 0",
)
