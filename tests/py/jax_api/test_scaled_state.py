"""ScaledArray: splits change no value, and who takes narrow state computes in its dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from jax import export

import scalify_hlo as jsa
from scalify_hlo import ScaledArray, UsageError, as_scaled_array, asarray, dynamic_rescale
from scalify_hlo.jax_api.scaled_array import Statistic, is_scaled_array, scale_dtype
from scalify_hlo.recipes.loading import load_recipe
from tests.py.shared import resumed
from tests.py.shared.compilations import compilations
from tests.py.shared.judge import pairs, program_of, shaped

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


@pytest.mark.parametrize("recipe", ["fp8-state", "fp8-delayed"])
def test_a_loop_of_an_exported_program_compiles_once(recipe: str) -> None:
    """JAX commits the results of exported programs to a device, so the first state is as well."""
    delayed = recipe == "fp8-delayed"
    original = program_of(resumed.plain_step, *resumed.plain_state(), resumed.batch())
    signature = "same" if delayed else "scaled"
    program = jsa.rewrite(original, recipe=recipe, signature=signature)
    scaling = [jsa.init_scaling_state(program)] if delayed else []
    state = list(resumed.plain_state())
    if not delayed:
        state = list(jsa.scaled_state(program, tuple(state)))
    batch = resumed.batch() if delayed else as_scaled_array(resumed.batch())
    step = jax.jit(program.call)
    with compilations() as found:
        for _ in range(3):
            results = step(*state, batch, *scaling)
            if delayed:
                _, scaling[0] = results
            else:
                state = list(results[: len(state)])
    assert len(found) == 1


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


DTYPES = ("float16", "bfloat16", "float32", "float8_e4m3fn", "float8_e5m2", "complex64")
STATISTICS = get_args(Statistic)


def array(values: Any, dtype: str = "float32") -> jax.Array:
    return jnp.asarray(values).astype(dtype)


def normals(shape: tuple[int, ...] = (64,), seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("magnitude", [0.0, 0.25, 1.0, 100.0])
def test_the_values_are_the_same_after_every_split(dtype: str, magnitude: float) -> None:
    # No narrow dtype loses a bit of these to subnormals.
    x = array(np.array([1.0, -1.5, 0.0, 1.25, -0.5]) * magnitude, dtype)
    scaled = as_scaled_array(x).check()
    assert scaled.dtype == x.dtype
    np.testing.assert_array_equal(asarray(scaled), x)
    for statistic in STATISTICS:
        rescaled = dynamic_rescale(scaled, statistic).check()
        np.testing.assert_array_equal(asarray(rescaled), x)


@given(
    hnp.arrays(np.float32, hnp.array_shapes(max_dims=2), elements=st.floats(-1e6, 1e6, width=32)),
    st.integers(-20, 20),
)
def test_any_scale_is_exact_away_from_subnormals(x: np.ndarray[Any, Any], exponent: int) -> None:
    x = np.where(np.abs(x) < 1e-20, 0, x).astype(np.float32)
    scaled = as_scaled_array(x, scale=2.0**exponent)
    assert float(scaled.scale) == 2.0**exponent
    np.testing.assert_array_equal(np.asarray(scaled), x)
    other = as_scaled_array(scaled, scale=2.0**-exponent)
    assert float(other.scale) == 2.0**-exponent
    np.testing.assert_array_equal(np.asarray(other), x)


@pytest.mark.parametrize("magnitude", [3e38, 1e30, 1.0, 1e-30])
def test_the_scale_is_the_power_of_two_at_or_below_the_rms(magnitude: float) -> None:
    x = np.full(1000, magnitude, np.float32)
    scaled = as_scaled_array(x)
    exponent = np.clip(np.floor(np.log2(np.float64(magnitude))), -63, 63)
    assert float(scaled.scale) == 2.0**exponent


@pytest.mark.parametrize("values", [[0.0, 0.0], [np.inf, 1.0], [np.nan, 1.0], np.zeros((0, 3))])
def test_without_a_finite_rms_the_scale_is_one(values: Any) -> None:
    x = array(values)
    scaled = as_scaled_array(x)
    assert float(scaled.scale) == 1
    np.testing.assert_array_equal(scaled.data, x)
    for statistic in STATISTICS:
        assert float(dynamic_rescale(scaled, statistic).scale) == 1


def test_statistics_are_those_of_their_names() -> None:
    data = array([1.0, 3.0, 5.0, 20.0])  # mean 7.25, rms 10.4, largest 20
    scaled = ScaledArray(data, jnp.float32(0.5))
    scales = {s: float(dynamic_rescale(scaled, s).scale) for s in STATISTICS}
    assert scales == {"l1": 2.0, "l2": 4.0, "max": 16.0}
    exact = ScaledArray(array([8.0, 8.0]), jnp.float32(1))
    assert {float(dynamic_rescale(exact, s).scale) for s in STATISTICS} == {8.0}


def test_data_whose_values_overflow_their_dtype_stay_data() -> None:
    scaled = ScaledArray(array([3000.0, 1000.0], "float16"), jnp.float32(2.0**20))
    rescaled = dynamic_rescale(scaled)
    assert float(rescaled.scale) == 2.0**31
    np.testing.assert_array_equal(rescaled.data, scaled.data / 2048)
    moved = as_scaled_array(scaled, scale=2.0**25)
    np.testing.assert_array_equal(moved.data, scaled.data / 32)


def test_only_floats_are_split() -> None:
    tree = {
        "i": jnp.arange(3),
        "b": jnp.array([True]),
        "f": 2.0,
        "n": None,
        "key": jax.random.key(0),
    }
    scaled = as_scaled_array(tree)
    assert {k for k, v in scaled.items() if is_scaled_array(v)} == {"f"}
    assert asarray(scaled)["f"] == 2.0
    assert scaled["i"] is tree["i"]


def test_f64_and_complex128_have_f64_scales() -> None:
    for dtype, wanted in {"f8": "f8", "c16": "f8", "f4": "f4", "c8": "f4", "f2": "f4"}.items():
        assert scale_dtype(np.dtype(dtype)) == np.dtype(wanted)
    with jax.enable_x64(True):
        assert as_scaled_array(jnp.ones(3, "float64")).check().scale.dtype == np.float64
        assert as_scaled_array(jnp.ones(3, "complex128")).check().scale.dtype == np.float64


def test_scaled_leaves_stay_as_they_are_without_a_scale() -> None:
    scaled = ScaledArray(array([100.0]), jnp.float32(2))
    assert as_scaled_array(scaled) is scaled
    assert asarray({"a": jnp.arange(2), "s": scaled})["s"] == 200


def test_shapes_without_values() -> None:
    shape = shaped(2, 3, dtype=jnp.bfloat16)
    scaled = as_scaled_array({"x": shape, "i": shaped(dtype=jnp.int32)})
    assert scaled["x"].shape == (2, 3)
    assert scaled["x"].scale == shaped()
    assert isinstance(scaled["i"], jax.ShapeDtypeStruct)
    assert dynamic_rescale(scaled)["x"].data is shape


def test_everything_works_under_jit() -> None:
    x = jnp.asarray(normals() * 100)

    @jax.jit
    def f(x: jax.Array) -> tuple[Any, Any]:
        scaled = dynamic_rescale(as_scaled_array(x), "max")
        return scaled, asarray(scaled)

    scaled, values = f(x)
    np.testing.assert_array_equal(values, x)
    assert is_scaled_array(scaled.check())


def test_properties_and_conversion() -> None:
    scaled = ScaledArray(jnp.ones((2, 3)), jnp.float32(4))
    assert (scaled.shape, scaled.ndim, scaled.size) == ((2, 3), 2, 6)
    assert scaled.dtype == np.float32
    np.testing.assert_array_equal(np.asarray(scaled, np.float64), np.full((2, 3), 4.0))
    assert jax.tree.leaves(scaled)[0] is scaled.data


@pytest.mark.parametrize(
    ("data", "scale"),
    [
        (jnp.arange(3), jnp.float32(1)),
        (jnp.ones(3), jnp.ones(2)),
        (jnp.ones((4, 3)), jnp.ones((3, 1))),
        (jnp.ones(3), jnp.asarray([1, 0, 2.0])),
        (jnp.ones(3), jnp.float16(1)),
        (jnp.ones(3), jnp.float32(jnp.nan)),
        (jnp.ones(3), jnp.float32(-2)),
        (jnp.ones(3), jnp.float32(jnp.inf)),
    ],
)
def test_broken_invariants_are_named(data: Any, scale: Any) -> None:
    with pytest.raises(UsageError, match="note: "):
        ScaledArray(data, scale).check()


@pytest.mark.parametrize("scale", [3.0, 0.0, -1.0, float("inf"), float("nan")])
def test_scales_are_powers_of_two(scale: float) -> None:
    with pytest.raises(UsageError, match="not a power of two"):
        as_scaled_array(jnp.ones(2), scale=scale)


def test_an_unknown_statistic_is_told_its_neighbours() -> None:
    with pytest.raises(UsageError, match="did you mean 'max'"):
        dynamic_rescale(jnp.ones(2), "maxx")  # type: ignore[arg-type]


def test_gradients_flow_through_splitting_and_multiplying_back() -> None:
    x = jnp.asarray(normals())

    def f(x: jax.Array) -> jax.Array:
        return jnp.sum(jnp.sin(asarray(dynamic_rescale(as_scaled_array(x * 100)))))

    def plain(x: jax.Array) -> jax.Array:
        return jnp.sum(jnp.sin(x * 100))

    np.testing.assert_allclose(jax.grad(f)(x), jax.grad(plain)(x), rtol=1e-5, atol=1e-4)


def test_the_gradient_of_a_scaled_array_is_one() -> None:
    scaled = as_scaled_array(jnp.asarray([2.0, 6.0]))
    gradient = jax.grad(lambda s: jnp.sum(asarray(s) ** 2))(scaled)
    np.testing.assert_array_equal(asarray(gradient), [4.0, 12.0])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e5m2", "float8_e4m3fn"])
def test_far_from_unit_values_are_read_in_a_wide_dtype(dtype: str) -> None:
    small = ScaledArray(array([1.5, -3.0], dtype), jnp.float32(2.0**-60))
    expected = np.array([1.5, -3.0], np.float32) * np.float32(2.0**-60)
    for read in (asarray(small, jnp.float32), np.asarray(small, np.float32)):
        assert read.dtype == np.float32
        np.testing.assert_array_equal(read, expected)
    np.testing.assert_array_equal(np.asarray(small, np.float64), expected.astype(np.float64))
    with pytest.raises(UsageError, match="are floats, not int32"):
        asarray(small, jnp.int32)
