"""The arguments of which a program takes the root or the logarithm, so that they have a sign.

An argument is followed through ops that keep the sign of its elements: moves, casts, factors, sums
with other terms and differences, as in moving averages, and sums over dimensions. Squares,
magnitudes and exponentials have a sign whatever the argument is, so the search ends at them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import FLOW_VALUES
from scalify_hlo.algebra.search import Search
from scalify_hlo.dataflow.frames import Frame, Place
from scalify_hlo.dataflow.reach import is_uniform, rank_of
from scalify_hlo.ir.formats import are_floats
from scalify_hlo.ir.splats import filled_with
from scalify_hlo.ir.through import behind
from scalify_hlo.ir.traits import BROADCASTS, EXTREMES, OF_POSITIVE, PASSES, PRODUCTS, where

_POWER: Final = "stablehlo.power"
_DIFFERENCE: Final = "stablehlo.subtract"
_REDUCING: Final = where("reduction", "device_sum")


def nonnegative_arguments(main: ir.OpView) -> frozenset[int]:
    """Returns the numbers of the float arguments of which a program takes the root or logarithm.

    Args:
        main: The entry function of the program.
    """
    frame = Frame.of(main)
    arguments = main.regions[0].blocks[0].arguments
    floats = are_floats([argument.type for argument in arguments])
    found = frozenset(
        number
        for number, argument in enumerate(arguments)
        if floats[number]
        and any(
            _is_root(use, use.owner.operation)
            for value, _ in Search([frame.place(argument)], _after, limit=FLOW_VALUES)
            for use in value.uses
        )
    )
    frame.release()
    return found


def _is_root(use: ir.OpOperand, op: ir.Operation) -> bool:
    """Whether an op takes the root or the logarithm of an operand."""
    if op.name == _POWER and use.operand_number == 0:
        return not _is_integral(op.operands[1])
    return op.name in OF_POSITIVE


def _is_integral(value: ir.Value) -> bool:
    """Whether a value is a constant of whole numbers, or a broadcast of one."""
    number = filled_with(behind(value, BROADCASTS))
    return number is not None and number % 1 == 0


def _after(place: Place) -> Iterator[Place]:
    """Yields the values that have the sign of a value."""
    value, frame = place
    for use in value.uses:
        moved, op = frame.passed_on(use, turns=True), use.owner.operation
        if moved is not None:
            yield from moved
        elif _is_of_sign(use, op):
            yield from map(frame.place, op.results)


def _is_of_sign(use: ir.OpOperand, op: ir.Operation) -> bool:
    """Whether the result of an op has the sign of an operand."""
    if op.name in EXTREMES:
        return not is_uniform(op.operands[1 - use.operand_number])  # else it may replace the sign
    if op.name == _DIFFERENCE:
        return bool(use.operand_number == 0)
    if op.name in PRODUCTS:
        return _is_scaled(use, op)
    return op.name in PASSES or op.name in _REDUCING


def _is_scaled(use: ir.OpOperand, op: ir.Operation) -> bool:
    """Whether an op multiplies or divides an operand by one number."""
    other = op.operands[1 - use.operand_number]
    return other != op.operands[use.operand_number] and (
        is_uniform(other) or (rank_of(other) == 0 and not isinstance(other.owner, ir.Block))
    )
