"""What is known of layers that were recognised, and does not follow from their ops one by one."""

from __future__ import annotations

import math
from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect import attributes
from scalify_hlo.rules.contraction import contracted
from scalify_hlo.rules.families import rise
from scalify_hlo.rules.split import Split
from scalify_hlo.rules.unit_scaling import size_of, softmax
from scalify_hlo.scale import Scaled, Splat

DIVIDE: Final = "stablehlo.divide"
DOT: Final = "stablehlo.dot_general"
_GRADIENTS = frozenset({"stablehlo.multiply", "stablehlo.subtract"})
ENDS: Final = _GRADIENTS | {DIVIDE, DOT}
"""The ops that `layered` has something to say of."""

_ADD, _CLAMP = "stablehlo.add", "stablehlo.clamp"
_KEEPING = frozenset({"stablehlo.convert", "stablehlo.multiply", _CLAMP})
"""What stands between a softmax and a matmul: casts, and the factors that bring data to them."""
_SPREADING = frozenset({"stablehlo.broadcast_in_dim", "stablehlo.reshape", "stablehlo.convert"})
_SOFTMAX = "softmax"


def layered(op: ir.OpView, name: str, split: Split) -> None:
    """Says what is known of the result of an op that ends a layer, after its own rule."""
    if name == DIVIDE and _is_softmax(op.operation):
        _probabilities(op, split)
    elif name == DOT and (size := _size_of_mean(op, split)) is not None:
        _average(op, split, size)
    elif name in _GRADIENTS and _is_softmax(op.operation, attributes.LAYER_GRADIENT):
        _of_scores(op, split)


def _is_softmax(op: ir.Operation, mark: str = attributes.LAYER) -> bool:
    return mark in op.attributes and _SOFTMAX in attributes.texts(op.attributes[mark])


def _size_of_mean(op: ir.OpView, split: Split) -> float | None:
    """For a matmul with probabilities, log2 of its result's size, over that of what it averages.

    Along the axis of the softmax they add up to one: half, since values differ. Along another axis
    they are what gradients of values are summed with; there a few positions come to have most of
    the n, which makes for up to sqrt(n), and the root of that is taken.

    Returns:
        None for any other matmul.
    """
    ends = [_softmax(value) for value in op.operands]
    if all(end is None for end in ends):
        return None
    numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    sides = (numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions)
    for end, axes in zip(ends, map(list, sides), strict=True):
        if end is not None and len(axes) == 1:
            return _size_of_weighted(op, split, along=_summed_axes(end) == set(axes))
    return None


def _size_of_weighted(op: ir.OpView, split: Split, *, along: bool) -> float:
    if along:
        return -1
    root = rise(contracted(op), split)
    return root / 2 if split.predicts else (root + 1) // 2


def _softmax(value: ir.Value) -> ir.Operation | None:
    """The op that ends the softmax that a value is, perhaps rounded."""
    while not isinstance(value.owner, ir.Block):
        owner = value.owner.operation
        if _is_softmax(owner):
            return owner
        if owner.name not in _KEEPING:
            return None
        value = owner.operands[1 if owner.name == _CLAMP else 0]
    return None


def _average(op: ir.OpView, split: Split, size: float) -> None:
    """A mean of values, weighted by probabilities, is of their size and not 1/sqrt(n) of it.

    What they have in common grows while attention is learned.
    """
    form, count = split.form(op.results[0]), contracted(op)
    if isinstance(form, Scaled) and count is not None and count > 1:
        more = _log2(count, split) + size - rise(count, split)
        split.set(op.results[0], Scaled(form.scale, form.level + more))


def _of_scores(op: ir.OpView, split: Split) -> None:
    """Gradients of scores: probabilities, as they sharpen, are larger where gradients are."""
    form = split.form(op.results[0])
    if isinstance(form, Scaled):
        split.set(op.results[0], Scaled(form.scale, form.level + 1))


def _summed_axes(op: ir.Operation) -> set[int]:
    """The axes over which the divisor of a quotient was summed."""
    divisor = op.operands[1].owner
    if isinstance(divisor, ir.Block) or divisor.name != "stablehlo.broadcast_in_dim":
        return set()
    shape = divisor.operands[0].type.shape
    dims = list(divisor.attributes["broadcast_dimensions"])
    kept = {d for d, size in zip(dims, shape, strict=True) if size > 1}
    return set(range(op.results[0].type.rank)) - kept


def _probabilities(op: ir.OpView, split: Split) -> None:
    """A softmax over n elements: their mean is 1/n, so the level is ``-floor(log2(n))``.

    At scale 1 they would underflow FP8 where n is large.
    """
    form, count = split.form(op.results[0]), _summed(op)
    if isinstance(form, Scaled) and form.scale.static and count > 1:
        level = -_log2(count, split) - form.scale.exponent
        split.set(op.results[0], Scaled(form.scale, level))


def _log2(count: int, split: Split) -> float:
    """log2 of a softmax's factor; its floor, unless sizes are predicted."""
    exact = -size_of(softmax(count))
    return exact if split.predicts else int(exact)


def _summed(op: ir.OpView) -> int:
    """Over how many elements the divisor of a quotient was summed."""
    whole = op.results[0].type
    value = op.operands[len(op.operands) - 1]
    while not isinstance(value.owner, ir.Block) and value.owner.name in _SPREADING:
        value = value.owner.operands[0]
    part = value.type
    if not (whole.has_static_shape and part.has_static_shape):
        return 0
    return int(math.prod(whole.shape) // max(math.prod(part.shape), 1))


def epsilon_on_data(op: ir.OpView, split: Split) -> bool:
    """``Y_d = V_d + eps; Y_s = V_s``: the paper's approximation (appendix C.2).

    The data of a variance are near unit, whatever it is, and so is what epsilon guards against.
    It is an approximation of ``V_d + eps/V_s``.

    Args:
        op: Adds the epsilon of a normalisation.
        split: Knows the forms.

    Returns:
        Whether that is what the op does: one operand is scaled, and the other a constant.
    """
    if op.operation.name != _ADD:
        return False
    forms = split.forms(list(op.operands))
    for index, (form, other) in enumerate(zip(forms, reversed(forms), strict=True)):
        if isinstance(form, Scaled) and isinstance(other, Splat):
            value = split.settle(op.operands[index], op.operation)
            split.replace(op, index, value)
            split.result(op, form.settled)
            return True
    return False
