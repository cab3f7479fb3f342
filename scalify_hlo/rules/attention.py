"""How large the values of attention are, and the gradients of its scores, by what is known of both.

A softmax over n positions is 1/n, and comes to be 1 at one of them: its rms is then 1/sqrt(n). Its
gradient takes off what the averaged values have in common. At first that is nothing, as tokens are
looked up one by one; after a mean over positions was added to each, it is most of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect import attributes
from scalify_hlo.rules.contraction import contracted
from scalify_hlo.rules.families import rise
from scalify_hlo.rules.split import Split
from scalify_hlo.rules.unit_scaling import size_of, softmax
from scalify_hlo.scale import Scaled

_CLAMP = "stablehlo.clamp"
_KEEPING = frozenset({"stablehlo.convert", "stablehlo.multiply", _CLAMP})
"""What stands between a softmax and a matmul: casts, and the factors that bring data to them."""
_SPREADING = frozenset({"stablehlo.broadcast_in_dim", "stablehlo.reshape", "stablehlo.convert"})
_SOFTMAX = "softmax"

_SHARPENED: Final = 3 / 8
"""By which power of n probabilities are above 1/n: three quarters of the way to 1/sqrt(n)."""
_COMMON: Final = 3
"""log2 of the size of values over that of what they do not have in common, once tokens are mixed.

Measured on the demo model, as is what is taken where nothing is known.
"""
_UNKNOWN: Final = 1

_CONE: Final = 400
"""How many values an operand is made of, as far as they are looked at: a layer has 100 or so."""
_NEAR: Final = 12
"""How far from its softmax's numbers the gradient of a score may be."""


class Attended(NamedTuple):
    """A softmax that values are averaged with.

    Attributes:
        positions: Over how many positions.
        mixed: Whether means over positions went into the values; None if that is not known.
    """

    positions: int
    mixed: bool | None


class Attention:
    """The means over positions that a walk has come to, and their softmaxes."""

    def __init__(self) -> None:
        self._means: set[ir.Value] = set()
        self._attended: dict[ir.Value, Attended] = {}

    def average(self, op: ir.OpView, end: ir.Operation, values: ir.Value) -> None:
        """Notes a mean over positions.

        Args:
            op: The matmul that takes it.
            end: The op that ends the softmax.
            values: What is averaged.
        """
        found = Attended(summed(end), self._is_mixed(values))
        # Gradients may be made of what is normalised in the end, and not of the probabilities.
        self._attended |= {end.results[0]: found, end.operands[0]: found}
        self._means.add(op.results[0])

    def behind(self, op: ir.OpView) -> Attended | None:
        """The softmax that the gradient of a score is made with, if it is one that was noted."""
        near = (self._attended.get(value) for value in _cone(op.operands, _NEAR))
        return next((attended for attended in near if attended is not None), None)

    def _is_mixed(self, values: ir.Value) -> bool | None:
        looked, known = 0, True
        for value in _cone([values], _CONE):
            looked += 1
            if value in self._means:
                return True
            known = known and (not isinstance(value.owner, ir.Block) or _is_main(value.owner))
        return False if known and looked < _CONE else None


def _cone(values: Iterable[ir.Value], most: int) -> Iterator[ir.Value]:
    """Some values and those that they are made of, the nearest first."""
    waiting = list(values)
    seen = set(waiting)
    for value in waiting:  # which grows meanwhile
        if not most:
            return
        most -= 1
        yield value
        owner = value.owner
        for operand in () if isinstance(owner, ir.Block) else owner.operands:
            if operand not in seen:
                seen.add(operand)
                waiting.append(operand)


def _is_main(block: ir.Block) -> bool:
    function = block.owner
    present = function.attributes
    return "sym_name" in present and ir.StringAttr(present["sym_name"]).value == "main"


def is_softmax(op: ir.Operation, mark: str = attributes.LAYER) -> bool:
    """Whether an op ends a softmax, or by another mark its gradient."""
    return mark in op.attributes and _SOFTMAX in attributes.texts(op.attributes[mark])


def probabilities(op: ir.OpView, split: Split) -> None:
    """A softmax over n elements: their mean is 1/n, so the level is ``-floor(log2(n))``.

    At scale 1 they would underflow FP8 where n is large.
    """
    form, count = split.form(op.results[0]), summed(op)
    if isinstance(form, Scaled) and form.scale.static and count > 1:
        level = -_log2(count, split) - form.scale.exponent
        split.set(op.results[0], Scaled(form.scale, level))


def weighted(op: ir.OpView, split: Split, attention: Attention) -> None:
    """A matmul with probabilities.

    Along the axis of the softmax they add up to one, and it is a mean of values. Along another axis
    they are what gradients of values are summed with; there a few positions come to have most of
    the n, which makes for up to sqrt(n), and the root of that is taken.
    """
    ends = [_softmax(value) for value in op.operands]
    if all(end is None for end in ends):
        return
    numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    sides = (numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions)
    for side, (end, axes) in enumerate(zip(ends, map(list, sides), strict=True)):
        if end is None or len(axes) != 1:
            continue
        if _summed_axes(end) == set(axes):
            if not split.predicts:
                attention.average(op, end, op.operands[1 - side])
            _resize(op, split, -1)  # half of their size, since values differ
        else:
            root = rise(contracted(op), split)
            _resize(op, split, root / 2 if split.predicts else (root + 1) // 2)
        return


def _resize(op: ir.OpView, split: Split, size: float) -> None:
    """Says how large a matmul with probabilities is, in logarithms, over what it averages.

    It is of the size of values and not 1/sqrt(n) of it: what they have in common grows while
    attention is learned.
    """
    form, count = split.form(op.results[0]), contracted(op)
    if isinstance(form, Scaled) and count is not None and count > 1:
        more = _log2(count, split) + size - rise(count, split)
        split.set(op.results[0], Scaled(form.scale, form.level + more))


def of_scores(op: ir.OpView, split: Split, attention: Attention) -> None:
    """Gradients of scores: larger as probabilities sharpen, smaller by what values have in common.

    The level so far is that of probabilities that are 1/n.
    """
    form, attended = split.form(op.results[0]), attention.behind(op)
    if not isinstance(form, Scaled):
        return
    more = _UNKNOWN
    if attended is not None and attended.mixed is not None:
        sharpened = round(math.log2(max(attended.positions, 1)) * _SHARPENED)
        more = sharpened - (_COMMON if attended.mixed else 0)
    split.set(op.results[0], Scaled(form.scale, form.level + more))


def _softmax(value: ir.Value) -> ir.Operation | None:
    """The op that ends the softmax that a value is, perhaps rounded."""
    while not isinstance(value.owner, ir.Block):
        owner = value.owner.operation
        if is_softmax(owner):
            return owner
        if owner.name not in _KEEPING:
            return None
        value = owner.operands[1 if owner.name == _CLAMP else 0]
    return None


def _summed_axes(op: ir.Operation) -> set[int]:
    """The axes over which the divisor of a quotient was summed."""
    divisor = op.operands[1].owner
    if isinstance(divisor, ir.Block) or divisor.name != "stablehlo.broadcast_in_dim":
        return set()
    shape = divisor.operands[0].type.shape
    dims = list(divisor.attributes["broadcast_dimensions"])
    kept = {d for d, size in zip(dims, shape, strict=True) if size > 1}
    return set(range(op.results[0].type.rank)) - kept


def _log2(count: int, split: Split) -> float:
    """log2 of a softmax's factor; its floor, unless sizes are predicted."""
    exact = -size_of(softmax(count))
    return exact if split.predicts else int(exact)


def summed(op: ir.Operation) -> int:
    """Over how many elements the divisor of a quotient was summed."""
    whole = op.results[0].type
    value = op.operands[len(op.operands) - 1]
    while not isinstance(value.owner, ir.Block) and value.owner.name in _SPREADING:
        value = value.owner.operands[0]
    part = value.type
    if not (whole.has_static_shape and part.has_static_shape):
        return 0
    return int(math.prod(whole.shape) // max(math.prod(part.shape), 1))
