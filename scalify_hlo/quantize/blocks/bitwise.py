"""Elementwise ops on f32 numbers and on their bits."""

from __future__ import annotations

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.rules import emit


class Bitwise:
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
        self.at, self.real, self.splats = at, real, splats
        self.bits = ir.RankedTensorType.get(real.shape, ir.IntegerType.get_unsigned(32))
        self._where = emit.before(at)

    def cast(self, type_: ir.Type, value: ir.Value) -> ir.Value:
        """Returns the same bits as numbers of another type."""
        return emit.bitcast(type_, value, **self._where)

    def number(self, value: float) -> ir.Value:
        """Returns a constant of f32."""
        return emit.constant(self.real, value, self.at, self.splats)

    def integer(self, value: int) -> ir.Value:
        """Returns a constant of ui32."""
        return emit.integers(self.bits, value, self.at, self.splats)

    def op(self, name: str, *operands: ir.Value) -> ir.Value:
        """Builds an op of StableHLO whose result has the type of its operands."""
        return emit.elementwise(f"stablehlo.{name}", *operands, **self._where)

    def spread(self, scalar: ir.Value, like: ir.Value) -> ir.Value:
        """Broadcasts a tensor of rank 0 to the shape of another."""
        return emit.broadcast_scalar(scalar, like, self.at)

    def select(self, condition: ir.Value, value: ir.Value, otherwise: ir.Value) -> ir.Value:
        """Returns the elements of one of two tensors."""
        operands = [condition, value, otherwise]
        return ir.Operation.create(
            "stablehlo.select", results=[value.type], operands=operands, **self._where
        ).result

    def compare(self, lhs: ir.Value, rhs: ir.Value, direction: str) -> ir.Value:
        """Compares two tensors, and returns an i1 for each element."""
        given = {"comparison_direction": stablehlo.ComparisonDirectionAttr.get(direction)}
        return ir.Operation.create(
            "stablehlo.compare",
            results=[self.conditions],
            operands=[lhs, rhs],
            attributes=given,
            **self._where,
        ).result

    def is_finite(self, value: ir.Value) -> ir.Value:
        """Returns an i1 for each element: whether it is neither an infinity nor NaN."""
        return ir.Operation.create(
            "stablehlo.is_finite", results=[self.conditions], operands=[value], **self._where
        ).result

    @property
    def conditions(self) -> ir.Type:
        """The type of the results of comparisons."""
        return ir.RankedTensorType.get(self.real.shape, ir.IntegerType.get_signless(1))
