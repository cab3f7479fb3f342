"""Draws training steps with layers of other packages: FP8 of Qwix and Keras, f16 of jmp and Flax.

They need the dependencies of the group ``models``.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tests.py.laws.programs import Kind, Results, Step


def _batch(random: Random, numbers: np.random.Generator, wide: int, out: int) -> tuple[Any, Any]:
    rows = random.choice((12, 24, 40))  # Qwix takes an array with the shape of a weight for it.
    x = numbers.normal(size=(rows, wide)) * 2.0 ** random.randint(-3, 3)
    return x.astype(np.float32), numbers.normal(size=(rows, out)).astype(np.float32)


def _descended(w: Any, g: Any, rate: float = 0.1) -> Any:
    return jax.tree.map(lambda p, g: p - rate * g, w, g)


def _square(made: Any, y: Any) -> Any:
    return jnp.mean((made.astype(jnp.float32) - y) ** 2)


def _linen(random: Random, widths: tuple[int, ...], **options: Any) -> Any:
    import flax.linen as nn

    activation = random.choice((nn.gelu, nn.relu, nn.silu))
    norm = random.random() < 0.4

    class Model(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            for i, width in enumerate(widths):
                if i and norm:
                    x = nn.LayerNorm(**options)(x)
                x = nn.Dense(width, use_bias=False, **options)(x)
                x = activation(x) if i + 1 < len(widths) else x
            return x

    return Model()


def _widths(random: Random) -> tuple[int, ...]:
    return (*random.choices((16, 32, 64), k=random.choice((1, 2, 3))), random.choice((8, 16)))


def qwix_fp8(random: Random, numbers: np.random.Generator) -> Step:
    """Qwix's quantized training in FP8: scales of tensors, of channels or of tiles."""
    import qwix

    widths, wide = _widths(random), random.choice((16, 32))
    x, y = _batch(random, numbers, wide, widths[-1])
    small = jnp.float8_e4m3fn
    rule = qwix.QtRule(
        weight_qtype=small,
        act_qtype=random.choice((small, small, None)),
        bwd_qtype=random.choice((jnp.float8_e5m2, small, None)),
        disable_channelwise_axes=random.random() < 0.5,
        tile_size=random.choice((None, None, 8)),
    )
    plain = _linen(random, widths)
    weights = plain.init(jax.random.key(random.randint(0, 99)), x)
    model = qwix.quantize_model(plain, qwix.QtProvider([rule]))

    def step(w: Any, x: Any, y: Any) -> Results:
        value, g = jax.value_and_grad(lambda w: _square(model.apply(w, x), y))(w)
        return {"new": _descended(w, g), "loss": value}

    return Step("qwix", step, (jax.tree.map(np.asarray, weights), x, y))


def keras_fp8(random: Random, numbers: np.random.Generator) -> Step:
    """Keras layers that are quantized to float8; their scales and amax histories are state."""
    os.environ.setdefault("KERAS_BACKEND", "jax")
    import keras

    keras.utils.set_random_seed(random.randint(0, 99))
    widths, wide = _widths(random), random.choice((16, 32))
    x, y = _batch(random, numbers, wide, widths[-1])
    activation = random.choice(("gelu", "relu", "silu"))
    layers = [keras.layers.Dense(width, activation=activation) for width in widths[:-1]]
    model = keras.Sequential([keras.Input((wide,)), *layers, keras.layers.Dense(widths[-1])])
    model.quantize("float8")
    variables = {v.path: np.asarray(v.value) for v in model.trainable_variables}
    replaced = {v.path for v in model.trainable_variables if v.overwrite_with_gradient}

    def step(w: Any, state: Any, x: Any, y: Any) -> Results:
        def loss(given: Any) -> Any:
            made, _ = model.stateless_call(
                [given[path] for path in variables], [], x, training=True
            )
            return _square(made, y)

        value, g = jax.value_and_grad(loss)({**w, **state})
        new = {path: w[path] - 0.1 * g[path] for path in w}
        return {"new": new, "loss": value, "state": {path: g[path] for path in state}}

    weights = {path: v for path, v in variables.items() if path not in replaced}
    state = {path: variables[path] for path in replaced}
    return Step("keras", step, (weights, state, x, y), inputs=2)


def jmp_policy(random: Random, numbers: np.random.Generator) -> Step:
    """Haiku's layers under a policy of jmp, with its loss scale that adapts to overflow."""
    import haiku as hk
    import jmp

    widths, wide = _widths(random), random.choice((16, 32))
    x, y = _batch(random, numbers, wide, widths[-1])
    half = random.choice(("float16", "float16", "bfloat16"))
    policy = jmp.get_policy(
        f"params=float32,compute={half},output={random.choice((half, 'float32'))}"
    )
    activation = random.choice((jax.nn.gelu, jax.nn.relu, jax.nn.silu))
    biased = random.random() < 0.5

    class Model(hk.Module):  # type: ignore[misc]
        def __call__(self, x: Any) -> Any:
            return hk.nets.MLP(widths, with_bias=biased, activation=activation)(x)

    hk.mixed_precision.set_policy(Model, policy)
    model = hk.without_apply_rng(hk.transform(lambda x: Model()(x)))
    weights = jax.tree.map(np.asarray, model.init(jax.random.key(random.randint(0, 99)), x))
    period = random.choice((1, 2, 100))
    start = np.float32(2.0 ** random.choice((4, 8, 12, 15)))

    def step(w: Any, scale: Any, x: Any, y: Any) -> Results:
        kept = jmp.DynamicLossScale(scale, jnp.int32(0), period=period)

        def loss(w: Any) -> Any:
            return kept.scale(_square(model.apply(w, x), y))

        value, g = jax.value_and_grad(loss)(w)
        g = kept.unscale(policy.cast_to_param(g))
        good = jmp.all_finite(g)
        new = jmp.select_tree(good, _descended(w, g), w)
        state = kept.adjust(good).loss_scale
        return {"new": new, "loss": kept.unscale(value), "applied": good, "state": state}

    return Step(f"jmp {half}", step, (weights, start, x, y), scale=1, inputs=2)


def flax_half(random: Random, numbers: np.random.Generator) -> Step:
    """Flax's layers that compute in f16 or bf16, with its `DynamicScale`."""
    from flax.training.dynamic_scale import DynamicScale

    widths, wide = _widths(random), random.choice((16, 32))
    x, y = _batch(random, numbers, wide, widths[-1])
    half = random.choice((jnp.float16, jnp.float16, jnp.bfloat16))
    model = _linen(random, widths, dtype=half)
    weights = jax.tree.map(np.asarray, model.init(jax.random.key(random.randint(0, 99)), x))
    start = np.float32(2.0 ** random.choice((4, 8, 12, 15)))

    def step(w: Any, scale: Any, x: Any, y: Any) -> Results:
        dynamic = DynamicScale(growth_interval=1, scale=scale, fin_steps=jnp.int32(0))
        graded = dynamic.value_and_grad(lambda w: _square(model.apply(w, x), y))
        made, good, value, g = graded(w)
        new = jax.tree.map(lambda p, q: jnp.where(good, q, p), w, _descended(w, g))
        return {"new": new, "loss": value, "applied": good, "state": made.scale}

    return Step(f"flax {np.dtype(half).name}", step, (weights, start, x, y), scale=1, inputs=2)


KINDS: tuple[Kind, ...] = (
    qwix_fp8,
    qwix_fp8,
    keras_fp8,
    jmp_policy,
    flax_half,
)
