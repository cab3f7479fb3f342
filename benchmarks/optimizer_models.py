"""The models that `benchmarks.optimizers` trains: small, with batches made from a seed.

All sizes that matmuls contract over or keep are at least 16, below which recipes leave a matmul in
f32.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from examples import data, gpt2, mlp
from examples.training import Params

Batch = tuple[np.ndarray[Any, Any], ...]
"""Host arrays that the loss takes after the parameters."""

_ROWS, _FEATURES, _RESULTS = 32, 64, 32
"""Rows of a batch, and sizes of the two models without a time axis."""

_SEQUENCES, _TURNS, _INPUTS, _HIDDEN = 16, 16, 16, 32
"""Sizes of the LSTM and its batches."""

_NOISE = 0.05
"""Standard deviation of what the regressions cannot learn."""

CONFIG = gpt2.Config(layers=2, width=64, heads=4, sequence=16, vocab=1024, batch=8, tied=False)
"""Embedding and head are apart, so that rows of unused tokens have gradients of zero.

A batch has 128 tokens and a vocabulary of 1,024: most rows are unused in each step.
"""


@dataclass(frozen=True)
class Model:
    """A model and its data.

    Attributes:
        init: Draws parameters.
        loss: (params, *batch) -> scalar.
        batch: Draws a batch, given the generator of random numbers and the number of the seed.
        plain: Whether steps take batches as plain arrays, which have no scale; else ScaledArrays.
    """

    init: Callable[[jax.Array], Params]
    loss: Callable[..., jax.Array]
    batch: Callable[[np.random.Generator, int], Batch]
    plain: bool = False

    def batches(self, seed: int, steps: int) -> list[Batch]:
        """The batches of a training, the same each time."""
        random = np.random.default_rng([seed, 17])
        return [self.batch(random, seed) for _ in range(steps)]


@lru_cache(maxsize=8)
def _teacher(seed: int, inputs: int, results: int) -> np.ndarray[Any, Any]:
    """The matrix that makes the labels of a seed."""
    random = np.random.default_rng([seed, 23])
    return random.standard_normal((inputs, results)) / inputs**0.5


def _linear_init(key: jax.Array) -> Params:
    return {
        "weight": 0.1 * jax.random.normal(key, (_FEATURES, _RESULTS)),
        "bias": jnp.zeros(_RESULTS),
    }


def _linear_loss(params: Params, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean((x @ params["weight"] + params["bias"] - y) ** 2)


def _linear_batch(random: np.random.Generator, seed: int) -> Batch:
    x = random.standard_normal((_ROWS, _FEATURES))
    noise = _NOISE * random.standard_normal((_ROWS, _RESULTS))
    y = x @ _teacher(seed, _FEATURES, _RESULTS) + noise
    return x.astype(np.float32), y.astype(np.float32)


def _mlp_init(key: jax.Array) -> Params:
    return mlp.init(key, (_FEATURES, 64, 64, _RESULTS))


def _mlp_batch(random: np.random.Generator, seed: int) -> Batch:
    x = random.standard_normal((_ROWS, _FEATURES))
    scores = 3 * x @ _teacher(seed, _FEATURES, _RESULTS)
    return x.astype(np.float32), scores.argmax(axis=-1).astype(np.int32)


def _lstm_init(key: jax.Array) -> Params:
    inner, outer, out = jax.random.split(key, 3)
    return {
        "input": jax.random.normal(outer, (_INPUTS, 4 * _HIDDEN)) / _INPUTS**0.5,
        "recurrent": jax.random.normal(inner, (_HIDDEN, 4 * _HIDDEN)) / _HIDDEN**0.5,
        "bias": jnp.zeros(4 * _HIDDEN),
        "readout": jax.random.normal(out, (_HIDDEN, _INPUTS)) / _HIDDEN**0.5,
    }


def _lstm_loss(params: Params, x: jax.Array, y: jax.Array) -> jax.Array:
    """Mean squared error of the readout after each turn; x and y are (turns, rows, features)."""

    def turn(carry: tuple[jax.Array, jax.Array], x: jax.Array) -> Any:
        h, c = carry
        gates = x @ params["input"] + h @ params["recurrent"] + params["bias"]
        i, f, g, o = jnp.split(gates, 4, axis=-1)
        c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zeros = jnp.zeros((x.shape[1], _HIDDEN))
    _, hidden = jax.lax.scan(turn, (zeros, zeros), x)
    return jnp.mean((hidden @ params["readout"] - y) ** 2)


def _lstm_batch(random: np.random.Generator, seed: int) -> Batch:
    """Labels are a nonlinear function of a decaying sum of the inputs so far."""
    x = random.standard_normal((_TURNS, _SEQUENCES, _INPUTS))
    total, sums = np.zeros((_SEQUENCES, _INPUTS)), []
    for step in x:
        total = 0.8 * total + 0.6 * step
        sums.append(total)
    y = np.tanh(np.stack(sums) @ _teacher(seed, _INPUTS, _INPUTS))
    y += _NOISE * random.standard_normal(y.shape)
    return x.astype(np.float32), y.astype(np.float32)


def _gpt2_init(key: jax.Array) -> Params:
    return gpt2.init(key, CONFIG)


def _gpt2_batch(random: np.random.Generator, seed: int) -> Batch:
    """Tokens are a byte of source text and two bits of the byte before it."""
    del seed
    text, count = data.corpus(), CONFIG.sequence + 1
    starts = random.integers(1, len(text) - count, size=(CONFIG.batch, 1))
    at = starts + np.arange(count)
    before = text[at - 1].astype(np.int32) % (CONFIG.vocab // data.VOCAB)
    return (before * data.VOCAB + text[at],)


MODELS: Mapping[str, Model] = {
    "linear": Model(_linear_init, _linear_loss, _linear_batch, plain=True),
    "mlp": Model(_mlp_init, mlp.loss, _mlp_batch),
    "lstm": Model(_lstm_init, _lstm_loss, _lstm_batch),
    "gpt2": Model(_gpt2_init, gpt2.loss, _gpt2_batch),
}
"""By name, the cheapest first."""
