"""The example of u-µP and µnit Scaling: unit scale, learning rates, and their sweep."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import scalify_hlo
from examples import umup
from scalify_hlo import unit
from scalify_hlo.api import make_options
from scalify_hlo.cli.inspected import Inspected
from scalify_hlo.cli.matmul_table import Selection
from scalify_hlo.program.program import read_text
from tests.py.commands.test_lint import text_of

CONFIG = umup.Config(64, depth=2)


def loss(params: Any, tokens: Any, config: umup.Config = CONFIG) -> Any:
    return unit.cross_entropy(umup.logits(params, tokens[:, :-1], config), tokens[:, 1:])


@pytest.mark.parametrize("post", [False, True])
def test_gradients_have_unit_scale(post: bool) -> None:
    config = CONFIG._replace(post=post)
    params = umup.init(config)
    tokens = jax.random.randint(jax.random.key(0), (64, 32), 0, umup.VOCAB)
    gradients = jax.grad(lambda params: loss(params, tokens, config))(params)
    for gradient in jax.tree.leaves(gradients):
        assert 0.6 < float(jnp.sqrt(jnp.mean(gradient**2))) < 1.5


def test_factors_balance_but_for_arguments_on_cut_edges() -> None:
    params, (tokens,) = umup.init(CONFIG), umup.data(1)
    cut = unit.cut_edges(loss, params, tokens).arguments[0]
    assert all(jax.tree.leaves(cut))


def test_learning_rates_are_those_of_table_2() -> None:
    rates = umup.rates(umup.init(CONFIG), CONFIG)
    assert rates["embed"] == [64**-0.5] * 2
    assert rates["head"] == 1.0
    branches = 4
    assert rates["layers"][0]["up"] == (64 * branches) ** -0.5
    assert rates["layers"][1]["down"] == (256 * branches) ** -0.5
    plain = umup.rates(umup.init(CONFIG), CONFIG._replace(umup=False))
    assert set(jax.tree.leaves(plain)) == {1.0}


def test_the_transform_multiplies_updates() -> None:
    params = umup.init(CONFIG)
    transform = umup.scale_by_rates(CONFIG)
    updates, _ = transform.update(params, transform.init(params))
    assert jnp.allclose(updates["embed"][0], params["embed"][0] / 8)


def test_all_branches_and_the_embedding_weigh_the_same() -> None:
    """Of a sum of skips, the variance that each of the four branches has at the end is equal."""
    left, weights = 1.0, []
    for share in reversed(umup.shares(CONFIG)):
        weights.append(left * share)
        left *= 1 - share
    assert weights == pytest.approx([weights[0]] * 4)
    assert left == pytest.approx(2 * weights[0])  # alpha_res is 1: branches are half of it each.
    assert umup.shares(CONFIG._replace(post=True)) == [0.3] * 4


def test_no_value_departs_from_unit_scale_and_nothing_is_measured() -> None:
    params, (tokens,) = umup.init(CONFIG), umup.data(1)
    text = text_of(jax.grad(loss), params, tokens)
    inspected = Inspected.of(read_text(text), make_options("propagate", "same"), Selection())
    assert [each.message for each in inspected.findings if each.lint == "unit-scale"] == []
    exported = jax.export.export(jax.jit(jax.grad(loss)))(params, tokens)
    _, report = scalify_hlo.rewrite(exported, recipe="unit", report=True)
    assert report.statistics == 0


@pytest.mark.slow
def test_the_best_learning_rate_does_not_move_with_the_width() -> None:
    best = {}
    for width in (16, 64):
        for rules, exponents in ((True, (-2, 0, 2)), (False, (-8, -6, -4))):
            losses = umup.sweep(umup.Config(width, umup=rules), exponents)
            best[rules, width] = min(losses, key=losses.__getitem__)
            assert min(losses.values()) < math.log(umup.VOCAB) - 1
    assert best[True, 16] == best[True, 64] == 0
    assert best[False, 16] > best[False, 64]
