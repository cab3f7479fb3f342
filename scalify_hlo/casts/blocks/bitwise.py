"""Elementwise ops on f32 numbers and on their bits."""

from __future__ import annotations

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.ir import emit
from scalify_hlo.rules.emitter import Emitter


class Bitwise(Emitter):
    """Builds ops on tensors of one shape before an op.

    Args:
        at: The op.
        real: The f32 type of the tensors, of static shape.
        splats: The constants that the ops share with others; by default they share none.

    Attributes:
        at: As given.
        real: As given.
        splats: As given.
        bits: The type of their bits, ui32 of the same shape.
    """

    def __init__(self, at: ir.Operation, real: ir.Type, splats: emit.Splats | None = None) -> None:
        super().__init__(at, wide=False, shape=real.shape, splats=splats)
        self.at, self.real, self.splats, self.bits = at, real, splats, self._integer

    def cast(self, type_: ir.Type, value: ir.Value) -> ir.Value:
        """Returns the same bits as numbers of another type."""
        return emit.bitcast(type_, value, **self._where)

    def integer(self, value: int) -> ir.Value:
        """Returns a constant of ui32."""
        return self._constant(value)

    def op(self, name: str, *operands: ir.Value) -> ir.Value:
        """Builds an op of StableHLO whose result has the type of its operands."""
        return self._elementwise(name, *operands)

    def spread(self, scalar: ir.Value, like: ir.Value) -> ir.Value:
        """Broadcasts a tensor of rank 0 to the shape of another."""
        return emit.broadcast_scalar(scalar, like, self.at)

    def compare(self, lhs: ir.Value, rhs: ir.Value, direction: str) -> ir.Value:
        """Compares two tensors, and returns an i1 for each element."""
        return self._compare(lhs, rhs, direction)

    def is_finite(self, value: ir.Value) -> ir.Value:
        """Returns an i1 for each element: whether it is neither an infinity nor NaN."""
        return stablehlo.is_finite(value, **self._where)
