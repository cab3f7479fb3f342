"""The state of delayed scales in functions that `scalify` made, and its way to other programs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo as jsa
from scalify_hlo.errors import InputError, ScalifyWarning, UsageError
from tests.py.shared.compilations import compilations
from tests.py.shared.judge import assert_all_equal, normals, program_of

RECIPE = "fp8-delayed"
RNG = np.random.default_rng(0)
DONATED: dict[str, Any] = {"donate_argnums": 0, "donate_argnames": "scaling_state"}


def params(layers: int = 2) -> dict[str, Any]:
    return {f"w{i}": jnp.asarray(each) / 6 for i, each in enumerate(normals(*[(32, 32)] * layers))}


def batches(count: int = 4) -> list[Any]:
    return [jnp.asarray(RNG.standard_normal((64, 32)), jnp.float32) for _ in range(count)]


def loss(weights: Any, x: Any) -> Any:
    for name in sorted(weights):
        x = jnp.tanh(x @ weights[name])
    return jnp.mean(x**2)


def step(weights: Any, x: Any) -> Any:
    value, gradients = jax.value_and_grad(loss)(weights, x)
    return jax.tree.map(lambda w, g: w - 0.5 * g, weights, gradients), value


def trained(run: Any, weights: Any, state: Any, data: Any) -> Any:
    """The weights and the state after steps of a function that `scalify` made, and the losses."""
    losses = []
    for x in data:
        (weights, value), state = run(weights, x, scaling_state=state)
        losses.append(value)
    return weights, state, losses


@contextmanager
def told(carried: int, fresh: int, dropped: int) -> Iterator[None]:
    """Expects the line on a state that is carried over."""
    counts = f"{carried} tensors are carried over, {fresh} start fresh, and {dropped} of"
    with pytest.warns(ScalifyWarning, match=counts):
        yield


class TestLoop:
    def test_bits_are_those_of_the_exported_program(self) -> None:
        data, run = batches(), jsa.scalify(step, recipe=RECIPE)
        program = jsa.rewrite(program_of(step, params(), data[0]), recipe=RECIPE)
        state = run.init_scaling_state(params(), data[0])
        weights, other = params(), jsa.init_scaling_state(program, params(), data[0])
        assert state.tensors == jsa.scaling_tensors(program)
        assert_all_equal(state.arrays, other)
        found = trained(run, params(), state, data)
        call = jax.jit(program.call)
        for x in data:
            (weights, value), other = call(weights, x, other)
        assert_all_equal((found[0], found[1].arrays, found[2][-1]), (weights, other, value))

    @pytest.mark.parametrize("options", [{}, DONATED])
    def test_it_is_traced_and_compiled_once(self, options: Any) -> None:
        traces = []

        def counted(weights: Any, x: Any) -> Any:
            traces.append(x)
            return step(weights, x)

        run, data, weights = jsa.scalify(counted, recipe=RECIPE, **options), batches(), params()
        with compilations() as compiled:
            state = run.init_scaling_state(weights, data[0])
            _, last, losses = trained(run, weights, state, data)
        assert compiled.count("jit(counted)") == len(traces) == 1
        assert state.scale.is_deleted() == weights["w0"].is_deleted() == bool(options)
        assert int(last.step) == len(data)
        assert losses[-1] < losses[0]

    def test_types_run_nothing(self) -> None:
        calls = []

        def noted(weights: Any, x: Any) -> Any:
            jax.debug.callback(lambda: calls.append(x))
            return step(weights, x)

        run, (x,) = jsa.scalify(noted, recipe=RECIPE), batches(1)
        state = run.init_scaling_state(*jax.eval_shape(lambda: (params(), x)))
        assert set(np.asarray(state.scale)) == {1.0, 2.0**-23}
        jax.effects_barrier()
        assert not calls

    def test_inside_of_jit_and_of_a_scan(self) -> None:
        data, run = batches(), jsa.scalify(step, recipe=RECIPE)
        state = run.init_scaling_state(params(), data[0])

        def turn(carry: Any, x: Any) -> Any:
            (weights, value), scaling = run(carry[0], x, scaling_state=carry[1])
            return (weights, scaling), value

        (weights, last), _ = jax.jit(lambda c, xs: jax.lax.scan(turn, c, xs))(
            (params(), state), jnp.stack(data)
        )
        expected, scaling, _ = trained(run, params(), state, data)
        assert_all_equal((weights, last.arrays), (expected, scaling.arrays))

    def test_keywords_static_arguments_pairs_and_statistics(self) -> None:
        stats = jsa.Stats(every=2)

        @jsa.scalify(recipe=RECIPE, static_argnames="power", stats=stats)
        def f(weights: Any, *, x: Any, power: int) -> Any:
            return jnp.sum((x @ weights["w0"]) ** power)

        (x,) = batches(1)
        weights = jsa.as_scaled_array(params(1))
        state = f.init_scaling_state(weights, x=x, power=2)
        for _ in range(2):
            value, state = f(weights, x=x, power=2, scaling_state=state)
        np.testing.assert_allclose(value, jnp.sum((x @ params(1)["w0"]) ** 2), rtol=0.05)
        assert int(state.step) == 2
        assert len(stats.records) == 1

    def test_shardings_of_arguments_and_results(self) -> None:
        place = jax.sharding.SingleDeviceSharding(jax.devices()[0])
        inner = jax.jit(step, in_shardings=place)
        run, (x,) = jsa.scalify(inner, recipe=RECIPE, out_shardings=place), batches(1)
        (_, value), _ = run(params(), x, scaling_state=run.init_scaling_state(params(), x))
        np.testing.assert_allclose(value, loss(params(), x), rtol=0.05)

    def test_no_narrow_matmul(self) -> None:
        run, x = jsa.scalify(jnp.dot, recipe=RECIPE), jnp.ones((4, 4))
        with pytest.warns(ScalifyWarning, match="quantizes no matmul"):
            state = run.init_scaling_state(x, x)
        result, state = run(x, x, scaling_state=state)
        np.testing.assert_array_equal(result, x @ x)
        assert (state.tensors, int(state.step)) == ((), 1)
        assert repr(state) == "ScalingState(tensors=0, steps=1024)"
        with pytest.raises(InputError, match="quantizes no matmul"):
            jsa.scalify(jnp.dot, recipe=RECIPE, strict=True).init_scaling_state(x, x)


class TestRefused:
    def test_a_call_without_the_state(self) -> None:
        run, (x,) = jsa.scalify(step, recipe=RECIPE), batches(1)
        with pytest.raises(UsageError, match="the call lacks scaling_state") as caught:
            run(params(), x)
        assert "step.init_scaling_state(...)" in str(caught.value.hint)
        assert "test_scaling_state.py:" in str(caught.value.location)
        with pytest.raises(UsageError, match="is a dict, and not a ScalingState"):
            run(params(), x, scaling_state=run.init_scaling_state(params(), x).arrays)

    def test_the_state_of_another_program(self) -> None:
        (x,) = batches(1)
        run, other = jsa.scalify(step, recipe=RECIPE), jsa.scalify(loss, recipe=RECIPE)
        short = jsa.scalify(step, recipe=RECIPE, settings={"scaling.amax_history_len": 8})
        for state in (each.init_scaling_state(params(), x) for each in (other, short)):
            with pytest.raises(UsageError, match="scaling_state has") as caught:
                run(params(), x, scaling_state=state)
            assert "former=" in str(caught.value.hint)

    def test_the_state_of_other_formats(self) -> None:
        (x,) = batches(1)
        run = jsa.scalify(step, recipe=RECIPE)
        other = jsa.scalify(step, recipe=RECIPE, settings={"scaling.fp8_format": "E4M3"})
        with pytest.raises(UsageError, match="scales for other tensors or formats"):
            run(params(), x, scaling_state=other.init_scaling_state(params(), x))

    def test_options_that_do_not_go_with_a_state(self) -> None:
        place = jax.sharding.SingleDeviceSharding(jax.devices()[0])
        with pytest.raises(UsageError, match="in_shardings does not apply"):
            jsa.scalify(step, recipe=RECIPE, in_shardings=place)
        with pytest.raises(UsageError, match="has a parameter scaling_state"):
            jsa.scalify(lambda x, scaling_state: x @ scaling_state, recipe=RECIPE)

    def test_functions_of_modules(self) -> None:
        nnx = pytest.importorskip("flax.nnx")
        with pytest.raises(UsageError, match="updates modules takes no scaling_state") as caught:
            jsa.scalify(nnx.jit(step), recipe=RECIPE)
        assert "split the modules" in str(caught.value.hint)


class TestCarriedOver:
    def settled(self, fn: Callable[..., Any], layers: int = 2, **settings: object) -> Any:
        """A function of some layers, and its state after some steps."""
        named = {name.replace("__", "."): value for name, value in settings.items()}
        run, data = jsa.scalify(fn, recipe=RECIPE, settings=named), batches()
        state = run.init_scaling_state(params(layers), data[0])
        for x in data:
            _, state = run(params(layers), x, scaling_state=state)
        return run, state, data[0]

    def test_to_the_same_program_no_bit_changes(self) -> None:
        run, state, x = self.settled(
            step, scaling__interval=3, scaling__amax_compute_algo="most_recent"
        )
        with told(len(state.tensors), 0, 0):
            again = run.init_scaling_state(params(), x, former=state)
        assert_all_equal(again.arrays, state.arrays)

    @pytest.mark.parametrize("length", [2, 2048])
    def test_to_another_length_of_the_history(self, length: int) -> None:
        _, state, x = self.settled(step)
        run = jsa.scalify(step, recipe=RECIPE, settings={"scaling.amax_history_len": length})
        with told(len(state.tensors), 0, 0):
            found = run.init_scaling_state(params(), x, former=state)
        both = min(length, 1024)
        np.testing.assert_array_equal(found.amax_history[:both], state.amax_history[:both])
        assert not np.any(found.amax_history[both:])
        np.testing.assert_array_equal(found.scale, state.scale)
        (_, value), _ = run(params(), x, scaling_state=found)
        np.testing.assert_allclose(value, loss(params(), x), rtol=0.05)

    def test_to_the_program_that_evaluates(self) -> None:
        _, state, x = self.settled(step)
        run = jsa.scalify(loss, recipe=RECIPE)
        assert set(run.init_scaling_state(params(), x).tensors) < set(state.tensors)
        with told(4, 0, len(state.tensors) - 4):
            found = run.init_scaling_state(params(), x, former=state)
        for i, name in enumerate(found.tensors):
            old = state.tensors.index(name)
            np.testing.assert_array_equal(found.amax_history[:, i], state.amax_history[:, old])
            assert found.scale[i] == state.scale[old]

    def test_to_a_layer_more(self) -> None:
        _, state, x = self.settled(step)
        run = jsa.scalify(step, recipe=RECIPE)
        fresh = run.init_scaling_state(params(3), x)
        new = [i for i, name in enumerate(fresh.tensors) if name not in state.tensors]
        kept = [i for i in range(len(fresh.tensors)) if i not in new]
        with told(len(kept), len(new), 0):
            found = run.init_scaling_state(params(3), x, former=state)
        assert all("w2" in fresh.tensors[i] for i in new)
        old = [state.tensors.index(fresh.tensors[i]) for i in kept]
        np.testing.assert_array_equal(found.scale[jnp.array(kept)], state.scale[jnp.array(old)])
        np.testing.assert_array_equal(found.amax_history[:, kept], state.amax_history[:, old])
        assert not np.any(found.amax_history[1:, new])
        np.testing.assert_allclose(
            np.log2(found.scale[jnp.array(new)]), np.log2(fresh.scale[jnp.array(new)]), atol=1
        )

    def test_to_another_format_scales_follow_from_the_amax(self) -> None:
        _, state, x = self.settled(step)
        run = jsa.scalify(step, recipe=RECIPE, settings={"scaling.fp8_format": "E4M3"})
        found = run.init_scaling_state(params(), x, former=state)
        gradient = np.array(state.about.gradients)
        assert 0 < gradient.sum() < gradient.size
        moved = np.log2(found.scale) - np.log2(state.scale)
        np.testing.assert_array_equal(moved, np.where(gradient, 7, 0))

    def test_of_exported_programs(self) -> None:
        weights, (x,) = params(), batches(1)
        long = jsa.rewrite(program_of(step, weights, x), recipe=RECIPE)
        short = jsa.rewrite(
            program_of(step, weights, x),
            recipe=RECIPE,
            settings={"scaling.amax_history_len": 4},
        )
        state = jsa.init_scaling_state(long, weights, x)
        for _ in range(2):
            _, state = long.call(weights, x, state)
        with told(len(jsa.scaling_tensors(long)), 0, 0):
            found = jsa.init_scaling_state(short, former=(long, state))
        np.testing.assert_array_equal(found["amax_history"], state["amax_history"][:4])
        np.testing.assert_array_equal(found["scale"], state["scale"])
        assert int(found["step"]) == 2
        run = jsa.scalify(step, recipe=RECIPE)
        with told(len(jsa.scaling_tensors(long)), 0, 0):
            assert_all_equal(run.init_scaling_state(weights, x, former=(long, state)).arrays, state)

    @pytest.mark.parametrize("recipe", ["propagate", "fp8-current", "unit"])
    def test_a_recipe_without_state_says_so(self, recipe: str) -> None:
        with pytest.raises(UsageError, match=f"the recipe '{recipe}' keeps no scaling state") as e:
            jsa.scalify(step, recipe=recipe).init_scaling_state(params())
        assert "recipe='fp8-delayed', which does" in str(e.value.hint)
        assert str(e.value.location).startswith(__file__)

    def test_what_is_no_former_state(self) -> None:
        run, state, x = self.settled(loss)
        program = jsa.rewrite(program_of(step, params(), x), recipe=RECIPE)
        deleted = jax.tree.map(jnp.copy, state)
        jax.tree.map(lambda each: each.delete(), deleted)
        for former, sentence in (
            (state.arrays, "is a dict, which does not name its tensors"),
            ((program, state.arrays), "is not one of the program 'step'"),
            ((program, {}), "is not one of the program 'step'"),
            (deleted, "was donated to a step"),
            (jax.eval_shape(lambda: state), "has no values"),
        ):
            with pytest.raises(UsageError, match=re.escape(sentence)) as caught:
                run.init_scaling_state(params(), x, former=former)
            assert caught.value.hint
