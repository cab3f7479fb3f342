"""LSTMs of Flax and of Equinox."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from flax import linen as nn

from benchmarks.models.model import ADAMW, SGD, Case, Model, drawn, integers, normals, trained
from examples.training import cross_entropy

BATCH, SEQUENCE, WIDTH, LAYERS, CLASSES = 2, 12, 16, 4, 10


class Recurrent(nn.Module):
    """A stack of recurrent layers, and a dense one.

    Attributes:
        cell: The cell of each layer.
        unroll: How many steps are one turn of the loop.
    """

    cell: Any = nn.OptimizedLSTMCell
    unroll: int = 1

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """Logits for each position."""
        for _ in range(LAYERS):
            layer: Any = nn.RNN(self.cell(WIDTH), unroll=self.unroll)
            x = layer(x)
        return nn.Dense(CLASSES)(x)


def recurrent(module: Any) -> Model:
    """Labels for each position of a sequence."""
    x, labels = normals(BATCH, SEQUENCE, WIDTH), integers(CLASSES, BATCH, SEQUENCE)
    params = drawn(jax.eval_shape(module.init, jax.random.PRNGKey(0), x))

    def loss(params: Any, x: jax.Array, labels: jax.Array) -> jax.Array:
        return cross_entropy(module.apply(params, x), labels)

    return Model(Case(module.apply, (params, x)), trained(loss, ADAMW, params, x, labels))


def lstm() -> Model:
    """Four layers of Flax, each a loop."""
    return recurrent(Recurrent())


def lstm_unrolled() -> Model:
    """The same without loops."""
    return recurrent(Recurrent(unroll=SEQUENCE))


def lstm_equinox() -> Model:
    """Four cells of Equinox in one loop, the states of all of them carried; trained with SGD."""
    keys = jax.random.split(jax.random.PRNGKey(0), LAYERS)
    cells = eqx.filter_eval_shape(lambda: [eqx.nn.LSTMCell(WIDTH, WIDTH, key=k) for k in keys])
    shapes, static = eqx.partition(cells, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
    params = drawn(shapes)
    x, target = normals(SEQUENCE, BATCH, WIDTH), normals(SEQUENCE, BATCH, WIDTH, seed=1)

    def forward(params: Any, x: jax.Array) -> jax.Array:
        def step(states: Any, x: jax.Array) -> Any:
            new = []
            for cell, state in zip(eqx.combine(params, static), states, strict=True):
                new.append(jax.vmap(cell)(x, state))
                x = new[-1][0]
            return new, x

        zeros = jnp.zeros((BATCH, WIDTH))
        return jax.lax.scan(step, [(zeros, zeros)] * LAYERS, x)[1]

    def loss(params: Any, x: jax.Array, target: jax.Array) -> jax.Array:
        return jnp.mean((forward(params, x) - target) ** 2)

    return Model(Case(forward, (params, x)), trained(loss, SGD, params, x, target))
