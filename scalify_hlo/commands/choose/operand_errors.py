"""Measures the errors that the casts of matmul operands make in a rewritten program.

Beside each matmul of narrow operands stands the matmul of the same operands before their casts, and
the program returns the sums of the squares of its result and of the difference of both. It does the
same for each operand. These are the casts of the recipe itself, at the scales that it chose, with
saturation included. The operands are those of the rewritten program, so errors that were made
before are not counted.

The result tells more than the operands. If one channel of an operand is much larger than the
others, these may be lost in the cast with almost no error of the operand as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Final, NamedTuple

import numpy as np

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.commands.stats.numbering import number_of
from scalify_hlo.commands.stats.packing import Added
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.contraction import dot_numbers
from scalify_hlo.ir.formats import format_of
from scalify_hlo.ir.traits import MATMULS, where
from scalify_hlo.ir.value_map import ValueMap
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.program.tensors import Array
from scalify_hlo.rules.saturation import unsaturated

_CONVERT: Final = "stablehlo.convert"
_BARRIER: Final = "stablehlo.optimization_barrier"
_MOVES: Final = where(*("reshape", "transpose", "reverse", "broadcast"), dynamic=False)
_LEFT_OUT: Final = frozenset({"algorithm", attributes.VALUE_NUMBER})


LHS, RHS, RESULT = "lhs", "rhs", "result"


@dataclass(frozen=True, slots=True)
class CastError:
    """The error of an operand or of the result of a matmul, over all its calls.

    Attributes:
        signal: The sum of the squares of the data without casts.
        noise: The sum of the squares of their errors.
        product: The scalar product of both.
    """

    signal: float
    noise: float
    product: float = 0.0

    @property
    def growth(self) -> float:
        """The part of the errors along the data, as a share of these; its sign is left out.

        It is at most the root of the ratio, as which it counts if it is not known.
        """
        known = math.isfinite(self.signal) and math.isfinite(self.product) and self.signal
        return abs(self.product) / self.signal if known else math.sqrt(self.ratio)

    @property
    def ratio(self) -> float:
        """The noise over the signal; infinite if an element is not finite."""
        if not math.isfinite(self.signal) or not math.isfinite(self.noise):
            return math.inf
        if not self.signal:
            return math.inf if self.noise else 0.0
        return self.noise / self.signal


class Casts:
    """The casts of matmul operands that a program measures; none before `measure`.

    Attributes:
        added: The sums for operands that are cast, and for the results of their matmuls.
    """

    def __init__(self) -> None:
        self.added = Added()
        self._found: list[tuple[tuple[str, str], int]] = []

    def measure(self, main: ir.OpView, sites: Mapping[int, str]) -> None:
        """Makes a function return the errors of the casts of matmul operands.

        Args:
            main: A rewritten function with numbered ops, in which calls were inlined. It is edited.
            sites: The site of each matmul by the number of its op.
        """
        known: ValueMap[int] = ValueMap()
        for number, op in matmuls_of(main):
            if number in sites:
                self._matmul(op, sites[number], known)
        self.added.finish(main)

    def _matmul(self, op: ir.Operation, site: str, known: ValueMap[int]) -> None:
        """Measures the operands of a matmul that are cast, and its result if there is one."""
        casts = [_CastOperand.of(operand) for operand in list(op.operands)[:2]]
        for name, cast in zip((LHS, RHS), casts, strict=True):
            if cast is not None:
                data = cast.op.results[0]
                if data not in known:
                    sums = _sums(unsaturated(cast.op.operands[0]), data, following(cast.op))
                    known[data] = self.added.add(sums, "add")
                self._found.append(((site, name), known[data]))
        if any(casts):
            at = following(op)
            wide = _wide_matmul(op, casts)
            number = self.added.add(_sums(wide, op.results[0], at), "add")
            self._found.append(((site, RESULT), number))

    def errors(self, results: Sequence[Array]) -> dict[tuple[str, str], CastError]:
        """Returns the errors of a run, of which all results are given.

        Returns:
            The errors by the site of the matmul and by ``lhs``, ``rhs`` or ``result``.
        """
        added = [np.asarray(each, np.float64) for each in self.added.read(results)]
        found: dict[tuple[str, str], CastError] = {}
        for key, number in self._found:
            sums = zip(
                astuple(found.get(key, CastError(0, 0))), added[number].tolist(), strict=True
            )
            found[key] = CastError(*map(sum, sums))
        return found


def matmuls_of(main: ir.OpView) -> list[tuple[int, ir.Operation]]:
    """Returns the numbered matmuls of a function with their numbers, in program order."""
    pairs = ((number_of(op), op) for op in ops_in(main, MATMULS, outer_first=True))
    return [(number, op) for number, op in pairs if number is not None]


class _CastOperand(NamedTuple):
    """An operand of a matmul that is cast.

    Attributes:
        op: The cast.
        moves: The reshapes and transposes from its result to the operand, in order.
    """

    op: ir.Operation
    moves: tuple[ir.Operation, ...]

    @classmethod
    def of(cls, value: ir.Value) -> _CastOperand | None:
        """Returns the cast that makes an operand; None if no cast of its block, or before, does."""
        moves: list[ir.Operation] = []
        while not isinstance(value.owner, ir.Block) and value.type.has_static_shape:
            op = value.owner.operation
            if op.name == _CONVERT:
                return cls(op, tuple(reversed(moves))) if _narrows(op) else None
            if op.name == _BARRIER:
                value = op.operands[ir.OpResult(value).result_number]
            elif op.name in _MOVES:
                moves.append(op)
                value = op.operands[0]
            else:
                break
        return None

    def wide(self, at: ir.Operation) -> ir.Value:
        """Builds the operand without the cast before an op, as f32."""
        value = emit.convert(unsaturated(self.op.operands[0]), ir.F32Type.get(), at)
        for op in self.moves:
            value = _again(op, [value], at)
        return value


def _narrows(op: ir.Operation) -> bool:
    """Whether a convert has a float result of fewer bits than its operand."""
    before, after = format_of(op.operands[0].type), format_of(op.results[0].type)
    return before is not None and after is not None and after.bits < before.bits


def _wide_matmul(op: ir.Operation, casts: Sequence[_CastOperand | None]) -> ir.Value:
    """Builds the matmul of the operands without their casts, before a matmul."""
    lhs, rhs, *others = op.operands
    wide = [
        emit.convert(operand, ir.F32Type.get(), op) if cast is None else cast.wide(op)
        for operand, cast in zip((lhs, rhs), casts, strict=True)
    ]
    return _again(op, [*wide, *others], op)


def _again(op: ir.Operation, operands: Sequence[ir.Value], at: ir.Operation) -> ir.Value:
    """Builds an op before another with f32 operands and an f32 result."""
    kept = {name: value for name, value in attributes.all_of(op).items() if name not in _LEFT_OUT}
    type_ = ir.RankedTensorType.get(op.results[0].type.shape, ir.F32Type.get())
    return emit.op(at, op.name, [type_], operands, kept).result  # fmt: skip


def following(op: ir.Operation) -> ir.Operation:
    """Returns the op after an op of its block."""
    ops = [each.operation for each in op.block.operations]
    return ops[ops.index(op) + 1]


def _sums(wide: ir.Value, narrow: ir.Value, at: ir.Operation) -> ir.Value:
    """Returns the sums of the squares of data and of the errors of others, and of the products."""
    where = emit.before(at)
    data, others = (emit.convert(value, ir.F32Type.get(), at) for value in (wide, narrow))
    error = emit.elementwise("stablehlo.subtract", others, data, **where)
    sums = [squares(data, at), squares(error, at), product(data, error, at)]
    return stablehlo.concatenate(sums, 0, **where)


def squares(value: ir.Value, at: ir.Operation) -> ir.Value:
    """Returns the sum of the squares of a tensor, as ``f32[1]``."""
    return product(value, value, at)


def product(lhs: ir.Value, rhs: ir.Value, at: ir.Operation) -> ir.Value:
    """Returns the scalar product of two tensors of one type, as ``f32[1]``."""
    element, count = lhs.type.element_type, math.prod(lhs.type.shape)
    flat = [emit.reshape(v, ir.RankedTensorType.get([count], element), at) for v in (lhs, rhs)]
    numbers = dot_numbers([0], [0])
    dot = stablehlo.dot_general(emit.scalar_type(element), *flat, numbers, **emit.before(at))
    return emit.reshape(dot, ir.RankedTensorType.get([1], element), at)
