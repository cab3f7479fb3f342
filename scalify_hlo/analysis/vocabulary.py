"""Which matmuls project to a vocabulary.

A training step and an inference program of one model have the same ones: what counts is the weight,
not the loss that comes after. It is that of an embedding, or of the shape of one the other way
around, or far wider than what it is multiplied with.
"""

from __future__ import annotations

import math
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
"""How many times as many outputs as inputs a weight has that is taken for a vocabulary's."""

LEAST: Final = 8192
"""The least number of outputs of such a weight, if the program looks up no embedding like it."""


class _Weight(NamedTuple):
    """The weight of a forward matmul.

    Attributes:
        outputs: The sizes of the dimensions that stay.
        inputs: The product of those that are summed over.
    """

    outputs: list[int]
    inputs: int


class Projections:
    """Tells which matmuls of a program project to a vocabulary.

    Args:
        walk: Has its matmuls, and the tables that rows are looked up in.
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
            side: Which of its operands is a weight; None if neither is.
        """
        weight = None if side is None or matmul.part != FORWARD else _weight(matmul.op, side)
        if side is None or weight is None:
            return False
        origin, outputs = matmul.origins[side], math.prod(weight.outputs)
        if any(table.is_of(origin) and table.rows in weight.outputs for table in self._tables):
            return True
        wide = outputs >= max(RATIO * weight.inputs, LEAST)
        # A square weight right after a lookup may as well be a layer's.
        alike = outputs != weight.inputs or len(self._forward) > 1
        if not wide and not (alike and (weight.inputs, outputs) in self._shapes):
            return False
        # What is computed again for the backward pass has no other forward matmul after it.
        return all(map(self._is_last, self._uses[_key(origin)]))

    def _is_last(self, matmul: Matmul) -> bool:
        """Whether no other forward matmul takes what is made of a matmul's result."""
        start = matmul.frame.place(matmul.op.results[0])
        waiting, seen = [start], {start}
        while waiting and len(seen) < PROJECTION_VALUES:
            value, frame = waiting.pop()
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
    """What a tensor is told apart by from those of other arguments."""
    return origin if origin.argument is None else origin.argument


def _weight(op: ir.OpView, side: int) -> _Weight | None:
    """The weight of a matmul; None if it is a convolution, or a size is not known."""
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
    """The floats that an op makes of an operand, also in and after calls and loops."""
    if name in RETURNS:
        return frame.returned(use)
    if name in INSIDES - BRANCHES:
        return frame.targets(use)
    return [frame.place(result) for result in user.results if _is_float(result)]


def _is_float(value: ir.Value) -> bool:
    type_ = value.type
    return isinstance(type_, ir.RankedTensorType) and isinstance(type_.element_type, ir.FloatType)
