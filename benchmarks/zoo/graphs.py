"""Graph networks: jraph's models, and one on segment sums in plain JAX."""

from typing import Any

import jax
import jax.numpy as jnp
import jraph
import numpy as np
from flax import linen as nn

from benchmarks.models.model import Training
from benchmarks.zoo.tasks import BATCH, CLASSES, key, labelled, learned

NODES, EDGES, WIDTH = BATCH * 8, BATCH * 32, 48


def _graphs(number: int) -> tuple[Any, ...]:
    """Small graphs side by side, most edges within a class, and the class of each node."""
    rng = np.random.default_rng(number)
    centers = np.random.default_rng(0).standard_normal((CLASSES, 16))
    labels = rng.integers(0, CLASSES, NODES)
    order = np.argsort(labels, kind="stable")
    start = rng.integers(0, NODES, EDGES)
    ends = order[np.clip(np.argsort(order)[start] + rng.integers(-6, 7, EDGES), 0, NODES - 1)]
    x = centers[labels] + 1.5 * rng.standard_normal((NODES, 16))
    arrays = (start, ends, labels)
    return x.astype(np.float32), *(each.astype(np.int32) for each in arrays)


class Convolution(nn.Module):
    """jraph's GraphConvolution, with symmetric normalization and self edges."""

    @nn.compact
    def __call__(self, graph: Any) -> Any:
        """Logits of the nodes."""
        for width in (WIDTH, WIDTH):
            layer = jraph.GraphConvolution(nn.Dense(width), add_self_edges=True)
            graph = layer(graph)
            graph = graph._replace(nodes=nn.relu(graph.nodes))
        return nn.Dense(CLASSES)(graph.nodes)


class Interaction(nn.Module):
    """jraph's GraphNetwork: updates of edges, nodes and the whole, with LayerNorm."""

    @nn.compact
    def __call__(self, graph: Any) -> Any:
        """Logits of the nodes."""
        graph = graph._replace(edges=jnp.ones((EDGES, 1)), globals=jnp.zeros((1, WIDTH)))
        graph = graph._replace(nodes=nn.Dense(WIDTH)(graph.nodes))
        for _ in range(2):
            edge, node, whole = (
                nn.Sequential([nn.Dense(64), nn.relu, nn.Dense(WIDTH), nn.LayerNorm()])
                for _ in range(3)
            )
            layer = jraph.GraphNetwork(
                lambda e, s, r, g, f=edge: f(jnp.concatenate([e, s, r, g], -1)),
                lambda n, s, r, g, f=node: n + f(jnp.concatenate([n, s, r, g], -1)),
                lambda n, e, g, f=whole: f(jnp.concatenate([n, e, g], -1)),
            )
            graph = layer(graph)
        return nn.Dense(CLASSES)(graph.nodes)


class Attention(nn.Module):
    """A graph attention network: a softmax over the edges of each node, by segments."""

    @nn.compact
    def __call__(self, graph: Any) -> Any:
        """Logits of the nodes."""
        x, start, ends = graph.nodes, graph.senders, graph.receivers
        for _ in range(2):
            x = nn.Dense(WIDTH)(x)
            both = nn.Dense(1)(x)[start] + nn.Dense(1)(x)[ends]
            score = nn.leaky_relu(both[:, 0], 0.2)
            most = jax.ops.segment_max(score, ends, NODES)
            score = jnp.exp(score - jax.lax.stop_gradient(most[ends]))
            weight = score / (jax.ops.segment_sum(score, ends, NODES)[ends] + 1e-9)
            x = nn.elu(x + jax.ops.segment_sum(weight[:, None] * x[start], ends, NODES))
        return nn.Dense(CLASSES)(x)


def _trained(module: nn.Module, seed: int) -> Training:
    def graph(x: Any, start: Any, ends: Any) -> Any:
        count = {"n_node": jnp.array([NODES]), "n_edge": jnp.array([EDGES])}
        return jraph.GraphsTuple(x, None, ends, start, globals=None, **count)

    def loss(params: Any, *batch: Any) -> jax.Array:
        return labelled(module.apply(params, graph(*batch[:3])), batch[3])

    return learned(loss, module.init(key(seed), graph(*_graphs(0)[:3])), _graphs)


def convolution(seed: int = 0) -> Training:
    """Classifies nodes with graph convolutions."""
    return _trained(Convolution(), seed)


def interaction(seed: int = 0) -> Training:
    """Classifies nodes with a graph network."""
    return _trained(Interaction(), seed)


def attention(seed: int = 0) -> Training:
    """Classifies nodes with graph attention."""
    return _trained(Attention(), seed)
