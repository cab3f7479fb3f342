"""Statistics of data as rank-0 powers of two, in few ops that XLA does not expand.

A power of two is the exponent bits of a float, so rounding is an addition to the bits and a mask. A
statistic is that of the finite elements, so that an infinity or a NaN changes no other element. One
that is not positive and finite counts as 1, and does not rescale data.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import is_complex, with_element
from scalify_hlo.rules.emitter import BITS, Bits, Emitter

STATISTICS: Final = ("max", "l1", "l2")


@dataclass(frozen=True, slots=True)
class Devices:
    """The devices of a per-device computation.

    Attributes:
        groups: Replica groups, each of devices that have parts of one tensor.
    """

    groups: ir.Attribute
    count: int


_SIGNED = {"bf16": Bits(7, 16), "f32": BITS[False], "f64": BITS[True]}


def statistic(
    data: ir.Value,
    kind: str,
    at: ir.Operation,
    *,
    wide: bool,
    devices: Devices | None,
    kept: Sequence[int] = (),
    narrow: bool = False,
    finite: bool = True,
    apart: bool = False,
    splats: emit.Splats | None = None,
) -> ir.Value:
    """Returns the rms, mean magnitude or largest magnitude of data as a rank-0 f32, or f64.

    Elements that are not finite count as zero. f16, bf16 and 8-bit data are converted to f32, in
    which their squares are finite. Magnitudes of bf16 data are taken before, so that XLA does not
    find two converts after each other: it would drop both, and store the data in f32, from which
    they were rounded.

    Args:
        data: A float or complex tensor of any shape. Both parts of complex numbers count, and the
            largest magnitude is that of a part.
        kind: ``l2``, ``l1`` or ``max``.
        at: The op before which the statistic is computed.
        wide: Whether the statistic is f64.
        devices: The devices of a per-device computation, whose data are all included; or None.
        kept: Dimensions of static size, in order, along which there is one statistic per index.
        narrow: Whether the largest magnitude of bf16 data is found before the convert. XLA for GPUs
            then takes it in the matmul that makes the data and casts them to f8. It must not if
            the scale of that cast depends on it: XLA would refuse the program.
        finite: Whether elements that are not finite count as zero; if not, the statistic may be
            infinite or NaN because of them.
        apart: Whether a barrier stands behind the reduction that finds the largest magnitude, as of
            `Emitter.kept`.
        splats: The constants that are shared with other statistics.
    """
    reduction = _Reduction(kind, at, data.type, wide, devices, kept, splats)
    return reduction.of(data, narrow=narrow, finite=finite, apart=apart)


def sum_of_squares(
    data: ir.Value, at: ir.Operation, splats: emit.Splats, *, wide: bool
) -> ir.Value:
    """Returns the sum of the squares of all elements, of rank 0; see `statistic`."""
    return _Reduction("l2", at, data.type, wide, splats=splats).total(data)


def largest(
    magnitudes: ir.Value,
    at: ir.Operation,
    *,
    finite: bool,
    kept: Sequence[int] = (),
    splats: emit.Splats | None = None,
) -> ir.Value:
    """Returns the largest of f32 magnitudes; see `statistic`.

    Args:
        magnitudes: The magnitudes.
        at: The op before which it is computed.
        finite: Whether elements that are not finite count as zero; if not, one of them makes the
            result an infinity or NaN.
        kept: The dimensions along which there is one result per index.
        splats: The constants that are shared with other reductions.
    """
    reduction = _Reduction("max", at, magnitudes.type, kept=kept, splats=splats)
    return reduction.largest(magnitudes, finite=finite)


def everywhere(value: ir.Value, body: str, devices: Devices | None, at: ir.Operation) -> ir.Value:
    """Reduces the values of all devices of a per-device computation; each device has the result.

    Args:
        value: The value of each device.
        body: The op that combines two elements, such as ``stablehlo.maximum``.
        devices: The devices of the computation; if None, the value itself is returned.
        at: The op before which the result is computed.
    """
    if devices is None:
        return value
    op = emit.op(
        at,
        "stablehlo.all_reduce",
        [value.type],
        [value],
        {
            "replica_groups": devices.groups,
            "channel_handle": stablehlo.ChannelHandle.get(1, 0),
            "use_global_device_ids": ir.UnitAttr.get(),
        },
        regions=1,
    )
    fill_reduction(op.regions[0], body, emit.scalar_type(value.type.element_type), at.location)
    return op.result


def gathered(value: ir.Value, devices: Devices | None, at: ir.Operation) -> ir.Value:
    """The values of all devices of a per-device computation, in a new first dimension.

    Args:
        value: What each device has.
        devices: Those of the computation; the new dimension is of size 1 if there are none.
        at: The op before which it is computed.
    """
    type_ = value.type
    one = ir.RankedTensorType.get([1, *type_.shape], type_.element_type)
    row = emit.reshape(value, one, at)
    if devices is None:
        return row
    return emit.op(
        at,
        "stablehlo.all_gather",
        [ir.RankedTensorType.get([devices.count, *type_.shape], type_.element_type)],
        [row],
        {
            "all_gather_dim": attributes.integer(0),
            "replica_groups": devices.groups,
            "channel_handle": stablehlo.ChannelHandle.get(1, 0),
            "use_global_device_ids": ir.UnitAttr.get(),
        },
    ).result


def scatter_add(into: ir.Value, indices: ir.Value, updates: ir.Value, at: ir.Operation) -> ir.Value:
    """Adds scalars to elements of a tensor of rank 1.

    Args:
        into: The tensor.
        indices: The numbers of the elements, of shape ``[n, 1]``.
        updates: What is added to each, of shape ``[n]``.
        at: The op before which the scatter stands.
    """
    op = emit.op(
        at,
        "stablehlo.scatter",
        [into.type],
        [into, indices, updates],
        {
            "scatter_dimension_numbers": stablehlo.ScatterDimensionNumbers.get(
                update_window_dims=[],
                inserted_window_dims=[0],
                input_batching_dims=[],
                scatter_indices_batching_dims=[],
                scattered_dims_to_operand_dims=[0],
                index_vector_dim=1,
            )
        },
        regions=1,
    )
    scalar = emit.scalar_type(into.type.element_type)
    fill_reduction(op.regions[0], "stablehlo.add", scalar, at.location)
    return op.result


def fill_reduction(region: ir.Region, name: str, scalar: ir.Type, location: ir.Location) -> None:
    """Fills the region of a reduction with one op."""
    block = region.blocks.append(scalar, scalar, arg_locs=[location, location])
    where = {"loc": location, "ip": ir.InsertionPoint(block)}
    stablehlo.return_([emit.elementwise(name, *block.arguments, **where)], **where)


def reduced(
    terms: ir.Value, start: ir.Value, name: str, dims: Collection[int], at: ir.Operation
) -> ir.Value:
    """Reduces a tensor along dimensions.

    Args:
        terms: The tensor.
        start: The first operand of the op, of rank 0.
        name: The op that reduces.
        dims: The dimensions.
        at: The op before which it is built.
    """
    shape = [size for dim, size in enumerate(terms.type.shape) if dim not in dims]
    type_ = ir.RankedTensorType.get(shape, terms.type.element_type)
    given = {"dimensions": ir.DenseI64ArrayAttr.get(list(dims))}
    op = emit.op(at, "stablehlo.reduce", [type_], [terms, start], given, regions=1)
    fill_reduction(op.regions[0], name, start.type, at.location)
    return op.result


class _Reduction:
    def __init__(
        self,
        kind: str,
        at: ir.Operation,
        type_: ir.Type,
        wide: bool = False,
        devices: Devices | None = None,
        kept: Sequence[int] = (),
        splats: emit.Splats | None = None,
    ) -> None:
        self._kind, self._at, self._devices, self._splats = kind, at, devices, splats
        shape = [type_.shape[d] for d in kept]
        self._emitter = Emitter(at, wide=wide, shape=shape, splats=splats)
        self._reduce = [d for d in range(type_.rank) if d not in kept]
        self._element = self._emitter.float.element_type
        self._where = emit.before(at)
        self._body = "stablehlo.maximum" if kind == "max" else "stablehlo.add"

    def total(
        self,
        data: ir.Value,
        *,
        narrow: bool = False,
        finite: bool = True,
        apart: bool = False,
    ) -> ir.Value:
        terms = self._terms(data, finite=finite)
        if finite and self._kind == "max":
            total = self.largest(terms, apart=apart)
        else:
            terms = terms if narrow else emit.convert(terms, self._element, self._at)
            total = self.reduced(terms)
        return emit.convert(total, self._element, self._at)

    def of(self, data: ir.Value, *, narrow: bool, finite: bool, apart: bool) -> ir.Value:
        total = self.total(data, narrow=narrow, finite=finite, apart=apart)
        total = everywhere(total, self._body, self._devices, self._at)
        if self._kind == "max":
            return total
        mean = self._mean(total, data)
        return stablehlo.sqrt(mean, **self._where) if self._kind == "l2" else mean

    def _terms(self, data: ir.Value, *, finite: bool) -> ir.Value:
        if is_complex(data.type):
            parts = [stablehlo.real(data, **self._where), stablehlo.imag(data, **self._where)]
            terms = [self._term(part, finite=finite) for part in parts]
            return emit.elementwise(self._body, *terms, **self._where)
        if self._kind == "max" and isinstance(data.type.element_type, ir.BF16Type):
            return self._term(data, finite=finite)
        return self._term(emit.convert(data, self._element, self._at), finite=finite)

    def _term(self, data: ir.Value, *, finite: bool) -> ir.Value:
        if self._kind == "l2":
            size = emit.multiply(data, data, self._at)
        else:
            size = emit.elementwise("stablehlo.abs", data, **self._where)
        if not finite or self._kind == "max":
            return size
        return emit.where_finite(data, size, self._at, self._splats)

    def largest(self, sizes: ir.Value, *, finite: bool = True, apart: bool = False) -> ir.Value:
        """Returns the largest of magnitudes, or the largest finite one.

        As integers, the bits of magnitudes are in their order, and those of NaN at the end: XLA's
        maximum of floats may drop a NaN. As signed integers, the sums with the bits of the least
        normal number are negative for infinity and NaN, which drops both. One op after the other,
        it leaves XLA the fusions of the program, unlike a select.
        """
        element = sizes.type.element_type
        bits = _SIGNED[str(element)]
        least = 1 << bits.mantissa if finite else 0
        make = ir.IntegerType.get_signless if finite else ir.IntegerType.get_unsigned
        integer = make(bits.width)
        codes = with_element(sizes.type, integer)
        found = self._more(emit.bitcast(codes, sizes, **self._where), "add", least)
        found = self.reduced(found, least)
        found = self._emitter.kept(found) if apart else found
        found = self._more(found, "subtract", least)
        type_ = ir.RankedTensorType.get(found.type.shape, element)
        return emit.bitcast(type_, found, **self._where)

    def _more(self, codes: ir.Value, name: str, number: int) -> ir.Value:
        """Returns the sum or difference with a number."""
        if not number:
            return codes
        other = emit.filled(codes, number, self._at, self._splats)
        return emit.elementwise(f"stablehlo.{name}", codes, other, **self._where)

    def reduced(self, terms: ir.Value, start: float = 0.0) -> ir.Value:
        element = terms.type.element_type
        scalar = emit.scalar_type(element)
        zero = emit.constant(scalar, start, self._at, self._splats)
        return reduced(terms, zero, self._body, self._reduce, self._at)

    def _mean(self, total: ir.Value, data: ir.Value) -> ir.Value:
        devices = 1 if self._devices is None else self._devices.count
        if data.type.has_static_shape:
            count = math.prod(data.type.shape[d] for d in self._reduce) * devices
            return self._emitter.multiply(total, self._emitter.number(1.0 / max(count, 1)))
        count = self._emitter.number(float(devices))
        for dimension in self._reduce:
            size = stablehlo.get_dimension_size(data, dimension, **self._where)
            size = stablehlo.convert(self._emitter.float, size, **self._where)
            count = self._emitter.multiply(count, size)
        return emit.elementwise("stablehlo.divide", total, count, **self._where)
