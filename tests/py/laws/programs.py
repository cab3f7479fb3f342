"""Draws training steps of the kinds that people have: f8 and f16 of their own, tests, members."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tests.py.laws.parts import Network, Own, network, rounded_cotangent

Results = dict[str, Any]
"""The results of a step: ``new``, the weights; ``loss``; and, where the program has them,
``applied``, whether the weights were updated, ``operands`` and ``rounded``, its own casts, and
``state``."""


@dataclass(frozen=True)
class Step:
    """A drawn training step.

    Attributes:
        kind: The kind that was drawn.
        step: The function of the arguments.
        args: Its arguments: weights first.
        formats: The formats of its own casts, in the order in which it returns them.
        rows: The argument whose rows are independent, if one row can be spoiled; none if -1.
        members: The number of independent members that weights have; 0 if there are none.
        scale: The argument that is the loss scale of a step that tests for overflow; none if -1.
        inputs: The argument that is the inputs. The next one is the labels, unless it has rows.
    """

    kind: str
    step: Callable[..., Results]
    args: tuple[Any, ...]
    formats: tuple[str, ...] = ()
    rows: int = -1
    members: int = 0
    scale: int = -1
    inputs: int = 1


def _data(
    random: Random, numbers: np.random.Generator, net: Network, rows: tuple[int, ...] = (8, 16, 32)
) -> tuple[Any, Any]:
    count = random.choice(rows)
    x = numbers.normal(size=(count, net.widths[0])) * 2.0 ** numbers.integers(-3, 4)
    y = numbers.normal(size=(count, net.widths[-1]))
    return x.astype(np.float32), y.astype(np.float32)


def _own(operands: Any, rounded: Any) -> Results:
    """Results with the program's own casts, in shapes of their own: they are no new state."""
    both = {"operands": operands, "rounded": rounded}
    return {name: [v[None] for v in values] for name, values in both.items()}


def _formats(
    step: Callable[..., Results], args: tuple[Any, ...], own: list[Own]
) -> tuple[str, ...]:
    jax.eval_shape(step, *args)
    return tuple(own[-1].formats)


def own_casts(random: Random, numbers: np.random.Generator) -> Step:
    """Casts of its own in the forward pass, of inputs and weights of each layer."""
    net = network(random, hows=("cast", "qdq", "given", "clip", "precision", "keep"))
    x, y = _data(random, numbers, net)
    scales = (2.0 ** numbers.uniform(-6, -2, len(net.casts))).astype(np.float32)
    made: list[Own] = []

    def step(w: Any, x: Any, y: Any, scales: Any) -> Results:
        def loss(w: Any) -> Any:
            made.append(own := Own())
            out = net.apply(w, x, own, scales)
            return jnp.mean((out - y) ** 2), (own.operands, own.rounded)

        (value, (operands, rounded)), g = jax.value_and_grad(loss, has_aux=True)(w)
        new = jax.tree.map(lambda p, g: p - 0.1 * g, w, g)
        return {"new": new, "loss": value, **_own(operands, rounded)}

    args = (net.weights(numbers), x, y, scales)
    return Step("own casts", step, args, _formats(step, args, made))


def own_gradients(random: Random, numbers: np.random.Generator) -> Step:
    """Casts of its own to the cotangents of each layer."""
    net = network(random, hows=("keep", "cast"))
    x, y = _data(random, numbers, net)
    format_ = random.choice(("float8_e5m2", "float16", "bfloat16"))
    factor = np.float32(2.0 ** random.randint(0, 12))

    def step(w: Any, x: Any, y: Any, factor: Any) -> Results:
        shapes = [(x.shape[0], p.shape[1]) for p in w]
        zeros = [jnp.zeros(shape, jnp.float32) for shape in shapes]

        def loss(w: Any, seen: Any, made: Any) -> Any:
            hidden = x
            for each in zip(w, seen, made, strict=True):
                hidden = rounded_cotangent(jnp.tanh(hidden @ each[0]), *each[1:], format_)
            return jnp.mean((hidden - y) ** 2) * factor

        value, (g, seen, made) = jax.value_and_grad(loss, (0, 1, 2))(w, zeros, zeros)
        new = jax.tree.map(lambda p, g: p - 0.1 * g / factor, w, g)
        return {"new": new, "loss": value, **_own(seen, made)}

    formats = tuple(f"float32 {format_}" for _ in net.casts)
    return Step("own gradients", step, (net.weights(numbers), x, y, factor), formats)


def half(random: Random, numbers: np.random.Generator) -> Step:
    """A model that computes in f16 or bf16 with a loss scale, and skips steps that overflow."""
    compute = random.choice(("float16", "float16", "bfloat16"))
    net = network(random, hows=("keep",), compute=compute)
    x, y = _data(random, numbers, net)
    scale = np.float32(2.0 ** random.randint(4, 13))
    args = (net.weights(numbers), np.clip(x, -4, 4), y, scale)
    return Step(f"computes in {compute}", _skipping(net), args, scale=3)


def skips(random: Random, numbers: np.random.Generator) -> Step:
    """A step in f32 that skips gradients that are not finite, with a loss scale."""
    net = network(random, hows=("keep",))
    x, y = _data(random, numbers, net)
    scale = np.float32(2.0 ** random.randint(0, 60))
    return Step("skips", _skipping(net), (net.weights(numbers), x, y, scale), scale=3)


def _skipping(net: Network) -> Callable[..., Results]:
    def step(w: Any, x: Any, y: Any, scale: Any) -> Results:
        value, g = jax.value_and_grad(lambda w: _error(net, w, x, y) * scale)(w)
        g = jax.tree.map(lambda g: g.astype(jnp.float32) / scale, g)
        good = jnp.all(jnp.array([jnp.isfinite(v).all() for v in g]))
        return {"new": _kept(good, w, g), "loss": value / scale, "applied": good}

    return step


def _error(net: Network, w: Any, x: Any, y: Any) -> Any:
    return jnp.mean((net.apply(w, x, Own()) - y) ** 2)


def _kept(good: Any, w: Any, g: Any) -> Any:
    """Weights after a step, or before it if it is not good."""
    return jax.tree.map(lambda p, g: jnp.where(good, p - 0.1 * g, p), w, g)


def transformed(random: Random, numbers: np.random.Generator) -> Step:
    """Optax: `apply_if_finite`, `MultiSteps`, clipping by the norm, around an optimizer."""
    import optax

    net = network(random, hows=("keep",))
    x, y = _data(random, numbers, net)
    tx = random.choice((optax.sgd(0.05), optax.sgd(0.05, 0.9), optax.adam(1e-2), optax.adamw(1e-2)))
    around = random.choice(("finite", "steps", "clip", "both"))
    if around in ("clip", "both"):
        tx = optax.chain(optax.clip_by_global_norm(random.choice((0.1, 1.0))), tx)
    if around in ("finite", "both"):
        tx = optax.apply_if_finite(tx, 5)
    if around == "steps":
        tx = optax.MultiSteps(tx, 2)
    weights = net.weights(numbers)

    def step(w: Any, state: Any, x: Any, y: Any) -> Results:
        value, g = jax.value_and_grad(lambda w: _error(net, w, x, y))(w)
        updates, state = tx.update(g, state, w)
        results = {"new": optax.apply_updates(w, updates), "loss": value, "state": state}
        if around in ("finite", "both"):
            results["applied"] = state.last_finite
        return results

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        state = jax.tree.map(np.asarray, tx.init(jax.tree.map(jnp.asarray, weights)))
    return Step(f"optax {around}", step, (weights, state, x, y), inputs=2)


def dynamic_scale(random: Random, numbers: np.random.Generator) -> Step:
    """Flax's `DynamicScale`, which doubles while gradients are finite."""
    from flax.training.dynamic_scale import DynamicScale

    compute = random.choice(("float32", "float16"))
    net = network(random, hows=("keep",), compute=compute)
    x, y = _data(random, numbers, net)
    x = np.clip(x, -4, 4)
    start = np.float32(2.0 ** random.choice((4, 8, 12)))

    def step(w: Any, scale: Any, x: Any, y: Any) -> Results:
        dynamic = DynamicScale(growth_interval=1, scale=scale, fin_steps=jnp.int32(0))
        made, good, value, g = dynamic.value_and_grad(lambda w: _error(net, w, x, y))(w)
        return {"new": _kept(good, w, g), "loss": value, "applied": good, "state": made.scale}

    return Step(
        f"dynamic scale {compute}", step, (net.weights(numbers), start, x, y), scale=1, inputs=2
    )


def flax_fp8(random: Random, numbers: np.random.Generator) -> Step:
    """Flax's own FP8 layers, with delayed and with current scales."""
    import flax.linen as nn
    from flax.linen import fp8_ops

    cls = random.choice(
        (fp8_ops.Fp8DotGeneralOp, fp8_ops.Fp8DirectDotGeneralOp, fp8_ops.NANOOFp8DotGeneralOp)
    )
    width, out = random.choice((16, 32, 64)), random.choice((8, 16))
    activation = random.choice((nn.gelu, nn.relu, nn.silu))

    class Model(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            x = activation(nn.Dense(width, use_bias=False, dot_general_cls=cls)(x))
            return nn.Dense(out, use_bias=False, dot_general_cls=cls)(x)

    rows, wide = random.choice((8, 16, 32)), random.choice((16, 32))
    x = numbers.normal(size=(rows, wide)).astype(np.float32)
    y = numbers.normal(size=(rows, out)).astype(np.float32)
    model = Model()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        variables = jax.tree.map(np.asarray, model.init(jax.random.key(random.randint(0, 99)), x))

    def step(w: Any, other: Any, x: Any, y: Any) -> Results:
        def loss(w: Any, other: Any) -> Any:
            made = model.apply({"params": w, "_overwrite_with_gradient": other}, x)
            return jnp.mean((made - y) ** 2)

        value, (g, made) = jax.value_and_grad(loss, (0, 1))(w, other)
        new = jax.tree.map(lambda p, g: p - 0.1 * g, w, g)
        return {"new": new, "loss": value, "state": made}

    args = (variables["params"], variables["_overwrite_with_gradient"], x, y)
    return Step(f"flax {cls.__name__}", step, args, inputs=2)


def members(random: Random, numbers: np.random.Generator) -> Step:
    """Members that train side by side under `vmap`: a sweep of learning rates, or an ensemble."""
    net = network(random, hows=("keep",))
    count = random.choice((2, 3, 4))
    shared = random.random() < 0.5
    x, y = _data(random, numbers, net)
    if not shared:
        x, y = (np.stack([a * (1 + i / 8) for i in range(count)]) for a in (x, y))
    rates = (0.1 * 2.0 ** -np.arange(count)).astype(np.float32)

    def one(w: Any, rate: Any, x: Any, y: Any) -> Results:
        value, g = jax.value_and_grad(lambda w: _error(net, w, x, y))(w)
        return {"new": jax.tree.map(lambda p, g: p - rate * g, w, g), "loss": value}

    axes = (0, 0, None, None) if shared else 0
    weights = [np.stack([w * (1 + i / 16) for i in range(count)]) for w in net.weights(numbers)]
    return Step("members", jax.vmap(one, axes), (weights, rates, x, y), members=count, inputs=2)


def rows(random: Random, numbers: np.random.Generator) -> Step:
    """A forward pass, whose rows are independent; it returns them as ``new``."""
    net = network(random, hows=("keep",))
    x, _ = _data(random, numbers, net, (16, 32, 64))

    def step(w: Any, x: Any) -> Results:
        return {"new": net.apply(w, x, Own())}

    return Step("rows", step, (net.weights(numbers), x), rows=1)


Kind = Callable[[Random, np.random.Generator], Step]
"""Draws a step."""

KINDS: tuple[Kind, ...] = (
    own_casts,
    own_casts,
    own_gradients,
    half,
    half,
    skips,
    skips,
    transformed,
    dynamic_scale,
    flax_fp8,
    members,
    rows,
)


def draw(seed: str, kinds: Sequence[Kind] = KINDS) -> Step:
    """Draws a step of one of some kinds; equal seeds give equal steps."""
    random = Random(seed)
    numbers = np.random.default_rng(random.getrandbits(32))
    return random.choice(kinds)(random, numbers)
