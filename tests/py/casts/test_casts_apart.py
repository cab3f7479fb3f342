"""Casts are kept apart from the transposes of GPUs, by a barrier behind them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import scalify_hlo
from scalify_hlo._compat import ir
from scalify_hlo.casts.casts import Casts
from scalify_hlo.dialect import attributes
from scalify_hlo.recipes.formats import DEVICES
from tests.py.shared.judge import (
    assert_all_same_bits,
    body_of,
    interpreted,
    normals,
    parse,
    program_of,
    shaped,
    stablehlo_of,
)
from tests.py.shared.own_scales import rewritten

BARRIER = "stablehlo.optimization_barrier"
LARGE = {"matmul.slower": "narrow", "matmul.smallest": 1}


def layer(x: jax.Array, w: jax.Array) -> jax.Array:
    return jnp.tanh(x) @ w


def of_rows(x: jax.Array, w: jax.Array) -> jax.Array:
    return jax.nn.softmax(x, axis=-1) @ w


def barriers(function: Callable[..., Any], target: str, recipe: str) -> int:
    arguments = [shaped(64, 64)] * 2
    text = stablehlo_of(function, *arguments)
    settings = {"target": target, "matmul.smallest": 1}
    if target in DEVICES:
        settings |= LARGE
    new, _ = scalify_hlo.rewrite(text, recipe=recipe, settings=settings, report=True)
    text = str(new)
    return text.count(BARRIER)


@pytest.mark.parametrize("recipe", ["unit", "fp8-current"])
def test_a_barrier_stands_behind_each_cast(recipe: str) -> None:
    before = barriers(layer, "b200", recipe)
    assert barriers(layer, "h200", recipe) == before + 2
    assert barriers(layer, "gpu", recipe) == before + 2
    assert barriers(layer, "any", recipe) == barriers(layer, "tpu", recipe) == before


def test_a_cast_of_a_softmax_is_apart_too() -> None:
    assert barriers(of_rows, "h200", "unit") == barriers(of_rows, "b200", "unit") + 2


@pytest.mark.parametrize("recipe", ["unit", "fp8-current", "fp8-calibrated"])
def test_no_bit_changes(recipe: str) -> None:
    arrays = normals(*[(64, 64)] * 2)
    exported = program_of(jax.grad(lambda *a: layer(*a).sum(), (0, 1)), *arrays)
    settings = {"matmul.smallest": 1, "compute": "keep"}
    made = (rewritten(recipe, exported, *arrays, target=t, **settings) for t in ("any", "gpu"))
    assert_all_same_bits(*(interpreted(each, *arrays) for each in made))


def test_a_cast_that_is_kept_later_gets_its_barrier() -> None:
    """The first reader of a cast needs no barrier, the second does, and both share the cast."""
    module = parse("func.func @main(%x: tensor<4xf32>) { return }")
    with module.context, ir.Location.unknown():
        (x,) = body_of(module).arguments
        casts = Casts()
        plain = casts.cast(x, "f8E5M2", attributes.GRADIENT)
        kept = casts.cast(x, "f8E5M2", attributes.GRADIENT, kept=True)
        assert kept.owner.name == BARRIER
        assert kept.owner.operands[0] == plain
        assert casts.cast(x, "f8E5M2", attributes.GRADIENT) == kept
        assert casts.count == 1
