"""Which matmuls make the logits of a softmax over a weight's axis: the vocabulary, or classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.roles.matmuls import FORWARD, MATMULS, Matmul
from scalify_hlo.roles.state import ELEMENTWISE

_MOST = 60
"""How many values after a matmul are looked at."""

_THROUGH: Final = ELEMENTWISE | {"stablehlo.reshape", "stablehlo.transpose"}
_EXPONENTIALS = frozenset({"stablehlo.exponential"})


def makes_logits(matmul: Matmul) -> bool:
    """Whether what a forward matmul makes is summed, exponentiated, along an axis of a weight."""
    if matmul.part != FORWARD or not _has_weight(matmul):
        return False
    result = matmul.op.results[0]
    axes = _weight_sizes(matmul)
    return any(
        user.name in _EXPONENTIALS and _is_summed(user.results[0], axes) for user in _users(result)
    )


def _has_weight(matmul: Matmul) -> bool:
    """Whether one operand is a weight, and one is not."""
    given = [origin.argument is not None or origin.constant for origin in matmul.origins]
    return given[0] != given[1]


def _weight_sizes(matmul: Matmul) -> frozenset[int]:
    """The sizes of the weight."""
    given = [origin.argument is not None or origin.constant for origin in matmul.origins]
    return frozenset(matmul.op.operands[given.index(True)].type.shape)


def _users(value: ir.Value) -> Iterator[ir.Operation]:
    """The ops that use a value, or what elementwise ops make of it."""
    waiting, seen = [value], {value}
    while waiting and len(seen) < _MOST:
        for use in waiting.pop().uses:
            user = use.owner.operation
            yield user
            if user.name in MATMULS or user.name not in _THROUGH:
                continue
            for result in user.results:
                if result not in seen:
                    seen.add(result)
                    waiting.append(result)


def _is_summed(value: ir.Value, axes: frozenset[int]) -> bool:
    """Whether a value is reduced along a dimension of one of several sizes."""
    shape = list(value.type.shape)
    reductions = [use.owner for use in value.uses if use.owner.name == "stablehlo.reduce"]
    return any(shape[d] in axes for op in reductions for d in op.attributes["dimensions"])
