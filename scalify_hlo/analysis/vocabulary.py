"""Detection of the matmuls that project to a vocabulary.

The training step and the inference program of one model have the same ones, as the weight decides,
and not the loss. It is the weight of an embedding, or has the transposed shape of one, or has far
more outputs than inputs.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Hashable
from typing import Final, NamedTuple

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import PROJECTION_VALUES
from scalify_hlo.analysis.frames import BRANCHES, INSIDES, RETURNS, Frame, Place
from scalify_hlo.analysis.matmuls import MATMULS, Matmul, Walk
from scalify_hlo.analysis.names import FORWARD
from scalify_hlo.analysis.origins import Origin
from scalify_hlo.dialect.value_map import ValueSet

RATIO: Final = 8
"""The least ratio of outputs to inputs of a weight that counts as that of a vocabulary."""

LEAST: Final = 8192
"""The least number of outputs of such a weight, if the program looks up no embedding like it."""


class _Weight(NamedTuple):
    """The weight of a forward matmul.

    Attributes:
        outputs: The sizes of the free dimensions.
        inputs: The product of the sizes of the contracting dimensions.
    """

    outputs: list[int]
    inputs: int


class Projections:
    """The matmuls of a program that project to a vocabulary.

    Args:
        walk: The walk, which has the matmuls and the tables.
    """

    def __init__(self, walk: Walk) -> None:
        self._tables = walk.tables
        self._shapes = {(table.columns, table.rows) for table in walk.tables}
        forward = [matmul for matmul in walk.matmuls if matmul.part == FORWARD]
        self._forward = ValueSet(matmul.op.results[0] for matmul in forward)
        self._uses: dict[Hashable, list[Matmul]] = {}
        for matmul in forward:
            for origin in matmul.origins:
                self._uses.setdefault(_key(origin), []).append(matmul)

    def has(self, matmul: Matmul, side: int | None) -> bool:
        """Whether a matmul is a forward projection to a vocabulary.

        Args:
            matmul: The matmul.
            side: The number of the operand that is a weight; None if neither is.
        """
        weight = None if side is None or matmul.part != FORWARD else _weight(matmul.op, side)
        if side is None or weight is None:
            return False
        origin, outputs = matmul.origins[side], math.prod(weight.outputs)
        if any(table.is_of(origin) and table.rows in weight.outputs for table in self._tables):
            return True
        wide = outputs >= max(RATIO * weight.inputs, LEAST)
        # A square weight right after a lookup may belong to a layer.
        alike = outputs != weight.inputs or len(self._forward) > 1
        if not wide and not (alike and (weight.inputs, outputs) in self._shapes):
            return False
        # A recomputed matmul has no other forward matmul after it.
        return all(map(self._is_last, self._uses[_key(origin)]))

    def _is_last(self, matmul: Matmul) -> bool:
        """Whether no other forward matmul depends on the result of a matmul.

        The nearest values come first, as the next matmul is near where there is one.
        """
        start = matmul.frame.place(matmul.op.results[0])
        waiting, seen = deque([start]), {start}
        while waiting and len(seen) < PROJECTION_VALUES:
            value, frame = waiting.popleft()
            for use in value.uses:
                user = use.owner.operation
                name = user.name
                if name in MATMULS:
                    if user.results[0] in self._forward:
                        return False
                    continue
                made = [place for place in _after(use, user, name, frame) if place not in seen]
                waiting += made
                seen.update(made)
        return True


def _key(origin: Origin) -> Hashable:
    """Returns the key of a tensor: its argument, if it comes from one."""
    return origin if origin.argument is None else origin.argument


def _weight(op: ir.OpView, side: int) -> _Weight | None:
    """Returns the weight of a matmul; None for convolutions, or if a size is not static."""
    shape = list(op.operands[side].type.shape)
    if min(shape, default=-1) < 0:
        return None
    if op.operation.name == "stablehlo.dot":
        summed = [0] if side else [len(shape) - 1]
        gone = set(summed)
    elif op.operation.name == "stablehlo.dot_general":
        numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
        left = numbers.lhs_contracting_dimensions, numbers.lhs_batching_dimensions
        right = numbers.rhs_contracting_dimensions, numbers.rhs_batching_dimensions
        summed = list((left, right)[side][0])
        gone = {*summed, *(left, right)[side][1]}
    else:
        return None
    outputs = [size for d, size in enumerate(shape) if d not in gone]
    return _Weight(outputs, math.prod(shape[d] for d in summed))


def _after(use: ir.OpOperand, user: ir.Operation, name: str, frame: Frame) -> list[Place]:
    """Returns the float results of a use, also inside of calls and loops, and after them."""
    if name in RETURNS:
        return frame.returned(use)
    if name in INSIDES - BRANCHES:
        return frame.targets(use)
    return [frame.place(result) for result in user.results if _is_float(result)]


def _is_float(value: ir.Value) -> bool:
    type_ = value.type
    return isinstance(type_, ir.RankedTensorType) and isinstance(type_.element_type, ir.FloatType)
