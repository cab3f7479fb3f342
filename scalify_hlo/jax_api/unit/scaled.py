"""Scaled ops: a factor in the forward pass, and a factor for each input in the backward pass.

The factors are a primitive of their own, so that `cut_edges` finds them in a jaxpr. It is lowered
to a multiplication, and to nothing where the factor is 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from scalify_hlo.errors import UsageError, caller
from scalify_hlo.jax_api.markers import set_scaling

FACTOR: Final = Primitive("unit_factor")
"""Multiplies by ``alpha``; ``beta`` is the factor of the gradient, and ``line`` of the model.

``known`` is ``value`` or ``gradient`` if the result or its gradient has unit scale, for a rewrite.
"""
_VALUE, _GRADIENT = "value", "gradient"


def identity(x: Any, alpha: float = 1.0, beta: float = 1.0) -> Any:
    """Multiplies a value by one factor and its gradient by another.

    Forward, ``alpha * x``, and so its tangents; backward, ``beta * g``. Gradients keep their
    direction only where the edge that carries `x` is a cut edge, or the factors that other ops
    apply balance these; see `cut_edges`. Source: Unit Scaling paper, §5.3 and appendix I.1
    (``scaled``).

    Args:
        x: A float array of any shape.
        alpha: The factor of the value, positive.
        beta: The factor of the gradient, positive.

    Returns:
        An array with the shape and dtype of `x`.

    Raises:
        UsageError: A factor is not a positive number that the dtype of `x` holds, or `x` is not an
            array of floats.

    Example:
        >>> import jax
        >>> value, vjp = jax.vjp(lambda x: identity(x, 2.0, 8.0), jnp.float32(3.0))
        >>> float(value), float(vjp(jnp.float32(1.0))[0])
        (6.0, 8.0)
    """
    alpha, beta = _held(x, "alpha", alpha), _held(x, "beta", beta)
    if min(alpha, beta) < 0:
        raise refusal(f"the factors are {alpha} and {beta}", "factors are positive")
    if alpha == beta == 1:
        return x
    return FACTOR.bind(jnp.asarray(x), alpha=alpha, beta=beta, line=caller(), known="")


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
        UsageError: There are more factors than inputs; see `identity` for the others.
    """

    def op(*inputs: Any) -> Any:
        if len(betas) > len(inputs):
            raise refusal(
                f"{len(betas)} factors of gradients for {len(inputs)} inputs",
                "give `scaled` at most one of betas for each input",
            )
        factors = (*betas, *[1.0] * (len(inputs) - len(betas)))
        backward = [identity(x, 1.0, beta) for x, beta in zip(inputs, factors, strict=True)]
        return identity(f(*backward), alpha, 1.0)

    return op


def of_unit_scale(x: Any) -> Any:
    """Returns a value of unit scale, of whose size a rewrite takes no statistic.

    Args:
        x: The array, which is returned as it is.
    """
    return _known(x, _VALUE)


def of_unit_gradient(x: Any) -> Any:
    """Returns a value whose gradient has unit scale; see `of_unit_scale`.

    Args:
        x: The array, which is returned as it is.
    """
    return _known(x, _GRADIENT)


def _known(x: Any, known: str) -> Any:
    """Notes what is known of a whole array; factors do not count the rows of other devices."""
    if getattr(jax.typeof(x), "vma", None):
        return x
    return FACTOR.bind(jnp.asarray(x), alpha=1.0, beta=1.0, line="", known=known)


def times(x: Any, factor: float) -> Any:
    """Returns a float array times a number that is no part of the factors of an op.

    Args:
        x: The array.
        factor: The number.

    Raises:
        UsageError: The array is not of floats, or its dtype does not hold the number.
    """
    return _times(x, _held(x, "the weight", factor))


def size(*dimensions: Any) -> int:
    """Returns the product of some dimensions, and 1 where one is 0.

    Args:
        *dimensions: The dimensions.

    Raises:
        UsageError: A dimension is symbolic.
    """
    for each in dimensions:
        if not isinstance(each, int):
            raise refusal(
                f"a factor depends on the size {each}, which is not known",
                "export the model with static shapes",
            )
    return max(1, int(math.prod(dimensions)))


def below_one(what: str, value: Any) -> float:
    """Returns a share that is known, at least 0 and below 1.

    Args:
        what: What it is, for the message.
        value: The share.

    Raises:
        UsageError: It is no such number.
    """
    if isinstance(value, int | float) and 0 <= value < 1:
        return value
    raise refusal(f"{what} is {value}", "it is a number of at least 0 and below 1")


def refusal(message: str, hint: str) -> UsageError:
    """Returns an error at the line of the model that calls an op.

    Args:
        message: One sentence.
        hint: The cure.
    """
    return UsageError(message, location=caller(), hint=hint)


def _held(x: Any, name: str, value: Any) -> float:
    """Returns a factor of an array whose dtype holds it."""
    dtype = jnp.result_type(x)
    if not jnp.issubdtype(dtype, jnp.inexact):
        raise refusal(f"an array of {dtype} has no scale", "unit-scaled ops take arrays of floats")
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not float(jnp.finfo(dtype).tiny) <= abs(number) <= float(jnp.finfo(dtype).max):
        raise refusal(
            f"{name} is {value!r}, which {dtype} does not hold",
            "factors are numbers that are known when the model is traced, not 0, and in the range "
            "of the array",
        )
    return number


def _times(x: Any, alpha: float, **_: Any) -> Any:
    return x if alpha == 1 else x * jnp.asarray(alpha, x.dtype)


def _lowered(x: Any, *, known: str, **factors: Any) -> Any:
    with jax.named_scope(FACTOR.name):  # The lint of unit scale finds the factors by it.
        y = _times(x, **factors)
    return set_scaling(y, 1.0) if known == _VALUE else y


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, known: str, **factors: Any) -> Any:
    """The tangent has the factor of the value, and its transpose that of the gradient."""
    (tangent,) = tangents
    if not isinstance(tangent, ad.Zero):
        known_of = known if known == _GRADIENT else ""
        tangent = FACTOR.bind(tangent, known=known_of, **factors)
    return FACTOR.bind(*primals, known=known, **factors), tangent


def _transpose(gradient: Any, _x: Any, *, beta: float, known: str, **_: Any) -> list[Any]:
    if isinstance(gradient, ad.Zero):
        return [gradient]
    known = _VALUE if known == _GRADIENT else ""
    return [FACTOR.bind(gradient, alpha=beta, beta=beta, line="", known=known)]


def _batch(values: Sequence[Any], dims: Sequence[Any], *, known: str, **factors: Any) -> Any:
    """Forgets what is known, since the factors do not count the rows that are mapped."""
    del known
    return FACTOR.bind(values[0], known="", **factors), dims[0]


FACTOR.def_impl(_times)
FACTOR.def_abstract_eval(lambda x, **_: x.update(weak_type=False))
ad.primitive_jvps[FACTOR] = _jvp
ad.primitive_transposes[FACTOR] = _transpose
batching.primitive_batchers[FACTOR] = _batch
mlir.register_lowering(FACTOR, mlir.lower_fun(_lowered, multiple_results=False))
