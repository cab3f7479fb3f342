"""ScaledArray: an array as data and scale, as a JAX pytree node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NoReturn, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from scalify_hlo.algebra.scale_shapes import are_blocks, shape_of_blocks
from scalify_hlo.errors import UsageError, caller
from scalify_hlo.jax_api.block_scales import SCALE_DTYPE, from_blocks, scales_of_blocks
from scalify_hlo.jax_api.operators import Operators, spelled
from scalify_hlo.jax_api.powers import (
    by_element,
    exponent_below_rms,
    of_blocks,
    times_power,
    times_scale,
    wide_dtype,
    without_loss,
)

Statistic: TypeAlias = Literal["l2", "l1", "max"]

_WIDE = frozenset(map(np.dtype, (np.float32, np.float64, np.complex64, np.complex128)))
"""Dtypes with enough range for data times scale, whatever the dtype of the data."""

SERIALIZED_NAME = "scalify_hlo.ScaledArray"
"""The name of a ScaledArray node in jax.export files."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScaledArray(Operators):
    """An array X represented by data and scale: X = data * scale.

    Invariants, which `check` verifies:

    * ``data`` has any shape, and a float or complex dtype.
    * ``scale`` is finite, greater than 0, and of rank 0. Or it has one number for each block of the
      data: it has the rank of the data, and each of its sizes divides that of the data.
    * ``scale`` is f64 if the data are f64 or complex128, and f32 for all other data.

    Moments that a program stores in blocks have a scale for each block; see `power`.

    Scales that this package chooses are powers of two: a product with one is exact where it is a
    normal number. With other scales, such as those of FP8 checkpoints, products are rounded.

    As a pytree node it has two leaves, data and then scale. The arguments of a program with the
    `scaled` signature have the same order. A ScaledArray as a cotangent is ``data * scale`` too:
    `asarray`, `as_scaled_array` and the vjps of rewritten programs take and return such cotangents.
    If a value is used twice, JAX adds its cotangents leaf by leaf, which is not the sum of two
    pairs. So use a ScaledArray once, or differentiate with respect to plain arrays and split them
    for each use.

    Operators, methods such as `sum`, and functions of NumPy and `jax.numpy` take the values of a
    ScaledArray, those of `asarray`, and return plain arrays. `jax.lax` takes no ScaledArray. The
    gradient with respect to one through operators is an error: ``x = asarray(x)`` has one.

    Attributes:
        data: The data X_d, of the shape of X.
        scale: The scale X_s, by default a power of two.
        logical: The dtype in which programs compute, if it is not the dtype of the data, else None.
            For example, state that is stored in f16 or f8 is computed in f32. It is part of the
            structure of the pytree, and not a leaf.
        power: None for an array with one scale. With 1, ``scale`` has a power of two for each block
            of 128 elements along the last dimension, in float8_e8m0fnu. With 2 it has too, and the
            data are those of the square root R: X = R * abs(R). Part of the structure too. Such
            arrays have no derivatives, and programs compute them in f32.
    """

    data: Any
    scale: Any
    logical: np.dtype[Any] | None = field(default=None, metadata={"static": True})
    power: int | None = field(default=None, metadata={"static": True})

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the data."""
        shape: tuple[int, ...] = self.data.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the data."""
        dtype: np.dtype[Any] = self.data.dtype
        return dtype

    @property
    def logical_dtype(self) -> np.dtype[Any]:
        """The dtype in which programs compute: `logical`, or the dtype of the data."""
        return self.logical or self.dtype

    @property
    def ndim(self) -> int:
        """Rank of the data."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements of the data."""
        return int(np.prod(self.shape))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Returns the values of X as a NumPy array."""
        if copy is False:
            raise ValueError("data times scale is always a new array")
        if dtype is not None and np.dtype(dtype) in _WIDE and self.power is None:
            # The scale of low-precision data may be far from 1. The product could underflow or
            # overflow in their dtype.
            wide = np.dtype(dtype)
            scale = np.asarray(by_element(self.scale, self.shape)).astype(wide)
            return np.asarray(np.asarray(self.data).astype(wide) * scale)
        array = np.asarray(asarray(self))
        return array if dtype is None else array.astype(dtype)

    def __jax_array__(self) -> jax.Array:
        """Returns the values of X, by which operators and functions of `jax.numpy` take it."""
        values: jax.Array = asarray(_without_gradient(self))
        return values

    def __repr__(self) -> str:
        # Data of any size are one line. `np.asarray` has their values.
        known = isinstance(self.scale, (jax.Array, np.ndarray, np.generic))
        one = known and is_concrete(self.scale) and not np.ndim(self.scale)
        factor = f"{self.scale:g}" if one else spelled(self.scale)
        logical = "" if self.logical is None else f", logical={self.logical}"
        power = "" if self.power is None else f", power={self.power}"
        return f"ScaledArray({spelled(self.data)} * {factor}{logical}{power})"

    def check(self) -> ScaledArray:
        """Verifies the invariants of data and scale; the value of a traced scale is not checked.

        Returns:
            This ScaledArray.

        Raises:
            UsageError: An invariant does not hold.
        """
        if not is_float(self.data.dtype):
            raise UsageError(
                f"the data of a ScaledArray are {self.data.dtype}, not floating point",
                hint="leave integers and booleans as they are",
            )
        blocks = self.power is not None
        wanted = SCALE_DTYPE if blocks else scale_dtype(self.data.dtype)
        shape = scales_of_blocks(self.shape) if blocks else ()
        given = tuple(self.scale.shape)
        fits = given == shape or (not blocks and are_blocks(given, self.shape))
        if not fits or self.scale.dtype != wanted:
            needed = f"{wanted}{list(shape)}, a scale for each block" if blocks else ""
            one = f"{wanted} of rank 0, or has a scale for each block of the data"
            raise UsageError(
                f"the scale of a ScaledArray is {self.scale.dtype}{list(given)}",
                hint=f"for {self.data.dtype}{list(self.shape)} data it is a {needed or one}",
            )
        if not blocks and is_concrete(self.scale):
            _require_positive(np.asarray(self.scale))
        return self


def _require_positive(scales: np.ndarray[Any, Any]) -> None:
    wrong = scales[~((scales > 0) & np.isfinite(scales))]
    if wrong.size:
        raise UsageError(
            f"the scale {wrong[0]} of a ScaledArray is not a finite number above 0",
            hint="as_scaled_array chooses a scale",
        )


def _static_written(aux: tuple[np.dtype[Any] | None, int | None]) -> bytes:
    logical, power = aux
    name = "" if logical is None else logical.name
    return (name if power is None else f"{name} {power}").encode()


def _static_read(data: bytes) -> tuple[np.dtype[Any] | None, int | None]:
    name, _, power = bytes(data).decode().partition(" ")
    return jnp.dtype(name) if name else None, int(power) if power else None


jax.export.register_pytree_node_serialization(
    ScaledArray,
    serialized_name=SERIALIZED_NAME,
    serialize_auxdata=_static_written,
    deserialize_auxdata=_static_read,
)


def is_scaled_array(value: object) -> bool:
    """Whether a value is a ScaledArray; can be the ``is_leaf`` of `jax.tree.map`."""
    return isinstance(value, ScaledArray)


def is_float(dtype: Any) -> bool:
    """Whether a dtype can be split into data and scale: all float and complex dtypes.

    The scale format e8m0 is excluded, as it has neither sign nor zero.
    """
    return bool(jnp.issubdtype(dtype, jnp.inexact)) and dtype != jnp.float8_e8m0fnu


def scale_dtype(dtype: Any) -> np.dtype[Any]:
    """Returns the dtype of the scale for data of a dtype: f64 for f64 and complex128, else f32."""
    wide = dtype in (np.dtype(np.float64), np.dtype(np.complex128))
    return np.dtype(np.float64 if wide else np.float32)


def as_scaled_array(tree: Any, scale: Any = None, *, block: Sequence[int] | None = None) -> Any:
    """Splits the float leaves of a pytree into data and scale.

    Args:
        tree: A pytree. Float and complex leaves become ScaledArrays. Abstract leaves
            (`jax.ShapeDtypeStruct`) become ScaledArrays with an abstract scale. Other leaves are
            not changed.
        scale: A power of two, which becomes the scale of all leaves, ScaledArrays included. By
            default the scale of a leaf is the power of two at or below its rms, within 2^±63. It is
            1 if the rms is zero or not finite, or if the quotient would lose a bit, as that of f8
            data of different sizes does; ScaledArrays are not changed.
        block: The sizes of a block along each dimension, each of which divides it, or is 0 for the
            whole dimension. Each block then has a scale of its own: ``(0, 1)`` is one for each
            column of a matrix. By default an array has one scale.

    Returns:
        The pytree with ScaledArray leaves, with data of the shape and dtype of each leaf. `asarray`
        is the inverse, bit for bit but for NaN, if no scale is given. With a given one, data that
        their dtype cannot hold are rounded.

    Raises:
        UsageError: `scale` is not a power of two, or a block does not divide an array.

    Example:
        >>> x = as_scaled_array(jnp.array([3.0, 4.0, 5.0]))
        >>> float(x.scale), x.data.tolist()
        (4.0, [0.75, 1.0, 1.25])
        >>> as_scaled_array(jnp.array([[1.0, 16.0], [1.0, 16.0]]), block=(0, 1)).scale.tolist()
        [[1.0, 16.0]]
    """
    if scale is not None:
        _require_power_of_two(scale)
    split = partial(_as_scaled, scale=scale, block=block)
    return jax.tree.map(split, tree, is_leaf=is_scaled_array)


def asarray(tree: Any, dtype: Any = None) -> Any:
    """Multiplies data and scale of the ScaledArrays in a pytree; other leaves are not changed.

    Args:
        tree: A pytree.
        dtype: The float dtype of the products; by default the logical dtype of each ScaledArray. In
            f16, a product can underflow or overflow.

    Returns:
        The pytree with arrays of the same shapes in place of ScaledArrays.

    Raises:
        UsageError: The dtype is not floating point.

    Example:
        >>> asarray(as_scaled_array(jnp.float32(6.0), scale=4)).item()
        6.0
        >>> small = ScaledArray(jnp.float16(1.5), jnp.float32(2.0**-30))
        >>> asarray(small).item(), asarray(small, jnp.float32).item()
        (0.0, 1.3969838619232178e-09)
    """
    if dtype is not None and not is_float(np.dtype(dtype)):
        raise UsageError(
            f"data times scale are floats, not {np.dtype(dtype)}",
            hint="convert the result of asarray(tree)",
        )
    return map_scaled(lambda array: _value_in(array, dtype), tree)


def map_scaled(change: Callable[[ScaledArray], Any], tree: Any) -> Any:
    """Returns a pytree with other values in place of its ScaledArrays."""
    return jax.tree.map(
        lambda leaf: change(leaf) if is_scaled_array(leaf) else leaf, tree, is_leaf=is_scaled_array
    )


def _as_scaled(leaf: Any, scale: Any, block: Sequence[int] | None = None) -> Any:
    if is_scaled_array(leaf):
        return leaf if scale is None or not has_values(leaf.data) else _set_scale(leaf, scale)
    dtype = getattr(leaf, "dtype", None)
    if dtype is None:
        leaf = jnp.asarray(leaf)
        dtype = leaf.dtype
    if not is_float(dtype):
        return leaf
    shape = () if block is None else _shape_of_blocks(leaf, block)
    if not has_values(leaf):
        return ScaledArray(leaf, jax.ShapeDtypeStruct(shape, scale_dtype(dtype)))
    array = jnp.asarray(leaf)
    if scale is None:
        return _split_exactly(array, shape)
    return _split(array, jnp.full(shape, scale, scale_dtype(dtype)))


def split_at_rms(array: jax.Array) -> ScaledArray:
    """Splits an array at the power of two at or below its rms, even if bits are lost."""
    return _split(array, jnp.ldexp(_one(array), exponent_below_rms(array)))


def _shape_of_blocks(array: Any, block: Sequence[int]) -> tuple[int, ...]:
    shape = shape_of_blocks(array.shape, tuple(block))
    if shape is None:
        raise UsageError(
            f"blocks of {tuple(block)} do not divide an array of the shape {tuple(array.shape)}",
            hint="give a size for each dimension that divides it, or 0 for the whole dimension",
        )
    return tuple(shape)


def of_dtype(array: ScaledArray, dtype: Any) -> ScaledArray:
    """Casts data to a dtype, by default the logical one, and scales to the dtype for it."""
    array = array if array.power is None else whole(array)
    wanted = array.logical if dtype is None else np.dtype(dtype)
    if wanted is None or wanted == array.dtype:
        return array
    scale = jnp.asarray(array.scale).astype(scale_dtype(wanted))
    return ScaledArray(jnp.asarray(array.data).astype(wanted), scale)


def _value_in(array: ScaledArray, dtype: Any) -> jax.Array:
    """Returns data times scale in a dtype, by default the logical one; the product is wider."""
    wanted = array.logical_dtype if dtype is None else np.dtype(dtype)
    if wanted == array.dtype:
        own: jax.Array = value_of(array if array.power is None else whole(array))
        return own
    both = (jnp.promote_types(wide_dtype(each), np.float32) for each in (wanted, array.dtype))
    product: jax.Array = value_of(of_dtype(array, jnp.promote_types(*both)))
    return product.astype(wanted)


def whole(array: ScaledArray) -> ScaledArray:
    """Returns an array with one scale: itself, or a new one.

    The largest power of two in an array of scales becomes the one; moments get the scale 1 in their
    logical dtype.
    """
    if array.power is None:
        if not jnp.ndim(array.scale):
            return array
        return moved_to(array, jnp.max(log2_of(array.scale)))
    wide = from_blocks(array.data, array.scale, array.power).astype(array.logical_dtype)
    return ScaledArray(wide, jnp.ones((), scale_dtype(wide.dtype)))


def _set_scale(array: ScaledArray, scale: Any) -> ScaledArray:
    """Rescales to another scale by the quotient of both scales, since X may overflow."""
    array = _without_mantissas(whole(array))
    return moved_to(array, log2_of(jnp.asarray(scale, scale_dtype(array.dtype))))


def log2_of(scale: Any) -> jax.Array:
    """Returns the exponent of the power of two at or below a scale."""
    exponent: jax.Array = jnp.frexp(jax.lax.stop_gradient(jnp.asarray(scale)))[1] - 1
    return exponent


def mantissa_of(scale: Any) -> jax.Array:
    """Returns a scale over the power of two at or below it: 1 for most."""
    return 2 * jnp.frexp(jax.lax.stop_gradient(jnp.asarray(scale)))[0]


@jax.custom_vjp
def moved_to(array: ScaledArray, exponent: jax.Array) -> ScaledArray:
    """Rescales an array to scales that have other exponents, and the same mantissas.

    Args:
        array: The array.
        exponent: log2 of the new scales, less that of the mantissas. Its shape may be another one.
            If it is one for many scales, the data are multiplied by their mantissas.
    """
    if jnp.ndim(exponent) < jnp.ndim(array.scale):
        array = _without_mantissas(array)
        mantissa = _one(array.data)
    else:
        mantissa = mantissa_of(array.scale)
    data = jnp.asarray(array.data)
    moved = times_power(data, by_element(log2_of(array.scale) - exponent, data.shape))
    return replace(array, data=moved, scale=jnp.ldexp(mantissa, exponent))


@jax.custom_vjp
def _without_mantissas(array: ScaledArray) -> ScaledArray:
    """Multiplies data by the mantissas of scales, which become powers of two."""
    data = jnp.asarray(array.data)
    product = times_scale(data, by_element(mantissa_of(array.scale), data.shape))
    powers = jnp.ldexp(jnp.ones_like(array.scale), log2_of(array.scale))
    return replace(array, data=product, scale=powers)


@jax.custom_vjp
def _split(array: jax.Array, scale: jax.Array) -> ScaledArray:
    return ScaledArray(times_power(array, by_element(-log2_of(scale), array.shape)), scale)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def _split_exactly(array: jax.Array, shape: tuple[int, ...]) -> ScaledArray:
    """Splits blocks at the power of two at or below their rms, or at 1 if a bit would be lost."""
    data, exponents = without_loss(array, of_blocks(exponent_below_rms, array, shape))
    return ScaledArray(data, jnp.ldexp(_one(array), exponents))


@jax.custom_vjp
def value_of(array: ScaledArray) -> jax.Array:
    """Returns data times scale in the dtype of the data."""
    data, scale = jnp.asarray(array.data), jnp.asarray(array.scale)
    product: jax.Array = times_scale(data, by_element(scale, data.shape))
    return product


@jax.custom_vjp
def _without_gradient(array: ScaledArray) -> ScaledArray:
    """Returns an array that has no gradients: those of two operators would add up leaf by leaf."""
    return array


def _refuse_gradient(_: None, _cotangent: Any) -> NoReturn:
    raise UsageError(
        "operators and functions of a ScaledArray have no gradient with respect to it",
        location=caller(),
        hint="start the function with `x = scalify_hlo.asarray(x)`, once for each ScaledArray",
    )


def without_data(array: ScaledArray) -> ScaledArray:
    """Returns a ScaledArray without data; the cotangent needs its structure and its scale."""
    return replace(array, data=())


# The value of a cotangent that is a ScaledArray is data * scale.
_without_gradient.defvjp(lambda array: (array, None), _refuse_gradient)
_split.defvjp(
    lambda array, scale: (_split(array, scale), scale),
    lambda scale, cotangent: (value_of(cotangent), jnp.zeros_like(scale)),
)
_split_exactly.defvjp(
    lambda array, shape: (_split_exactly(array, shape), None),
    lambda _shape, _, cotangent: (value_of(cotangent),),
)
value_of.defvjp(
    lambda array: (value_of(array), without_data(array)),
    lambda like, cotangent: (replace(like, data=cotangent, scale=jnp.ones_like(like.scale)),),
)
_without_mantissas.defvjp(
    lambda array: (_without_mantissas(array), None),
    lambda _, cotangent: (cotangent,),
)
moved_to.defvjp(
    lambda array, exponent: (moved_to(array, exponent), None),
    lambda _, cotangent: (cotangent, None),
)


def _one(array: jax.Array) -> jax.Array:
    return jnp.ones((), scale_dtype(array.dtype))


def has_values(leaf: Any) -> bool:
    """Whether a leaf is concrete or traced, and not abstract."""
    return not isinstance(leaf, jax.ShapeDtypeStruct)


def is_concrete(value: Any) -> bool:
    """Whether a value is concrete: neither abstract nor traced."""
    return has_values(value) and not isinstance(value, jax.core.Tracer)


def is_power_of_two(value: float) -> bool:
    """Whether a number is a finite power of two."""
    return bool(np.isfinite(value)) and value > 0 and float(np.frexp(value)[0]) == 0.5


def _require_power_of_two(scale: Any) -> None:
    if is_concrete(scale) and not (np.ndim(scale) == 0 and is_power_of_two(float(scale))):
        raise UsageError(
            f"the scale {scale} is not a power of two", hint="give one such as 0.25, or none"
        )
