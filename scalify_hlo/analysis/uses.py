"""The uses of a program's arguments: by the model, or by updates of its state alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.algebra.search import Search
from scalify_hlo.analysis.frames import RETURNS, Frame, Place
from scalify_hlo.analysis.reach import (
    BROADCAST,
    OPERANDS,
    SLICING,
    in_loop,
    is_of_stack,
    is_uniform,
)
from scalify_hlo.dialect import traits
from scalify_hlo.dialect.functions import is_block

_SLICE = "stablehlo.slice"
_QUANTIZING = traits.ROUNDS | traits.CASTING | traits.EXTREMES


def is_used_elsewhere(argument: Place) -> bool:
    """Whether the model computes with an argument, and not only its own update.

    A model that quantizes its weights, or computes in bf16, reads casts of them.
    """

    def after(node: _Read | None) -> Iterator[_Read | None]:
        if node is not None:
            (value, frame), part = node
            for use in value.uses:
                yield from _read(use, frame, part=part)

    return any(node is None for node in Search[_Read | None]([(argument, False)], after))


_Read: TypeAlias = tuple[Place, bool]
"""What an argument is in some place, and whether that is a part or a cast of it."""


def _read(use: ir.OpOperand, frame: Frame, *, part: bool) -> Iterator[_Read | None]:
    """Yields what an argument becomes by a use; None if the model computes with it."""
    owner, name = use.owner, use.owner.name
    if name in OPERANDS:
        if name in _QUANTIZING and _quantizes(owner, use.operand_number):
            yield frame.place(owner.operation.results[0]), True
    elif _is_of_stack(owner, name, frame):
        yield frame.place(owner.operation.results[0]), True
    elif name not in RETURNS or part:
        places = frame.passed_on(use) or ()
        yield from ((place, part) for place in places)
        if not places and name not in RETURNS:
            yield None


def _quantizes(op: ir.OpView, number: int) -> bool:
    """Whether an op rounds a tensor, or bounds or scales it by scalars: a step of a cast.

    Scalars are scaled too, but by an optimizer.

    Args:
        op: The op.
        number: The number of the operand that is the tensor.
    """
    operands = op.operands
    if not operands[number].type.rank:
        return False
    return all(_is_one_number(operands[i]) for i in range(len(operands)) if i != number)


def _is_one_number(value: ir.Value) -> bool:
    owner = value.owner
    if not is_block(owner) and owner.name == BROADCAST:
        return bool(math.prod(owner.operands[0].type.shape) == 1)
    return is_uniform(value) or not value.type.rank


def _is_of_stack(op: ir.OpView, name: str, frame: Frame) -> bool:
    """Whether an op in a loop reads or writes a slice of a stack."""
    if frame.op is None or name not in SLICING:
        return False
    return in_loop(frame) and is_of_stack(op, name)


def is_read_as_numbers(argument: Place) -> bool:
    """Whether a program reads single elements of an argument, such as coefficients."""

    def inside(place: Place) -> list[Place]:
        return [each for use in place.value.uses for each in place.frame.targets(use)]

    return all(
        place.frame.targets(use) or use.owner.name in RETURNS or _is_of_one_number(use.owner)
        for place in Search([argument], inside)
        for use in place.value.uses
    )


def _is_of_one_number(op: ir.OpView) -> bool:
    """Whether an op reads a single element."""
    return bool(op.name == _SLICE and math.prod(op.results[0].type.shape) == 1)
