"""Character language models: the kinds of layers, norms and residual sums of a published sweep.

Source: Unit Scaling paper, §6.1 and appendix J.1. The layers are those of the paper, but that
attention adds learned positions to its input, in place of relative ones.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax

from benchmarks.search_gap import Training
from examples import data
from examples.gpt2 import layer_norm
from examples.training import cross_entropy, training_step

LAYERS = ("attention", "rnn", "convolution")
NORMS = ("pre", "post", "none")
RESIDUALS = ("default", "fixed", "running-mean")
KERNEL, GROUP = 7, 16
"""The taps of a convolution, and the channels of each of its groups."""

Params = Any


@dataclass(frozen=True)
class Cell:
    """A model of the sweep.

    Attributes:
        layer: One of `LAYERS`, which mixes tokens.
        norm: One of `NORMS`: where a branch is normalized.
        residual: One of `RESIDUALS`: the weights of the sum with the branch.
        depth: The number of layers.
        hidden: The width; the MLP has four times as many.
        sequence: The number of tokens.
        batch: The number of sequences.
    """

    layer: str
    norm: str
    residual: str
    depth: int = 2
    hidden: int = 64
    sequence: int = 64
    batch: int = 8

    @property
    def name(self) -> str:
        """The kinds, with slashes between."""
        return f"{self.layer}/{self.norm}/{self.residual}"


CELLS = tuple(Cell(*kinds) for kinds in itertools.product(LAYERS, NORMS, RESIDUALS))


def full(cell: Cell) -> Cell:
    """Returns a model at the sizes of the paper (table A.3), with as many sequences."""
    return replace(cell, hidden=128, sequence=256)


RATES = {"attention": 2.0**-8, "rnn": 2.0**-8, "convolution": 2.0**-8}
"""The rates of Adam; the paper takes the best of a range around them."""


def normal(key: jax.Array, *shape: int) -> jax.Array:
    """Returns a weight of which the rms is one over the root of the terms of its sums."""
    return jax.random.normal(key, shape) / math.sqrt(math.prod(shape[:-1]))


def init(key: jax.Array, cell: Cell) -> Params:
    """Returns the parameters of a model."""
    keys = iter(jax.random.split(key, 3 + 8 * cell.depth))
    hidden = cell.hidden

    def gain() -> Params:
        return {"gain": jnp.ones(hidden), "bias": jnp.zeros(hidden)}

    mixers: dict[str, Callable[[], Params]] = {
        "attention": lambda: {
            "qkv": normal(next(keys), hidden, 3 * hidden),
            "out": normal(next(keys), hidden, hidden),
            "positions": normal(next(keys), cell.sequence, hidden),
        },
        "rnn": lambda: {
            "input": normal(next(keys), hidden, 2 * hidden),
            "state": normal(next(keys), hidden, 2 * hidden),
        },
        "convolution": lambda: {"taps": normal(next(keys), KERNEL, GROUP, hidden)},
    }
    layers = [
        {
            "mixer": mixers[cell.layer](),
            "up": normal(next(keys), hidden, 4 * hidden),
            "down": normal(next(keys), 4 * hidden, hidden),
            "norms": [gain(), gain()] if cell.norm != "none" else [],
        }
        for _ in range(cell.depth)
    ]
    embedding = normal(next(keys), data.VOCAB, hidden)
    head = normal(next(keys), hidden, data.VOCAB)
    return {"embedding": embedding, "layers": layers, "norm": gain(), "head": head}


def attention(params: Params, x: jax.Array) -> jax.Array:
    """Causal attention of two heads."""
    batch, sequence, hidden = x.shape
    qkv = (x + params["positions"]) @ params["qkv"]
    q, k, v = jnp.moveaxis(qkv.reshape(batch, sequence, 3, 2, hidden // 2), 2, 0)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(hidden // 2)
    scores = jnp.where(jnp.tri(sequence, dtype=bool), scores, -jnp.inf)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    return mixed.reshape(batch, sequence, hidden) @ params["out"]


def rnn(params: Params, x: jax.Array) -> jax.Array:
    """A recurrent highway layer, of which one gate is one less the other."""

    def step(state: jax.Array, projected: jax.Array) -> tuple[jax.Array, jax.Array]:
        gate, new = jnp.split(projected + state @ params["state"], 2, axis=-1)
        gate = jax.nn.sigmoid(gate)
        state = (1 - gate) * state + gate * jnp.tanh(new)
        return state, state

    inputs = jnp.swapaxes(x @ params["input"], 0, 1)
    states = jax.lax.scan(step, jnp.zeros_like(x[:, 0]), inputs)[1]
    return jnp.swapaxes(states, 0, 1)


def convolution(params: Params, x: jax.Array) -> jax.Array:
    """A grouped causal convolution with a ReLU."""
    made = jax.lax.conv_general_dilated(
        x,
        params["taps"],
        (1,),
        [(KERNEL - 1, 0)],
        dimension_numbers=("NWC", "WIO", "NWC"),
        feature_group_count=x.shape[-1] // GROUP,
    )
    return jax.nn.relu(made)


def mlp(params: Params, x: jax.Array) -> jax.Array:
    """Two projections with a ReLU between."""
    return jax.nn.relu(x @ params["up"]) @ params["down"]


MIXERS = {"attention": attention, "rnn": rnn, "convolution": convolution}


def loss(cell: Cell, params: Params, tokens: jax.Array) -> jax.Array:
    """The cross entropy of the next character in nats, of tokens ``[batch, sequence + 1]``."""
    x = params["embedding"][tokens[:, :-1]] * math.sqrt(data.VOCAB)
    branches = itertools.count(1)

    def summed(a: jax.Array, b: jax.Array) -> jax.Array:
        count = next(branches)
        shares = {"default": (1, 1), "fixed": (0.5, 0.5)}
        kept, added = shares.get(cell.residual, (count / (count + 1), 1 / (count + 1)))
        return math.sqrt(kept) * a + math.sqrt(added) * b

    for layer in params["layers"]:
        mixer = partial(MIXERS[cell.layer], layer["mixer"])
        for i, branch in enumerate((mixer, partial(mlp, layer))):
            if cell.norm == "pre":
                x = summed(x, branch(layer_norm(layer["norms"][i], x)))
            else:
                x = summed(x, branch(x))
                x = layer_norm(layer["norms"][i], x) if cell.norm == "post" else x
    return cross_entropy(layer_norm(params["norm"], x) @ params["head"], tokens[:, 1:])


def training(cell: Cell) -> Training:
    """Returns the training of a model with Adam."""
    adam = optax.adam(RATES[cell.layer])

    def state(seed: int) -> tuple[Any, Any]:
        params = init(jax.random.key(seed), cell)
        return params, adam.init(params)

    def batches(seed: int, steps: int) -> Iterator[tuple[Any, ...]]:
        for tokens in data.batches(cell.batch, cell.sequence, steps, seed):
            yield (tokens,)

    return Training(training_step(partial(loss, cell), adam), state, batches)
