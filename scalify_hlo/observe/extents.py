"""Flags and ranges of a tensor as StableHLO, exact on the bits of its elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect.formats import element_of
from scalify_hlo.observe.encodings import Encoding
from scalify_hlo.rules import emit

_ADD: Final = "stablehlo.add"
_MAXIMUM: Final = "stablehlo.maximum"


@dataclass
class Extents:
    """Emits flags and ranges of real tensors before an op.

    Attributes:
        encoding: The encoding of the tensors, which are of static shape and not empty.
        at: The op.
    """

    encoding: Encoding
    at: ir.Operation

    def __post_init__(self) -> None:
        """Sets up the type of the bits."""
        self._unsigned = ir.IntegerType.get_unsigned(64 if self.encoding.wide else 32)
        self._where = {"loc": self.at.location, "ip": ir.InsertionPoint(self.at)}

    def nonfinite(self, value: ir.Value) -> list[ir.Value]:
        """Returns 1 or 0 as integers of rank 0: if a tensor has NaN, and if it has an infinity."""
        terms = [self._counted(each) for each in self._outside(*self._bits(value))]
        return self._reduced(terms, [_MAXIMUM] * 2)

    def extent(self, value: ir.Value) -> list[ir.Value]:
        """Returns the ends of the range of a tensor, and counts, as integers of rank 0.

        Returns:
            The place of the largest finite element, and that of the smallest as if all signs were
            the other; `Encoding.at_place` returns the number at a place. A place of 0 says that no
            element is finite. Then the numbers of zeros, infinities and NaN.
        """
        raw, bits = self._bits(value)
        nan, infinite = self._outside(raw, bits)
        outside, none = self._binary("or", nan, infinite), self._like(bits, 0)
        middle = self._like(bits, self.encoding.magnitude)
        above, below = self._binary("add", middle, bits), self._binary("subtract", middle, bits)
        negative = self._compare(raw, self.encoding.magnitude, "GT")
        zero = stablehlo.select(
            outside, none, self._counted(self._compare(bits, 0, "EQ")), **self._where
        )
        ends = []
        for there, otherwise in ((below, above), (above, below)):
            place = stablehlo.select(negative, there, otherwise, **self._where)
            ends.append(stablehlo.select(outside, none, place, **self._where))
        counts = [zero, self._counted(infinite), self._counted(nan)]
        return self._reduced([*ends, *counts], [_MAXIMUM] * 2 + [_ADD] * 3)

    def _bits(self, value: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The bits of the elements as unsigned integers, with the sign and without."""
        encoding, carried = self.encoding, value
        if encoding.format is not encoding.carrier:
            carried = emit.convert(value, element_of(encoding.carrier.name), self.at)
        element = ir.IntegerType.get_unsigned(encoding.width)
        type_ = ir.RankedTensorType.get(value.type.shape, element)
        raw = stablehlo.bitcast_convert(type_, carried, **self._where)
        raw = emit.convert(raw, self._unsigned, self.at)
        return raw, self._binary("and", raw, self._like(raw, encoding.magnitude))

    def _outside(self, raw: ir.Value, bits: ir.Value) -> list[ir.Value]:
        """Booleans: the elements that are NaN, and those that are infinite."""
        encoding = self.encoding
        if encoding.infinity is not None:
            infinite = self._compare(bits, encoding.infinity, "EQ")
            return [self._compare(bits, encoding.infinity, "GT"), infinite]
        never = self._compare(bits, 0, "LT")
        if encoding.negative_zero_is_nan:
            return [self._compare(raw, encoding.magnitude + 1, "EQ"), never]
        return [self._compare(bits, encoding.largest, "GT"), never]

    def _counted(self, condition: ir.Value) -> ir.Value:
        return emit.convert(condition, self._unsigned, self.at)

    def _reduced(self, terms: Sequence[ir.Value], bodies: Sequence[str]) -> list[ir.Value]:
        """Reduces all terms in one op, each with the op that combines two elements."""
        types = [emit.scalar_type(self._unsigned) for _ in terms]
        op = ir.Operation.create(
            "stablehlo.reduce",
            results=types,
            operands=[*terms, *(emit.constant(type_, 0, self.at) for type_ in types)],
            attributes={"dimensions": ir.DenseI64ArrayAttr.get(list(range(terms[0].type.rank)))},
            regions=1,
            **self._where,
        )
        count, location = len(types), self.at.location
        block = op.regions[0].blocks.append(*types, *types, arg_locs=[location] * (2 * count))
        where = {"loc": location, "ip": ir.InsertionPoint(block)}
        arguments = list(block.arguments)
        pairs = zip(bodies, arguments[:count], arguments[count:], strict=True)
        stablehlo.return_([emit.elementwise(name, a, b, **where) for name, a, b in pairs], **where)
        return list(op.results)

    def _binary(self, name: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        return emit.elementwise(f"stablehlo.{name}", lhs, rhs, **self._where)

    def _compare(self, bits: ir.Value, number: int, direction: str) -> ir.Value:
        attribute = stablehlo.ComparisonDirectionAttr.get(direction)
        return stablehlo.compare(bits, self._like(bits, number), attribute, **self._where)

    def _like(self, value: ir.Value, number: int) -> ir.Value:
        return emit.integers(value.type, number, self.at)
