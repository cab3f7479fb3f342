"""Rescaling of what a training step carries to the next, in the program that returns it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax.training.train_state import TrainState

import scalify_hlo as jsa
from examples.training import training_step
from scalify_hlo.jax_api.scaled_array import is_scaled_array
from scalify_hlo.recipes.loading import load_recipe
from tests.py.devices import eight_devices, sharded_state
from tests.py.shared.judge import (
    Array,
    Pair,
    assert_all_close,
    assert_same_bits,
    pairs,
    program_of,
    rewritten,
    rms,
    run_plain,
    run_scaled,
    stablehlo_of,
)

L2 = {"state_rescale.statistic": "l2"}
EVERY = {**L2, "state_rescale.every": 4, "inputs.step": "*.count"}
OPTIMIZER = optax.adam(2.0**-5)


def loss(params: Any, x: Any, weight: Any) -> Any:
    """The mean square of two layers, times a weight, and so are gradients."""
    y = jnp.tanh(x @ params["up"] + params["bias"]) @ params["down"]
    return weight * jnp.mean(y**2)


step = training_step(loss, OPTIMIZER)


def params() -> Any:
    """Weights; two of them are of one size."""
    rng = np.random.default_rng(0)
    shapes = {"up": (16, 32), "bias": (32,), "down": (32, 16)}
    return {
        name: jnp.asarray(rng.standard_normal(shape), jnp.float32) for name, shape in shapes.items()
    }


def begun() -> Any:
    """The state before the first step."""
    start = params()
    return start, OPTIMIZER.init(start)


def batch(weight: float = 1.0, seed: int = 1) -> Any:
    x = np.random.default_rng(seed).standard_normal((8, 16))
    return jnp.asarray(x, jnp.float32), jnp.float32(weight)


@pytest.fixture(scope="module", name="text")
def _text() -> str:
    arguments = (*begun(), *batch())
    return stablehlo_of(step, *arguments)


def trained(
    settings: Mapping[str, Any], steps: int, recipe: str = "propagate", weight: float = 1.0
) -> list[Any]:
    """The state after each of some steps, whose gradients get smaller and smaller."""
    run = jsa.scalify(step, recipe=recipe, settings=settings)
    state = jsa.as_scaled_array(begun())
    states = []
    for number in range(steps):
        *state, _ = run(*state, *jsa.as_scaled_array(batch(weight * 0.5**number)))
        states.append(tuple(state))
    return states


def moments(state: Any) -> Any:
    """The ScaledArrays of Adam's state: of degree 1, and of degree 2."""
    adam = state[1][0]
    return [*adam.mu.values()], [*adam.nu.values()]


def scales(state: Any) -> list[float]:
    return [float(pair.scale) for pair in pairs(state)]


@pytest.mark.slow
class TestInTheProgram:
    def test_scales_follow_the_values(self) -> None:
        states = trained(L2, 12)
        for state in states:
            assert all(0.999 <= rms(pair.data) < 2.001 for pair in pairs(state))
        first, last = (moments(states[i])[0][0].scale for i in (0, -1))
        assert last < first
        still = trained({}, 12)
        assert any(rms(pair.data) < 2.0**-6 for pair in pairs(still[-1]))

    @pytest.mark.parametrize("settings", [L2, {**L2, "state_rescale.statistic": "max"}, EVERY])
    def test_values_are_those_of_the_original_to_a_bit(
        self, text: str, settings: dict[str, Any]
    ) -> None:
        exponents = [0, -2, 3, 0, -5, -7, 2, -9, -8, -16, 1, -3]
        names = ["bias", "down", "up"] * 3
        arrays: list[Array] = [
            np.asarray(params()[name]) * np.float32(2.0 ** (i - 4)) for i, name in enumerate(names)
        ]
        arrays[6:] = map(np.abs, arrays[6:])  # second moments
        arrays.insert(3, np.asarray(4, np.int32))
        arrays += map(np.asarray, batch())
        recipe = load_recipe("propagate", settings)
        expected = run_plain(text, arrays, exponents)
        found = run_scaled(text, arrays, exponents, recipe=recipe)
        for value, plain in zip(found, expected, strict=True):
            whole = value.value.astype(np.float32) if isinstance(value, Pair) else value
            assert_same_bits(whole, plain)
        moved = run_scaled(text, arrays, exponents)
        pairs = zip(found, moved, strict=True)
        assert sum(_scale(a) != _scale(b) for a, b in pairs) >= 8

    @pytest.mark.parametrize("recipe", ["propagate", "fp8-state"])
    def test_every_few_steps_and_not_in_others(self, recipe: str) -> None:
        states = trained(EVERY, 9, recipe)
        changed = [scales(a) != scales(b) for a, b in itertools.pairwise(states)]
        assert changed == [False, False, False, True, False, False, False, True]

    def test_state_that_was_zero_when_it_was_measured(self) -> None:
        """It says nothing then of the scale that it needs before it is measured again."""
        settings = {**EVERY, "matmul.smallest": 1 << 20, "state.gradient": "keep"}
        run, plain = jsa.scalify(step, recipe="fp8-state", settings=settings), jax.jit(step)
        expected = begun()
        state = jsa.as_scaled_array(expected)
        for number in range(4):
            given = batch(2.0**-14 if number else 0.0)
            *state, _ = run(*state, *jsa.as_scaled_array(given))
            *expected, _ = plain(*expected, *given)
        for found, wanted in zip(moments(state), moments(expected), strict=True):
            for ours, theirs in zip(found, wanted, strict=True):
                assert ours.data.dtype == np.float16
                np.testing.assert_allclose(
                    np.abs(np.asarray(ours, np.float32)).max(), np.abs(theirs).max(), rtol=0.1
                )

    def test_narrow_state_is_measured_before_it_is_rounded(self) -> None:
        """At gradients whose squares no f16 number near scale 1 can hold."""
        for state in trained(L2, 4, "fp8-state", weight=2.0**-12):
            first, second = moments(state)
            assert {pair.data.dtype for pair in (*first, *second)} == {np.dtype(np.float16)}
            assert all(0.99 <= rms(pair.data) <= 2.01 for pair in first)
            assert all(15.9 <= rms(pair.data) <= 32.1 for pair in second)
        assert max(float(pair.scale) for pair in second) < 2.0**-30

    def test_narrow_state_trains_as_wide_state_does(self) -> None:
        narrow, wide = (
            trained(settings, 8, "fp16-state")[-1]
            for settings in (
                L2 | {"state.first_moment": "f16", "state.second_moment": "f16"},
                {"state.weight": "keep"},
            )
        )
        for ours, theirs in zip(pairs(narrow[0]), pairs(wide[0]), strict=True):
            assert ours.data.dtype == np.float16
            np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=5e-3, atol=5e-3)

    def test_state_without_a_statistic_stays(self) -> None:
        """Moments of what has no gradient are zero: their scale goes nowhere."""
        run = jsa.scalify(
            step, recipe="fp8-state", settings={**L2, "state_gradients.statistic": "l2"}
        )
        state = jsa.as_scaled_array(begun())
        seen = []
        for _ in range(3):
            *state, _ = run(*state, *jsa.as_scaled_array(batch(0.0)))
            moment = state[1][0].nu["down"]
            assert not np.asarray(moment.data).any()
            seen.append(float(moment.scale))
        assert seen[0] == seen[1] == seen[2]

    def test_scales_are_held_within_bounds(self) -> None:
        """Smaller second moments stay in the data, and mean the same."""
        settings = {**L2, "state_rescale.statistic": "max"}
        run, plain = jsa.scalify(step, settings=settings), jax.jit(step)
        given, expected = batch(2.0**-40), begun()
        state = jsa.as_scaled_array(expected)
        for _ in range(3):
            *state, _ = run(*state, *jsa.as_scaled_array(given))
            *expected, _ = plain(*expected, *given)
        (_, second), (_, wanted) = moments(state), moments(expected)
        assert min(float(pair.scale) for pair in second) == 2.0**-42
        for pair, value in zip(second, wanted, strict=True):
            np.testing.assert_allclose(np.asarray(pair), value, rtol=1e-5)

    def test_in_a_scan_over_steps_at_its_end(self) -> None:
        def steps(params: Any, state: Any, xs: Any) -> Any:
            def turn(carry: Any, x: Any) -> Any:
                *carry, value = step(*carry, *x)
                return tuple(carry), value

            return jax.lax.scan(turn, (params, state), xs)[0]

        xs = jax.tree.map(lambda *each: jnp.stack(each), *(batch(seed=i) for i in range(3)))
        arguments = (*begun(), xs)
        found = jsa.scalify(steps, settings=L2)(*jsa.as_scaled_array(arguments))
        assert all(0.999 <= rms(pair.data) < 2.001 for pair in pairs(found))
        expected = jax.jit(steps)(*arguments)
        assert_all_close(jsa.asarray(found), expected, rtol=1e-4, atol=1e-7)

    @pytest.mark.parametrize("recipe", ["fp8", "fp8-delayed", "fp8-current"])
    def test_goes_with_every_recipe(self, recipe: str) -> None:
        arguments = (*begun(), *batch())
        exported = program_of(step, *arguments)
        settings = {**L2, "matmul.smallest": 8}
        done = jsa.rewrite(exported, recipe=recipe, signature="scaled", settings=settings)
        given = (
            jsa.scaled_state(done, arguments) if recipe == "fp8" else jsa.as_scaled_array(arguments)
        )
        if recipe == "fp8-delayed":
            (state, _) = done.call(*given, jsa.init_scaling_state(done))
        else:
            state = done.call(*given)
        assert all(0.99 <= rms(pair.data) < 2.01 for pair in pairs(state[:2]))


def _scale(value: Pair | Array) -> float:
    return value.scale if isinstance(value, Pair) else 0.0


class TestBetweenSteps:
    def test_a_whole_train_state(self) -> None:
        """Its other leaves, and what is no leaf, stay as they are."""
        create: Any = TrainState.create
        plain = create(apply_fn=loss, params=params(), tx=OPTIMIZER)
        state = jsa.as_scaled_array(plain.replace(params={"key": jax.random.key(0), **params()}))
        drifted = jax.tree.map(_drifted, state, is_leaf=is_scaled_array)
        found = jsa.dynamic_rescale(drifted)
        trees: list[Any] = [jax.tree.structure(tree) for tree in (found, state)]
        assert trees[0] == trees[1]
        assert found.apply_fn is loss
        assert found.params["key"] == drifted.params["key"]
        assert found.step == 0
        for pair, before in zip(pairs(found), pairs(drifted), strict=True):
            if np.asarray(before.data).any():
                assert 0.999 <= rms(pair.data) < 2.001
            np.testing.assert_array_equal(np.asarray(pair), np.asarray(before))

    @pytest.mark.parametrize(
        "dtype", [jnp.float32, jnp.float16, jnp.bfloat16, jnp.float8_e5m2, jnp.float8_e4m3fn]
    )
    def test_in_jit_with_donation(self, dtype: Any) -> None:
        data = jnp.asarray([16.0, 24.0, -32.0, 0.0]).astype(dtype)
        state: Any = {
            "x": jsa.ScaledArray(data, jnp.float32(2.0**-30)),
            "none": None,
            "n": jnp.int32(3),
        }
        expected = np.asarray(state["x"], np.float32)
        found = jax.jit(jsa.dynamic_rescale, donate_argnums=0)(state)
        assert state["x"].data.is_deleted()
        assert found["x"].dtype == dtype
        assert float(found["x"].scale) == 2.0**-26
        np.testing.assert_array_equal(np.asarray(found["x"], np.float32), expected)
        assert (found["none"], int(found["n"])) == (None, 3)

    @pytest.mark.slow
    def test_the_program_takes_it_without_a_new_trace(self) -> None:
        traced = []

        def noted(*arguments: Any) -> Any:
            traced.append(1)
            return step(*arguments)

        run = jsa.scalify(noted, recipe="fp8-state")
        state: Any = jsa.as_scaled_array(begun())
        for _ in range(2):
            state = run(*state, *jsa.as_scaled_array(batch()))[:2]
        count = len(traced)
        for _ in range(2):
            state = run(*jsa.dynamic_rescale(state), *jsa.as_scaled_array(batch()))[:2]
        assert len(traced) == count


def _drifted(leaf: Any) -> Any:
    return jsa.rebalance_scale(leaf, 2.0**9) if is_scaled_array(leaf) else leaf


@pytest.mark.slow
def test_on_several_devices() -> None:
    found = eight_devices.run(sharded_state.main)
    assert found["placed"]
    assert found["values"]
    assert found["scales"]["in the program"] == found["scales"]["between steps"]
    assert set(found["scales"]["on devices"]) == {8}


class TestPlaces:
    def test_all_that_is_carried_and_no_more(self, text: str) -> None:
        _, report = rewritten(text, "scaled", recipe=load_recipe("propagate", L2))
        assert [site.kind for site in report.sites] == ["state_rescale"] * 9
        names = {site.name for site in report.sites}
        assert "result[0]['up']" in names
        assert all(name.startswith(("result[0]", "result[1]")) for name in names)

    def test_off_by_default_and_without_pairs(self, text: str) -> None:
        assert load_recipe().state_rescale.statistic == "none"
        plain, _ = rewritten(text, "same")
        module, report = rewritten(text, "same", recipe=load_recipe("propagate", L2))
        assert not report.sites
        assert str(module) == str(plain)

    def test_small_state_of_one_size_is_looked_at_together(self, text: str) -> None:
        def reductions(settings: dict[str, Any]) -> int:
            module, _ = rewritten(text, "scaled", recipe=load_recipe("propagate", settings))
            return str(module).count("stablehlo.reduce(")

        # Sizes 32 and 512, three times each, the latter of two weights.
        assert reductions(L2) - reductions({}) == 2
        assert reductions(EVERY) - reductions({}) == 2

    def test_without_state_nothing_happens(self) -> None:
        text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }"
        module, report = rewritten(text, "scaled", recipe=load_recipe("propagate", L2))
        assert not report.sites
        assert "stablehlo" not in str(module)
