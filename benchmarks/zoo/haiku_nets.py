"""Models of Haiku."""

from typing import Any

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

from benchmarks.models.model import Training
from benchmarks.zoo.tasks import (
    BATCH,
    CLASSES,
    Batch,
    images,
    key,
    labelled,
    learned_with,
    tokens,
)

VOCAB, LENGTH, WIDTH, HEADS = 64, 16, 48, 4
ACTIONS, GAMMA, TAU = 6, 0.5, 0.05


def trained(loss: Any, batch: Batch, seed: int) -> Training:
    """Trains ``loss(*batch)``, a function of Haiku with state and random numbers."""
    both = hk.transform_with_state(loss)
    params, state = both.init(key(seed), *batch(0))
    return learned_with(both.apply, params, state, batch, seed)


def resnet(seed: int = 0) -> Training:
    """The blocks of Haiku's ResNet V2, with BatchNorm in training mode and max pooling."""
    config = {"decay_rate": 0.9, "eps": 1e-5, "create_scale": True, "create_offset": True}

    def loss(x: jax.Array, labels: jax.Array) -> jax.Array:
        net = hk.nets.ResNet(
            (1, 1, 1, 1),
            CLASSES,
            bn_config=config,
            resnet_v2=True,
            bottleneck=False,
            channels_per_group=(32, 32, 48, 64),
            use_projection=(False, True, True, True),
            initial_conv_config={"kernel_shape": 3, "stride": 1, "output_channels": 32},
        )
        return labelled(net(x, is_training=True), labels)

    return trained(loss, images(), seed)


def lstm(seed: int = 0) -> Training:
    """A deep LSTM with skip connections, unrolled by a scan; predicts the next token."""

    def loss(tokens: jax.Array) -> jax.Array:
        core = hk.deep_rnn_with_skip_connections([hk.LSTM(WIDTH), hk.LSTM(WIDTH)])
        x = hk.Embed(VOCAB, WIDTH)(tokens[:, :-1])
        y, _ = hk.dynamic_unroll(core, x, core.initial_state(BATCH), time_major=False)
        return labelled(hk.Linear(VOCAB)(y), tokens[:, 1:])

    return trained(loss, tokens(VOCAB, LENGTH), seed)


def transformer(seed: int = 0) -> Training:
    """Haiku's example: a causal transformer on one-hot characters, with dropout."""
    init = hk.initializers.VarianceScaling(0.5)

    def loss(tokens: jax.Array) -> jax.Array:
        given, mask = tokens[:, :-1], jnp.tril(jnp.ones((1, 1, LENGTH, LENGTH)))
        x = hk.Linear(WIDTH)(jax.nn.one_hot(given, VOCAB))
        x = x + hk.get_parameter(
            "positions", (LENGTH, WIDTH), init=hk.initializers.TruncatedNormal(0.02)
        )
        for _ in range(2):
            y = hk.LayerNorm(-1, True, True)(x)
            y = hk.MultiHeadAttention(HEADS, WIDTH // HEADS, w_init=init)(y, y, y, mask)
            x = x + hk.dropout(hk.next_rng_key(), 0.1, y)
            y = jax.nn.gelu(hk.Linear(4 * WIDTH, w_init=init)(hk.LayerNorm(-1, True, True)(x)))
            x = x + hk.dropout(hk.next_rng_key(), 0.1, hk.Linear(WIDTH, w_init=init)(y))
        return labelled(hk.Linear(VOCAB)(hk.LayerNorm(-1, True, True)(x)), tokens[:, 1:])

    return trained(loss, tokens(VOCAB, LENGTH + 1), seed)


def quantized(seed: int = 0) -> Training:
    """A VQ-VAE whose codebook is a moving average, a state beside the parameters."""
    pictures = images(noise=0.3)

    def loss(x: jax.Array) -> jax.Array:
        y = jax.nn.relu(hk.Conv2D(32, 4, 2)(x))
        z = hk.Conv2D(32, 3, 2)(jax.nn.relu(hk.Conv2D(64, 3)(y)))
        coded = hk.nets.VectorQuantizerEMA(32, 64, 0.25, 0.9)(z, is_training=True)
        y = jax.nn.relu(hk.Conv2DTranspose(64, 4, 2)(coded["quantize"]))
        y = hk.Conv2DTranspose(x.shape[-1], 4, 2)(y)
        return jnp.mean((y - x) ** 2) + coded["loss"]

    return trained(loss, lambda number: pictures(number)[:1], seed)


def dqn(seed: int = 0) -> Training:
    """Double Q-learning with a Huber loss; the target network is a moving average."""
    net = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP((128, 64, ACTIONS))(x)))
    first, optimizer = net.init(key(seed), jnp.zeros((1, 16))), optax.adam(5e-3)
    wanted = np.random.default_rng(0).standard_normal((16, ACTIONS)) / 4

    def batch(number: int) -> tuple[Any, ...]:
        rng = np.random.default_rng(number)
        x, after = rng.standard_normal((2, BATCH, 16))
        action = rng.integers(0, ACTIONS, BATCH)
        reward = 1 + (x @ wanted)[np.arange(BATCH), action]
        goes_on = rng.random(BATCH) > 0.2
        given = (x, action, reward, goes_on, after)
        kinds = (np.float32, np.int32, np.float32, np.float32, np.float32)
        return tuple(np.asarray(each, kind) for each, kind in zip(given, kinds, strict=True))

    def loss(
        params: Any, target: Any, x: Any, action: Any, reward: Any, on: Any, after: Any
    ) -> Any:
        best = jnp.argmax(net.apply(params, after), -1)
        later = jnp.take_along_axis(net.apply(target, after), best[:, None], -1)[:, 0]
        aim = jax.lax.stop_gradient(reward + GAMMA * on * later)
        chosen = jnp.sum(net.apply(params, x) * jax.nn.one_hot(action, ACTIONS), -1)
        return optax.losses.huber_loss(chosen, aim).mean()

    def step(state: Any, *batch: Any) -> Any:
        params, target, kept = state
        value, gradients = jax.value_and_grad(loss)(params, target, *batch)
        updates, kept = optimizer.update(gradients, kept, params)
        params = optax.apply_updates(params, updates)
        return (params, optax.incremental_update(params, target, TAU), kept), value

    return Training((first, jax.tree.map(jnp.array, first), optimizer.init(first)), step, batch)
