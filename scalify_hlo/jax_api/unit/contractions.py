"""Unit-scaled matmuls, convolutions and attention (Unit Scaling paper, table A.2 and appendix G).

A sum of k products of unit normal numbers has variance k. Weights come on cut edges, so their
gradients have a factor of their own; activations are constrained, but for ``constraint=None``.

Operands, forward and backward, are marked with the scale 1, so that a rewrite to FP8 knows their
sizes and takes no statistic of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from scalify_hlo.jax_api.unit.constraints import Constraint, constrained, gmean
from scalify_hlo.jax_api.unit.scaled import (
    identity,
    of_unit_gradient,
    of_unit_scale,
    refusal,
    scaled,
    size,
)


def _contracted(f: Callable[..., Any], alpha: float, betas: Sequence[float]) -> Callable[..., Any]:
    op = scaled(f, alpha, betas)
    return lambda *inputs: of_unit_gradient(op(*map(of_unit_scale, inputs)))


def matmul(a: Any, b: Any, constraint: Constraint | None = gmean) -> Any:
    """Multiplies two activations; for a weight as second operand there is `linear`.

    alpha = k^(-1/2), beta_a = n^(-1/2) and beta_b = m^(-1/2).

    Args:
        a: A float array of shape [..., m, k].
        b: A float array of shape [..., k, n].
        constraint: Makes one factor of the three; None if both come on cut edges.

    Returns:
        An array of shape [..., m, n].

    Raises:
        UsageError: An operand has no such shape.
    """
    if min(jnp.ndim(a), jnp.ndim(b)) < 2 or a.shape[-1] != b.shape[-2]:
        raise refusal(
            f"a matmul of shapes {jnp.shape(a)} and {jnp.shape(b)}",
            "the shapes are [..., m, k] and [..., k, n]",
        )
    *batch, rows, inner = a.shape
    if len(b.shape) > len(a.shape) or size(*b.shape[:-2]) > size(*batch):
        raise refusal(
            f"a matmul of shapes {jnp.shape(a)} and {jnp.shape(b)}: the first is broadcast",
            "broadcast it before, or exchange the operands",
        )
    shared = size(*batch) // size(*b.shape[:-2])
    factors = (size(inner) ** -0.5, size(b.shape[-1]) ** -0.5, size(rows, shared) ** -0.5)
    alpha, betas = constrained(constraint, *factors)
    return _contracted(jnp.matmul, alpha, betas)(a, b)


def linear(x: Any, weight: Any, bias: Any = None, constraint: Constraint | None = gmean) -> Any:
    """Multiplies an activation by a weight, and adds a bias.

    alpha = m^(-1/2), beta_x = n^(-1/2), and for b rows beta = b^(-1/2) of weight and bias (table
    A.2).

    Args:
        x: A float array of shape [..., m], b rows in all.
        weight: A float array of shape [m, n], of unit scale at initialization.
        bias: An array of shape [n], zeros at initialization.
        constraint: Makes one factor of alpha and beta_x; None if `x` comes on a cut edge.

    Returns:
        An array of shape [..., n].

    Raises:
        UsageError: The shapes do not fit.
    """
    if jnp.ndim(weight) != 2 or jnp.shape(x)[-1:] != weight.shape[:1]:
        raise refusal(
            f"an activation of shape {jnp.shape(x)} and a weight of shape {jnp.shape(weight)}",
            "the shapes are [..., m] and [m, n]",
        )
    inner, outer = weight.shape
    alpha, (beta,) = constrained(constraint, size(inner) ** -0.5, size(outer) ** -0.5)
    of_weight = size(*x.shape[:-1]) ** -0.5
    y = _contracted(jnp.matmul, alpha, (beta, of_weight))(x, weight)
    return y if bias is None else y + identity(bias, 1.0, of_weight)


def conv(
    x: Any,
    kernel: Any,
    strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "SAME",
    groups: int = 1,
    constraint: Constraint | None = gmean,
) -> Any:
    """Convolves an activation with a kernel, channels last.

    With K positions of the kernel, G groups and strides of the product S: alpha = (K m / G)^(-1/2),
    beta_x = (K n / (G S))^(-1/2), and beta_W = b^(-1/2) for b positions of the output.

    Args:
        x: A float array of shape [batch, *space, m].
        kernel: A float array of shape [*space, m / G, n], of unit scale at initialization.
        strides: A stride for each dimension of space, 1 by default.
        padding: As of `jax.lax.conv_general_dilated`. Zeros that it adds are not counted.
        groups: The number G of groups of channels.
        constraint: Makes one factor of alpha and beta_x; None if `x` comes on a cut edge.

    Returns:
        An array of shape [batch, *space, n].
    """
    *window, inner, outer = kernel.shape
    strides = tuple(strides or (1,) * len(window))
    letters = "DHW"[-len(window) :]
    form = (f"N{letters}C", f"{letters}IO", f"N{letters}C")

    def f(x: Any, kernel: Any) -> Any:
        return jax.lax.conv_general_dilated(
            x, kernel, strides, padding, dimension_numbers=form, feature_group_count=groups
        )

    positions = size(*jax.eval_shape(f, x, kernel).shape[:-1])
    beta_x = (size(*window, outer) / groups / math.prod(strides)) ** -0.5
    alpha, (beta,) = constrained(constraint, size(*window, inner) ** -0.5, beta_x)
    return _contracted(f, alpha, (beta, positions**-0.5))(x, kernel)


def attention(
    q: Any, k: Any, v: Any, *, causal: bool = False, constraint: Constraint | None = gmean
) -> Any:
    """Scaled dot-product attention with outputs and gradients of unit scale.

    With unit normal logits, the mean of the sum of p² over the keys is e / s (see `softmax`). It is
    the variance of the output and of all three gradients, so that one factor serves all. The first
    rows of a causal mask see few keys, and are larger; the mean over rows is taken.

    Args:
        q: A float array of shape [..., t, d].
        k: A float array of shape [..., s, d].
        v: A float array of shape [..., s, d].
        causal: Whether row i sees the first i + 1 keys only.
        constraint: Without effect on the scale, but where s and t differ.

    Returns:
        An array with the shape of `q`.

    Raises:
        UsageError: The shapes do not fit, or one is broadcast.
    """
    (*heads, rows, width), shapes = q.shape, (k.shape, v.shape)
    if any((*heads, width) != (*shape[:-2], shape[-1]) for shape in shapes) or k.shape != v.shape:
        raise refusal(
            f"queries of shape {q.shape}, keys of shape {k.shape} and values of shape {v.shape}",
            "the shapes are [..., t, d] and twice [..., s, d]; broadcast keys and values before",
        )
    rows, keys = size(rows), size(k.shape[-2])
    found = _mean_square(rows, keys, causal)
    of_keys = found * rows / keys

    def f(q: Any, k: Any, v: Any) -> Any:
        logits = jnp.einsum("...td,...sd->...ts", q, k) * size(width) ** -0.5
        if causal:
            seen = jnp.tril(jnp.ones(logits.shape[-2:], bool))
            logits = jnp.where(seen, logits, jnp.finfo(logits.dtype).min)
        return jnp.einsum("...ts,...sd->...td", jax.nn.softmax(logits), v)

    factors = (found**-0.5, found**-0.5, of_keys**-0.5, of_keys**-0.5)
    alpha, betas = constrained(constraint, *factors)
    return _contracted(f, alpha, betas)(q, k, v)


@cache
def _mean_square(rows: int, keys: int, causal: bool) -> float:
    """Returns the mean over rows of the expected sum of p² over the keys that a row sees.

    For n keys, about 1 / (1 + (n - 1) / e): 1 for one key, e / n for many.
    """
    seen = np.minimum(np.arange(1, rows + 1), keys) if causal else np.full(rows, keys)
    return float(np.mean(1 / (1 + (seen - 1) / math.e)))
