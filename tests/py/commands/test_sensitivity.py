"""The costs of sites that `search` compares: energies, gradients, and what a step takes away."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from scalify_hlo.commands.choose.bench import Bench
from scalify_hlo.commands.choose.operand_errors import RESULT, CastError
from scalify_hlo.commands.choose.sensitivity import (
    GRADIENTS,
    LOSS,
    RATIO,
    Backward,
    Energy,
    Sensitivity,
)
from tests.py.shared import choosing
from tests.py.shared.choosing import batch, good_step, loss_of, parameters
from tests.py.shared.judge import program_of


def sensitivity(step: Callable[..., Any], *sample: Any) -> tuple[Bench, Sensitivity]:
    """The measurements of a step, with the bench."""
    bench = Bench(program_of(step, *sample), [sample])
    return bench, Sensitivity(bench.sites, bench.energies(), bench.backward(), 1.0)


def by_site(bench: Bench) -> Mapping[str, Energy]:
    energies = bench.energies()
    return {site: energies[number] for number, site in bench.sites.items()}


def test_energies_are_those_of_the_tensors() -> None:
    x, y = batch()
    bench = Bench(program_of(lambda x, y: x @ y, x, y), [(x, y)])
    (energy,) = bench.energies().values()
    values = [np.asarray(each, np.float64) for each in (x, y)]
    squares = [float(np.sum(each**2)) for each in (*values, values[0] @ values[1])]
    assert [*energy.operands, energy.result] == pytest.approx(squares, rel=1e-5)
    assert energy.count == x.size


def test_energies_of_turns_and_of_calls_add_up() -> None:
    x, _ = batch()

    def loop(x: Any) -> Any:
        return lax.scan(lambda c, _: (c @ c / 64, None), x, None, length=3)[0]

    inner = jax.jit(lambda x: x @ x)
    (turns,) = by_site(Bench(program_of(loop, x), [(x,)])).values()
    (calls,) = by_site(Bench(program_of(lambda x: inner(x) + inner(x + 1), x), [(x,)])).values()
    assert turns.count == 3 * x.size
    assert calls.count == 2 * x.size
    energy = [float(np.sum(np.asarray(each, np.float64) ** 2)) for each in (x, x + 1)]
    assert calls.operands[0] == pytest.approx(sum(energy), rel=1e-5)


def test_the_gradient_of_a_result_is_found_in_the_backward_pass() -> None:
    bench, _ = sensitivity(good_step, parameters(), *batch())
    backward, energies = bench.backward(), bench.energies()
    assert len(backward.cotangents) == 4
    assert len(backward.weights) == 4
    assert len(backward.activations) == 3

    def after(offset: Any) -> Any:
        """The loss, with an offset at the result of the second layer."""
        params, (x, y) = parameters(), batch()
        h = jnp.tanh(jnp.tanh(x @ params["first"]) @ params["second"] + offset)
        h = jnp.tanh(h @ params["planted"] / jnp.sqrt(1e-3 + _mean_square(h @ params["planted"])))
        return jnp.mean((jnp.tanh(h @ params["fourth"]) - y) ** 2)

    offset = np.zeros((choosing.WIDTH, choosing.WIDTH), np.float32)
    assert float(after(offset)) == pytest.approx(float(loss_of(parameters(), *batch())), rel=1e-5)
    gradient = np.asarray(jax.grad(after)(offset), np.float64)
    (number,) = (n for n, site in bench.sites.items() if "jvp(second)" in site and "tr" not in site)
    source, side = backward.cotangents[number]
    assert energies[source].operands[side] == pytest.approx(np.sum(gradient**2), rel=1e-4)
    # The cost of the site is the rms of the change of the loss by noise of random signs.
    ratio = 2.0**-9
    cost = Sensitivity(bench.sites, energies, backward, 2.0)._effects(number, ratio, 0.0)[LOSS]
    size = math.sqrt(ratio * energies[number].result / offset.size)
    rng = np.random.default_rng(0)
    signs = rng.choice([-1, 1], (512, *offset.shape)).astype(np.float32)
    changes = np.asarray(jax.vmap(lambda z: jax.jvp(after, (offset,), (z * size,))[1])(signs))
    assert 2 * cost == pytest.approx(math.sqrt(np.mean(changes**2)), rel=0.1)


def _mean_square(h: Any) -> Any:
    return jnp.mean(h**2, axis=-1, keepdims=True)


def test_recomputed_matmuls_have_the_gradient_of_the_first() -> None:
    w, x = parameters()["first"], batch()[0]

    def loss(w: Any, x: Any) -> Any:
        return jnp.mean(jax.checkpoint(lambda h: jnp.tanh(jnp.tanh(h @ w) @ w))(x) ** 2)

    bench, found = sensitivity(lambda w, x: jax.value_and_grad(loss)(w, x), w, x)
    forward = [n for n, site in bench.sites.items() if "transpose" not in site]
    assert forward
    for number in forward:
        assert found._effects(number, 0.1, 0.1).keys() == {LOSS, GRADIENTS}


def test_costs_of_gradients_are_shares_of_their_noise() -> None:
    energies = {i: Energy((1.0, 1.0), 2.0**i, 4.0) for i in range(4)}
    backward = Backward({0: (1, 0)}, frozenset({1, 2}), {3: (0, 1), 4: (5, 0)})
    energies |= {4: Energy((1.0, 1.0), 2.0, 4.0), 5: Energy((12.0, 1.0), 1.0, 4.0)}
    found = Sensitivity({}, energies, backward, 2.0)
    found = replace(found, decrease=0.25)
    effects = [found._effects(number, 0.5, 0.125) for number in (1, 2, 3, 4)]
    assert all(effect.keys() == {GRADIENTS} for effect in effects)
    shares = [2 / 6, 4 / 6, 8 / 32, 24 / 32]
    expected = [0.25 * share * (0.125 + 0.5 / 2) for share in shares]
    assert [effect[GRADIENTS] for effect in effects] == pytest.approx(expected)
    assert found._effects(9, 0.25, 0.0) == {RATIO: 0.5}
    for loss in (None, 0.0, math.inf):
        assert Sensitivity({}, energies, backward, loss)._effects(0, 0.25, 0.0) == {RATIO: 0.5}


def test_the_part_of_an_error_along_the_data() -> None:
    assert CastError(4.0, 1.0, -2.0).growth == 0.5
    assert CastError(4.0, 1.0, 0.0).growth == 0.0
    assert CastError(4.0, 1.0, math.nan).growth == 0.5
    assert CastError(math.inf, 1.0, 0.0).growth == math.inf
    assert CastError(0.0, 0.0, 0.0).growth == 0.0


def test_errors_of_results_change_the_loss_and_gradients() -> None:
    energies = {i: Energy((1.0, 3.0), 2.0**i, 4.0) for i in range(4)}
    found = Sensitivity({}, energies, Backward({0: (2, 0), 1: (3, 1)}), 2.0, 0.25)
    first, second = (found._effects(number, 0.5, 0.125) for number in (0, 1))
    noise = [0.25 * share * (0.125 + 0.5 / 2) for share in (1 / 7, 6 / 7)]
    assert first == pytest.approx({LOSS: math.sqrt(0.5 / 4) / 2, GRADIENTS: noise[0]})
    assert second == pytest.approx({LOSS: math.sqrt(0.5 * 6 / 4) / 2, GRADIENTS: noise[1]})


def test_costs_of_matmuls_add_up_as_squares() -> None:
    energies = {i: Energy((1.0, 3.0), 2.0**i, 4.0) for i in range(4)}
    backward = Backward({0: (2, 0), 1: (3, 1)})
    found = Sensitivity({0: "a", 1: "a"}, energies, backward, 2.0, 0.25)
    cost = found.costs({("a", RESULT): CastError(1.0, 0.5, 0.25)})["a"]
    effects = [found._effects(number, 0.5, 0.25) for number in (0, 1)]
    squares = [amount**2 for each in effects for amount in each.values()]
    assert cost.amount == pytest.approx(math.sqrt(sum(squares)))


def decrease(step: Any) -> float | None:
    return Bench(choosing.exported(step), [(parameters(), *batch())]).decrease


def test_what_a_step_takes_away_is_that_of_two_steps() -> None:
    after, before = good_step(parameters(), *batch())
    _, then = good_step(after, *batch())
    assert decrease(good_step) == pytest.approx(1 - float(then) / float(before), rel=1e-4)
    assert decrease(lambda *given: given) is None

    def shifted(params: Any, x: Any, y: Any) -> Any:
        params, loss = good_step(params, x, y)
        return params, loss - 2 * before  # For example, a log-likelihood.

    assert decrease(shifted) == pytest.approx(decrease(good_step), rel=1e-3)


def test_what_a_step_takes_away_may_be_unknown() -> None:
    def gradients(params: Any, x: Any, y: Any) -> Any:
        return jax.value_and_grad(loss_of)(params, x, y)

    def frozen(params: Any, x: Any, y: Any) -> Any:
        return params, loss_of(params, x, y)

    def diverging(params: Any, x: Any, y: Any) -> Any:
        params, loss = good_step(params, x, y)
        return jax.tree.map(lambda leaf: leaf * jnp.inf, params), loss

    assert [decrease(step) for step in (gradients, frozen, diverging)] == [None] * 3
