"""Facts about single values that several lints need."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.algebra.search import Search
from scalify_hlo.dialect.splats import dense_of, filled_with
from scalify_hlo.dialect.traits import BROADCASTS, COPIES, LAYOUT, RESHAPES, ROUNDS
from scalify_hlo.dialect.value_map import ValueSet

MOVES: Final = BROADCASTS | COPIES | LAYOUT | RESHAPES
"""Ops whose result has the elements of their operand, unchanged."""

CARRIES: Final = MOVES | ROUNDS
"""Ops whose result has the elements of their operand, in another format perhaps."""


def maker(value: ir.Value) -> ir.Operation | None:
    """Returns the op that makes a value; None for an argument of a block."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner


def behind(value: ir.Value, names: frozenset[str] = CARRIES) -> ir.Value:
    """Returns the value that another one is, as far as it only passes ops of some names."""
    while (op := maker(value)) is not None and op.name in names:
        number = ir.OpResult(value).result_number if len(op.results) > 1 else 0
        value = op.operands[number]
    return value


def number_of(value: ir.Value) -> float | None:
    """Returns the number that all elements of a value are; None if it is not one constant."""
    return filled_with(behind(value))


def extremes_of(op: ir.Operation) -> tuple[float, ...]:
    """Returns the least and the largest element of a constant, as far as they can be read."""
    number = number_of(op.results[0])
    if number is not None:
        return (number,)
    elements, element = dense_of(op.results[0]), op.results[0].type.element_type
    if elements is None or not isinstance(element, (ir.F32Type, ir.F64Type, ir.F16Type)):
        return ()
    values = np.array(elements)
    return (float(np.min(values)), float(np.max(values))) if values.size else ()


def users_of(
    value: ir.Value, names: frozenset[str] = CARRIES
) -> Iterator[tuple[ir.Operation, int]]:
    """Yields the ops that take a value, past ops of some names, with the number of the operand."""

    def moved(value: ir.Value) -> Iterator[ir.Value]:
        users = (use.owner.operation for use in value.uses)
        return (result for user in users if user.name in names for result in user.results)

    for found in Search([value], moved, seen=ValueSet()):
        for use in found.uses:
            if use.owner.operation.name not in names:
                yield use.owner.operation, use.operand_number


def elements_of(value: ir.Value) -> int:
    """Returns the number of elements of a tensor, with dimensions of unknown size left out."""
    count: int = math.prod(size for size in value.type.shape if size > 0)
    return count
