"""Measures the energies of the operands and results of the matmuls of a program.

The energy of a tensor is the sum of its squares.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.choose.operand_errors import following, matmuls_of, squares
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.formats import is_real
from scalify_hlo.io.tensors import Array
from scalify_hlo.rules import emit
from scalify_hlo.transforms.hoist import add_results, lift

_ADDED: Final = "energies"


@dataclass(frozen=True, slots=True)
class Energy:
    """The energies of a matmul, over all its calls.

    Attributes:
        operands: The energies of its operands.
        result: The energy of its result.
        count: The number of elements of its result.
    """

    operands: tuple[float, float]
    result: float
    count: float

    def __add__(self, other: Energy) -> Energy:
        """Returns the energies of two calls together."""
        lhs, rhs = self.operands
        more, others = other.operands
        return Energy(
            (lhs + more, rhs + others), self.result + other.result, self.count + other.count
        )


NOTHING: Final = Energy((0.0, 0.0), 0.0, 0.0)
"""The energies of no call."""


def measure_energies(main: ir.OpView, wanted: Container[int]) -> list[int]:
    """Makes a function return the energies of its matmuls.

    Args:
        main: A function with numbered ops, in which calls were inlined. It is edited.
        wanted: The numbers of the ops that are measured, if their operands and result are real.

    Returns:
        The number of each measured op, in program order. The added results are the last of the
        function, in the same order.
    """
    numbers: list[int] = []
    sums: list[ir.Value] = []
    for op in matmuls_of(main):
        number = ir.IntegerAttr(op.attributes[attributes.VALUE_NUMBER]).value
        values = [*list(op.operands)[:2], op.results[0]]
        if number in wanted and all(is_real(value.type) for value in values):
            numbers.append(number)
            sums.append(_energies(op, values))
    lifted = lift(main, sums, "add")
    add_results(main, lifted, [_ADDED] * len(lifted))
    return numbers


def _energies(op: ir.Operation, values: Sequence[ir.Value]) -> ir.Value:
    """Returns the energies of three tensors and the size of the last one, as ``f32[4]``."""
    at = following(op)
    one = ir.RankedTensorType.get([1], ir.F32Type.get())
    size = emit.constant(one, math.prod(values[-1].type.shape), at)
    parts = [squares(emit.convert(value, ir.F32Type.get(), at), at) for value in values]
    return stablehlo.concatenate(
        [*parts, size], 0, **emit.before(at)
    )  # fmt: skip


def energies_of(numbers: Sequence[int], results: Sequence[Array]) -> Mapping[int, Energy]:
    """Returns the energies of a run by the numbers of ops.

    Args:
        numbers: The measured ops.
        results: The results of the run; the last ones are those that `measure_energies` added.
    """
    found: dict[int, Energy] = {}
    for number, row in zip(numbers, results[len(results) - len(numbers) :], strict=True):
        lhs, rhs, result, count = np.asarray(row, np.float64).tolist()
        found[number] = found.get(number, NOTHING) + Energy((lhs, rhs), result, count)
    return found
