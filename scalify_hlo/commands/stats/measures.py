"""The statistics of tensors as StableHLO: one reduction of all elements, and small histograms.

Tensors are the rows of a table, which is reduced at once. The reduction has several results and
reads the elements once. The histograms are a scatter of a strided sample.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import HISTOGRAM_ELEMENTS, SAMPLE_ELEMENTS, SAMPLE_ROWS
from scalify_hlo.commands.stats.encodings import Encoding, bounds
from scalify_hlo.commands.stats.packing import concatenated, row_of, u64
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import element_of, is_complex
from scalify_hlo.rules.statistics import scatter_add

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


_F32_MANTISSA: Final = 23
_F32_BIAS: Final = 127


class Measures(BitOps):
    """Emits the statistics of the rows of a table."""

    def of(self, table: ir.Value) -> list[ir.Value]:
        """Returns the statistics of each row of a table.

        Args:
            table: The bits of elements, ``[rows, elements]``, of which there is at least one.

        Returns:
            Sums of squares at the scales of `Encoding.parts`, f64 ``[parts, rows]``. Extremes, u64
            ``[2, rows]``: the bits of the amax, and those of the smallest magnitude, less one and
            subtracted from all ones, so that the larger of two is that of both tensors. Classes,
            u64 ``[5, rows]``: the numbers of zeros, subnormals, saturated elements, infinities and
            NaN. The histograms of a sample, u32 ``[rows, bins]``.
        """
        raw = emit.convert(table, self._unsigned, self.at)
        bits = self._binary("and", raw, self._like(raw, self.encoding.magnitude))
        terms = self._terms(raw, bits)
        parts = len(self.encoding.parts)
        bodies = [ADD] * parts + [MAXIMUM] * 2 + [ADD] * (len(terms) - parts - 2)
        sums = self._reduced(terms, bodies, [1])
        squares, extremes, classes = sums[:parts], sums[parts : parts + 2], sums[parts + 2 :]
        integers = [self._lines(each, u64()) for each in (extremes, classes)]
        return [self._lines(squares, ir.F64Type.get()), *integers, self._histograms(raw)]

    def _lines(self, lines: Sequence[ir.Value], element: ir.Type) -> ir.Value:
        """Returns tensors of rank 1 as the rows of one, converted."""
        rows = [row_of(emit.convert(line, element, self.at), self.at) for line in lines]
        return concatenated(rows, 0, self.at)

    def line(self, parts: Sequence[ir.Value]) -> ir.Value:
        """Returns the bits of tensors as unsigned integers of their width, ``[1, elements]``."""
        return concatenated([self._raw(part) for part in parts], 1, self.at)

    def _raw(self, value: ir.Value) -> ir.Value:
        """Returns the bits of elements, as unsigned integers of their width, ``[1, elements]``."""
        bits = self._bits(value)
        row = ir.RankedTensorType.get([1, math.prod(value.type.shape)], bits.type.element_type)
        return emit.reshape(bits, row, self.at)

    def _terms(self, raw: ir.Value, bits: ir.Value) -> list[ir.Value]:
        """Returns the contribution of each element to the sums, the maxima and the counts."""
        encoding = self.encoding
        nan, infinite = self._is_nan(raw, bits), None
        finite = self._not(nan)
        if encoding.infinity is not None:
            infinite = self._compare(bits, encoding.infinity, "EQ")
            finite = self._compare(bits, encoding.infinity, "LT")
        less = self._binary("subtract", bits, self._like(bits, 1))
        known = stablehlo.select(finite, bits, self._like(bits, 0), **self._where)
        ones = (1 << self._unsigned.width) - 1
        # Zero is all ones after the subtraction, and so becomes 0, which is no maximum.
        small = self._binary("subtract", self._like(bits, ones), less)
        small = stablehlo.select(finite, small, self._like(bits, 0), **self._where)
        zero = self._compare(bits, 0, "EQ")
        if encoding.negative_zero_is_nan:
            zero = self._binary("and", zero, finite)
        classes = [
            zero,
            self._compare(less, encoding.smallest_normal - 1, "LT"),
            self._compare(bits, encoding.largest, "EQ"),
            infinite if infinite is not None else self._compare(bits, 0, "LT"),
            nan,
        ]
        counted = [emit.convert(c, self._unsigned, self.at) for c in classes]
        return [*self._squares(known), known, small, *counted]

    def _squares(self, bits: ir.Value) -> list[ir.Value]:
        """Returns the squares of magnitudes in f64, at each scale of `Encoding.parts`."""
        encoding = self.encoding
        squares = []
        for shift in encoding.parts:
            magnitude = self._magnitude(bits, shift)
            if encoding.wide:
                kept = self._of_part(bits, shift)
                zero = emit.filled(magnitude, 0.0, self.at)
                magnitude = stablehlo.select(kept, magnitude, zero, **self._where)
            squares.append(emit.multiply(magnitude, magnitude, self.at))
        return squares

    def _of_part(self, bits: ir.Value, shift: int) -> ir.Value:
        low, high = bounds(self.encoding)
        if shift > 0:
            return self._compare(bits, low, "LT")
        if shift < 0:
            return self._compare(bits, high, "GE")
        usual = self._compare(bits, low, "GE")
        return self._binary("and", usual, self._compare(bits, high, "LT"))

    def _magnitude(self, bits: ir.Value, shift: int) -> ir.Value:
        """Returns magnitudes times ``2^shift`` in f64, subnormal ones by an integer conversion."""
        encoding, f64 = self.encoding, ir.F64Type.get()
        if encoding.wide:
            type_ = ir.RankedTensorType.get(bits.type.shape, f64)
            normal = stablehlo.bitcast_convert(type_, bits, **self._where)
            normal = emit.times_power(normal, shift, self.at) if shift else normal
        else:
            normal = emit.convert(self._as_f32(bits), f64, self.at)
            moved = _F32_BIAS - encoding.bias
            normal = emit.times_power(normal, moved, self.at) if moved else normal
        subnormal = emit.convert(bits, f64, self.at)
        unit = 1 - encoding.bias - encoding.mantissa + shift
        if encoding.wide and shift <= 0:
            return normal  # the part of tiny magnitudes has all subnormal ones
        subnormal = emit.times_power(subnormal, unit, self.at)
        tiny = self._compare(bits, 1 << encoding.mantissa, "LT")
        return stablehlo.select(tiny, subnormal, normal, **self._where)

    def _as_f32(self, bits: ir.Value) -> ir.Value:
        """Returns normal numbers as f32, as if the bias were that of f32."""
        moved = _F32_MANTISSA - self.encoding.mantissa
        if moved:
            bits = self._binary("shift_left", bits, self._like(bits, moved))
        type_ = ir.RankedTensorType.get(bits.type.shape, ir.F32Type.get())
        return stablehlo.bitcast_convert(type_, bits, **self._where)

    def _histograms(self, raw: ir.Value) -> ir.Value:
        """Returns the histogram of every n-th element of each row."""
        count, size = raw.type.shape
        raw = sliced(raw, [0, 0], [count, size], [1, histogram_stride(size)], self.at)
        bits = self._binary("and", raw, self._like(raw, self.encoding.magnitude))
        i32, most = ir.IntegerType.get_signless(32), self.encoding.bins
        bins = emit.convert(self._bins(raw, bits), i32, self.at)
        line = stablehlo.iota(bins.type, 0, **self._where)
        line = self._binary("multiply", line, self._like(line, most))
        taken = math.prod(bins.type.shape)
        indices = self._binary("add", bins, line)
        unsigned = ir.IntegerType.get_unsigned(32)
        found = scatter_add(
            emit.constant(ir.RankedTensorType.get([count * most], unsigned), 0, self.at),
            emit.reshape(indices, ir.RankedTensorType.get([taken, 1], i32), self.at),
            emit.constant(ir.RankedTensorType.get([taken], unsigned), 1, self.at),
            self.at,
        )
        return emit.reshape(found, ir.RankedTensorType.get([count, most], unsigned), self.at)

    def _bins(self, raw: ir.Value, bits: ir.Value) -> ir.Value:
        """Returns the bin of each element: 0 for zeros, the last for infinities and NaN."""
        encoding = self.encoding
        exponent = self._binary("shift_right_logical", bits, self._like(bits, encoding.mantissa))
        normal = self._binary("add", exponent, self._like(bits, encoding.mantissa))
        # The exponent of the integer tells how many bits a subnormal number has.
        type_ = ir.RankedTensorType.get(bits.type.shape, ir.F64Type.get())
        whole = stablehlo.convert(type_, bits, **self._where)
        long = ir.RankedTensorType.get(bits.type.shape, ir.IntegerType.get_unsigned(64))
        whole = stablehlo.bitcast_convert(long, whole, **self._where)
        whole = self._binary("shift_right_logical", whole, self._like(whole, 52))
        least = self._like(whole, 1022)
        length = self._binary("subtract", self._binary("maximum", whole, least), least)
        length = emit.convert(length, bits.type.element_type, self.at)
        tiny = self._compare(bits, 1 << encoding.mantissa, "LT")
        bins = stablehlo.select(tiny, length, normal, **self._where)
        if encoding.negative_zero_is_nan:
            beyond = self._is_nan(raw, bits)
        else:
            beyond = self._compare(bits, encoding.largest, "GT")
        return stablehlo.select(beyond, self._like(bins, encoding.bins - 1), bins, **self._where)

    def _not(self, condition: ir.Value) -> ir.Value:
        return emit.elementwise("stablehlo.not", condition, **self._where)


def histogram_stride(size: int) -> int:
    """Returns n if the histogram of a row of so many elements is of every n-th element."""
    return max(size // HISTOGRAM_ELEMENTS, 1)


def padded(value: ir.Value, shape: Sequence[int], at: ir.Operation) -> ir.Value:
    """Returns a tensor of integers with zeros at the ends of its dimensions."""
    missing = [size - own for size, own in zip(shape, value.type.shape, strict=True)]
    if not any(missing):
        return value
    zero = emit.integers(emit.scalar_type(value.type.element_type), 0, at)
    none = [0] * len(shape)
    ends = [ir.DenseI64ArrayAttr.get(each) for each in (none, missing, none)]
    return stablehlo.pad(value, zero, *ends, **emit.before(at))


def parts_of(value: ir.Value, at: ir.Operation) -> list[ir.Value]:
    """Returns a real tensor as it is, or both parts of a complex one, built before an op."""
    if not is_complex(value.type):
        return [value]
    where = emit.before(at)
    return [stablehlo.real(value, **where), stablehlo.imag(value, **where)]


def sampled(value: ir.Value, least: int, at: ir.Operation) -> ir.Value:
    """Returns every n-th element of a tensor, at least so many if it has as many, of rank 1."""
    type_ = value.type
    size = math.prod(type_.shape)
    flat = emit.reshape(value, ir.RankedTensorType.get([size], type_.element_type), at)
    stride = max(size // least, 1)
    return flat if stride == 1 else sliced(flat, [0], [size], [stride], at)


def sliced(
    value: ir.Value,
    starts: Sequence[int],
    ends: Sequence[int],
    strides: Sequence[int],
    at: ir.Operation,
) -> ir.Value:
    """Returns a static slice of a tensor."""
    where = emit.before(at)
    bounds_ = [ir.DenseI64ArrayAttr.get(list(each)) for each in (starts, ends, strides)]
    return stablehlo.slice(value, *bounds_, **where)


@dataclass(frozen=True)
class RowSampler:
    """Builds a sample of the rows of a tensor: slices along some of its dimensions.

    Attributes:
        shape: The shape of the tensor in the original. A rewrite may join dimensions of it.
        summed: The dimensions of a row.
    """

    shape: tuple[int, ...]
    summed: tuple[int, ...]

    def __call__(self, value: ir.Value, at: ir.Operation) -> ir.Value:
        """Returns a tensor ``[rows, elements]``, with rows that are evenly spaced."""
        shape = self.shape
        whole = ir.RankedTensorType.get(shape, value.type.element_type)
        value = emit.reshape(value, whole, at)
        kept = [d for d in range(len(shape)) if d not in self.summed]
        order = [*kept, *self.summed]
        length = math.prod(shape[d] for d in self.summed)
        count = math.prod(shape[d] for d in kept)
        if order != sorted(order):
            where = emit.before(at)
            value = stablehlo.transpose(value, ir.DenseI64ArrayAttr.get(order), **where)
        rows = ir.RankedTensorType.get([count, length], value.type.element_type)
        table = emit.reshape(value, rows, at)
        wanted = max(-(-HISTOGRAM_ELEMENTS // max(length, 1)), SAMPLE_ROWS)
        stride = max(count // wanted, 1)
        columns = min(length, SAMPLE_ELEMENTS // min(wanted, max(count, 1)))
        return sliced(table, [0, 0], [count, columns], [stride, 1], at)
