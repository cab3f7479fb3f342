"""Logits are found wherever their exponentials are summed; only what may make them is followed."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.passes.roles import RolesPass
from scalify_hlo.roles import vocabulary
from tests.py.judge import parse
from tests.py.test_layers import gpt2_text

TOKENS, WIDTH, CLASSES = 6, 5, 7

Ending = Callable[[jax.Array], jax.Array]


def shares(y: jax.Array) -> jax.Array:
    return jnp.exp(y) / jnp.sum(jnp.exp(y), -1, keepdims=True)


def exponentials_in_a_function(y: jax.Array) -> jax.Array:
    made = jax.jit(lambda z: jnp.exp(z) * 2)
    return jnp.sum(made(y), -1)


def sums_in_a_function(y: jax.Array) -> jax.Array:
    return jnp.asarray(jax.jit(lambda z: jnp.sum(z, -1))(jnp.exp(y)))


def through_a_function(y: jax.Array) -> jax.Array:
    def kept(z: jax.Array) -> jax.Array:
        return jnp.where(z > 0, z, 0)

    masked = jax.jit(kept)
    return jnp.sum(masked(jax.jit(jnp.exp)(masked(y))), -1)


def in_a_branch(y: jax.Array) -> jax.Array:
    return jnp.sum(lax.cond(y[0, 0] > 0, jnp.exp, jnp.sin, y), -1)


def summed_in_a_branch(y: jax.Array) -> jax.Array:
    return jnp.asarray(lax.cond(y[0, 0] > 0, shares, jnp.sin, y))


ENDINGS = (
    *(shares, exponentials_in_a_function, sums_in_a_function, through_a_function),
    *(in_a_branch, summed_in_a_branch),
)


def text_of(ending: Ending, *, looped: bool) -> str:
    def model(x: jax.Array, v: jax.Array, w: jax.Array) -> jax.Array:
        hidden = jnp.sin(x @ v)
        if not looped:
            return ending(hidden @ w)
        turns = jnp.stack([hidden, hidden + 1])
        return jnp.asarray(lax.map(lambda h: ending(jnp.sin(h) @ w), turns))

    shapes = ((TOKENS, WIDTH), (WIDTH, WIDTH), (WIDTH, CLASSES))
    arguments = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
    return str(jax.export.export(jax.jit(model))(*arguments).mlir_module())


def logits_in(text: str) -> list[bool]:
    return [m.vocabulary for m in run_passes(parse(text), [NormalizePass(), RolesPass()]).matmuls]


class Any:
    """All sizes."""

    def __init__(self, *_: object) -> None:
        pass

    def sizes_summed(self) -> set[int]:
        return set(range(100))


@pytest.mark.parametrize("looped", [False, True])
@pytest.mark.parametrize("ending", ENDINGS)
def test_logits_are_those_of_following_all_matmuls(
    ending: Ending, *, looped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = text_of(ending, looped=looped)
    found = logits_in(text)
    with monkeypatch.context() as patch:
        patch.setattr(vocabulary, "_Exponentials", Any)
        assert found == logits_in(text)
    assert found == [False, True]


def test_sums_are_found_wherever_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[set[int]] = []
    summed = vocabulary._Exponentials.sizes_summed

    def noting(self: vocabulary._Exponentials) -> set[int]:
        sizes.append(summed(self))
        return sizes[-1]

    monkeypatch.setattr(vocabulary._Exponentials, "sizes_summed", noting)
    for ending in ENDINGS:
        for looped in (False, True):
            logits_in(text_of(ending, looped=looped))
    assert sizes == [{CLASSES}] * 2 * len(ENDINGS)


def test_only_what_may_make_logits_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[object] = []
    users = vocabulary.Logits._users

    def noting(self: vocabulary.Logits, *arguments: object) -> object:
        followed.append(arguments)
        return users(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(vocabulary.Logits, "_users", noting)
    assert sum(logits_in(gpt2_text(3))) == 3
    assert len(followed) == 2  # the logits and their exponentials
