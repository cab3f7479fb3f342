"""State that is kept narrow, and typed PRNG keys as arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import scalify_hlo as jsa
from scalify_hlo.jax_api.scaled_array import is_scaled_array
from scalify_hlo.recipes.loading import load_recipe
from tests.py.shared import resumed
from tests.py.shared.judge import pairs, program_of

KINDS = pytest.mark.parametrize("recipe", ["fp16-state", "fp8-state"])


def assert_same_bits(ours: Any, theirs: Any) -> None:
    assert structure(ours) == structure(theirs)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_array_equal(resumed.bits(a), resumed.bits(b))


def assert_near(ours: Any, theirs: Any) -> None:
    """Results of two compiled programs, of which a number in f8 or f16 may be rounded otherwise."""
    assert structure(ours) == structure(theirs)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert a.dtype == b.dtype
        one, other = (np.asarray(leaf, np.float64) for leaf in (a, b))
        assert np.linalg.norm(one - other) <= 1e-3 * np.linalg.norm(other)


def structure(tree: Any) -> Any:
    return jax.tree.structure(tree)


def state_program(recipe: str) -> jax.export.Exported:
    original = program_of(resumed.plain_step, *resumed.plain_state(), resumed.batch())
    return jsa.rewrite(
        original, recipe=recipe, signature="scaled", settings=resumed.settings(recipe)
    )


@pytest.mark.slow
@KINDS
def test_a_fresh_function_goes_on_with_narrow_state(recipe: str) -> None:
    step, state = resumed.scaled(recipe)
    state = step(state)
    fresh, _ = resumed.scaled(recipe)
    assert_near(fresh(state), step(state))


@pytest.mark.slow
def test_a_function_that_took_plain_arrays_first_goes_on_with_narrow_state() -> None:
    step, start = resumed.scaled("fp8-state")
    state = step(start)
    other = jsa.scalify(
        resumed.plain_step, recipe="fp8-state", settings=resumed.settings("fp8-state")
    )
    batch = jsa.as_scaled_array(resumed.batch())
    other(*resumed.plain_state(), batch)
    assert_near(other(*state, batch)[:2], step(state))


@pytest.mark.slow
def test_convolutions_are_given_one_dtype() -> None:
    def step(w: jax.Array, x: jax.Array) -> jax.Array:
        def loss(w: jax.Array) -> jax.Array:
            return jnp.mean(jax.lax.conv(x, w, (1, 1), "SAME") ** 2)

        gradient: jax.Array = jax.grad(loss)(w)
        return w - 0.1 * gradient

    w = jsa.as_scaled_array(jax.random.normal(jax.random.key(0), (32, 32, 3, 3)))
    x = jax.random.normal(jax.random.key(1), (2, 32, 16, 16))
    state = jsa.scalify(step, recipe="fp8-state")(w, x)
    assert (state.dtype, state.logical_dtype) == (jnp.float16, jnp.float32)
    jsa.scalify(step, recipe="fp8-state")(state, x)


@pytest.mark.slow
@KINDS
def test_says_what_it_stands_for(recipe: str) -> None:
    step, start = resumed.scaled(recipe)
    assert all(pair.logical is None for pair in pairs(start))
    state = step(start)
    narrow = [pair for pair in pairs(state) if pair.dtype != jnp.float32]
    assert narrow
    assert all(pair.logical == jnp.float32 for pair in narrow)
    assert all(a.dtype == jnp.float32 for a in jax.tree.leaves(jsa.asarray(state[0])))
    assert np.asarray(narrow[0]).dtype == np.float32
    again = jsa.dynamic_rescale(narrow[0])
    assert again.logical == jnp.float32


def test_cotangents_have_its_structure() -> None:
    pair = jsa.ScaledArray(jnp.full(4, 1.5, jnp.float16), jnp.float32(4), np.dtype("float32"))
    gradient = jax.grad(lambda p: jsa.asarray(p).sum())(pair)
    assert structure(gradient) == structure(pair)
    np.testing.assert_array_equal(np.asarray(gradient), 1)


@pytest.mark.slow
class TestScaledState:
    def test_is_what_a_program_takes_and_gives_back(self) -> None:
        program = state_program("fp8-state")
        state = jsa.scaled_state(program, resumed.plain_state())
        *after, _ = program.call(*state, jsa.as_scaled_array(resumed.batch()))
        assert structure(tuple(after)) == structure(state)
        step, start = resumed.scaled("fp8-state")
        assert_near(tuple(after), step(start))
        assert_same_bits(jsa.scaled_state(program, tuple(after)), tuple(after))

    def test_a_file_takes_it_too(self) -> None:
        program = state_program("fp8-state")
        jsa.register_for_export(program)
        read = jax.export.deserialize(bytearray(jsa.serialize(program)))
        trees: list[Any] = [read.in_tree, program.in_tree]
        assert trees[0] == trees[1]
        state = jsa.scaled_state(read, resumed.plain_state())
        batch = jsa.as_scaled_array(resumed.batch())
        assert_near(read.call(*state, batch), program.call(*state, batch))

    def test_the_error_of_a_call_names_it(self) -> None:
        program = state_program("fp8-state")
        state = jsa.as_scaled_array(resumed.plain_state())
        with pytest.raises(jsa.UsageError, match="scaled_state") as caught:
            program.call(*state, jsa.as_scaled_array(resumed.batch()))
        assert "keeps state in other formats" in str(caught.value)

    def test_a_pair_whose_logical_dtype_was_lost_gets_it_again(self) -> None:
        program = state_program("fp8-state")
        state = jsa.scaled_state(program, resumed.plain_state())
        lost = jax.tree.map(
            lambda pair: jsa.ScaledArray(pair.data, pair.scale),
            state[0],
            is_leaf=is_scaled_array,
        )
        assert_same_bits(jsa.scaled_state(program, (lost,)), state[:1])

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda params: {**params, "bais": params["bias"]}, r"takes no args\[0\]\['bais'\].*"),
            (lambda params: {"up": params["up"]}, r"takes args\[0\]\['bias'\], which is not given"),
            (
                lambda params: {**params, "up": params["up"].T},
                r"args\[0\]\['up'\] has the shape \(32, 16\), and the program takes \(16, 32\)",
            ),
            (
                lambda params: {**params, "up": params["up"].astype(jnp.bfloat16)},
                r"args\[0\]\['up'\] is bfloat16, and the program computes with float32",
            ),
        ],
    )
    def test_names_what_does_not_fit(self, change: Any, message: str) -> None:
        params, _ = resumed.plain_state()
        with pytest.raises(jsa.UsageError, match=message):
            jsa.scaled_state(state_program("fp8-state"), (change(params),))

    def test_takes_a_tuple_of_no_more_arguments_than_there_are(self) -> None:
        program = state_program("fp8-state")
        with pytest.raises(jsa.UsageError, match="takes a tuple of arguments, not a dict"):
            jsa.scaled_state(program, resumed.plain_state()[0])
        with pytest.raises(jsa.UsageError, match="takes 3 positional arguments, and 4 are given"):
            jsa.scaled_state(program, (1, 2, 3, 4))


def test_a_number_that_overflows_is_refused() -> None:
    """A cast to E4M3 makes it NaN."""
    weight, x = np.zeros((512, 512), np.float32), np.ones((32, 512), np.float32)
    weight[3, 4] = 1e3
    original = program_of(lambda params, x: x @ params["w"], {"w": weight}, x)
    settings = {"state.weight": "e4m3", "inputs.weight": "params*"}
    how: Any = {"recipe": "fp8-current", "signature": "scaled", "settings": settings}
    program = jsa.rewrite(original, **how)
    with pytest.raises(jsa.InputError) as caught:
        jsa.scaled_state(program, ({"w": weight},))
    assert "w'] has 1 of 262,144 numbers that float8_e4m3fn cannot hold" in str(caught.value)
    assert "matmul.exclude" in str(caught.value.hint)
    jax.eval_shape(lambda state: jsa.scaled_state(program, state), ({"w": weight},))
    weight[:] = 1.0
    weight[3, 4] = np.inf  # E4M3 has no infinity, and makes it NaN.
    with pytest.raises(jsa.InputError, match="has 1 of 262,144 numbers"):
        jsa.scaled_state(program, ({"w": weight},))
    weight[3, 4] = 1.0
    (state,) = jsa.scaled_state(program, ({"w": weight},))
    assert bool(jnp.all(jnp.isfinite(state["w"].data)))


RNG = np.random.default_rng(0)
KEY = jax.random.key(0)
X, W = (RNG.standard_normal(shape, np.float32) for shape in ((8, 16), (16, 16)))


def dropout(x: Any, w: Any, key: Any) -> Any:
    hidden = jnp.tanh(x @ w)
    return jnp.where(jax.random.bernoulli(key, 0.5, hidden.shape), 2 * hidden, 0)


ARGUMENTS = (X, W, KEY)
SAMPLES = {
    "a tuple": ARGUMENTS,
    "by name": {"x": X, "w": W, "key": KEY},
    "its words": {"x": X, "w": W, "key": jax.random.key_data(KEY)},
}
MEASURED: dict[str, Callable[[Any, Any], Any]] = {
    "calibrate": lambda program, sample: jsa.calibrate(program, [sample]).tensors,
    "collect_stats": lambda program, sample: jsa.collect_stats(program, [sample]).variants,
    "find_nan": lambda program, sample: jsa.find_nan(program, [sample]).origins,
    "compare_recipes": lambda program, sample: [
        trial.name
        for trial in jsa.compare_recipes(program, [sample], recipes=["fp8-current"]).trials
    ],
    "blame": lambda program, sample: [
        site.site for site in jsa.blame(program, [sample], recipe="fp8-current").sites
    ],
}


@pytest.mark.parametrize("name", MEASURED)
def test_measuring_takes_a_key_in_each_form(name: str) -> None:
    program = program_of(dropout, *ARGUMENTS)
    found = [MEASURED[name](program, sample) for sample in SAMPLES.values()]
    assert found[0] == found[1] == found[2]


def test_sizes_of_floats_are_measured_beside_a_key() -> None:
    program = program_of(dropout, *ARGUMENTS)
    assert list(jsa.measured_scales(program, *ARGUMENTS)) == ["x", "w"]
    assert list(jsa.measured_scales(str(program.mlir_module()), X, W, KEY)) == ["x", "w"]
    many = export.export(jax.jit(lambda keys, x: jax.vmap(jax.random.normal)(keys) * x))
    keys = jax.random.split(KEY, 3)
    assert list(jsa.measured_scales(many(keys, X[0, :3]), keys, X[0, :3])) == ["x"]


def test_a_recipe_that_measures_its_arguments() -> None:
    recipe = load_recipe("unit", {"matmul.smallest": 1})
    run = jsa.scalify(dropout, recipe=recipe)
    np.testing.assert_allclose(run(*ARGUMENTS), dropout(*ARGUMENTS), atol=0.5)
