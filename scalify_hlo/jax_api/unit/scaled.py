"""Scaled ops: a factor in the forward pass, and a factor for each input in the backward pass.

The factors are a primitive of their own, so that `cut_edges` finds them in a jaxpr. It is lowered
to a multiplication, and to nothing where the factor is 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir

from scalify_hlo.errors import UsageError, caller

FACTOR: Final = Primitive("unit_factor")
"""Multiplies by ``alpha``; ``beta`` is the factor of the gradient, and ``line`` of the model."""


def identity(x: Any, alpha: float = 1.0, beta: float = 1.0) -> Any:
    """Multiplies a value by one factor and its gradient by another.

    Forward, ``alpha * x``; backward, ``beta * g``. Gradients keep their direction only where the
    edge that carries `x` is a cut edge or the factors that other ops apply balance these; see
    `cut_edges`. Source: Unit Scaling paper, §5.3 and appendix I.1 (``scaled``).

    Args:
        x: A float array of any shape.
        alpha: The factor of the value, positive.
        beta: The factor of the gradient, positive.

    Returns:
        An array with the shape and dtype of `x`.

    Raises:
        UsageError: A factor is not a positive number.

    Example:
        >>> value, vjp = jax.vjp(lambda x: identity(x, 2.0, 8.0), jnp.float32(3.0))
        >>> float(value), float(vjp(jnp.float32(1.0))[0])
        (6.0, 8.0)
    """
    alpha, beta = _factor("alpha", alpha), _factor("beta", beta)
    return x if alpha == beta == 1 else _identity(x, alpha, beta, caller())


def scaled(
    f: Callable[..., Any], alpha: float = 1.0, betas: Sequence[float] = ()
) -> Callable[..., Any]:
    """Returns an op with a factor for its output and a factor for the gradient of each input.

    ``alpha * f(x1, ..., xk)`` forward, and backward ``beta_i`` times the gradient that `f` has
    itself. Source: Unit Scaling paper, §5.1.

    Args:
        f: A function of float arrays that returns one.
        alpha: The factor of the output, positive.
        betas: The factors of the gradients; 1 for inputs beyond them.

    Returns:
        A function with the arguments of `f`.

    Raises:
        UsageError: A factor is not a positive number, or there are more factors than inputs.
    """

    def op(*inputs: Any) -> Any:
        if len(betas) > len(inputs):
            raise UsageError(
                f"{len(betas)} factors of gradients for {len(inputs)} inputs",
                hint="give `scaled` at most one of betas for each input",
            )
        factors = (*betas, *[1.0] * (len(inputs) - len(betas)))
        backward = [identity(x, 1.0, beta) for x, beta in zip(inputs, factors, strict=True)]
        return identity(f(*backward), alpha, 1.0)

    return op


def _factor(name: str, value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise UsageError(
            f"{name} is {value!r}, which is no positive number",
            hint="factors are positive numbers that are known when the model is traced",
        )
    return number


@partial(jax.custom_vjp, nondiff_argnums=(1, 2, 3))
def _identity(x: Any, alpha: float, beta: float, line: str) -> Any:
    return FACTOR.bind(jnp.asarray(x), alpha=alpha, beta=beta, line=line)


_identity.defvjp(
    lambda x, alpha, beta, line: (_identity(x, alpha, beta, line), None),
    lambda _alpha, beta, _line, _, gradient: (_times(gradient, beta),),
)


def _times(x: Any, alpha: float, **_: Any) -> Any:
    return x if alpha == 1 else x * jnp.asarray(alpha, x.dtype)


FACTOR.def_impl(_times)
FACTOR.def_abstract_eval(lambda x, **_: x.update(weak_type=False))
batching.defvectorized(FACTOR)
mlir.register_lowering(FACTOR, mlir.lower_fun(_times, multiple_results=False))
