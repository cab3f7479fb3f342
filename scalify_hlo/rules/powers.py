"""Products of powers of one value, which are larger than their factors tell."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import READ_CONE
from scalify_hlo.algebra.scale import Scaled, ScaleInfo
from scalify_hlo.dialect.functions import is_block
from scalify_hlo.dialect.traits import ARITHMETIC, ELEMENTWISE, REDUCTIONS, TRANSCENDENTAL
from scalify_hlo.dialect.value_map import ValueSet
from scalify_hlo.rules.scale_rewriter import ScaleRewriter

_ALIKE: Final = TRANSCENDENTAL | {"stablehlo.broadcast_in_dim", "stablehlo.divide"}
"""Ops whose results have elements of similar size."""


def is_power(op: ir.Operation, a: ScaleInfo, b: ScaleInfo, rewriter: ScaleRewriter) -> bool:
    """Whether an elementwise product is one of powers of a value, and not only summed.

    The mean of squares is as large as that of normal numbers.
    """
    if not (isinstance(a, Scaled) and isinstance(b, Scaled)):
        return False
    if not a.uncertainty.is_power_of(b.uncertainty):
        return False
    if _is_only_summed(op.results[0], 2):
        return False
    known = ValueSet(_made_of(op.operands[0], rewriter))
    return any(value in known for value in _made_of(op.operands[1], rewriter))


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
