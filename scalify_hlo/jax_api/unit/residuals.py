"""Unit-scaled sums: weighted addition and residual layers (Unit Scaling paper, §5.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from scalify_hlo.jax_api.unit.constraints import Constraint, gmean
from scalify_hlo.jax_api.unit.contractions import linear
from scalify_hlo.jax_api.unit.elementwise import gelu, layer_norm
from scalify_hlo.jax_api.unit.scaled import below_one, identity, refusal, times


def weighted_add(values: Sequence[Any], weights: Sequence[float], *, cut: bool = False) -> Any:
    """Returns the sum of values times weights, at unit scale (table A.2).

    alpha = (Σ gamma²)^(-1/2). On cut edges beta_i = 1 / gamma_i: each gradient has unit scale.

    Args:
        values: Float arrays of one shape.
        weights: A weight gamma for each; only their ratios matter forward.
        cut: Whether all values come on cut edges, such as embeddings. Otherwise the gradient of
            value i is ``alpha gamma_i g``.

    Returns:
        An array of that shape.

    Raises:
        UsageError: There is not one weight for each value, or all are 0.
    """
    norm = math.hypot(*weights)
    if len(values) != len(weights) or not 0 < norm < math.inf:
        raise refusal(
            f"{len(values)} values and the weights {tuple(weights)}",
            "give one weight for each value, not all of them 0, and none infinite",
        )
    factors = [weight / norm for weight in weights]
    if cut:
        values = [
            identity(value, 1.0, 1 / abs(factor)) if factor else value
            for value, factor in zip(values, factors, strict=True)
        ]
    weighted = zip(values, factors, strict=True)
    products = [times(value, factor) if factor else 0 * value for value, factor in weighted]
    return sum(products[1:], products[0])


def running_mean_tau(layer: int) -> float:
    """Returns the tau of residual layer `layer`, from 1, with which all branches weigh the same.

    ``sqrt(l / (l + 1)) * x + sqrt(1 / (l + 1)) * f(x)``, the running mean of §5.3.

    Args:
        layer: The number l of the layer.

    Raises:
        UsageError: It is less than 1.
    """
    if layer < 1:
        raise refusal(f"the number of a layer is {layer}", "layers are counted from 1")
    return 1 / (layer + 1)


def residual_split(x: Any, tau: float = 0.5) -> tuple[Any, Any]:
    """Returns the input of a residual branch and the value for `residual_add` to add to it.

    The factor gamma = sqrt(tau) of the branch is applied to its gradient here, at its start, and
    forward at its end: inside, values and gradients have unit scale (§5.3, last paragraph).

    Args:
        x: A float array.
        tau: The share of the branch in the variance of the sum, above 0 and below 1.

    Returns:
        The input of the branch, and the skip connection.

    Raises:
        UsageError: `tau` is not such a number.
    """
    return identity(x, 1.0, math.sqrt(_share(tau))), x


def residual_add(branch: Any, skip: Any, tau: float = 0.5) -> Any:
    """Returns ``sqrt(1 - tau) * skip + sqrt(tau) * branch``.

    Args:
        branch: The output of the branch.
        skip: The skip connection that `residual_split` returned.
        tau: The same as for `residual_split`.

    Raises:
        UsageError: `tau` is not above 0 and below 1.
    """
    return times(skip, math.sqrt(1 - _share(tau))) + identity(branch, math.sqrt(tau), 1.0)


def _share(tau: float) -> float:
    return below_one("tau of a residual layer", tau)


class FFN(NamedTuple):
    """The feed-forward layer of a Transformer, unit-scaled (figure 3, ``ScaledFFN``).

    For a normal x, ``rms(gelu'(x)) / rms(gelu(x))`` is 1.036, and the layer norm divides by the
    latter. So gradients grow by a factor of ``sqrt(1 + 0.073 * tau)`` a layer, whatever the
    constraint.

    Attributes:
        gain: The gain of the layer norm, of shape [width].
        bias: Its bias, of shape [width].
        up: The first weight, of shape [width, hidden].
        down: The second weight, of shape [hidden, width].

    Example:
        >>> layer = FFN.init(jax.random.key(0), 64, 256)
        >>> layer(jnp.ones((8, 64)), tau=0.2).shape
        (8, 64)
    """

    gain: Any
    bias: Any
    up: Any
    down: Any

    @classmethod
    def init(cls, key: Any, width: int, hidden: int, dtype: Any = jnp.float32) -> FFN:
        """Returns weights of unit scale, gains of 1 and biases of 0."""
        first, second = jax.random.split(key)
        return cls(
            jnp.ones(width, dtype),
            jnp.zeros(width, dtype),
            jax.random.normal(first, (width, hidden), dtype),
            jax.random.normal(second, (hidden, width), dtype),
        )

    def __call__(self, x: Any, tau: float = 0.5, constraint: Constraint | None = gmean) -> Any:
        """Applies the layer.

        Args:
            x: A float array of shape [..., width].
            tau: As of `residual_split`.
            constraint: As of `linear`.

        Returns:
            An array with the shape of `x`.
        """
        z, skip = residual_split(x, tau)
        z = layer_norm(z, self.gain, self.bias)
        z = gelu(linear(z, self.up, constraint=constraint), constraint)
        return residual_add(linear(z, self.down, constraint=constraint), skip, tau)
