"""Dense constants in other formats: read through buffers, rounded by NumPy, never as lists."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import ml_dtypes
import numpy as np
import numpy.typing as npt

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import ENCODED_BOUND, ENCODED_CHUNK
from scalify_hlo.ir.formats import FORMATS, FloatFormat, format_of, with_element
from scalify_hlo.ir.splats import dense_of
from scalify_hlo.ir.value_map import erase

Array: TypeAlias = npt.NDArray[Any]
Exponents: TypeAlias = npt.NDArray[np.int64]

_READABLE = (np.float16, np.float32, np.float64)
"""The float dtypes that both NumPy and the bindings have."""


@dataclass(frozen=True)
class Scales:
    """The choice of the scales of a constant.

    Attributes:
        method: ``rms``: the power of two at or below the rms. ``max``: the smallest power of two at
            which the largest magnitude is in the range of the format. ``given``: `exponent`.
        exponent: log2 of the scale, for the method ``given``.
        margin: With ``max``, there is room for ``2^margin`` times the largest magnitude.
        axes: With ``max``, the axes along which each index has its own scale.
    """

    method: Literal["rms", "max", "given"] = "rms"
    exponent: int = 0
    margin: int = 0
    axes: tuple[int, ...] = ()


RMS: Final = Scales()


def encode(
    attribute: ir.Attribute,
    path: Sequence[ir.Type],
    element: ir.Type,
    scales: Scales = RMS,
    *,
    saturate: bool = True,
) -> tuple[ir.Attribute, Exponents]:
    """Returns a dense attribute in another format.

    Args:
        attribute: The values.
        path: The formats to which the program converts the values first, in order.
        element: The new format.
        scales: The choice of the scales.
        saturate: Whether numbers beyond the range of the format become its largest number.

    Returns:
        The data, and log2 of the scales, e: the values are approximately data * 2^e. e has a
        dimension for each of `scales.axes`.
    """
    formats = [FORMATS[str(type_)] for type_ in (*path, element)]
    source = formats[-2] if path else FORMATS[str(attribute.type.element_type)]
    before = [dtype_of(format_.name) for format_ in formats[:-1]]
    target = formats[-1]
    values = elements_of(attribute)
    if scales.axes:
        values = values.reshape(list(attribute.type.shape))
    exponents = _exponents(values, before, target, scales)
    others = tuple(d for d in range(values.ndim) if d not in scales.axes)
    spread = np.expand_dims(exponents, others) if scales.axes else exponents
    data = np.empty(values.shape, dtype_of(target.name))
    most = bound(source, target) if saturate else None
    for rows, chunk in _chunks(values, before):
        here = spread[rows] if spread.ndim and spread.shape[0] > 1 else spread
        data[rows] = rounded(chunk, here, target, most)
    type_ = with_element(attribute.type, element)
    return dense(data, type_), exponents


def dense(data: Array, type_: ir.Type) -> ir.Attribute:
    """Returns the attribute of a constant.

    Args:
        data: The elements in order, in the dtype of the type.
        type_: The type, of any float format.
    """
    bits = np.ascontiguousarray(data).view(f"u{data.itemsize}").reshape(list(type_.shape))
    return ir.DenseElementsAttr.get(bits, type=type_)


def _exponents(
    values: Array, before: Sequence[np.dtype[Any]], target: FloatFormat, scales: Scales
) -> Exponents:
    if scales.method == "given":
        return np.asarray(scales.exponent)
    if scales.method == "rms":
        return np.asarray(exponent_below_rms(values, before))
    others = tuple(d for d in range(values.ndim) if d not in scales.axes)
    parts: list[Array] = []
    for _, chunk in _chunks(values, before):
        sizes = np.abs(chunk)
        parts.append(np.max(sizes, axis=others, where=np.isfinite(sizes), initial=0))
    whole = 0 not in others  # A chunk has some elements of the whole reduction, or some rows.
    largest = np.concatenate(parts) if whole else np.max(parts, axis=0)
    exponents = unclipped(largest.astype(np.float64) * 2.0**scales.margin, target)
    return np.clip(exponents, -ENCODED_BOUND, ENCODED_BOUND)


def unclipped(largest: Array, target: FloatFormat) -> Exponents:
    """Returns log2 of the least powers of two at which magnitudes are in range; 0 for zeros.

    The range is that of `FloatFormat.scaled_amax`.
    """
    mantissa, exponent = np.frexp(np.asarray(largest, np.float64) / target.scaled_amax)
    return np.where(largest > 0, exponent.astype(np.int64) - (mantissa == 0.5), 0)


def bound(source: FloatFormat, target: FloatFormat) -> float | None:
    """Returns the number at which a cast saturates, or None; see the rule of casts."""
    narrower = target.max_finite < source.max_finite and target.exponent_bits < source.exponent_bits
    return target.max_finite if narrower else None


def rounded(
    values: Array, exponent: int | Exponents, target: FloatFormat, most: float | None
) -> Array:
    """Returns values / ``2^exponent``, rounded to nearest even.

    Finite ones are clamped to ``±most``; in 8 bits or fewer, NaN takes the place of infinities.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        data = np.ldexp(values, -exponent)
        if most is not None:
            infinite = np.isinf(values)
            np.clip(data, -most, most, out=data)
            data[infinite] = np.nan if target.small else values[infinite]
        return converted(data, dtype_of(target.name))


def converted(values: Array, dtype: np.dtype[Any]) -> Array:
    """Returns values in another dtype, rounded to nearest even once."""
    if values.dtype == np.float64 and dtype not in _READABLE:
        values = _to_odd(values)
    return values.astype(dtype)


def _to_odd(values: Array) -> Array:
    """Returns f64 values in f32, rounded to odd, so that they can be rounded again.

    ml_dtypes rounds f64 values to f32 first, which can create ties, and rounds these to even.
    """
    near = values.astype(np.float32)
    near = np.where(np.abs(near) > np.abs(values), np.nextafter(near, np.float32(0)), near)
    odd = near.view(np.uint32) | 1
    return np.where((near == values) | np.isnan(values), near, odd.view(np.float32))


def exponent_below_rms(values: Array, before: Sequence[np.dtype[Any]] = ()) -> int:
    """Returns floor(log2(rms)) of the finite values; 0 if there are none."""
    mean, power = _mean_square(values, before)
    return math.frexp(math.sqrt(mean))[1] - 1 + power if mean else 0


def log2_rms(values: Array) -> float:
    """Returns log2(rms) of the finite values; 0 if there are none."""
    mean, power = _mean_square(values)
    return math.log2(mean) / 2 + power if mean else 0.0


def _mean_square(values: Array, before: Sequence[np.dtype[Any]] = ()) -> tuple[float, int]:
    """Returns the mean square of the finite values, divided by ``4^power``, and the power."""
    largest = 0.0
    for _, chunk in _chunks(values, before):
        sizes = np.abs(chunk)
        largest = max(largest, float(np.max(sizes, where=np.isfinite(sizes), initial=0)))
    if largest == 0:
        return 0.0, 0
    power = math.frexp(largest)[1]  # The squares of f64 values could overflow.
    total, count = 0.0, 0
    for _, chunk in _chunks(values, before):
        finite = chunk[np.isfinite(chunk)].astype(np.float64)
        unit = np.ldexp(finite, -power, out=finite)
        total += float(np.sum(np.square(unit, out=unit)))
        count += unit.size
    return total / count, power


def _chunks(values: Array, before: Sequence[np.dtype[Any]]) -> Iterator[tuple[slice, Array]]:
    """Yields values as the program casts them, in f32 or f64, with their rows."""
    rows = max(1, ENCODED_CHUNK * values.shape[0] // max(1, values.size))
    for start in range(0, values.shape[0], rows):
        here = slice(start, start + rows)
        chunk = values[here]
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            for dtype in before:
                chunk = converted(chunk, dtype)
        yield here, chunk if chunk.dtype == np.float64 else chunk.astype(np.float32)


def is_known(type_: ir.Type) -> bool:
    """Whether a type is a tensor of floats that have a NumPy dtype."""
    known = format_of(type_) not in (None, FORMATS["tf32"])
    return known and isinstance(type_.element_type, ir.FloatType)


def has_elements(constant: ir.Operation) -> bool:
    """Whether a constant is dense, not a splat, and of floats that have a NumPy dtype."""
    type_, elements = constant.results[0].type, dense_of(constant.results[0])
    dense = elements is not None and not elements.is_splat
    return dense and is_known(type_) and math.prod(type_.shape) > 1


def dtype_of(name: str) -> np.dtype[Any]:
    """Returns the dtype of a format by its name in MLIR."""
    plain = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16}
    narrow = f"float{name[1]}_{name[2:].lower()}"
    dtype: np.dtype[Any] = np.dtype(plain.get(name) or getattr(ml_dtypes, narrow))
    return dtype


def elements_of(attribute: ir.Attribute) -> Array:
    """Returns the elements of a dense attribute in order; a view if the bindings provide one."""
    dtype = dtype_of(str(attribute.type.element_type))
    if dtype in _READABLE:
        return np.asarray(memoryview(attribute)).reshape(-1)
    return _raw(attribute, dtype)


def _raw(attribute: ir.Attribute, dtype: np.dtype[Any]) -> Array:
    """Returns the elements from bytecode, for formats that the bindings cannot read."""
    op = ir.Operation.create(
        "stablehlo.constant", results=[attribute.type], attributes={"value": attribute}
    )
    buffer = io.BytesIO()
    op.write_bytecode(buffer)
    erase(op)
    written = buffer.getvalue()
    count = math.prod(attribute.type.shape)
    length = _varint(count * dtype.itemsize)
    head = written[: len(written) - count * dtype.itemsize + len(length)]
    at = head.find(length)
    while at >= 0:
        bits = np.frombuffer(written, f"u{dtype.itemsize}", count, at + len(length))
        shaped = bits.reshape(list(attribute.type.shape))
        if ir.DenseElementsAttr.get(shaped, type=attribute.type) == attribute:
            return bits.view(dtype)
        at = head.find(length, at + 1)
    raise ValueError(f"the elements of a {attribute.type} are not in its bytecode")


def _varint(number: int) -> bytes:
    """Returns a length as bytecode writes it: the low zero bits count the bytes that follow."""
    size = next((n for n in range(1, 9) if number < 1 << (7 * n)), 9)
    if size == 9:
        return b"\0" + number.to_bytes(8, "little")
    return (((number << 1) | 1) << (size - 1)).to_bytes(size, "little")
