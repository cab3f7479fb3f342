"""ScaledArray: an array kept as data and a power-of-two scale, as a JAX pytree node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from scalify_hlo.diagnostics import UsageError, nearest
from scalify_hlo.powers import EXPONENTS, SCALE_BOUND, exponent_below_rms, times_power

Statistic: TypeAlias = Literal["l2", "l1", "max"]

_WIDE = frozenset(map(np.dtype, (np.float32, np.float64, np.complex64, np.complex128)))
"""Dtypes in which data times scale are numbers, whatever the dtype of the data."""

_SMALL, _WIDE_EXPONENTS = 8, 128
"""Bits of f8 formats, and the exponents of formats with the range of f32."""

_NO_LIMIT = 1 << 12
"""An exponent that no scale has."""

SERIALIZED_NAME = "scalify_hlo.ScaledArray"
"""What a ScaledArray node is called in jax.export files."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True, slots=True, eq=False)
class ScaledArray:
    """An array X kept as data and scale: X = data * scale.

    Invariants, which `check` verifies:

    * ``data`` is of any shape and of a float or complex dtype.
    * ``scale`` has rank 0 and is a finite power of two, greater than 0.
    * ``scale`` is f64 where the data are f64 or complex128, and f32 for all other data.

    As a pytree node it has two leaves, data and then scale, which is also their order among the
    arguments of a program with the `scaled` signature. As a cotangent it stands for
    ``data * scale`` as well: `asarray`, `as_scaled_array` and the vjps of rewritten programs take
    and give such cotangents. JAX adds the cotangents of a value that is used twice leaf by leaf,
    which is not the sum of two pairs: differentiate with respect to plain arrays, and split them
    anew for each use, or use a ScaledArray once.

    Attributes:
        data: X_d, of the shape of X.
        scale: X_s.
        logical: The dtype that programs compute with where it is not that of the data: state that
            is kept in f16 or f8 stands for f32. It is no leaf, but part of the pytree's structure,
            and None where it is the dtype of the data.
    """

    data: Any
    scale: Any
    logical: np.dtype[Any] | None = field(default=None, metadata={"static": True})

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
        """The dtype that programs compute with: `logical`, or that of the data."""
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
        """The values of X as a NumPy array."""
        if copy is False:
            raise ValueError("data times scale is always a new array")
        if dtype is not None and np.dtype(dtype) in _WIDE:
            # Scales of narrow data may be far from 1: a narrow product would be 0 or infinite.
            wide = np.dtype(dtype)
            product = np.asarray(self.data).astype(wide) * np.asarray(self.scale).astype(wide)
            return np.asarray(product)
        array = np.asarray(asarray(self))
        return array if dtype is None else array.astype(dtype)

    def check(self) -> ScaledArray:
        """Verifies the invariants, as far as they can be seen: a tracer has no value.

        Raises:
            UsageError: One of them does not hold.
        """
        if not is_float(self.data.dtype):
            raise UsageError(
                f"the data of a ScaledArray are {self.data.dtype}, not floating point",
                hint="leave integers and booleans as they are",
            )
        wanted = scale_dtype(self.data.dtype)
        if self.scale.shape != () or self.scale.dtype != wanted:
            raise UsageError(
                f"the scale of a ScaledArray is {self.scale.dtype}{list(self.scale.shape)}",
                hint=f"for {self.data.dtype} data it is a {wanted} of rank 0",
            )
        if is_concrete(self.scale) and not is_power_of_two(float(self.scale)):
            raise UsageError(
                f"the scale {float(self.scale)} is not a power of two",
                hint="as_scaled_array chooses one",
            )
        return self


def _logical_written(aux: tuple[np.dtype[Any] | None]) -> bytes:
    (logical,) = aux
    return b"" if logical is None else logical.name.encode()


def _logical_read(data: bytes) -> tuple[np.dtype[Any] | None]:
    return (jnp.dtype(bytes(data).decode()) if data else None,)


jax.export.register_pytree_node_serialization(
    ScaledArray,
    serialized_name=SERIALIZED_NAME,
    serialize_auxdata=_logical_written,
    deserialize_auxdata=_logical_read,
)


def is_scaled_array(value: object) -> bool:
    """Whether a value is a ScaledArray; an ``is_leaf`` for `jax.tree.map`."""
    return isinstance(value, ScaledArray)


def is_float(dtype: Any) -> bool:
    """Whether values of a dtype are split into data and scale: floats, f8 too, and complex.

    Not those of the scale format e8m0, which has neither sign nor zero.
    """
    return bool(jnp.issubdtype(dtype, jnp.inexact)) and dtype != jnp.float8_e8m0fnu


def scale_dtype(dtype: Any) -> np.dtype[Any]:
    """The dtype of the scale of data of a dtype."""
    wide = dtype in (np.dtype(np.float64), np.dtype(np.complex128))
    return np.dtype(np.float64 if wide else np.float32)


def as_scaled_array(tree: Any, scale: Any = None) -> Any:
    """Splits the float leaves of a pytree into data and scale.

    Args:
        tree: A pytree. Float and complex leaves become ScaledArrays, also abstract ones
            (`jax.ShapeDtypeStruct`), whose scale is abstract; other leaves stay as they are.
        scale: The power of two that all leaves get, ScaledArrays too. By default each leaf gets
            the one at or below its rms, within 2^±63, or 1 if the rms is zero or not finite, and
            ScaledArrays stay as they are.

    Returns:
        The pytree with ScaledArray leaves; ``asarray`` gives the same values back.

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
    """Multiplies data and scale of the ScaledArrays in a pytree; other leaves pass.

    Args:
        tree: A pytree.
        dtype: A float dtype that the products have, by default the logical one of each
            ScaledArray. Data in f16 may be far from 1, where a product in f16 would be 0 or
            infinite.

    Returns:
        The pytree with arrays in the place of ScaledArrays.

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
    """Moves into the scale what the data have drifted away from one; values stay as they are.

    Args:
        tree: A pytree. ScaledArrays are rescaled; other leaves pass.
        statistic: Of the data, the power of two that goes to the scale: ``l2`` at or below the
            rms, ``l1`` at or below the mean magnitude, ``max`` at or above the largest magnitude.
            One that is zero, infinite or NaN leaves a leaf alone.

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
    """The same values at a scale that no number of calls moves away.

    Data with the range of f32 hold values at any scale that is not far out: after a call with a
    scale out of bounds theirs is within them. Data in f16 take their scale from themselves, and
    those in 8 bits stay, as no scale but that of their program fits them.

    Args:
        array: A result.
        scales: The scales of the arguments that it may be in the next call.
        bound: log2 of how far from 1 they may be.
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
    """A ScaledArray with data of a dtype, by default its logical one, and a scale that fits."""
    wanted = array.logical if dtype is None else np.dtype(dtype)
    if wanted is None or wanted == array.dtype:
        return array
    scale = jnp.asarray(array.scale).astype(scale_dtype(wanted))
    return ScaledArray(jnp.asarray(array.data).astype(wanted), scale)


def _set_scale(array: ScaledArray, scale: Any) -> ScaledArray:
    """Another scale for the same values, by the quotient of the two: X may overflow."""
    return _moved(array, _log2(jnp.asarray(scale, scale_dtype(array.dtype))))


def _rescale(array: ScaledArray, exponent: Callable[[jax.Array], jax.Array]) -> ScaledArray:
    if not _has_values(array.data):
        return array
    old = _log2(array.scale)
    moved = old + exponent(jax.lax.stop_gradient(jnp.asarray(array.data)))
    # A scale that is out of bounds already may come back, and is not moved further out.
    low, high = jnp.minimum(-SCALE_BOUND, old), jnp.maximum(SCALE_BOUND, old)
    return _moved(array, jnp.clip(moved, low, high))


def _log2(scale: Any) -> jax.Array:
    """The exponent of a power of two."""
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
    """What a cotangent needs: its structure is that of the ScaledArray."""
    return replace(array, data=())


# A cotangent that is a ScaledArray means data * scale, like any other ScaledArray.
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
    """The data of a ScaledArray whose scale is known to be 1."""
    data: jax.Array = array.data
    return data


data_at_one.defvjp(
    lambda array: (array.data, _without_data(array)),
    lambda like, cotangent: (replace(like, data=cotangent, scale=jnp.ones_like(like.scale)),),
)


@jax.custom_vjp
def data_of(array: ScaledArray) -> jax.Array:
    """The data of a ScaledArray: X / X_s, with X_s held fixed."""
    data: jax.Array = array.data
    return data


data_of.defvjp(
    lambda array: (array.data, _without_data(array)),
    lambda like, cotangent: (replace(like, data=cotangent, scale=_reciprocal(like.scale)),),
)


def rebalance(array: ScaledArray, delta: Any) -> ScaledArray:
    """The same values, with a scale that is multiplied by `delta`, rounded down to a power of two.

    A scale that would leave the normal numbers of its dtype stops at the last of them.
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
    """Whether a value is known now: not a type, and not traced."""
    return _has_values(value) and not isinstance(value, jax.core.Tracer)


def is_power_of_two(value: float) -> bool:
    """Whether a number is one, finite and greater than 0."""
    return bool(np.isfinite(value)) and value > 0 and float(np.frexp(value)[0]) == 0.5


def _require_power_of_two(scale: Any) -> None:
    if is_concrete(scale) and not (np.ndim(scale) == 0 and is_power_of_two(float(scale))):
        raise UsageError(
            f"the scale {scale} is not a power of two", hint="give one such as 0.25, or none"
        )
