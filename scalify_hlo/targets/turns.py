"""The number of turns of a loop in optimized HLO.

XLA writes it on loops for CPUs and GPUs. For TPUs it is found from a counter: its first value, what
is added to it in each turn, and the bound that the condition compares it with.
"""

from __future__ import annotations

import re
from typing import Final

from scalify_hlo.targets.hlo import Computation, Instruction, Module

_KNOWN: Final = re.compile(r'"known_trip_count":\{"n":"?(\d+)')
_SAME: Final = ("copy", "bitcast", "convert")


def turns(loop: Instruction, inside: Computation, module: Module) -> int | None:
    """Returns the number of turns of a loop; None if it is not known.

    Args:
        loop: The ``while`` instruction.
        inside: The computation of the instruction.
        module: The module.
    """
    if found := _KNOWN.search(loop.attributes):
        return int(found[1])
    condition, body = (module.computations.get(loop.text(key)) for key in ("condition", "body"))
    operands = inside.operands(loop)
    if condition is None or body is None or len(operands) != 1:
        return None
    compared = condition.operands(condition.root)
    if condition.root.text("direction") != "LT" or len(compared) != 2:
        return None
    place = _place(compared[0])
    first = _constant(_element(operands[0], place, inside), inside)
    step = _step(_element(body.root, place, body), body)
    bound = _constant(compared[1], condition)
    if first is None or step is None or bound is None:
        return None
    return max(-(-(bound - first) // step), 0)


def _place(counter: Instruction) -> int:
    """Returns the place of a counter among the values of a loop; -1 if it is none of them."""
    return int(counter.text("index") or -1) if counter.opcode == "get-tuple-element" else -1


def _element(values: Instruction, place: int, inside: Computation) -> Instruction | None:
    elements = inside.operands(values)
    known = values.opcode == "tuple" and 0 <= place < len(elements)
    return elements[place] if known else None


def _constant(value: Instruction | None, inside: Computation) -> int | None:
    while value is not None and value.opcode in _SAME:
        value = next(iter(inside.operands(value)), None)
    if value is None or value.opcode != "constant" or not value.operands[0].isdecimal():
        return None
    return int(value.operands[0])


def _step(value: Instruction | None, body: Computation) -> int | None:
    """Returns the constant that is added to a counter; None if anything else is done to it."""
    while value is not None and value.opcode in _SAME:
        value = next(iter(body.operands(value)), None)
    if value is None or value.opcode != "add":
        return None
    steps = (_constant(operand, body) for operand in body.operands(value))
    return next((step for step in steps if step), None)
