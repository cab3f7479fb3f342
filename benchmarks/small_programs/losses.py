"""Losses of what a small network returns, for `benchmarks.small_programs`."""

from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax, nn
from jax.typing import ArrayLike

OutputLoss = Callable[[jax.Array], jax.Array]

ROWS, COLUMNS = 64, 128
"""The shape of what a network returns."""

TARGETS = np.random.default_rng(3).normal(size=(ROWS, COLUMNS)).astype(np.float32)
LABELS = np.random.default_rng(4).integers(0, COLUMNS, ROWS)
POSITIVE = (TARGETS > 0).astype(np.float32)

_HALF = COLUMNS // 2

LOSSES: dict[str, OutputLoss] = {}
"""The losses by name."""


def registered(function: OutputLoss) -> OutputLoss:
    """Registers a loss in `LOSSES` under its name."""
    LOSSES[function.__name__] = function
    return function


def layer_norm(y: jax.Array) -> jax.Array:
    """Rows with mean 0 and variance 1."""
    return (y - y.mean(-1, keepdims=True)) * lax.rsqrt(y.var(-1, keepdims=True) + 1e-5)


def rms_norm(y: jax.Array) -> jax.Array:
    """Rows with rms 1."""
    return y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)


def unit_rows(y: ArrayLike) -> jax.Array:
    """Rows over their Euclidean norms."""
    return y / jnp.linalg.norm(y, axis=-1, keepdims=True)


@registered
def entropy(y: jax.Array) -> jax.Array:
    """The entropy of a softmax."""
    return -jnp.mean(jnp.sum(nn.softmax(y) * nn.log_softmax(y), -1))


@registered
def squared_softmax(y: jax.Array) -> jax.Array:
    """The mean square of a softmax."""
    return jnp.mean(nn.softmax(y) ** 2)


@registered
def log_softmax(y: jax.Array) -> jax.Array:
    """The mean of a logarithmic softmax."""
    return jnp.mean(nn.log_softmax(y))


@registered
def log_sum_exp(y: jax.Array) -> jax.Array:
    """The mean logarithm of a softmax's denominator."""
    return jnp.mean(nn.logsumexp(y, -1))


@registered
def cross_entropy(y: jax.Array) -> jax.Array:
    """Cross-entropy with integer labels."""
    return optax.softmax_cross_entropy_with_integer_labels(y, LABELS).mean()


@registered
def kl_divergence(y: jax.Array) -> jax.Array:
    """The Kullback-Leibler divergence of two softmaxes."""
    return optax.kl_divergence(nn.log_softmax(y), nn.softmax(TARGETS)).mean()


@registered
def z_loss(y: jax.Array) -> jax.Array:
    """The mean square of a softmax's logarithmic denominator."""
    return jnp.mean(nn.logsumexp(y, -1) ** 2)


@registered
def layer_norm_fourth_power(y: jax.Array) -> jax.Array:
    """The mean fourth power after a layer normalization."""
    return jnp.mean(layer_norm(y) ** 4)


@registered
def rms_norm_fourth_power(y: jax.Array) -> jax.Array:
    """The mean fourth power after an RMS normalization."""
    return jnp.mean(rms_norm(y) ** 4)


@registered
def layer_norm_squared_error(y: jax.Array) -> jax.Array:
    """The mean squared error after a layer normalization."""
    return jnp.mean((layer_norm(y) - TARGETS) ** 2)


@registered
def cosine_distance(y: jax.Array) -> jax.Array:
    """The cosine distance of rows from their targets."""
    return optax.cosine_distance(y, TARGETS, epsilon=1e-8).mean()


@registered
def contrastive(y: jax.Array) -> jax.Array:
    """InfoNCE: each row's own target among those of all rows, at temperature 0.07."""
    similarities = unit_rows(y) @ unit_rows(TARGETS).T / 0.07
    return optax.softmax_cross_entropy_with_integer_labels(similarities, np.arange(ROWS)).mean()


@registered
def huber(y: jax.Array) -> jax.Array:
    """Optax's Huber loss."""
    return optax.huber_loss(y, TARGETS).mean()


@registered
def log_cosh(y: jax.Array) -> jax.Array:
    """The mean logarithm of the errors' hyperbolic cosines."""
    return optax.log_cosh(y, TARGETS).mean()


@registered
def binary_cross_entropy(y: jax.Array) -> jax.Array:
    """Cross-entropy of sigmoids."""
    return optax.sigmoid_binary_cross_entropy(y, POSITIVE).mean()


@registered
def hinge(y: jax.Array) -> jax.Array:
    """The hinge loss of a support vector machine."""
    return optax.hinge_loss(y, 2 * POSITIVE - 1).mean()


@registered
def focal(y: jax.Array) -> jax.Array:
    """The focal loss, which weighs easy elements less."""
    return optax.sigmoid_focal_loss(y, POSITIVE).mean()


@registered
def poisson(y: jax.Array) -> jax.Array:
    """The negative log-likelihood of a Poisson distribution with rates exp(y / 8)."""
    return jnp.mean(jnp.exp(y / 8) - TARGETS * y)


@registered
def gaussian_likelihood(y: jax.Array) -> jax.Array:
    """The negative log-likelihood of a normal distribution with learned variances."""
    log_variances, means = y[:, :_HALF], y[:, _HALF:]
    errors = (means - TARGETS[:, :_HALF]) ** 2
    return jnp.mean(0.5 * jnp.exp(-log_variances) * errors + 0.5 * log_variances)


@registered
def quantile(y: jax.Array) -> jax.Array:
    """The pinball loss of the quantile 0.9."""
    return jnp.mean(jnp.maximum(0.9 * (TARGETS - y), -0.1 * (TARGETS - y)))


@registered
def absolute_error(y: jax.Array) -> jax.Array:
    """The mean absolute error."""
    return jnp.mean(jnp.abs(y - TARGETS))


@registered
def squared_log_error(y: jax.Array) -> jax.Array:
    """The mean squared error of logarithms."""
    return jnp.mean((jnp.log1p(jnp.abs(y)) - TARGETS) ** 2)


@registered
def root_mean_squared_error(y: jax.Array) -> jax.Array:
    """The root of the mean squared error."""
    return jnp.sqrt(jnp.mean((y - TARGETS) ** 2))


@registered
def correlation(y: jax.Array) -> jax.Array:
    """The negative Pearson correlation of columns."""
    centered, wanted = y - y.mean(0), TARGETS - TARGETS.mean(0)
    products = jnp.sum(centered * wanted, 0)
    return -jnp.mean(products / jnp.sqrt(jnp.sum(centered**2, 0) * jnp.sum(wanted**2, 0)))


@registered
def generator(y: jax.Array) -> jax.Array:
    """The loss of a GAN's generator."""
    return jnp.mean(nn.softplus(-y))


@registered
def unit_norm(y: jax.Array) -> jax.Array:
    """The penalty of a Wasserstein GAN, for norms that differ from 1."""
    return jnp.mean(jnp.square(jnp.linalg.norm(y, axis=-1) - 1))


@registered
def total_variation(y: jax.Array) -> jax.Array:
    """The mean absolute difference of neighbors."""
    return jnp.mean(jnp.abs(jnp.diff(y, axis=-1)))


@registered
def vae(y: jax.Array) -> jax.Array:
    """The divergence from a normal distribution, as in a variational autoencoder."""
    log_variances, means = y[:, :_HALF], y[:, _HALF:]
    return -0.5 * jnp.mean(1 + log_variances - means**2 - jnp.exp(log_variances))


@registered
def smooth_l1(y: jax.Array) -> jax.Array:
    """The Huber loss, written with a select."""
    errors = y - TARGETS
    return jnp.mean(jnp.where(jnp.abs(errors) < 1, 0.5 * errors**2, jnp.abs(errors) - 0.5))


@registered
def clipped_ratio(y: jax.Array) -> jax.Array:
    """The clipped ratio of probabilities, as in PPO."""
    ratio = jnp.exp(y / 16)
    return jnp.mean(jnp.minimum(ratio * TARGETS, jnp.clip(ratio, 0.8, 1.2) * TARGETS))


def mean_square(y: jax.Array) -> jax.Array:
    """The mean square."""
    return jnp.mean(y**2)


def huber_to_zero(y: jax.Array) -> jax.Array:
    """The Huber loss with targets of zero."""
    return jnp.mean(jnp.where(jnp.abs(y) < 1, 0.5 * y * y, jnp.abs(y) - 0.5))


def squared_error(y: jax.Array) -> jax.Array:
    """The mean squared error."""
    return jnp.mean((y - TARGETS) ** 2)


SIMPLE_LOSSES: Mapping[str, OutputLoss] = {
    "mean_square": mean_square,
    "mean": jnp.mean,
    "sum": jnp.sum,
    "huber_to_zero": huber_to_zero,
    "squared_error": squared_error,
}
"""The losses under which activations are measured."""
