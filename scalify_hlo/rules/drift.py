"""Static scales with which wide data would be far from unit, and the rescaling of operands."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import DRIFT, PRODUCT_DRIFT, READ_CONE
from scalify_hlo.algebra.scale import ONE, Scale, Scaled
from scalify_hlo.algebra.search import Search
from scalify_hlo.ir.formats import is_wide
from scalify_hlo.ir.traits import ARITHMETIC, CONTRACTIONS
from scalify_hlo.ir.value_map import ValueSet
from scalify_hlo.rules.alignment import READERS
from scalify_hlo.rules.scale_rewriter import ScaleRewriter


def drifts(op: ir.OpView, s: Scale, t: Scale, rewriter: ScaleRewriter, sign: int = 1) -> bool:
    """Whether a product of static scales is further from 1 than wide data need.

    Narrow operands need their scales, whatever the format of the result.

    Args:
        op: A product or a quotient.
        s: The scale of one operand.
        t: The scale of the other operand.
        rewriter: The rewriter.
        sign: -1 for a quotient.
    """
    total = s.exponent + sign * t.exponent
    if abs(total) <= DRIFT or s.powers or t.powers or rewriter.narrow:
        return False
    return all(is_wide(value.type) for value in (*op.operands, op.results[0]))


def nearer(
    op: ir.OpView,
    rewriter: ScaleRewriter,
    factors: Mapping[int, tuple[Scale, float]],
    divisor: int | None = None,
) -> list[tuple[Scale, float]]:
    """Returns scales and levels of two operands, of which one was rescaled to scale 1.

    This is free for arguments, which exist at scale 1 too. Without it, the result has to be
    rescaled to scale 1, as it drifts (`drifts`). That is better for a contraction whose result is
    not larger than the operand: other ops may need the operand as it is, so it would exist twice.

    Args:
        op: A product or a quotient.
        rewriter: The rewriter.
        factors: The static scale and the level of each of the two operands, by its number.
        divisor: The number of the operand that is the divisor; None for a product.
    """
    found = dict(factors)
    signs = {i: -1 if i == divisor else 1 for i in found}
    total = sum([signs[i] * scale.exponent for i, (scale, _) in found.items()])
    away = [i for i, (scale, _) in found.items() if signs[i] * scale.exponent * total > 0]
    free = [i for i in away if not rewriter.rescaler.takes_factor(op.operands[i], ONE)]
    value = op.operands[max(free or away, key=lambda i: abs(found[i][0].exponent))]
    if not free and abs(total) <= PRODUCT_DRIFT and _is_smaller(op, value):
        return list(found.values())
    moved = rewriter.rescale_to(value, ONE, op.operation)
    for i, (scale, level) in factors.items():
        if op.operands[i] == value:
            rewriter.replace(op, i, moved)
            found[i] = ONE, level + scale.exponent
    return list(found.values())


def _is_smaller(op: ir.OpView, value: ir.Value) -> bool:
    """Whether the result of a contraction has no more elements than the operand to rescale.

    A product of elements is as large as its operands, and a compiler fuses a factor with either.
    """
    types = op.results[0].type, value.type
    if op.operation.name not in CONTRACTIONS or not all(t.has_static_shape for t in types):
        return False
    result, operand = [math.prod(t.shape) for t in types]
    return bool(result <= operand)


def steepness(scale: Scale) -> int:
    """Returns the highest power of a run-time scale, in absolute value."""
    return max([abs(k) for _, k in scale.powers], default=0)


def _weight(scale: Scale) -> tuple[int, int]:
    return steepness(scale), scale.degree


def flattened(
    op: ir.Operation,
    rewriter: ScaleRewriter,
    indices: tuple[int, int],
    scales: tuple[Scale, Scale],
) -> list[tuple[Scale, float]]:
    """Returns scales and levels of two operands after the steeper one was rescaled to scale 1.

    At scale 1 its data are the values of the original program, whose level is not known unless
    formats are narrow. So the level of the result is not known either.
    """
    which = int(_weight(scales[1]) > _weight(scales[0]))
    rewriter.rescale(op, indices[which], ONE)
    factors = [(ONE if i == which else scale, 0.0) for i, scale in enumerate(scales)]
    if not rewriter.narrow:
        return factors
    infos = [rewriter.info(op.operands[i]) for i in indices]
    return [
        (scale, info.at(scale).level if isinstance(info, Scaled) else 0)
        for info, (scale, _) in zip(infos, factors, strict=True)
    ]


def is_read_square(op: ir.OpView, rewriter: ScaleRewriter) -> bool:
    """Whether an op squares narrow data at a run-time scale, for a polynomial that is read.

    The data of powers have several times the error of a predicted size, and overflow in f16 where
    the values do not. Those of GELU, ``tanh(c * (x + k * x**3))``, are read as values anyway, and
    so is the square in its derivative.
    """
    value, squares = op.operands[0], op.operation.name in ARITHMETIC  # A matmul may be of x and x.
    if op.operands[1] != value or not squares or not rewriter.settings.own:
        return False
    if rewriter.is_wide(value):
        return False
    info = rewriter.info(value)
    if not isinstance(info, Scaled) or not info.scale.powers:
        return False
    read = rewriter.values.at_scale(value, ONE)  # By squares before this one.
    return any(
        user.name == op.operation.name
        and user.operands[0] == user.operands[1]
        and _is_read(user.results[0])
        for each in ([value] if read is None else [value, read])
        for user in (use.owner.operation for use in each.uses)
    )


def _is_read(value: ir.Value) -> bool:
    """Whether all uses of a value are products and sums that a function reads as values."""

    def made_of(value: ir.Value) -> Iterator[ir.Value]:
        users = (use.owner.operation for use in value.uses)
        return (user.results[0] for user in users if user.name in ARITHMETIC)

    search = iter(Search([value], made_of, seen=ValueSet()))
    users = (use.owner.operation for each in islice(search, READ_CONE) for use in each.uses)
    read = all(user.name in ARITHMETIC or user.name in READERS for user in users)
    return read and next(search, None) is None
