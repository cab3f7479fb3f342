"""Products of powers of one value, which are larger than their factors tell."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import READ_CONE
from scalify_hlo.algebra.scale import Scaled, ScaleInfo
from scalify_hlo.algebra.uncertainty import Uncertainty
from scalify_hlo.dialect.functions import is_block
from scalify_hlo.dialect.traits import ARITHMETIC, ELEMENTWISE, REDUCTIONS, TRANSCENDENTAL
from scalify_hlo.dialect.value_map import ValueSet
from scalify_hlo.rules.scale_rewriter import ScaleRewriter

_ALIKE: Final = TRANSCENDENTAL | {"stablehlo.broadcast_in_dim", "stablehlo.divide"}
"""Ops whose results have elements of similar size."""

_BIAS: Final = 1.0
"""The octaves by which the rms of a product of powers of one value is above the product of theirs,
and its amax further above its rms: 0.8 and 1.2 for the square of normal numbers, and 1.3 and 1.7
for that of their positive part."""


def power_uncertainty(
    op: ir.Operation, a: ScaleInfo, b: ScaleInfo, rewriter: ScaleRewriter
) -> Uncertainty | None:
    """Returns the uncertainty of an elementwise product of powers of one value.

    The mean of squares is as large as that of normal numbers, so that a product that is only summed
    is none.

    Args:
        op: The product.
        a: The scale information of its first operand.
        b: That of its second one.
        rewriter: The rewriter, which knows the other values.

    Returns:
        None if the operands are no powers of one value.
    """
    if not (isinstance(a, Scaled) and isinstance(b, Scaled)):
        return None
    if not a.uncertainty.is_power_of(b.uncertainty) or _is_only_summed(op.results[0], 2):
        return None
    known = ValueSet(_made_of(op.operands[0], rewriter))
    if not any(value in known for value in _made_of(op.operands[1], rewriter)):
        return None
    return (a.uncertainty * b.uncertainty).with_bias(_BIAS).with_gain(_BIAS)


def _is_only_summed(value: ir.Value, depth: int) -> bool:
    """Whether all uses of a value are sums, of it or of multiples of it."""
    users = [use.owner.operation for use in value.uses]
    return all(
        user.name in REDUCTIONS
        or (depth > 0 and user.name in ARITHMETIC and _is_only_summed(user.results[0], depth - 1))
        for user in users
    )


def _made_of(value: ir.Value, rewriter: ScaleRewriter) -> Iterator[ir.Value]:
    """Yields a value, and the values of unlike elements of which elementwise ops make it.

    Those of a quotient or of a transcendental function are alike, or their range is bounded.
    """
    waiting = deque([value])
    for _ in range(READ_CONE):
        if not waiting:
            return
        value = waiting.popleft()
        name = None if is_block(value.owner) else value.owner.name
        if name in _ALIKE or not isinstance(rewriter.info(value), Scaled):
            continue
        yield value
        if name in ELEMENTWISE:
            waiting.extend(value.owner.operands)
