"""Markers for models: what an author says of a value, which a program keeps through its export.

Each is made of ordinary ops and means the same where a program is not rewritten.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax


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
