"""Measures the energies of the operands and results of the matmuls of a program.

The energy of a tensor is the sum of its squares.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.commands.choose.operand_errors import following, matmuls_of, squares
from scalify_hlo.dataflow.frames import named
from scalify_hlo.dataflow.matmuls import Matmul, Walk
from scalify_hlo.dataflow.names import BACKWARD, FORWARD
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.formats import is_real
from scalify_hlo.ir.functions import main_function
from scalify_hlo.program.tensors import Array
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


# The gradients that a program holds with respect to the results of its matmuls.
#
# The backward matmuls of ``Y = A . B`` are ``dA = dY . B`` and ``dB = dY . A``. Both have the
# gradient of ``Y`` as an operand.


@dataclass(frozen=True)
class Backward:
    """The backward pass of a program, by the numbers of its ops.

    Attributes:
        cotangents: For each forward matmul: the number of a matmul with the gradient of its result,
            and the number of the operand that is the gradient.
        weights: The backward matmuls whose results are gradients of weights.
        activations: For each other backward matmul whose result is a gradient of an operand of a
            forward one: the number of that matmul, and the number of the operand.
    """

    cotangents: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    weights: frozenset[int] = frozenset()
    activations: Mapping[int, tuple[int, int]] = field(default_factory=dict)


def backward_of(module: ir.Module) -> Backward:
    """Returns the backward pass of a program with numbered ops.

    Args:
        module: The program, which is not edited.
    """
    with module.context:
        main = main_function(module.operation)
        if main is None or not main.regions[0].blocks:
            return Backward()
        walk = Walk(functions_in(module.operation))
        walk.main(main, named(main.regions[0].blocks[0]))
        found = _read(walk.matmuls)
        walk.release()
    return found


def _read(matmuls: Sequence[Matmul]) -> Backward:
    cotangents: dict[int, tuple[int, int]] = {}
    weights, activations = set[int](), dict[int, tuple[int, int]]()
    for matmul in matmuls:
        if matmul.part != BACKWARD:
            continue
        number, partner = _number(matmul), matmul.partner
        if partner is None:
            continue
        cotangents.setdefault(_number(partner), (number, matmul.gradients.index(True)))
        if matmul.is_of_weight:
            weights.add(number)
        else:
            activations[number] = _number(partner), 1 - matmul.shared
    _add_recomputed(matmuls, cotangents)
    return Backward(cotangents, frozenset(weights), activations)


def _add_recomputed(matmuls: Sequence[Matmul], cotangents: dict[int, tuple[int, int]]) -> None:
    """Adds the gradients of matmuls that the backward pass recomputes.

    The backward matmuls share the operands of the recomputed matmul. The result of the first one
    has the same gradient.
    """
    known = {
        _weight_of(each): cotangents[_number(each)]
        for each in matmuls
        if each.weight is not None and _number(each) in cotangents
    }
    for each in matmuls:
        if each.part == FORWARD and each.weight is not None and _weight_of(each) in known:
            cotangents.setdefault(_number(each), known[_weight_of(each)])


def _weight_of(matmul: Matmul) -> tuple[object, ...]:
    return matmul.origins[matmul.weight or 0], str(matmul.op.results[0].type)


def _number(matmul: Matmul) -> int:
    number: int = ir.IntegerAttr(matmul.op.attributes[attributes.VALUE_NUMBER]).value
    return number
