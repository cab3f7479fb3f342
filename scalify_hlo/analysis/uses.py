"""The uses of a program's arguments: by the model, or by updates of its state alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scalify_hlo._compat import ir
from scalify_hlo.analysis.frames import INSIDES, RETURNS, Frame, Place
from scalify_hlo.analysis.reach import ELEMENTWISE, SLICING, in_loop, is_of_stack

_SLICE = "stablehlo.slice"


def is_used_elsewhere(argument: Place) -> bool:
    """Whether the model computes with an argument, and not only its own update."""
    waiting, seen = [argument], {argument}
    slices: set[Place] = set()
    while waiting:
        place = waiting.pop()
        value, frame = place
        for use in value.uses:
            name = use.owner.name
            if name in ELEMENTWISE:
                continue
            if name in RETURNS:
                inside: Sequence[Place] = frame.returned(use) if place in slices else ()
            elif _is_of_stack(use.owner, name, frame):
                inside = [frame.place(use.owner.operation.results[0])]
                slices.update(inside)
            else:
                inside = frame.targets(use)
                if not inside:
                    return True
                if place in slices:
                    slices.update(inside)
            waiting += [each for each in inside if each not in seen]
            seen.update(inside)
    return False


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
