"""ScaledArray: an array as data and a power-of-two scale, as a JAX pytree node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from scalify_hlo.algebra.limits import ENTRY_BOUND
from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.jax_api.block_scales import SCALE_DTYPE, from_blocks, scales_of_blocks, to_blocks
from scalify_hlo.jax_api.powers import EXPONENTS, exponent_below_rms, times_power

Statistic: TypeAlias = Literal["l2", "l1", "max"]

_WIDE = frozenset(map(np.dtype, (np.float32, np.float64, np.complex64, np.complex128)))
"""Dtypes with enough range for data times scale, whatever the dtype of the data."""

_SMALL, _WIDE_EXPONENTS = 8, 128
"""The bits of f8 formats, and the `maxexp` of formats with the range of f32."""

_NO_LIMIT = 1 << 12
"""An exponent beyond those of all scales."""

SERIALIZED_NAME = "scalify_hlo.ScaledArray"
"""The name of a ScaledArray node in jax.export files."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True, slots=True, eq=False)
class ScaledArray:
    """An array X represented by data and scale: X = data * scale.

    Invariants, which `check` verifies:

    * ``data`` has any shape, and a float or complex dtype.
    * ``scale`` has rank 0 and is a finite power of two, greater than 0.
    * ``scale`` is f64 if the data are f64 or complex128, and f32 for all other data.

    Moments that a program stores in blocks have a scale for each block; see `power`.

    As a pytree node it has two leaves, data and then scale. The arguments of a program with the
    `scaled` signature have the same order. A ScaledArray as a cotangent is ``data * scale`` too:
    `asarray`, `as_scaled_array` and the vjps of rewritten programs take and return such cotangents.
    If a value is used twice, JAX adds its cotangents leaf by leaf, which is not the sum of two
    pairs. So use a ScaledArray once, or differentiate with respect to plain arrays and split them
    for each use.

    Attributes:
        data: The data X_d, of the shape of X.
        scale: The scale X_s, a power of two.
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
            product = np.asarray(self.data).astype(wide) * np.asarray(self.scale).astype(wide)
            return np.asarray(product)
        array = np.asarray(asarray(self))
        return array if dtype is None else array.astype(dtype)

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
        if self.scale.shape != shape or self.scale.dtype != wanted:
            given = f"{self.scale.dtype}{list(self.scale.shape)}"
            needed = f"{wanted}{list(shape)}, a scale for each block" if blocks else ""
            raise UsageError(
                f"the scale of a ScaledArray is {given}",
                hint=f"for {self.data.dtype} data it is a {needed or f'{wanted} of rank 0'}",
            )
        if not blocks and is_concrete(self.scale) and not is_power_of_two(float(self.scale)):
            raise UsageError(
                f"the scale {float(self.scale)} is not a power of two",
                hint="as_scaled_array chooses one",
            )
        return self


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


def as_scaled_array(tree: Any, scale: Any = None) -> Any:
    """Splits the float leaves of a pytree into data and scale.

    Args:
        tree: A pytree. Float and complex leaves become ScaledArrays. Abstract leaves
            (`jax.ShapeDtypeStruct`) become ScaledArrays with an abstract scale. Other leaves are
            not changed.
        scale: A power of two, which becomes the scale of all leaves, ScaledArrays included. By
            default the scale of a leaf is the power of two at or below its rms, within 2^±63, or 1
            if the rms is zero or not finite; ScaledArrays are not changed.

    Returns:
        The pytree with ScaledArray leaves, with data of the shape and dtype of each leaf. `asarray`
        is the inverse.

    Raises:
        UsageError: `scale` is not a power of two.

    Example:
        >>> x = as_scaled_array(jnp.array([3.0, 4.0, 5.0]))
        >>> float(x.scale), x.data.tolist()
        (4.0, [0.75, 1.0, 1.25])
    """
    if scale is not None:
        _require_power_of_two(scale)
    return jax.tree.map(lambda leaf: _as_scaled(leaf, scale), tree, is_leaf=is_scaled_array)


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
    return jax.tree.map(
        lambda leaf: _unscale(_of_dtype(leaf, dtype)) if is_scaled_array(leaf) else leaf,
        tree,
        is_leaf=is_scaled_array,
    )


def dynamic_rescale(tree: Any, statistic: Statistic = "l2") -> Any:
    """Rescales ScaledArrays so that a statistic of their data is near 1; data * scale is unchanged.

    The new scale is within 2^±63, unless the old scale is not. Arrays with a scale for each block
    are not changed: their scales fit their blocks already.

    Args:
        tree: A pytree. ScaledArrays are rescaled; other leaves are not changed.
        statistic: The statistic of the data that gives the power of two by which they are divided:
            ``l2`` is at or below the rms, ``l1`` is at or below the mean magnitude, and ``max`` is
            at or above the largest magnitude. If it is zero, infinite or NaN, the ScaledArray is
            not changed.

    Returns:
        The pytree with the same structure, shapes and dtypes.

    Raises:
        UsageError: The statistic is unknown.

    Example:
        >>> x = dynamic_rescale(ScaledArray(jnp.full(4, 24.0), jnp.float32(0.5)))
        >>> float(x.scale), float(x.data[0])
        (8.0, 1.5)
    """
    if statistic not in EXPONENTS:
        raise UsageError(
            f"no statistic is named {statistic!r}{nearest(statistic, EXPONENTS)}",
            hint=f"the statistics are: {', '.join(EXPONENTS)}",
        )
    exponent = EXPONENTS[statistic]
    return jax.tree.map(
        lambda leaf: _rescale(leaf, exponent) if is_scaled_array(leaf) else leaf,
        tree,
        is_leaf=is_scaled_array,
    )


def held(array: ScaledArray, scales: Sequence[Any], bound: int) -> ScaledArray:
    """Rescales a result so that its scale does not drift over many calls.

    Data with the range of f32 are valid at any moderate scale. Their scale is clamped to the bound
    after a call in which the scale of an argument is out of bounds. Data in f16 are rescaled to rms
    near 1. Data in f8 are not changed, as only their program chooses a scale that fits them.

    Args:
        array: The result.
        scales: The scales of the arguments that the result may become in the next call.
        bound: The bound on ``|log2|`` of these scales.
    """
    format_ = jnp.finfo(array.dtype)
    if format_.bits <= _SMALL:
        return array
    if format_.maxexp < _WIDE_EXPONENTS:
        return _rescale(array, EXPONENTS["l2"])
    far = jnp.max(jnp.abs(jnp.stack([_log2(scale) for scale in scales])))
    limit = jnp.where(far > bound, bound, _NO_LIMIT)
    return _moved(array, jnp.clip(_log2(array.scale), -limit, limit))


def _as_scaled(leaf: Any, scale: Any) -> Any:
    if is_scaled_array(leaf):
        return leaf if scale is None or not _has_values(leaf.data) else _set_scale(leaf, scale)
    dtype = getattr(leaf, "dtype", None)
    if dtype is None:
        leaf = jnp.asarray(leaf)
        dtype = leaf.dtype
    if not is_float(dtype):
        return leaf
    if not _has_values(leaf):
        return ScaledArray(leaf, jax.ShapeDtypeStruct((), scale_dtype(dtype)))
    array = jnp.asarray(leaf)
    if scale is None:
        return _split(array, jnp.ldexp(_one(array), exponent_below_rms(array)))
    return _split(array, jnp.asarray(scale, scale_dtype(dtype)))


def _of_dtype(array: ScaledArray, dtype: Any) -> ScaledArray:
    """Casts data to a dtype, by default the logical one, and the scale to the dtype for it."""
    array = whole(array)
    wanted = array.logical if dtype is None else np.dtype(dtype)
    if wanted is None or wanted == array.dtype:
        return array
    scale = jnp.asarray(array.scale).astype(scale_dtype(wanted))
    return ScaledArray(jnp.asarray(array.data).astype(wanted), scale)


def whole(array: ScaledArray) -> ScaledArray:
    """Returns an array with one scale: itself, or one with the scale 1 in its logical dtype."""
    if array.power is None:
        return array
    wide = from_blocks(array.data, array.scale, array.power).astype(array.logical_dtype)
    return ScaledArray(wide, jnp.ones((), scale_dtype(wide.dtype)))


def stored(array: ScaledArray, dtype: Any, power: int | None, logical: Any) -> ScaledArray:
    """Converts an array to the form in which a program stores it.

    Args:
        array: The array.
        dtype: The dtype of the data.
        power: See `ScaledArray`.
        logical: The logical dtype.
    """
    dtype = np.dtype(dtype)
    if power is not None:
        if (array.power, array.dtype) == (power, dtype):
            return replace(array, logical=logical)
        data, scale = to_blocks(_unscale(_of_dtype(array, np.float32)), dtype, power)
        return ScaledArray(data, scale, logical, power)
    one = whole(array)
    scale = jnp.asarray(one.scale).astype(scale_dtype(dtype))
    return ScaledArray(jnp.asarray(one.data).astype(dtype), scale, logical)


def _set_scale(array: ScaledArray, scale: Any) -> ScaledArray:
    """Rescales to another scale by the quotient of both scales, since X may overflow."""
    array = whole(array)
    return _moved(array, _log2(jnp.asarray(scale, scale_dtype(array.dtype))))


def _rescale(array: ScaledArray, exponent: Callable[[jax.Array], jax.Array]) -> ScaledArray:
    if not _has_values(array.data) or array.power is not None:
        return array
    old = _log2(array.scale)
    moved = old + exponent(jax.lax.stop_gradient(jnp.asarray(array.data)))
    # A scale that is out of bounds already may come closer to 1, but not move further away.
    low, high = jnp.minimum(-ENTRY_BOUND, old), jnp.maximum(ENTRY_BOUND, old)
    return _moved(array, jnp.clip(moved, low, high))


def _log2(scale: Any) -> jax.Array:
    """Returns the exponent of a power of two."""
    exponent: jax.Array = jnp.frexp(jax.lax.stop_gradient(jnp.asarray(scale)))[1] - 1
    return exponent


@jax.custom_vjp
def _moved(array: ScaledArray, exponent: jax.Array) -> ScaledArray:
    data = jnp.asarray(array.data)
    moved = times_power(data, _log2(array.scale) - exponent)
    return replace(array, data=moved, scale=jnp.ldexp(_one(data), exponent))


@jax.custom_vjp
def _split(array: jax.Array, scale: jax.Array) -> ScaledArray:
    return ScaledArray(times_power(array, -_log2(scale)), scale)


@jax.custom_vjp
def _unscale(array: ScaledArray) -> jax.Array:
    return times_power(jnp.asarray(array.data), _log2(array.scale))


def _without_data(array: ScaledArray) -> ScaledArray:
    """Returns a ScaledArray without data; the cotangent needs its structure and its scale."""
    return replace(array, data=())


# The value of a cotangent that is a ScaledArray is data * scale.
_split.defvjp(
    lambda array, scale: (_split(array, scale), scale),
    lambda scale, cotangent: (_unscale(cotangent), jnp.zeros_like(scale)),
)
_unscale.defvjp(
    lambda array: (_unscale(array), _without_data(array)),
    lambda like, cotangent: (replace(like, data=cotangent, scale=jnp.ones_like(like.scale)),),
)
_moved.defvjp(
    lambda array, exponent: (_moved(array, exponent), None),
    lambda _, cotangent: (cotangent, None),
)


@jax.custom_vjp
def data_at_one(array: ScaledArray) -> jax.Array:
    """Returns the data of a ScaledArray whose scale is known to be 1."""
    data: jax.Array = array.data
    return data


data_at_one.defvjp(
    lambda array: (array.data, _without_data(array)),
    lambda like, cotangent: (replace(like, data=cotangent, scale=jnp.ones_like(like.scale)),),
)


@jax.custom_vjp
def data_of(array: ScaledArray) -> jax.Array:
    """Returns the data of a ScaledArray; in derivatives the scale is a constant."""
    data: jax.Array = array.data
    return data


data_of.defvjp(
    lambda array: (array.data, _without_data(array)),
    lambda like, cotangent: (replace(like, data=cotangent, scale=_reciprocal(like.scale)),),
)


def rebalance(array: ScaledArray, delta: Any) -> ScaledArray:
    """Multiplies the scale by `delta`, and divides the data by it; `asarray` is unchanged.

    The new scale is clamped to the normal numbers of its dtype.

    Args:
        array: The ScaledArray.
        delta: A scalar, which is rounded down to a power of two.
    """
    moved = _log2(array.scale) + _log2(jnp.asarray(delta, scale_dtype(array.dtype)))
    info = jnp.finfo(scale_dtype(array.dtype))
    return _moved(array, jnp.clip(moved, info.minexp, info.maxexp - 1))


def _reciprocal(scale: Any) -> jax.Array:
    return jnp.ldexp(jnp.ones_like(scale), -_log2(scale))


def _one(array: jax.Array) -> jax.Array:
    return jnp.ones((), scale_dtype(array.dtype))


def _has_values(leaf: Any) -> bool:
    return not isinstance(leaf, jax.ShapeDtypeStruct)


def is_concrete(value: Any) -> bool:
    """Whether a value is concrete: neither abstract nor traced."""
    return _has_values(value) and not isinstance(value, jax.core.Tracer)


def is_power_of_two(value: float) -> bool:
    """Whether a number is a finite power of two."""
    return bool(np.isfinite(value)) and value > 0 and float(np.frexp(value)[0]) == 0.5


def _require_power_of_two(scale: Any) -> None:
    if is_concrete(scale) and not (np.ndim(scale) == 0 and is_power_of_two(float(scale))):
        raise UsageError(
            f"the scale {scale} is not a power of two", hint="give one such as 0.25, or none"
        )
