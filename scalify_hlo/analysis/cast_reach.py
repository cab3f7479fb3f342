"""The casts of a recipe whose data depend on the size of an argument."""

from __future__ import annotations

from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import FLOW_VALUES
from scalify_hlo.analysis.frames import INSIDES, LOOP, RETURNS, Frame, Place
from scalify_hlo.analysis.layers.model import NORMS
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.formats import format_of
from scalify_hlo.dialect.traits import COPIES

_OF_DATA: Final = frozenset({attributes.DATA, attributes.GRADIENT})

_SIZELESS: Final = NORMS | {"softmax"}
"""The layers whose results have a size that does not depend on the inputs."""


def reaches_narrow_cast(start: Place) -> bool:
    """Whether a cast to a format of less range than f32 depends on the size of an argument.

    Data are followed through all ops except normalizations and softmaxes, whose results have a
    size that does not depend on that of the argument. If there are too many values to follow, the
    answer is yes.
    """
    waiting, seen = [start], {start}
    while waiting and len(seen) < FLOW_VALUES:
        value, frame = waiting.pop()
        for use in value.uses:
            owner = use.owner.operation
            if _is_narrow_cast(owner):
                return True
            found = [place for place in _after(use, owner, frame) if place not in seen]
            seen.update(found)
            waiting += found
    return bool(waiting)


def _is_narrow_cast(op: ir.Operation) -> bool:
    if attributes.CAST not in op.attributes:
        return False
    kind, format_ = op.attributes[attributes.CAST].value, format_of(op.results[0].type)
    return kind in _OF_DATA and format_ is not None and not format_.wide


def _after(use: ir.OpOperand, owner: ir.Operation, frame: Frame) -> list[Place]:
    """Returns the values that the uses of a value make, if they have a size."""
    name = owner.name
    if name in RETURNS:
        return [*frame.returned(use), *next_turn(use, frame)]
    if name in INSIDES:
        return frame.targets(use)
    if name in COPIES:
        return [frame.place(owner.results[use.operand_number])]
    if attributes.LAYER in owner.attributes:
        layers = attributes.texts(owner.attributes[attributes.LAYER])
        if not _SIZELESS.isdisjoint(layers):
            return []
    return [frame.place(r) for r in owner.results if format_of(r.type) is not None]


def next_turn(use: ir.OpOperand, frame: Frame) -> list[Place]:
    """Returns the carry of the next iteration for a value that the body of a loop returns."""
    block = use.owner.operation.block
    loop = block.owner.operation
    if loop.name != LOOP or block != loop.regions[1].blocks[0]:
        return []
    return [frame.place(block.arguments[use.operand_number])]
