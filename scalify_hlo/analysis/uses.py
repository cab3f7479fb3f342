"""The uses of a program's arguments: by the model, or by updates of its state alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scalify_hlo._compat import ir
from scalify_hlo.analysis.frames import INSIDES, RETURNS, Frame, Place
from scalify_hlo.analysis.reach import (
    BROADCAST,
    ELEMENTWISE,
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
    waiting, seen = [argument], {argument}
    parts: set[Place] = set()
    while waiting:
        place = waiting.pop()
        value, frame = place
        for use in value.uses:
            owner = use.owner
            name = owner.name
            inside: Sequence[Place] = ()
            if name in traits.COPIES:
                inside = [frame.place(owner.results[use.operand_number])]
                parts.update(inside if place in parts else ())
            elif name in ELEMENTWISE:
                if name in _QUANTIZING and _quantizes(owner, use.operand_number):
                    inside = [frame.place(owner.operation.results[0])]
                    parts.update(inside)
            elif name in RETURNS:
                inside = frame.returned(use) if place in parts else ()
            elif _is_of_stack(owner, name, frame):
                inside = [frame.place(owner.operation.results[0])]
                parts.update(inside)
            else:
                inside = frame.targets(use)
                if not inside:
                    return True
                if place in parts:
                    parts.update(inside)
            waiting += [each for each in inside if each not in seen]
            seen.update(inside)
    return False


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
    waiting, seen = [argument], {argument}
    while waiting:
        value, frame = waiting.pop()
        for use in value.uses:
            name = use.owner.operation.name
            if name in RETURNS:
                continue
            inside = frame.targets(use) if name in INSIDES else []
            if not inside and (name != _SLICE or math.prod(use.owner.results[0].type.shape) != 1):
                return False
            waiting += [each for each in inside if each not in seen]
            seen.update(inside)
    return True
