"""Masks near the end of f32 that are added to scores: rows that are masked wholly stay finite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.py.shared.judge import assert_invariant

LEAST = float(np.finfo(np.float32).min)
ROWS, WIDTH = 4, 8

Mask = Callable[[jax.Array], Any]


def selected(mask: jax.Array) -> Any:
    return jax.lax.select(mask > 0, jnp.zeros(mask.shape), jnp.full(mask.shape, LEAST))


def called(mask: jax.Array) -> Any:
    """`jnp.where` is a function of its own."""
    return jnp.where(mask > 0, 0.0, LEAST)


def multiplied(mask: jax.Array) -> Any:
    return (1 - mask) * LEAST


def halved(mask: jax.Array) -> Any:
    return (1 - mask) * (LEAST / 2)


def summed(mask: jax.Array) -> Any:
    """With a causal mask, which is a constant of its own."""
    causal = np.triu(np.full((WIDTH, WIDTH), LEAST / 4, np.float32), 1)[WIDTH // 2]
    return causal + jnp.where(mask > 0, 0.0, LEAST / 2)


def constant(_: jax.Array) -> Any:
    return jnp.asarray(np.where(np.arange(WIDTH) < WIDTH, LEAST, 0.0).astype(np.float32))


def in_turns(mask: jax.Array) -> Any:
    """Before a loop in which it is added."""
    return jax.lax.fori_loop(0, 2, lambda _, m: jnp.flip(m), called(mask))


MASKS: dict[str, Mask] = {
    f.__name__: f for f in (selected, called, multiplied, halved, summed, constant, in_turns)
}


def attend(mask: Mask) -> Callable[..., jax.Array]:
    """A softmax over masked scores."""

    def weights(q: jax.Array, k: jax.Array, kept: jax.Array) -> jax.Array:
        return jax.nn.softmax(q @ k.T + mask(kept)[None, :])

    return weights


@pytest.mark.parametrize("element", [np.int32, np.float32])
@pytest.mark.parametrize("name", list(MASKS))
def test_rows_that_are_masked_wholly_stay_as_they_were(name: str, element: Any) -> None:
    random = np.random.default_rng(3)
    q = random.standard_normal((ROWS, WIDTH)).astype(np.float32)
    k = random.standard_normal((WIDTH, WIDTH)).astype(np.float32)
    kept = np.zeros(WIDTH, element)
    text = jax.jit(attend(MASKS[name]), keep_unused=True).lower(q, k, kept).as_text()
    assert_invariant(text, [q, k, kept], (-4, -4, -4))
