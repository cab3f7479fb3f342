"""The number of turns of a loop that counts from a constant to another, as loops of jax do."""

from __future__ import annotations

from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.ir.functions import is_block, terminator
from scalify_hlo.ir.splats import integer_of
from scalify_hlo.ir.through import behind
from scalify_hlo.ir.traits import SUMS

_MIRRORED: Final = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "NE": "NE"}
"""The directions in which a counter is compared with its limit, by that of the two swapped."""


def turns_of(op: ir.Operation) -> int | None:
    """Returns the number of turns of a ``stablehlo.while``; None if it is not known.

    Args:
        op: The loop. Its condition has to compare a carry with a constant, or with a carry that
            stays one; the carry has to start with a constant, and to move by one in each turn.
    """
    condition, body = (region.blocks[0] for region in op.regions)
    test = behind(terminator(condition).operands[0], ()).owner
    if is_block(test) or test.name != "stablehlo.compare":
        return None
    direction = stablehlo.ComparisonDirectionAttr(test.attributes["comparison_direction"]).value
    counter, limit = (behind(each, ()) for each in test.operands)  # Explicit axes constrain them.
    number = _number(counter, condition)
    if number is None or _kept(number, body):
        counter, limit, direction = limit, counter, _MIRRORED.get(direction, "")
        number = _number(counter, condition)
    if number is None or direction not in _MIRRORED:
        return None
    start, end = integer_of(behind(op.operands[number], ())), _constant(limit, condition, op)
    step = _step(terminator(body).operands[number], body.arguments[number])
    if start is None or end is None or not step:
        return None
    return _count(start, end, step, direction)


def _count(start: int, end: int, step: int, direction: str) -> int | None:
    """Returns how often a counter is compared with success; None if that never ends."""
    distance = end - start
    if direction == "NE":
        turns, rest = divmod(distance, step)
        return None if rest or turns < 0 else turns
    if direction.startswith("G"):
        distance, step = -distance, -step
    distance += direction.endswith("E")
    if distance > 0 > step:
        return None
    return max(0, -(-distance // step)) if step > 0 else 0


def _number(value: ir.Value, block: ir.Block) -> int | None:
    """The number of an argument of a block; None for other values."""
    if is_block(value.owner) and value.owner == block:
        return int(ir.BlockArgument(value).arg_number)
    return None


def _kept(number: int, body: ir.Block) -> bool:
    """Whether no turn changes a carry."""
    return bool(terminator(body).operands[number] == body.arguments[number])


def _constant(value: ir.Value, condition: ir.Block, op: ir.Operation) -> int | None:
    """An integer constant, which may be a carry that no turn changes."""
    number = _number(value, condition)
    if number is None:
        return integer_of(value)
    start = behind(op.operands[number], ())
    return integer_of(start) if _kept(number, op.regions[1].blocks[0]) else None


def _step(value: ir.Value, argument: ir.Value) -> int | None:
    """The constant by which an argument moves; None if it is another value."""
    owner = behind(value, ()).owner
    if is_block(owner) or owner.name not in SUMS:
        return None
    adds, (one, other) = owner.name == "stablehlo.add", (behind(v, ()) for v in owner.operands)
    if other == argument and adds:
        one, other = other, one
    step = integer_of(other) if one == argument else None
    return step if step is None or adds else -step
