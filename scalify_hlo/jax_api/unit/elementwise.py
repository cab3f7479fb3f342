"""Unit-scaled activations, normalizations, softmax, losses, dropout and embeddings.

Inputs and incoming gradients are taken to be normal with mean 0 and variance 1, as in table A.2 of
the Unit Scaling paper. Outputs and gradients then have unit scale, but where a constraint binds.
"""

from __future__ import annotations

import math
from typing import Any, Final

import jax
import jax.numpy as jnp

from scalify_hlo.jax_api.unit.constraints import Constraint, constrained, gmean
from scalify_hlo.jax_api.unit.scaled import below_one, identity, refusal, scaled, size

_GELU: Final = (1.701, 1.481)
_SILU: Final = (1.787, 1.623)
_RELU: Final = (math.sqrt(2 / (1 - 1 / math.pi)), math.sqrt(2))
"""For a normal variable x, 1 / std(f(x)) and 1 / rms(f'(x)) (table A.2; SiLU is computed so)."""


def relu(x: Any, constraint: Constraint | None = gmean) -> Any:
    """Returns ``max(x, 0)``, with the factors of table A.2.

    Args:
        x: As of `gelu`.
        constraint: As of `gelu`.
    """
    return _activation(jax.nn.relu, _RELU, constraint, x)


def gelu(x: Any, constraint: Constraint | None = gmean) -> Any:
    """Returns the exact GELU, with the factors of table A.2 (Unit Scaling paper, appendix G).

    Args:
        x: A float array of any shape.
        constraint: See `scalify_hlo.unit.gmean`; None if `x` comes on a cut edge.

    Returns:
        An array with the shape and dtype of `x`.
    """
    return _activation(lambda v: jax.nn.gelu(v, approximate=False), _GELU, constraint, x)


def silu(x: Any, constraint: Constraint | None = gmean) -> Any:
    """Returns ``x * sigmoid(x)``, with factors that are computed as those of table A.2.

    Args:
        x: As of `gelu`.
        constraint: As of `gelu`.
    """
    return _activation(jax.nn.silu, _SILU, constraint, x)


def _activation(f: Any, factors: tuple[float, float], constraint: Constraint | None, x: Any) -> Any:
    alpha, betas = constrained(constraint, *factors)
    return scaled(f, alpha, betas)(x)


def softmax(x: Any, axis: int = -1, constraint: Constraint | None = gmean) -> Any:
    """Returns the softmax times ``s / sqrt(e)``, for s numbers, of which the rms is 1.

    The paper takes probabilities to be uniform, which gives the factor s (appendix G). For unit
    normal logits the mean of p² is e / s², and so is the variance of the gradient for a unit one.

    Args:
        x: A float array.
        axis: The axis of the s numbers.
        constraint: Without effect on the scale: both factors are equal.

    Returns:
        An array with the shape and dtype of `x`.
    """
    factor = size(x.shape[axis]) / math.sqrt(math.e)
    alpha, betas = constrained(constraint, factor, factor)
    return scaled(lambda v: jax.nn.softmax(v, axis), alpha, betas)(x)


def cross_entropy(logits: Any, labels: Any) -> Any:
    """Returns the mean cross-entropy, with unit gradients of the logits (table A.2).

    The loss has its usual value, and is computed in f32 at least. For b rows of s logits the
    gradient is multiplied by ``b * s / sqrt(s - 1)``; the paper's beta is for the sum over rows.
    Logits come on a cut edge.

    Args:
        logits: A float array of shape [..., s], with s at least 2.
        labels: Integers of shape [...].

    Returns:
        A scalar of the dtype of `logits`.

    Raises:
        UsageError: The shapes do not fit, labels are not integers, or there are fewer than two
            logits.
    """
    *rows, classes = jnp.shape(logits)
    if tuple(rows) != jnp.shape(labels) or not jnp.issubdtype(jnp.result_type(labels), jnp.integer):
        raise refusal(
            f"logits of shape {jnp.shape(logits)} and labels of shape {jnp.shape(labels)} and "
            f"dtype {jnp.result_type(labels)}",
            "labels are integers of the shape of the logits without its last dimension",
        )
    if size(classes) == 1:
        raise refusal("there are fewer than two logits", "give logits of at least two classes")
    wide = logits.astype(jnp.promote_types(logits.dtype, jnp.float32))
    wide = identity(wide, 1.0, size(*rows) * classes / math.sqrt(classes - 1))
    log_p = jax.nn.log_softmax(wide)
    loss = -jnp.mean(jnp.take_along_axis(log_p, labels[..., None], axis=-1))
    return loss.astype(logits.dtype)


def layer_norm(x: Any, gain: Any = None, bias: Any = None, epsilon: float = 1e-5) -> Any:
    """Normalizes the last axis to mean 0 and variance 1 (table A.2: alpha = beta_x = 1).

    Args:
        x: A float array of shape [..., n].
        gain: An array of shape [n], ones at initialization. Its gradient, a sum over b rows, is
            multiplied by b^(-1/2). It comes on a cut edge, as parameters do.
        bias: As `gain`; zeros at initialization.
        epsilon: Added to the variance.

    Returns:
        An array with the shape and dtype of `x`.
    """
    centered = x - jnp.mean(x, -1, keepdims=True)
    return _affine(centered, gain, bias, epsilon)


def rms_norm(x: Any, gain: Any = None, epsilon: float = 1e-5) -> Any:
    """Returns the quotient of `x` and the root mean square of its last axis.

    Args:
        x: As of `layer_norm`.
        gain: As of `layer_norm`.
        epsilon: Added to the mean square.
    """
    return _affine(x, gain, None, epsilon)


def _affine(x: Any, gain: Any, bias: Any, epsilon: float) -> Any:
    normal = x * jax.lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + epsilon)
    if gain is not None:
        normal = normal * identity(gain, 1.0, size(*x.shape[:-1]) ** -0.5)
    return normal if bias is None else normal + identity(bias, 1.0, size(*x.shape[:-1]) ** -0.5)


def embedding(tokens: Any, table: Any) -> Any:
    """Returns rows of a table of unit scale; its gradient is multiplied by ``sqrt(v / b)``.

    A row's gradient is the sum over the tokens that name it, b / v of the b tokens.

    Args:
        tokens: Integers of any shape [...], b in all.
        table: A float array of shape [v, n], which comes on a cut edge.

    Returns:
        An array of shape [..., n].
    """
    beta = math.sqrt(size(table.shape[0]) / size(*jnp.shape(tokens)))
    return identity(table, 1.0, beta)[tokens]


def dropout(x: Any, rate: float, key: Any) -> Any:
    """Sets a share of values to zero, and multiplies the others by ``(1 - rate)^(-1/2)``.

    That keeps the scale; the usual factor ``1 / (1 - rate)`` keeps the mean, which is 0 here. The
    factor is the same forward and backward.

    Args:
        x: A float array of any shape.
        rate: The share of zeros, at least 0 and less than 1.
        key: A key of `jax.random`.

    Returns:
        An array with the shape and dtype of `x`.

    Raises:
        UsageError: `rate` is not such a number.
    """
    left = 1 - below_one("the rate of a dropout", rate)
    kept = jax.random.bernoulli(key, left, jnp.shape(x))
    factor = left**-0.5
    return scaled(lambda v: jnp.where(kept, v, jnp.zeros_like(v)), factor, (factor,))(x)
