"""Markers for models: functions by which an author sets the scales of values.

Markers are kept in an exported program, in which the rewrite reads them. In a program that is not
rewritten, they return their argument with the same bits; only the two casts round the argument or
its gradient. Markers take arrays of any shape; integers and booleans are not marked. Under
`jax.vmap`, the batch is one array with one scale. A ScaledArray is rescaled at once, and data times
scale is unchanged.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from scalify_hlo.errors import UsageError, caller
from scalify_hlo.ir import markers as dialect
from scalify_hlo.jax_api import rescaling
from scalify_hlo.jax_api import scaled_array as scaled
from scalify_hlo.jax_api.marker_primitives import Marker, mark, mark_gradient
from scalify_hlo.jax_api.parts import data_of
from scalify_hlo.jax_api.scaled_array import (
    ScaledArray,
    Statistic,
    is_float,
    is_scaled_array,
    scale_dtype,
)

_REAL = (jnp.floating, jnp.integer)


def _rounded(x: Any, dtype: Any) -> Any:
    """Rounds values to another dtype, and casts them back."""
    return _marked(Marker(dialect.CAST), x).astype(dtype).astype(x.dtype)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def cast_on_forward(x: Any, dtype: Any) -> Any:
    """Rounds activations or weights to a dtype; gradients are not changed.

    Values beyond the range of `dtype` overflow, as with `astype`. In a program that is rewritten,
    data near unit are rounded instead and saturate, and with a recipe of low precision, matmuls
    take them in `dtype`. Source: Scalify paper, appendix A, algorithm 6.

    Args:
        x: A float array of any shape.
        dtype: A float dtype, such as `jnp.float8_e4m3fn`.

    Returns:
        The rounded array, with the shape and dtype of `x`.
    """
    return _rounded(x, dtype)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def cast_on_backward(x: Any, dtype: Any) -> Any:
    """Rounds the gradient of a value to a dtype; the value is not changed.

    Source: Scalify paper, appendix A, algorithm 6.

    Args:
        x: A float array of any shape.
        dtype: A float dtype, such as `jnp.float8_e5m2`; see `cast_on_forward`.

    Returns:
        `x`.
    """
    del dtype
    return x


cast_on_forward.defvjp(
    lambda x, dtype: (_rounded(x, dtype), None),
    lambda _dtype, _, gradient: (gradient,),
)
cast_on_backward.defvjp(
    lambda x, _dtype: (x, None),
    lambda dtype, _, gradient: (_rounded(gradient, dtype),),
)


def set_scaling(x: Any, scale: Any) -> Any:
    """Rescales a value to a given scale (Scalify paper, §3.1).

    Args:
        x: An array of any shape, or a ScaledArray.
        scale: A power of two of rank 0, or a traced scalar, which the rewrite rounds down to one.
            Its gradient is zero. If `jax.vmap` maps over it, the largest is the scale of the whole
            batch.

    Returns:
        `x`. In a rewritten program, and if `x` is a ScaledArray, it has the given scale.

    Raises:
        UsageError: `scale` is known and not a power of two, or not a scalar.

    Example:
        >>> x = set_scaling(ScaledArray(jnp.full(4, 24.0), jnp.float32(0.5)), 8.0)
        >>> float(x.scale), float(x.data[0])
        (8.0, 1.5)
    """
    x = _as_array(x)
    scale = _as_power(scale, "scale", x)
    if is_scaled_array(x):
        return scaled.as_scaled_array(x, scale)
    return _marked(Marker(dialect.SET_SCALING), x, scale)


def rebalance_scale(x: Any, delta: Any) -> Any:
    """Multiplies the scale of a value and divides its data (Scalify paper, algorithm 4).

    Args:
        x: An array of any shape, or a ScaledArray.
        delta: The factor, a power of two of rank 0 or a traced scalar; see `scale` of
            `set_scaling`.

    Returns:
        `x`. In a rewritten program, and if `x` is a ScaledArray, its scale is multiplied by
        `delta`.

    Raises:
        UsageError: `delta` is known and not a power of two, or not a scalar.

    Example:
        >>> x = rebalance_scale(ScaledArray(jnp.full(4, 24.0), jnp.float32(0.5)), 16.0)
        >>> float(x.scale), float(x.data[0])
        (8.0, 1.5)
    """
    x = _as_array(x)
    delta = _as_power(delta, "delta", x)
    if is_scaled_array(x):
        return rescaling.rebalance(x, delta)
    return _marked(Marker(dialect.REBALANCE_SCALE), x, delta)


def get_data_and_scale(x: Any) -> tuple[Any, Any]:
    """Returns data and scale of a value as plain arrays (Scalify paper, §3.1).

    In derivatives the scale is a constant: the tangent of the data is that of `x`, divided by the
    scale.

    Args:
        x: An array of any shape, or a ScaledArray.

    Returns:
        The data X_d, of the shape and dtype of `x`, and the scale X_s, of rank 0 and f32 (f64 for
        f64 and complex128). They are `x` and 1 in a program that is not rewritten, unless `x` is a
        ScaledArray.
    """
    x = _as_array(x)
    if is_scaled_array(x):
        return data_of(x), jax.lax.stop_gradient(x.scale)
    if not is_float(x.dtype):
        return x, jnp.ones((), scale_dtype(x.dtype))
    data, scale = mark(Marker(dialect.GET_DATA_AND_SCALE), x)
    return data, scale


def stop_scaling(x: Any) -> Any:
    """Makes a value unscaled.

    Args:
        x: An array of any shape, or a ScaledArray.

    Returns:
        `x`, unscaled in a rewritten program; data times scale for a ScaledArray.
    """
    x = _as_array(x)
    if is_scaled_array(x):
        return scaled.asarray(x)
    return _marked(Marker(dialect.STOP_SCALING), x)


def dynamic_rescale_max(x: Any, *, every: int = 1, step: Any = None) -> Any:
    """Rescales a value by the power of two at or above the largest magnitude of its data.

    The scale is multiplied by this power of two, and the data are divided by it. If the largest
    magnitude is zero, infinite or NaN, the value is not rescaled. Source: Scalify paper, §3.3 and
    algorithm 4.

    Args:
        x: An array of any shape, or a ScaledArray.
        every: The interval in steps: the value is rescaled only in steps that are multiples of it.
        step: The number of the step, an integer scalar; needed if `every` is more than 1. If
            `jax.vmap` maps over it, the largest is the step of the whole batch.

    Returns:
        `x`. In a rewritten program, and if `x` is a ScaledArray, it has the new scale.

    Raises:
        UsageError: `every` is not a positive int, or `step` is missing or not an integer scalar.
    """
    return _dynamic_rescale(x, "max", every, step)


def dynamic_rescale_l1(x: Any, *, every: int = 1, step: Any = None) -> Any:
    """Rescales a value by the power of two at or below the mean magnitude of its data.

    Args:
        x: An array of any shape, or a ScaledArray.
        every: As for `dynamic_rescale_max`.
        step: As for `dynamic_rescale_max`.

    Returns:
        `x`, rescaled as in `dynamic_rescale_max`.

    Raises:
        UsageError: As for `dynamic_rescale_max`.
    """
    return _dynamic_rescale(x, "l1", every, step)


def dynamic_rescale_l2(x: Any, *, every: int = 1, step: Any = None) -> Any:
    """Rescales a value by the power of two at or below the rms of its data.

    Args:
        x: An array of any shape, or a ScaledArray.
        every: As for `dynamic_rescale_max`.
        step: As for `dynamic_rescale_max`.

    Returns:
        `x`, rescaled as in `dynamic_rescale_max`.

    Raises:
        UsageError: As for `dynamic_rescale_max`.
    """
    return _dynamic_rescale(x, "l2", every, step)


def dynamic_rescale_max_grad(x: Any, *, every: int = 1, step: Any = None) -> Any:
    """Rescales the gradient of a value; see `dynamic_rescale_max` (Scalify paper, algorithm 5).

    Args:
        x: An array of any shape, or a ScaledArray. Its tangents in forward mode are not rescaled.
        every: As for `dynamic_rescale_max`.
        step: As for `dynamic_rescale_max`.

    Returns:
        `x`.

    Raises:
        UsageError: As for `dynamic_rescale_max`.
    """
    return _dynamic_rescale_grad(x, "max", every, step)


def dynamic_rescale_l1_grad(x: Any, *, every: int = 1, step: Any = None) -> Any:
    """Rescales the gradient of a value; see `dynamic_rescale_l1` (Scalify paper, algorithm 5).

    Args:
        x: As for `dynamic_rescale_max_grad`.
        every: As for `dynamic_rescale_max`.
        step: As for `dynamic_rescale_max`.

    Returns:
        `x`.

    Raises:
        UsageError: As for `dynamic_rescale_max`.
    """
    return _dynamic_rescale_grad(x, "l1", every, step)


def dynamic_rescale_l2_grad(x: Any, *, every: int = 1, step: Any = None) -> Any:
    """Rescales the gradient of a value; see `dynamic_rescale_l2` (Scalify paper, algorithm 5).

    Args:
        x: As for `dynamic_rescale_max_grad`.
        every: As for `dynamic_rescale_max`.
        step: As for `dynamic_rescale_max`.

    Returns:
        `x`.

    Raises:
        UsageError: As for `dynamic_rescale_max`.
    """
    return _dynamic_rescale_grad(x, "l2", every, step)


def _dynamic_rescale(x: Any, statistic: Statistic, every: Any, step: Any) -> Any:
    steps = _as_steps(every, step)
    x = _as_array(x)
    if is_scaled_array(x):
        return _rescaled(x, statistic, every, *steps)
    return _marked(Marker(dialect.DYNAMIC_RESCALE, statistic, int(every)), x, *steps)


def _dynamic_rescale_grad(x: Any, statistic: Statistic, every: Any, step: Any) -> Any:
    steps = _as_steps(every, step)
    x = _as_array(x)
    if is_scaled_array(x):
        return _gradient_rescaled(x, steps, statistic, every)
    if not is_float(x.dtype):
        return x
    return mark_gradient(Marker(dialect.DYNAMIC_RESCALE, statistic, int(every)), x, *steps)


def _rescaled(x: ScaledArray, statistic: Statistic, every: int, *step: Any) -> Any:
    rescale = partial(rescaling.dynamic_rescale, statistic=statistic)
    if not step:
        return rescale(x)
    # The statistic is computed only in the steps that use it.
    return jax.lax.cond(step[0] % every == 0, rescale, lambda same: same, x)


@partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def _gradient_rescaled(
    x: ScaledArray, _step: list[Any], _statistic: Statistic, _every: int
) -> ScaledArray:
    return x


_gradient_rescaled.defvjp(
    lambda x, step, _statistic, _every: (x, step),
    lambda statistic, every, step, gradient: (_rescaled(gradient, statistic, every, *step), None),
)


def _marked(marker: Marker, x: Any, *operands: Any) -> Any:
    return mark(marker, x, *operands)[0] if is_float(x.dtype) else x


def _as_array(x: Any) -> Any:
    if is_scaled_array(x):
        return scaled.whole(x)
    return x if isinstance(x, jax.Array) else jnp.asarray(x)


def _as_power(value: Any, name: str, x: Any) -> Any:
    """Returns a scale, or a factor of a scale, as a scalar of the dtype of the scale of `x`."""
    if np.ndim(value) or not any(jnp.issubdtype(_dtype(value), kind) for kind in _REAL):
        raise UsageError(
            f"the {name} is of shape {list(np.shape(value))} and dtype {_dtype(value)}",
            location=caller(),
            hint="give one power of two for the whole array, such as 0.25",
        )
    dtype = scale_dtype(x.dtype)
    if not scaled.is_concrete(value):
        return jnp.asarray(value).astype(dtype)
    info, power = jnp.finfo(dtype), float(value)
    if not scaled.is_power_of_two(power) or not float(info.tiny) <= power <= float(info.max):
        raise UsageError(
            f"the {name} {value} is not a power of two that {dtype} holds",
            location=caller(),
            hint="give one such as 0.25",
        )
    # A NumPy scalar becomes a constant of the traced program.
    return dtype.type(power)


def _as_steps(every: Any, step: Any) -> list[Any]:
    """Returns a list of the step as an array, or an empty list if `every` is 1."""
    if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
        raise UsageError(
            f"every={every} is not a number of steps",
            location=caller(),
            hint="give an int of 1 or more, which is known when the function is traced",
        )
    if every == 1:
        return []
    if np.ndim(step) or not jnp.issubdtype(_dtype(step), jnp.integer):
        raise UsageError(
            f"every={every} needs the number of the step, and step is {step}",
            location=caller(),
            hint="pass an integer scalar, such as step=state.step",
        )
    return [jnp.asarray(step)]


def _dtype(value: Any) -> Any:
    return np.dtype(object) if value is None else jnp.result_type(value)
