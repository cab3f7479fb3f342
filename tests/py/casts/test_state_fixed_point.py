"""Scales of state over many steps: state leaves a step at its own scale, or at a measured one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import scalify_hlo as jsa
from examples.training import training_step
from scalify_hlo.jax_api.scaled_array import is_scaled_array
from tests.py.shared.judge import leaves, pairs, program_of, rewritten, rms, shaped

RECIPES = ("propagate", "bf16", "fp16", "fp16-state", "fp8", "fp8-state", "fp8-current", "unit")
"""The presets that `scalify` takes by themselves."""

WIDE = {"matmul.smallest": 1 << 20, "state.gradient": "keep"}
"""Settings under which gradients are those of f32."""

F16_MAX = 65504.0


def log_rms(array: Any) -> float:
    return float(np.log2(rms(array)))


def amax(array: Any) -> float:
    return float(np.max(np.abs(np.asarray(array, np.float32))))


def assert_held(state: Any) -> None:
    """State in f16 is near unit, and none of it is saturated."""
    narrow = [pair for pair in pairs(state) if pair.dtype == np.float16]
    assert narrow
    for pair in narrow:
        if np.asarray(pair.data).any():
            assert abs(log_rms(pair.data)) <= 8
        assert amax(pair.data) < F16_MAX


def descend(w: Any) -> Any:
    """A step of SGD on a linear regression, without any name."""
    return w - 0.1 * jax.grad(lambda w: jnp.mean((jnp.ones((16, 64)) @ w) ** 2))(w)


class TestSgd:
    @pytest.mark.slow
    @pytest.mark.parametrize("recipe", RECIPES)
    def test_the_scale_of_a_weight_stays(self, recipe: str) -> None:
        start = jax.random.normal(jax.random.key(0), (64, 64)) * 0.1
        w = jsa.as_scaled_array(start)
        first, run = float(w.scale), jsa.scalify(descend, recipe=recipe)
        for _ in range(60):
            w = run(w)
        if w.dtype == np.float16:
            assert_held(w)
        else:
            assert float(w.scale) == first
        expected = start
        for _ in range(60):
            expected = descend(expected)
        np.testing.assert_allclose(np.asarray(w), expected, atol=2e-2)

    @pytest.mark.parametrize("recipe", ["propagate", "fp8-state"])
    def test_a_program_that_is_f16_itself(self, recipe: str) -> None:
        start = (jax.random.normal(jax.random.key(0), (64, 64)) * 0.1).astype(jnp.float16)

        def step(w: Any) -> Any:
            return descend(w.astype(jnp.float32)).astype(jnp.float16)

        w, expected = jsa.as_scaled_array(start), start
        run = jsa.scalify(step, recipe=recipe)
        for _ in range(60):
            w, expected = run(w), step(expected)
            assert_held(w)
        np.testing.assert_allclose(np.asarray(w, np.float32), expected, atol=2e-2)

    def test_f16_that_decays(self) -> None:
        """By 2^30, which f16 at one scale does not hold."""
        start = jnp.asarray([[1.0, 1.5], [-1.25, 1.75]], jnp.float16)
        w, run = jsa.as_scaled_array(start), jsa.scalify(lambda w: w - w / 2)
        for _ in range(30):
            w = run(w)
        assert_held(w)
        np.testing.assert_array_equal(np.asarray(w, np.float32), np.ldexp(np.float32(start), -30))

    def test_momentum_too(self) -> None:
        optimizer = optax.sgd(0.05, momentum=0.9, nesterov=True)
        states = trained(optimizer, 30)
        assert scales(states[0]) == scales(states[-1])


def loss(params: Any, x: Any, weight: Any) -> Any:
    """The mean square of two layers, times a weight, and so are gradients."""
    y = jnp.tanh(x @ params["up"] + params["bias"]) @ params["down"]
    return weight * jnp.mean((y - x) ** 2)


def params() -> Any:
    rng = np.random.default_rng(0)
    shapes = {"up": (16, 32), "bias": (32,), "down": (32, 16)}
    return {n: jnp.asarray(0.3 * rng.standard_normal(s), jnp.float32) for n, s in shapes.items()}


def batch(number: int) -> Any:
    """Inputs, and a factor of gradients that falls by an octave in four steps."""
    x = np.random.default_rng(number).standard_normal((8, 16))
    return jnp.asarray(x, jnp.float32), jnp.float32(2.0 ** (-number / 4))


def trained(
    optimizer: Any, steps: int, recipe: str = "propagate", of: Any = loss, **settings: Any
) -> list[Any]:
    """The state before the first step and after each."""
    run = jsa.scalify(training_step(of, optimizer), recipe=recipe, settings=settings)
    start = params()
    states = [jsa.as_scaled_array((start, optimizer.init(start)))]
    for number in range(steps):
        *state, _ = run(*states[-1], *jsa.as_scaled_array(batch(number)))
        states.append(tuple(state))
    return states


def scales(state: Any) -> list[float]:
    return [float(pair.scale) for pair in pairs(state)]


ADAM = optax.adam(2.0**-6)
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "adam": partial(optax.adam, 2.0**-6),
    "adagrad": partial(optax.adagrad, 2.0**-4),
    "lamb": partial(optax.lamb, 2.0**-6),
    "rmsprop": partial(optax.rmsprop, 2.0**-7),
    "lion": partial(optax.lion, 2.0**-8),
    "multisteps": lambda: optax.MultiSteps(optax.adam(2.0**-6), 4).gradient_transformation(),
}


MATRICES: dict[str, Callable[[], Any]] = {
    "adafactor": lambda: optax.adafactor(2.0**-4, min_dim_size_to_factor=16),
    "muon": lambda: optax.contrib.muon(2.0**-6),
    "adamax": lambda: optax.adamax(2.0**-6),
}
"""Optimizers with state that is neither a mean of gradients nor one of their squares."""


@pytest.mark.slow
class TestWideState:
    @pytest.mark.parametrize("recipe", ["propagate", "fp8"])
    @pytest.mark.parametrize("name", [*OPTIMIZERS, *MATRICES])
    def test_scales_stay(self, name: str, recipe: str) -> None:
        optimizer = (OPTIMIZERS | MATRICES)[name]()
        states = trained(optimizer, 6, recipe)
        for before, after in itertools.pairwise(states):
            for old, new in zip(*map(leaves, (before, after)), strict=True):
                # What no scale reaches, such as zeros that Adafactor returns, comes back plain.
                if is_scaled_array(new) and new.dtype != np.float16:
                    assert float(new.scale) == float(old.scale)

    def test_bf16_keeps_its_scale_as_well(self) -> None:
        settings = {f"state.{kind}": "bf16" for kind in ("weight", "first_moment", "second_moment")}
        states = trained(ADAM, 6, **settings)
        assert {pair.dtype for pair in pairs(states[-1])} == {np.dtype(jnp.bfloat16)}
        assert scales(states[0]) == scales(states[-1])


class TestNarrowState:
    """Under gradients that fall by 2^15, while averages of their squares do not."""

    @pytest.mark.slow
    @pytest.mark.parametrize("name", OPTIMIZERS)
    def test_moments_are_those_of_wide_state(self, name: str) -> None:
        optimizer = OPTIMIZERS[name]()
        states = trained(optimizer, 60, "fp8-state", **WIDE)
        plain = jax.jit(training_step(loss, optimizer))
        for number, (before, after) in enumerate(itertools.pairwise(states)):
            assert_held(after)
            decoded = jsa.asarray(before, jnp.float32)
            *expected, _ = plain(*decoded, *batch(number))
            assert_same_sizes(after, tuple(expected))

    @pytest.mark.slow
    @pytest.mark.parametrize("recipe", ["fp16-state", "fp8"])
    def test_weights(self, recipe: str) -> None:
        for state in trained(ADAM, 20, recipe)[1:]:
            assert_held(state)

    @pytest.mark.slow
    def test_second_moments_have_room_on_both_sides(self) -> None:
        """Their amax is within an octave below 2^7, whatever that of gradients is."""
        *_, state = trained(ADAM, 3, "fp8-state")
        for pair in pairs(state[1][0].nu):
            assert 2.0**6 <= amax(pair.data) <= 2.0**7

    def test_weights_that_follow_no_gradient(self) -> None:
        """Gradients that are 2^40 times as large or small as weights change no scale by as much."""
        states = trained(optax.sgd(0.0), 3, "fp16-state", lambda *given: 2.0**40 * loss(*given))
        assert scales(states[0])[1:3] == scales(states[-1])[1:3]

    @pytest.mark.slow
    def test_it_is_measured_every_few_steps(self) -> None:
        every = {"state_rescale.every": 4, "inputs.step": "*.count"}
        states = trained(ADAM, 9, "fp8-state", **every)[1:]
        changed = [scales(a) != scales(b) for a, b in itertools.pairwise(states)]
        assert not any(changed[i] for i in (0, 1, 2, 4, 5, 6))
        assert changed[3] or changed[7]
        for state in states:
            assert_held(state)

    @pytest.mark.slow
    @pytest.mark.parametrize("format_", ["f16", "f8E5M2", "f8E4M3FN"])
    def test_without_any_preset(self, format_: str) -> None:
        settings = {"state.first_moment": format_, "state.second_moment": format_}
        *_, state = trained(ADAM, 30, **settings)
        moments = [p for p in pairs(state[1]) if p.dtype != np.float32]
        assert len(moments) == 6
        for pair in moments:
            assert abs(log_rms(pair.data)) <= 8
            assert amax(pair.data) < float(jnp.finfo(pair.dtype).max)


@pytest.mark.slow
class TestOptions:
    def test_a_statistic_is_taken_of_all_state(self) -> None:
        settings = {"state_rescale.statistic": "l2"}
        *_, state = trained(ADAM, 3, "fp8", **settings)
        for pair in pairs(state):
            assert -0.01 <= log_rms(pair.data) <= 1.01

    def test_narrow_state_needs_none(self) -> None:
        settings = {"norm_gradients.statistic": "none", "state_rescale.statistic": "none"}
        states = trained(ADAM, 20, "fp16-state", **settings)
        for state in states[1:]:
            assert_held(state)


def assert_same_sizes(state: Any, expected: Any) -> None:
    """Each tensor of a state is as large as f32's, to a tenth."""
    found = jax.tree.leaves(jsa.asarray(state, jnp.float32))
    for ours, theirs in zip(found, jax.tree.leaves(expected), strict=True):
        if np.issubdtype(ours.dtype, np.floating):
            np.testing.assert_allclose(amax(ours), amax(theirs), rtol=0.1)


@pytest.mark.slow
class TestSparseMoments:
    """Of an embedding of which each step uses few rows."""

    ROWS, WIDTH = 2048, 32

    def step(self, optimizer: Any) -> Any:
        def embedded(params: Any, tokens: Any, y: Any) -> Any:
            return jnp.mean((params["table"][tokens] @ params["out"] - y) ** 2)

        return training_step(embedded, optimizer)

    def batches(self, steps: int) -> Iterator[Any]:
        """Tokens of the first 40 rows, the first of them half of the time; large errors for it."""
        rng = np.random.default_rng(1)
        for _ in range(steps):
            tokens = rng.integers(0, 40, size=64) * rng.integers(0, 2, size=64)
            y = rng.standard_normal((64, 16)) * np.where(tokens == 0, 100.0, 0.1)[:, None]
            yield jnp.asarray(tokens, jnp.int32), jnp.asarray(y, jnp.float32)

    @pytest.mark.parametrize("name", ["adam", "adagrad", "lamb"])
    def test_rows_that_are_used_keep_their_moments(self, name: str) -> None:
        optimizer = OPTIMIZERS[name]()
        step = self.step(optimizer)
        rng = np.random.default_rng(0)
        start = {
            "table": jnp.asarray(rng.standard_normal((self.ROWS, self.WIDTH)), jnp.float32),
            "out": jnp.asarray(rng.standard_normal((self.WIDTH, 16)) / 6, jnp.float32),
        }
        run, plain = jsa.scalify(step, recipe="fp8-state", settings=WIDE), jax.jit(step)
        state = jsa.as_scaled_array((start, optimizer.init(start)))
        for given in self.batches(20):
            decoded = jsa.asarray(state, jnp.float32)
            *state, _ = run(*state, *jsa.as_scaled_array(given))
            assert_held(state)
            *expected, _ = plain(*decoded, *given)
            assert_same_sizes(tuple(state), tuple(expected))
            assert_elements(tuple(state), tuple(expected))


def assert_elements(state: Any, expected: Any) -> None:
    """No element is lost that Adam's epsilon does not hide."""
    found = jax.tree.leaves(jsa.asarray(state, jnp.float32))
    for ours, theirs in zip(found, jax.tree.leaves(expected), strict=True):
        lost = (np.asarray(ours) == 0) & (np.abs(np.asarray(theirs)) > 2.0**-26 * amax(theirs))
        assert not lost.any()


class TestWhichResultsAreState:
    """By names of leaves, by donation, or by what elementwise ops make of an argument."""

    def after(self, fn: Any, *arguments: Any, **options: Any) -> Any:
        """Returns the results of a scaled function for unit arrays at scales 2^9, 2^10 ..."""
        rng = np.random.default_rng(0)
        given = [
            jsa.ScaledArray(
                jnp.asarray(rng.standard_normal(shape), jnp.float32), jnp.float32(2.0 ** (9 + i))
            )
            for i, shape in enumerate(arguments)
        ]
        return jsa.scalify(fn, **options)(*given)

    def test_a_tuple_in_another_order(self) -> None:
        def step(w: Any, m: Any, g: Any) -> Any:
            m = 0.5 * m + 16 * g
            return jnp.sum(w), m, w - 8 * m

        shape = (8, 8)
        _, m, w = self.after(step, shape, shape, shape)
        assert (float(w.scale), float(m.scale)) == (2.0**9, 2.0**10)

    def test_names_tell_leaves_apart(self) -> None:
        """Data flow does not: either is the other with something added."""

        def step(slow: Any, fast: Any) -> Any:
            x, y = fast["x"], slow["y"]
            return {"x": x + 64 * y, "y": y + 64 * x}

        y, x = (jsa.ScaledArray(jnp.ones(4), jnp.float32(2.0**e)) for e in (3, 6))
        found = jsa.scalify(step)({"y": y}, {"x": x})
        assert (float(found["x"].scale), float(found["y"].scale)) == (2.0**6, 2.0**3)

    def test_donated_arguments_of_an_exported(self) -> None:
        def turn(x: Any, w: Any) -> Any:
            return jnp.tanh(x @ w)

        shape = shaped(8, 8)
        for donated, expected in (((0,), 2.0**5), ((), 1.0)):
            exported = jax.export.export(jax.jit(turn, donate_argnums=donated))(shape, shape)
            done = jsa.rewrite(exported, recipe="fp8", signature="scaled")
            x, w = (jsa.ScaledArray(jnp.ones((8, 8)), jnp.float32(2.0**e)) for e in (5, -4))
            assert float(done.call(x, w).scale) == expected

    def test_in_loops_and_calls(self) -> None:
        def step(w: Any, x: Any) -> Any:
            @jax.jit
            def turn(w: Any, x: Any) -> Any:
                return w - 8 * jax.grad(lambda w: jnp.sum((x @ w) ** 2))(w)

            def body(w: Any, x: Any) -> Any:
                return turn(w, x), None

            return jax.lax.scan(body, w, x)[0]

        assert float(self.after(step, (8, 8), (3, 4, 8)).scale) == 2.0**9

    def test_a_cache_that_is_written_to(self) -> None:
        def decode(cache: Any, row: Any) -> Any:
            return jax.lax.dynamic_update_slice(cache, 64 * row, (2, 0))

        assert float(self.after(decode, (8, 8), (1, 8)).scale) == 2.0**9

    def test_other_results_settle(self) -> None:
        """A layer's output, and gradients, have the scales of what they are."""
        product = self.after(lambda x, w: x @ w, (64, 64), (64, 64))
        assert float(product.scale) == 2.0**22
        polynomial = self.after(lambda x, y: x * y - 8, (8, 8), (8, 8))
        assert float(polynomial.scale) not in (2.0**9, 2.0**10)
        gradient = self.after(jax.grad(lambda w, x: jnp.sum((x @ w) ** 2)), (64, 64), (16, 64))
        assert float(gradient.scale) not in (2.0**9, 2.0**10)

    def test_a_plain_argument_has_no_scale_to_keep(self) -> None:
        found = jsa.scalify(lambda w, g: w - g)(jnp.ones(4), jsa.as_scaled_array(jnp.ones(4)))
        np.testing.assert_array_equal(np.asarray(found), np.zeros(4))


def test_nothing_is_added_for_wide_state() -> None:
    """At its own scale state needs no factor: there are as many ops as without this."""
    exported = program_of(descend, shaped(64, 64))
    text = str(exported.mlir_module())
    module, _ = rewritten(text, "scaled")
    multiplies = str(module).count("stablehlo.multiply")
    assert multiplies == text.count("stablehlo.multiply")
