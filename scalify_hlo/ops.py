"""Markers for models: what an author says of a value, which a program keeps through its export.

Each means the same where a program is not rewritten. The two casts are made of ordinary ops. The
others do nothing there, not to a bit: they stand in the program for the rewrite to read. They take
arrays of any shape; integers and booleans pass unmarked. Under `jax.vmap` the batch is one array
with one scale. A ScaledArray is changed right away, and its values stay as they are.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from scalify_hlo import scaled_array as scaled
from scalify_hlo.custom_rules import custom_scale as custom_scale
from scalify_hlo.diagnostics import UsageError, caller
from scalify_hlo.dialect import markers as dialect
from scalify_hlo.markers import Marker, mark, mark_gradient
from scalify_hlo.scaled_array import ScaledArray, Statistic, is_float, is_scaled_array, scale_dtype

_REAL = (jnp.floating, jnp.integer)


def _rounded(x: Any, dtype: Any) -> Any:
    """Values as another dtype holds them."""
    return x.astype(dtype).astype(x.dtype)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def cast_on_forward(x: Any, dtype: Any) -> Any:
    """Rounds activations or weights to a dtype; gradients pass as they are.

    Args:
        x: A float array of any shape.
        dtype: A float dtype, such as `jnp.float8_e4m3fn`.

    Returns:
        An array of the shape and dtype of `x` (Scalify paper, appendix A, algorithm 6). Values
        beyond the range of `dtype` are lost, as with `astype`; a rewrite with a recipe of low
        precision rounds data near unit instead, saturates them, and multiplies them as they are.
    """
    return _rounded(x, dtype)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def cast_on_backward(x: Any, dtype: Any) -> Any:
    """Rounds the gradient of a value to a dtype; the value passes as it is.

    Args:
        x: A float array of any shape.
        dtype: See `cast_on_forward`; for gradients `jnp.float8_e5m2`.

    Returns:
        `x` (Scalify paper, appendix A, algorithm 6).
    """
    del dtype
    return x


def _forward_rounded(x: Any, dtype: Any) -> tuple[Any, None]:
    return _rounded(x, dtype), None


def _gradient_as_it_is(_dtype: Any, _residual: None, gradient: Any) -> tuple[Any]:
    return (gradient,)


def _forward_as_it_is(x: Any, _dtype: Any) -> tuple[Any, None]:
    return x, None


def _gradient_rounded(dtype: Any, _residual: None, gradient: Any) -> tuple[Any]:
    return (_rounded(gradient, dtype),)


cast_on_forward.defvjp(_forward_rounded, _gradient_as_it_is)
cast_on_backward.defvjp(_forward_as_it_is, _gradient_rounded)


def set_scaling(x: Any, scale: Any) -> Any:
    """Gives a value a scale, whatever it had (Scalify paper, §3.1).

    Args:
        x: An array of any shape, or a ScaledArray.
        scale: A scalar: a power of two, or a traced value, which the rewrite rounds down to one.
            Nothing is differentiated with respect to it. Where `jax.vmap` maps it, the whole
            batch takes the largest.

    Returns:
        `x`; rewritten, or if it is a ScaledArray, with that scale.

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
    """Multiplies the scale of a value, and divides its data (Scalify paper, algorithm 4).

    Args:
        x: See `set_scaling`.
        delta: The factor, as `scale` of `set_scaling`.

    Returns:
        `x`; rewritten, or if it is a ScaledArray, with its scale times `delta`.

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
        return scaled.rebalance(x, delta)
    return _marked(Marker(dialect.REBALANCE_SCALE), x, delta)


def get_data_and_scale(x: Any) -> tuple[Any, Any]:
    """Data and scale of a value, each as a plain one (Scalify paper, §3.1).

    Args:
        x: See `set_scaling`.

    Returns:
        X_d, of the type of `x`, and X_s, of rank 0 and f32 (f64 for f64 and complex128):
        `x` and 1, where the program is not rewritten and `x` is no ScaledArray. Derivatives take
        the scale for a constant: those of the data are those of `x`, divided by it.
    """
    x = _as_array(x)
    if is_scaled_array(x):
        return scaled.data_of(x), jax.lax.stop_gradient(x.scale)
    if not is_float(x.dtype):
        return x, jnp.ones((), scale_dtype(x.dtype))
    data, scale = mark(Marker(dialect.GET_DATA_AND_SCALE), x)
    return data, scale


def stop_scaling(x: Any) -> Any:
    """Has a value go on unscaled.

    Args:
        x: See `set_scaling`.

    Returns:
        `x`; of a ScaledArray, data times scale.
    """
    x = _as_array(x)
    if is_scaled_array(x):
        return scaled.asarray(x)
    return _marked(Marker(dialect.STOP_SCALING), x)


def dynamic_rescale_max(x: Any, *, every: int = 1, step: Any = None) -> Any:
    """Moves the power of two at or above the largest magnitude of the data into the scale.

    Scalify paper, §3.3 and algorithm 4. Statistics that are zero, infinite or NaN move nothing.

    Args:
        x: See `set_scaling`.
        every: In how many steps it is done once.
        step: The number of the step, an integer scalar, where `every` is more than 1: it is done
            in those that are multiples of `every`. Where `jax.vmap` maps it, the largest counts.

    Returns:
        `x`; rewritten, or if it is a ScaledArray, with the new scale.

    Raises:
        UsageError: `every` is no positive int, or `step` is missing or no integer scalar.
    """
    return _dynamic_rescale(x, "max", every, step)


def dynamic_rescale_l1(x: Any, *, every: int = 1, step: Any = None) -> Any:
    """As `dynamic_rescale_max`, with the power of two at or below the mean magnitude."""
    return _dynamic_rescale(x, "l1", every, step)


def dynamic_rescale_l2(x: Any, *, every: int = 1, step: Any = None) -> Any:
    """As `dynamic_rescale_max`, with the power of two at or below the rms."""
    return _dynamic_rescale(x, "l2", every, step)


def dynamic_rescale_max_grad(x: Any, *, every: int = 1, step: Any = None) -> Any:
    """As `dynamic_rescale_max`, for the gradient of a value (Scalify paper, algorithm 5).

    The value passes, and so do tangents of forward-mode derivatives.
    """
    return _dynamic_rescale_grad(x, "max", every, step)


def dynamic_rescale_l1_grad(x: Any, *, every: int = 1, step: Any = None) -> Any:
    """As `dynamic_rescale_max_grad`, with the statistic of `dynamic_rescale_l1`."""
    return _dynamic_rescale_grad(x, "l1", every, step)


def dynamic_rescale_l2_grad(x: Any, *, every: int = 1, step: Any = None) -> Any:
    """As `dynamic_rescale_max_grad`, with the statistic of `dynamic_rescale_l2`."""
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
    rescale = partial(scaled.dynamic_rescale, statistic=statistic)
    if not step:
        return rescale(x)
    # Statistics are taken in the steps that use them only.
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
    return x if is_scaled_array(x) or isinstance(x, jax.Array) else jnp.asarray(x)


def _as_power(value: Any, name: str, x: Any) -> Any:
    """A scale, or a factor of one, as a scalar of the dtype of the scale of `x`."""
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
    # JAX keeps a scalar of NumPy in the op that uses it.
    return dtype.type(power)


def _as_steps(every: Any, step: Any) -> list[Any]:
    """The step as the operand that it is, or none where every step counts."""
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
