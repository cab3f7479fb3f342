"""Models of NumPyro, trained by a step of stochastic variational inference."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

from benchmarks.models.model import Training
from benchmarks.zoo.tasks import BATCH, Batch, images, key

FEATURES, WIDTH, CODE, PIXELS = 32, 64, 32, 192


def inferred(model: Any, guide: Any, batch: Batch, seed: int, rate: float = 5e-3) -> Training:
    """Trains on the evidence lower bound, over the size of the batch."""
    svi = SVI(model, guide, numpyro.optim.Adam(rate), Trace_ELBO())
    first = svi.init(key(seed), *batch(0))

    def step(state: Any, *batch: Any) -> tuple[Any, jax.Array]:
        state, loss = svi.update(state, *batch)
        return state, loss / BATCH

    return Training(first, step, batch)


def _labelled(number: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(number)
    x = rng.standard_normal((BATCH, FEATURES)).astype(np.float32)
    wanted = np.random.default_rng(0).standard_normal(FEATURES)
    return x, (x @ wanted > 0).astype(np.float32)


def logistic(seed: int = 0) -> Training:
    """Bayesian logistic regression."""

    def model(x: jax.Array, y: jax.Array) -> None:
        weights = numpyro.sample("weights", dist.Normal(jnp.zeros(FEATURES), 1.0).to_event(1))
        bias = numpyro.sample("bias", dist.Normal(0.0, 1.0))
        numpyro.sample("y", dist.Bernoulli(logits=x @ weights + bias).to_event(1), obs=y)

    return inferred(model, AutoNormal(model), _labelled, seed, 2e-2)


def bayesian(seed: int = 0) -> Training:
    """A net of two hidden layers with a distribution of each weight."""

    def layer(name: str, inputs: int, outputs: int) -> Any:
        prior = dist.Normal(jnp.zeros((inputs, outputs)), inputs**-0.5).to_event(2)
        return numpyro.sample(name, prior)

    def model(x: jax.Array, y: jax.Array) -> None:
        z = jnp.tanh(x @ layer("one", FEATURES, WIDTH))
        z = jnp.tanh(z @ layer("two", WIDTH, WIDTH))
        logits = (z @ layer("three", WIDTH, 1))[:, 0]
        numpyro.sample("y", dist.Bernoulli(logits=logits).to_event(1), obs=y)

    return inferred(model, AutoNormal(model, init_scale=0.02), _labelled, seed, 2e-2)


def vae(seed: int = 0) -> Training:
    """NumPyro's example: a VAE of binary images."""
    pictures = images(noise=0.3)

    def batch(number: int) -> tuple[Any, ...]:
        return ((pictures(number)[0].reshape(BATCH, -1) > 0).astype(np.float32),)

    def dense(name: str, x: jax.Array, width: int) -> jax.Array:
        init = jax.nn.initializers.glorot_normal()
        weights = numpyro.param(name, lambda key: init(key, (x.shape[-1], width)))
        return x @ weights + numpyro.param(f"{name}_bias", jnp.zeros(width))

    def model(x: jax.Array) -> None:
        with numpyro.plate("batch", BATCH):
            z = numpyro.sample("z", dist.Normal(jnp.zeros(CODE), 1.0).to_event(1))
            logits = dense("out", jax.nn.softplus(dense("back", z, 2 * WIDTH)), PIXELS)
            numpyro.sample("x", dist.Bernoulli(logits=logits).to_event(1), obs=x)

    def guide(x: jax.Array) -> None:
        y = jax.nn.softplus(dense("hidden", x, 2 * WIDTH))
        mean, width = dense("mean", y, CODE), jnp.exp(dense("width", y, CODE))
        with numpyro.plate("batch", BATCH):
            numpyro.sample("z", dist.Normal(mean, width).to_event(1))

    return inferred(model, guide, batch, seed)
