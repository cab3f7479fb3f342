"""Flags and ranges of a tensor as StableHLO, exact on the bits of its elements."""

from __future__ import annotations

from collections.abc import Sequence

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.commands.stats.bits import ADD, MAXIMUM, BitOps
from scalify_hlo.ir import emit


class Extents(BitOps):
    """Emits flags and ranges of real tensors, which are of static shape and not empty."""

    def nonfinite(self, value: ir.Value) -> list[ir.Value]:
        """Returns 1 or 0 as integers of rank 0: if a tensor has NaN, and if it has an infinity."""
        terms = [self._counted(each) for each in self._outside(*self._both(value))]
        return self._whole(terms, [MAXIMUM] * 2)

    def extent(self, value: ir.Value) -> list[ir.Value]:
        """Returns the ends of the range of a tensor, and counts, as integers of rank 0.

        Returns:
            The place of the largest finite element, and that of the smallest as if all signs were
            the other; `Encoding.at_place` returns the number at a place. A place of 0 says that no
            element is finite. Then the numbers of zeros, infinities and NaN.
        """
        raw, bits = self._both(value)
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
        return self._whole([*ends, *counts], [MAXIMUM] * 2 + [ADD] * 3)

    def _both(self, value: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Returns the bits of the elements, with the sign and without."""
        raw = emit.convert(self._bits(value), self._unsigned, self.at)
        return raw, self._binary("and", raw, self._like(raw, self.encoding.magnitude))

    def _outside(self, raw: ir.Value, bits: ir.Value) -> list[ir.Value]:
        """Returns booleans: the elements that are NaN, and those that are infinite."""
        infinity = self.encoding.infinity
        infinite = self._compare(bits, *((0, "LT") if infinity is None else (infinity, "EQ")))
        return [self._is_nan(raw, bits), infinite]

    def _counted(self, condition: ir.Value) -> ir.Value:
        return emit.convert(condition, self._unsigned, self.at)

    def _whole(self, terms: Sequence[ir.Value], bodies: Sequence[str]) -> list[ir.Value]:
        """Reduces all elements of terms."""
        return self._reduced(terms, bodies, range(terms[0].type.rank))
