"""Builders of ops on the bits of the elements of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.commands.stats.encodings import Encoding
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import element_of

ADD: Final = "stablehlo.add"
MAXIMUM: Final = "stablehlo.maximum"


@dataclass
class BitOps:
    """Emits ops on the bits of real tensors of one encoding before an op.

    Attributes:
        encoding: The encoding of the tensors.
        at: The op.
    """

    encoding: Encoding
    at: ir.Operation

    def __post_init__(self) -> None:
        """Sets up the types of the encoding."""
        self._unsigned = ir.IntegerType.get_unsigned(64 if self.encoding.wide else 32)
        self._where = emit.before(self.at)

    def _bits(self, value: ir.Value) -> ir.Value:
        """Returns the bits of the elements of a tensor, as unsigned integers of their width."""
        encoding, carried = self.encoding, value
        if encoding.format is not encoding.carrier:
            carried = emit.convert(value, element_of(encoding.carrier.name), self.at)
        type_ = ir.RankedTensorType.get(
            value.type.shape, ir.IntegerType.get_unsigned(encoding.width)
        )
        return stablehlo.bitcast_convert(type_, carried, **self._where)

    def _is_nan(self, raw: ir.Value, bits: ir.Value) -> ir.Value:
        """Returns the elements that are NaN as booleans.

        Args:
            raw: The bits of the elements.
            bits: The same without signs.
        """
        encoding = self.encoding
        if encoding.negative_zero_is_nan:
            return self._compare(raw, encoding.magnitude + 1, "EQ")
        above = encoding.largest if encoding.infinity is None else encoding.infinity
        return self._compare(bits, above, "GT")

    def _reduced(
        self, terms: Sequence[ir.Value], bodies: Sequence[str], dimensions: Sequence[int]
    ) -> list[ir.Value]:
        """Reduces all terms in one op from 0, each with the op that combines two elements."""
        types = [emit.scalar_type(term.type.element_type) for term in terms]
        kept = [n for i, n in enumerate(terms[0].type.shape) if i not in dimensions]
        op = ir.Operation.create(
            "stablehlo.reduce",
            results=[ir.RankedTensorType.get(kept, t.element_type) for t in types],
            operands=[*terms, *(emit.constant(type_, 0, self.at) for type_ in types)],
            attributes={"dimensions": ir.DenseI64ArrayAttr.get(list(dimensions))},
            regions=1,
            **self._where,
        )
        _fill(op.regions[0], bodies, types, self.at.location)
        return list(op.results)

    def _binary(self, name: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        return emit.elementwise(f"stablehlo.{name}", lhs, rhs, **self._where)

    def _compare(self, bits: ir.Value, number: int, direction: str) -> ir.Value:
        attribute = stablehlo.ComparisonDirectionAttr.get(direction)
        return stablehlo.compare(bits, self._like(bits, number), attribute, **self._where)

    def _like(self, value: ir.Value, number: int) -> ir.Value:
        return emit.integers(value.type, number, self.at)


def _fill(
    region: ir.Region, bodies: Sequence[str], types: Sequence[ir.Type], location: ir.Location
) -> None:
    """Fills the region of a reduction of several results."""
    count = len(types)
    block = region.blocks.append(*types, *types, arg_locs=[location] * (2 * count))
    where = {"loc": location, "ip": ir.InsertionPoint(block)}
    arguments = list(block.arguments)
    pairs = zip(bodies, arguments[:count], arguments[count:], strict=True)
    stablehlo.return_([emit.elementwise(name, a, b, **where) for name, a, b in pairs], **where)
