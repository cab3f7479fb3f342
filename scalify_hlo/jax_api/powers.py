"""Powers of two in JAX: multiplication by them, those near a statistic, and arrays of them.

`scalify_hlo.algebra.scale_shapes` has the shapes of arrays of scales.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from scalify_hlo.algebra.limits import ENTRY_BOUND
from scalify_hlo.algebra.scale_shapes import split_shape

_LIFT = 64
"""log2 of a factor that makes each number below 1 a normal one, and none infinite."""


@jax.jit  # op by op, each shape would compile each op
def times_power(data: jax.Array, exponent: jax.Array) -> jax.Array:
    """Returns ``data * 2^exponent`` in the dtype of the data, exact wherever that dtype holds it.

    Subnormal numbers of f32 and wider formats are moved on their bits, as CPUs and GPUs may flush
    them in a product. Low-precision data are multiplied in f32, where they are normal.

    Args:
        data: A float or complex array of any shape.
        exponent: An integer scalar, or integers of a shape that broadcasts to that of the data.
    """
    if jnp.issubdtype(data.dtype, jnp.complexfloating):
        return jax.lax.complex(*(times_power(part, exponent) for part in (data.real, data.imag)))
    wide = wide_dtype(data.dtype)
    half, one = exponent // 2, jnp.ones((), wide)  # The whole factor may overflow.
    product = data.astype(wide) * jnp.ldexp(one, half) * jnp.ldexp(one, exponent - half)
    product = product.astype(data.dtype)
    if not _has_range_of_f32(data.dtype):
        return product
    moved, exact = _moved_bits(data, exponent)
    return jnp.where(exact, moved, product)


@jax.jit
def times_scale(data: jax.Array, scale: jax.Array) -> jax.Array:
    """Returns ``data * scale`` in the dtype of the data, rounded once, or not by a power of two.

    Args:
        data: A float or complex array of any shape.
        scale: Numbers of a shape that broadcasts to that of the data.
    """
    mantissa, exponent = jnp.frexp(scale)
    wide = wide_dtype(data.dtype)
    product = (data.astype(wide) * scale.astype(jnp.finfo(wide).dtype)).astype(data.dtype)
    return jnp.where(mantissa == 0.5, times_power(data, exponent - 1), product)


def _moved_bits(data: jax.Array, exponent: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Returns ``data * 2^exponent`` and where that is exact, for formats with the range of f32."""
    info, bits = jnp.finfo(data.dtype), bits_of(data)
    unsigned: Any = bits.dtype.type
    mantissa, hidden = unsigned(info.nmant), unsigned(1 << info.nmant)
    sign = bits & unsigned(1 << (info.bits - 1))
    size, largest = bits ^ sign, bits_of(jnp.asarray(info.max, data.dtype))
    field = (size >> mantissa).astype(jnp.int32)
    zeros = jax.lax.clz(size).astype(jnp.int32) - (jnp.iinfo(bits.dtype).bits - 1 - info.nmant)
    up = jnp.where(field == 0, zeros, 0)
    digits = jnp.where(
        field == 0, size << up.astype(bits.dtype), (size & (hidden - unsigned(1))) | hidden
    )
    moved = jnp.where(field == 0, 1 - up, field) + exponent
    down = jnp.clip(1 - moved, 0, info.nmant + 1).astype(bits.dtype)
    below = digits >> down
    fields = jnp.clip(moved, 0, 1 << (info.bits - 1 - info.nmant)).astype(bits.dtype)
    found = jnp.where(moved >= 1, (fields << mantissa) | (digits ^ hidden), below)
    exact = (found <= largest) & (below << down == digits)
    kept = (size == 0) | (size > largest)
    found = sign | jnp.where(kept, size, found)
    return jax.lax.bitcast_convert_type(found.astype(f"uint{info.bits}"), data.dtype), kept | exact


def bits_of(data: jax.Array) -> jax.Array:
    """Returns the bits of real numbers; those of f32 for narrow ones, which f32 holds."""
    wide = data if _has_range_of_f32(data.dtype) else data.astype(jnp.float32)
    return jax.lax.bitcast_convert_type(wide, f"uint{jnp.finfo(wide.dtype).bits}")


def _has_range_of_f32(dtype: Any) -> bool:
    """Whether some numbers of a real dtype are subnormal in f32, or not numbers of f32."""
    return bool(jnp.finfo(dtype).maxexp >= jnp.finfo(jnp.float32).maxexp)


def wide_dtype(dtype: Any) -> Any:
    """Returns the dtype in which data of a dtype are computed: at least f32."""
    if jnp.issubdtype(dtype, jnp.complexfloating):
        return dtype
    return jnp.promote_types(dtype, jnp.float32) if jnp.finfo(dtype).bits > 8 else jnp.float32


def _log2_above_max(data: jax.Array) -> jax.Array:
    """Returns ceil(log2(max |x|)), or 0 if the maximum is zero, infinite or NaN.

    The maximum is that of the bits, as subnormal numbers may count as zero otherwise. Of complex
    data it is that of max(|re|, |im|).
    """
    if jnp.issubdtype(data.dtype, jnp.complexfloating):
        data = jnp.stack([data.real, data.imag])
    data = data if _has_range_of_f32(data.dtype) else data.astype(jnp.float32)
    bits = bits_of(data)
    largest = jnp.max(bits & bits.dtype.type(jnp.iinfo(bits.dtype).max >> 1), initial=0)
    number = jax.lax.bitcast_convert_type(largest, data.dtype)
    lift = jnp.where(number < 1, _LIFT, 0)
    lifted = times_power(number, lift).astype(wide_dtype(data.dtype))
    mantissa, exponent = jnp.frexp(lifted)
    exact = jnp.where(mantissa == 0.5, exponent - 1, exponent)
    return jnp.where(_is_usable(lifted), exact - lift, 0)


def _exponent_above_max(data: jax.Array) -> jax.Array:
    return jnp.clip(_log2_above_max(data), -ENTRY_BOUND, ENTRY_BOUND)


@jax.jit  # op by op, each shape would compile each op
def exponent_below_rms(data: jax.Array) -> jax.Array:
    """Returns floor(log2(rms)), or 0 if the rms is zero, infinite or NaN.

    The data are first divided by a power of two, so that no square overflows.
    """
    unit, power = _unit(data)
    mean = jnp.mean(jnp.square(jnp.real(unit)) + jnp.square(jnp.imag(unit)))
    return _within(mean, (jnp.frexp(mean)[1] - 1) // 2 + power)


def _exponent_below_mean(data: jax.Array) -> jax.Array:
    """Returns floor(log2(mean |x|)), or 0 if the mean is zero, infinite or NaN."""
    unit, power = _unit(data)
    mean = jnp.mean(jnp.abs(unit))
    return _within(mean, jnp.frexp(mean)[1] - 1 + power)


def _unit(data: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Returns the data divided by the power of two at or above their amax, and its exponent."""
    power = _log2_above_max(data)
    wide = wide_dtype(data.dtype)
    data = data if _has_range_of_f32(data.dtype) else data.astype(wide)
    return times_power(data, -power).astype(wide), power


def _within(statistic: jax.Array, exponent: jax.Array) -> jax.Array:
    """Returns an exponent within 2^±63, or 0 if the statistic says nothing."""
    return jnp.where(_is_usable(statistic), jnp.clip(exponent, -ENTRY_BOUND, ENTRY_BOUND), 0)


def _is_usable(statistic: jax.Array) -> jax.Array:
    return (statistic > 0) & jnp.isfinite(statistic)


EXPONENTS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "l2": exponent_below_rms,
    "l1": _exponent_below_mean,
    "max": _exponent_above_max,
}
"""The function for the exponent of a rescaling, by statistic."""


def by_element(scales: Any, shape: Sequence[int]) -> Any:
    """Returns the number of the block of each element.

    Args:
        scales: An array with a number for each block, or one number of rank 0.
        shape: The shape of the array of elements.
    """
    if not jnp.ndim(scales):
        return scales
    for d, (count, whole) in enumerate(zip(jnp.shape(scales), shape, strict=True)):
        if 1 < count < whole:
            scales = jnp.repeat(scales, whole // count, axis=d)
    return scales


def of_blocks(
    function: Callable[[jax.Array], jax.Array], data: jax.Array, scales: Sequence[int]
) -> jax.Array:
    """Applies a function of an array to each block.

    Args:
        function: Returns a scalar.
        data: The array.
        scales: The shape of the array of scales; empty for one block.

    Returns:
        The scalars, of the shape `scales`.
    """
    if not scales:
        return function(data)
    rank = data.ndim
    split = data.reshape(split_shape(data.shape, scales))
    order = [*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)]
    rows = split.transpose(order).reshape(math.prod(scales), -1)
    return jax.vmap(function)(rows).reshape(scales)


@jax.jit  # op by op, each shape would compile each op
def without_loss(data: jax.Array, exponents: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Divides each block of an array by a power of two, unless a bit would be lost.

    Args:
        data: The array.
        exponents: log2 of the power of two of each block, or of all.

    Returns:
        The new array and log2 of the powers of two by which its blocks were divided: those given,
        or 0 for blocks that did not change.
    """
    each = by_element(exponents, data.shape)
    moved = times_power(data, -each)
    changed = jnp.zeros(data.shape, bool)
    for part in (jnp.real, jnp.imag) if jnp.iscomplexobj(data) else (lambda x: x,):
        old, back = part(data), part(times_power(moved, each))
        changed |= (bits_of(back) != bits_of(old)) & ~jnp.isnan(old.astype(wide_dtype(old.dtype)))
    lost = of_blocks(jnp.any, changed, jnp.shape(exponents))
    kept = jnp.where(by_element(lost, data.shape), data, moved)
    return kept, jnp.where(lost, 0, exponents)
