"""Detection of the matmuls that project to a vocabulary.

The training step and the inference program of one model have the same ones, as the weight decides,
and not the loss. It is the weight of an embedding, or has the transposed shape of one, or has far
more outputs than inputs.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import PROJECTION_VALUES
from scalify_hlo.algebra.search import Search
from scalify_hlo.dataflow.frames import Place
from scalify_hlo.dataflow.matmuls import Matmul, Walk
from scalify_hlo.dataflow.names import FORWARD
from scalify_hlo.dataflow.origins import Origin
from scalify_hlo.ir.contraction import DOT, DOT_GENERAL, contraction_of
from scalify_hlo.ir.formats import floats
from scalify_hlo.ir.traits import MATMULS
from scalify_hlo.ir.value_map import ValueSet

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
        search = Search([start], _after, limit=PROJECTION_VALUES, nearest=True)
        users = (use.owner.operation for value, _ in search for use in value.uses)
        return not any(u.name in MATMULS and u.results[0] in self._forward for u in users)


def _key(origin: Origin) -> Hashable:
    """Returns the key of a tensor: its argument, if it comes from one."""
    return origin if origin.argument is None else origin.argument


def _weight(op: ir.OpView, side: int) -> _Weight | None:
    """Returns the weight of a matmul; None for convolutions, or if a size is not static."""
    shape = list(op.operands[side].type.shape)
    if min(shape, default=-1) < 0:
        return None
    if op.operation.name not in (DOT, DOT_GENERAL):
        return None
    _, free, summed = contraction_of(op)[side]
    return _Weight([shape[d] for d in free], math.prod(shape[d] for d in summed))


def _after(place: Place) -> Iterator[Place]:
    """Yields the float values that are made of a value, but by matmuls, also inside of calls."""
    value, frame = place
    for use in value.uses:
        moved, user = frame.passed_on(use), use.owner.operation
        if moved is not None:
            yield from moved
        elif user.name not in MATMULS:
            yield from map(frame.place, floats(user.results))
