"""Scalars are measured, never assumed: a loss scale may have any size in any call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import scalify_hlo
from tests.py.shared.judge import decibels, program_of

pytestmark = pytest.mark.filterwarnings("ignore")

F32 = np.float32
USUAL = 13.0
"""The least signal-to-noise ratio, in decibels, of gradients."""


def normal(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(F32)


W = {"a": normal(32, 64) / 6, "b": normal(64, 32) / 8}
X, Y = normal(64, 32), normal(64, 16).repeat(2, axis=1) / 2


def loss_of(w: Any, scale: Any = 1.0) -> Any:
    return jnp.mean((jnp.tanh(X @ w["a"]) @ w["b"] - Y) ** 2) * scale


def gradients(w: Any, scale: Any, loss: Callable[..., Any] = loss_of) -> Any:
    return jax.tree.map(lambda g: g / scale, jax.grad(loss)(w, scale))


def computed(w: Any, k: Any) -> Any:
    return gradients(w, jnp.exp2(k.astype(F32)))


def looked_up(w: Any, k: Any) -> Any:
    return gradients(w, jnp.asarray(2.0 ** np.arange(-100, 120), F32)[k + 100])


def in_a_function(w: Any, k: Any) -> Any:
    return jax.jit(lambda w, scale: gradients(w, jnp.sqrt(scale) * 4))(w, jnp.exp2(k.astype(F32)))


def passed_to_a_function(w: Any, k: Any) -> Any:
    return gradients(w, jnp.exp2(k.astype(F32)), jax.checkpoint(jax.jit(loss_of)))


def in_a_branch(w: Any, k: Any) -> Any:
    scale = jnp.exp2(k.astype(F32))
    return jax.lax.cond(
        k > -200, lambda: gradients(w, scale), lambda: jax.tree.map(jnp.zeros_like, w)
    )


def in_a_loop(w: Any, k: Any) -> Any:
    def body(new: Any, scale: Any) -> Any:
        return jax.tree.map(lambda p, g: p - 0.5 * g, new, gradients(new, scale)), None

    new, _ = jax.lax.scan(body, w, jnp.exp2(k.astype(F32) + 3.0 * jnp.arange(4.0)))
    return jax.tree.map(jnp.subtract, new, w)


def looked_up_in_a_loop(w: Any, k: Any) -> Any:
    """The body is a function, to which jax passes the table as an argument."""

    def body(total: Any, i: Any) -> Any:
        scale = jnp.asarray(2.0 ** np.arange(-100, 120), F32)[i + k + 100]
        return jax.tree.map(jnp.add, total, gradients(w, scale)), scale

    return jax.lax.scan(body, jax.tree.map(jnp.zeros_like, w), jnp.arange(3))[0]


def normed(w: Any, k: Any) -> Any:
    """The gradients of a layer norm are measured under `fp8`: their squares could leave f32."""

    def norm(x: Any) -> Any:
        x = x - x.mean(-1, keepdims=True)
        return x * jax.lax.rsqrt((x**2).mean(-1, keepdims=True) + 1e-5)

    def loss(w: Any, scale: Any) -> Any:
        hidden = norm(norm(X @ w["a"]) @ w["b"])
        return jnp.mean((hidden - Y) ** 2) * scale

    return gradients(w, jnp.exp2(k.astype(F32)), loss)


PROGRAMS = (
    computed,
    looked_up,
    in_a_function,
    passed_to_a_function,
    in_a_branch,
    in_a_loop,
    looked_up_in_a_loop,
    normed,
)


def plain(tree: Any) -> list[Any]:
    return [np.asarray(v, np.float64) for v in jax.tree.leaves(scalify_hlo.asarray(tree))]


def snr(found: Any, expected: Any) -> float:
    return min(decibels(*each) for each in zip(plain(expected), plain(found), strict=True))


@pytest.mark.parametrize(
    ("recipe", "signature"), [("fp8", "same"), ("unit", "scaled"), ("fp16", "scaled")]
)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_scalars_may_have_any_size(program: Any, recipe: str, signature: str) -> None:
    exported = program_of(program, W, np.int32(0))
    rewritten = scalify_hlo.rewrite(exported, recipe=recipe, signature=signature)
    for k in (-60, 3, 40, 90):
        arguments: Any = (W, np.int32(k))
        expected = exported.call(*arguments)
        if signature == "scaled":
            arguments = scalify_hlo.scaled_state(rewritten, arguments)
        assert snr(rewritten.call(*arguments), expected) > USUAL, k


def dynamic(w: Any, scale: Any) -> Any:
    """A step whose loss scale doubles each time that gradients are finite, as in Flax."""
    found = gradients(w, scale)
    finite = jnp.all(jnp.array([jnp.isfinite(v).all() for v in jax.tree.leaves(found)]))
    new = jax.tree.map(lambda p, v: jnp.where(finite, p - 2.0 * v, p), w, found)
    return new, jnp.where(finite, scale * 2, jnp.maximum(scale / 2, 1.0))


@pytest.mark.parametrize(
    ("recipe", "signature"),
    [(name, "same") for name in ("fp8", "unit", "fp16", "fp8-current")]
    + [("fp8", "scaled"), ("fp16", "scaled"), ("fp8-state", "scaled")],
)
def test_a_loss_scale_that_grows(recipe: str, signature: str) -> None:
    """The sizes that were declared are those of the first step; f32 overflows after 110 steps."""
    state: Any = (W, F32(2.0**15))
    exported = program_of(dynamic, *state)
    sizes = {} if signature == "scaled" or recipe == "fp8-current" else {"*": 1.0}
    program = scalify_hlo.rewrite(
        exported, recipe=recipe, signature=signature, input_scale=sizes or None
    )
    ours = scalify_hlo.scaled_state(program, state) if signature == "scaled" else state
    first = loss_of(W)
    for _ in range(120):
        state, ours = exported.call(*state), program.call(*ours)
    assert float(scalify_hlo.asarray(ours[1])) == float(state[1]) > 2.0**50
    ended, expected = loss_of(scalify_hlo.asarray(ours[0])), loss_of(state[0])
    assert abs(ended - expected) < 0.02 * first


@pytest.mark.parametrize("recipe", ["fp8-state", "fp8-state8", "fp8", "unit"])
def test_sizes_that_a_function_measures_for_its_result(recipe: str) -> None:
    """LARS chooses its trust ratio in a function, in which the norms are scalars of their own."""
    optimizer = optax.lars(0.1)

    def step(w: jax.Array, state: Any, x: jax.Array) -> Any:
        gradient = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        updates, state = optimizer.update(gradient, state, w)
        return optax.apply_updates(w, updates), state

    w, x = jnp.eye(32) / 2, jax.random.normal(jax.random.key(0), (64, 32))
    exported = program_of(step, w, optimizer.init(w), x)
    rewritten = scalify_hlo.rewrite(exported, recipe=recipe)
    wanted, found = (p.call(w, optimizer.init(w), x)[0] - w for p in (exported, rewritten))
    assert decibels(wanted, found) > 13
