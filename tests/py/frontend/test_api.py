"""`rewrite` takes what it can and names mistakes; `scalify` is used like `jax.jit`."""

from __future__ import annotations

import doctest
import importlib
import inspect
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo as jsa
from scalify_hlo import InputError, UsageError, _compat
from scalify_hlo._compat import ir, new_context
from scalify_hlo.api import Scalifying
from scalify_hlo.frontend import exported_calls
from scalify_hlo.jax_api.scaled_array import is_scaled_array
from scalify_hlo.profile.file import dump_profile
from tests.py.shared import samples
from tests.py.shared.commands import python
from tests.py.shared.compilations import compilations
from tests.py.shared.judge import assert_all_close, program_of, propagated

CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-6}


def test_a_module_is_left_as_it_was() -> None:
    with new_context():
        module = ir.Module.parse(samples.TEXT)
    before = str(module)
    out = propagated(module, signature="scaled")
    assert isinstance(out, ir.Module)
    assert out.context == module.context
    assert str(module) == before != str(out)


def test_a_module_of_jax_can_be_rewritten() -> None:
    lowered = jax.jit(samples.loss).lower(*samples.arguments())
    out = propagated(lowered.compiler_ir("stablehlo"), signature="scaled")
    assert "tensor<8x4xf32>" in str(out)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recipe": "propagat"}, "did you mean 'propagate'"),
        ({"signature": "scale"}, "did you mean 'scaled'"),
        ({"settings": {"met": "max"}}, "did you mean 'meet'"),
        ({"input_scale": {"*": -3.0}}, "PATTERN"),
        ({"input_scale": {"nothing": 2.0}}, "matches no float argument"),
    ],
)
def test_mistakes_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("*", r"\*")):
        jsa.rewrite(samples.TEXT, **options)


def test_what_is_no_program_is_refused() -> None:
    with pytest.raises(UsageError, match="an object of type function is not a program"):
        jsa.rewrite(samples.loss)
    with pytest.raises(InputError):
        jsa.rewrite("not a program")
    with pytest.raises(InputError):
        jsa.rewrite(b"")


def test_the_path_of_a_program_is_no_program(tmp_path: Path) -> None:
    path = tmp_path / "step.export"
    path.touch()
    for given in (path, str(path), tmp_path / "absent"):
        with pytest.raises(UsageError, match="is the path of a program, and not the program"):
            jsa.rewrite(given)
        with pytest.raises(UsageError, match=r"takes bytes, and not a \w+"):
            jsa.deserialize(given)  # type: ignore[arg-type]


def test_every_public_name_is_there_and_lazy() -> None:
    for name in jsa.__all__:
        assert getattr(jsa, name) is not None
    assert set(dir(jsa)) == set(jsa.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = jsa.nothing
    code = "import sys, scalify_hlo; sys.exit('jax' in sys.modules or 'jaxlib' in sys.modules)"
    python("-c", code)


@pytest.mark.slow
@pytest.mark.parametrize(
    "module",
    [
        *("api", "program.exported_file", "results.model", "schemas"),
        *("commands.calibrate.calibration", "run.saved"),
        *(
            f"jax_api.{name}"
            for name in ("custom_scale", "export_trees", "markers", "scaled_array", "tree")
        ),
    ],
)
def test_the_examples_of_the_docs_run(module: str) -> None:
    names: dict[str, Any] = {"jax": jax, "jnp": jnp, "np": np}
    names |= {"as_scaled_array": jsa.as_scaled_array, "asarray": jsa.asarray}
    results = doctest.testmod(importlib.import_module(f"scalify_hlo.{module}"), extraglobs=names)
    assert results.attempted
    assert not results.failed


def init(seed: int = 0) -> dict[str, jax.Array]:
    rng = np.random.default_rng(seed)
    shapes = {"w1": (8, 16), "b1": (16,), "w2": (16, 4)}
    return {k: jnp.asarray(rng.standard_normal(s), jnp.float32) * 0.3 for k, s in shapes.items()}


def model_loss(params: dict[str, Any], x: Any, y: Any) -> jax.Array:
    h = jax.nn.relu(x @ params["w1"] + params["b1"])
    logits = jax.nn.log_softmax(h @ params["w2"])
    return -jnp.mean(jnp.sum(y * logits, -1))


def batch(seed: int = 1) -> tuple[jax.Array, jax.Array]:
    rng = np.random.default_rng(seed)
    x = jnp.asarray(rng.standard_normal((32, 8)), jnp.float32)
    return x, jax.nn.one_hot(rng.integers(0, 4, 32), 4)


def test_plain_arrays_enter_unscaled_and_come_back_plain() -> None:
    @jsa.scalify
    def f(x: Any, y: Any) -> Any:
        return x * 2, y * 2, jnp.exp(y), jnp.argmax(x)

    y, x = jnp.arange(3.0), jnp.ones(3)
    out = f(x, jsa.as_scaled_array(y))
    assert [is_scaled_array(o) for o in out] == [False, True, False, False]
    wanted: tuple[Any, ...] = (x * 2, y * 2, jnp.exp(y), 0)
    assert_all_close(jsa.asarray(out), wanted, rtol=1e-6)


def test_shapes_are_traced_once_each() -> None:
    traces = []

    @jsa.scalify()
    def f(x: Any) -> Any:
        traces.append(x.shape)
        return x + x

    for n in (2, 3, 2, 3):
        f(jsa.as_scaled_array(jnp.ones(n)))
    assert sorted(traces) == [(2,), (3,)]


def test_static_donated_and_keyword_arguments() -> None:
    @jsa.scalify(static_argnums=(1,), static_argnames=("mode",), donate_argnums=0)
    def f(x: Any, n: int, *, mode: str, lr: float = 1.0) -> Any:
        assert isinstance(n, int)
        return x * lr if mode == "mul" else x + n

    x = jsa.as_scaled_array(jnp.full(4, 3.0))
    kept = np.asarray(x)
    out = f(x, 2, mode="mul", lr=2.0)
    assert x.data.is_deleted()
    np.testing.assert_array_equal(jsa.asarray(out), kept * 2)
    out = f(jsa.as_scaled_array(kept), 2, mode="add")
    np.testing.assert_array_equal(jsa.asarray(out), kept + 2)


def test_a_jitted_function_keeps_its_static_and_donated_arguments() -> None:
    traces: list[Any] = []

    @partial(jax.jit, static_argnames=("mode", "act"), donate_argnums=0)
    def f(x: Any, mode: str, act: Any) -> Any:
        traces.append(act)
        return act(x) if mode == "once" else act(act(x))

    def g(x: Any, mode: str, act: Any, n: int) -> Any:
        return f(x, mode, act) * n

    whole = jsa.scalify(f)
    for act in (jnp.tanh, jnp.sin, jnp.tanh):
        x = jnp.full(4, 3.0)
        np.testing.assert_allclose(whole(x, "once", act), act(jnp.full(4, 3.0)), rtol=1e-6)
        assert x.is_deleted()
    assert traces == [jnp.tanh, jnp.sin]
    more = jsa.scalify(jax.jit(g, static_argnums=(1, 2)), static_argnums=3)
    assert (more(jnp.ones(4), "twice", jnp.negative, 2) == 2).all()


def test_methods_with_statistics() -> None:
    class Model:
        double = jsa.scalify(lambda _, x: x + x, static_argnums=0, stats=jsa.Stats())

    assert Model().double(jnp.float32(2)) == 4


def test_arguments_that_are_not_used() -> None:
    @jsa.scalify
    def f(unused: Any, x: Any, also: Any) -> Any:
        del unused, also
        return x * 3

    x = jnp.arange(4.0)
    out = f(jsa.as_scaled_array(jnp.ones(7)), jsa.as_scaled_array(x), jnp.arange(3))
    np.testing.assert_array_equal(jsa.asarray(out), x * 3)


def test_keys_integers_and_python_numbers() -> None:
    @jsa.scalify
    def f(key: Any, x: Any, n: Any, factor: Any) -> Any:
        return x * factor + jax.random.normal(key, x.shape), n + 1, factor

    x, key = jnp.ones(4), jax.random.key(3)
    out = jsa.asarray(f(key, jsa.as_scaled_array(x), 3, 2.0))
    np.testing.assert_allclose(out[0], x * 2 + jax.random.normal(key, x.shape), rtol=1e-6)
    assert int(out[1]) == 4
    assert out[1].dtype == jnp.int32
    assert out[2].weak_type


def test_inside_jit_with_values_of_the_outer_trace() -> None:
    @jax.jit
    def outer(x: Any, y: Any) -> Any:
        z = y + 1
        inner = jsa.scalify(lambda p: {"r": p["x"] * z})
        return inner({"x": jsa.as_scaled_array(x)})

    x, y = jnp.arange(4.0), jnp.full(4, 3.0)
    out = outer(x, y)
    assert is_scaled_array(out["r"])
    np.testing.assert_array_equal(jsa.asarray(out["r"]), x * 4)


@pytest.mark.slow
def test_gradients_through_scalify() -> None:
    data = batch()

    def scaled_loss(params: Any) -> Any:
        scalified = jsa.scalify(model_loss)
        return jsa.asarray(scalified(jsa.as_scaled_array(params), *data))

    actual = jax.grad(scaled_loss)(init())
    expected = jax.grad(model_loss)(init(), *data)
    assert_all_close(actual, expected, **CLOSE)
    mixed = jax.grad(lambda p: jsa.scalify(model_loss)(p, *data))(init())
    assert_all_close(mixed, expected, **CLOSE)


def test_scales_propagate_through_the_function() -> None:
    f = jsa.scalify(lambda w, x: jax.nn.relu(x @ w) @ w)
    w, x = (jnp.asarray(np.random.default_rng(i).standard_normal((4, 4)), "f4") for i in (0, 1))
    near = f(jsa.ScaledArray(w, jnp.float32(1)), jsa.ScaledArray(x, jnp.float32(1)))
    far = f(jsa.ScaledArray(w, jnp.float32(2.0**20)), jsa.ScaledArray(x, jnp.float32(2.0**10)))
    np.testing.assert_array_equal(near.data, far.data)
    assert float(far.scale / near.scale) == 2.0**50


def test_custom_calls_that_jax_export_would_refuse() -> None:
    def f(x: Any) -> Any:
        return jax.ffi.ffi_call("not_stable", jax.ShapeDtypeStruct(x.shape, x.dtype))(x * 2)

    lowered = jsa.scalify(f).lower(jnp.ones(3))
    assert "not_stable" in lowered.as_text()


def test_unknown_options_are_told_their_neighbours() -> None:
    with pytest.raises(UsageError, match="did you mean 'static_argnums'"):
        jsa.scalify(lambda x: x, static_argnum=1)  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="did you mean 'propagate'"):
        jsa.scalify(lambda x: x, recipe="propagat")


def test_editors_know_the_options_of_scalify() -> None:
    parameters = inspect.signature(jsa.scalify).parameters.values()
    own = {each.name for each in parameters if each.kind is each.KEYWORD_ONLY}
    known = {"recipe", "settings", "input_scale", "profile", "strict", "stats", "plain_results"}
    assert own == known
    assert own < Scalifying.__annotations__.keys()
    jitted = inspect.signature(jax.jit).parameters.keys()
    assert Scalifying.__annotations__.keys() - own <= jitted


@pytest.mark.parametrize("recipe", ["fp8", "fp16", "propagate"])
def test_gradients_and_results_that_replace_no_argument(recipe: str) -> None:
    def loss(w: Any, x: Any) -> Any:
        return jnp.mean((x @ w) ** 2)

    def step(w: Any, x: Any) -> Any:
        value, gradient = jax.value_and_grad(loss)(w, x)
        return w - 0.1 * gradient, value, x[:2] @ w, x @ w, gradient

    narrow = recipe != "propagate"
    options: dict[str, Any] = {} if narrow else {"plain_results": True}
    value, gradient = jax.value_and_grad(jsa.scalify(loss, recipe=recipe, **options))(W, X)
    expected, wanted = jax.value_and_grad(loss)(W, X)
    np.testing.assert_allclose(value, expected, rtol=5e-2)
    assert jnp.linalg.norm(gradient - wanted) < 0.1 * jnp.linalg.norm(wanted)
    given = jsa.as_scaled_array((W, X))
    for plain, kinds in (
        (None, [True, *[not narrow] * 4]),
        (True, [True, *[False] * 4]),
        (False, [True] * 5),
    ):
        results = jsa.scalify(step, recipe=recipe, plain_results=plain)(*given)
        assert [is_scaled_array(each) for each in results] == kinds


def test_a_loop_compiles_once() -> None:
    step = jsa.scalify(lambda w, x: w - 0.1 * x.T @ (x @ w), recipe="fp8-current")
    w = jnp.asarray(np.ones((32, 32), np.float32))
    with compilations() as found:
        for _ in range(3):
            w = step(w, X)
    assert found.count("jit(<lambda>)") == 1


def test_a_remark_is_an_error_if_asked() -> None:
    with pytest.raises(InputError, match="its only matmul stays wide"):
        jsa.scalify(lambda x: x @ x, recipe="fp8", strict=True)(jnp.ones((4, 4)))


RNG = np.random.default_rng(0)
X, W = (jnp.asarray(RNG.standard_normal((32, 32)), jnp.float32) for _ in range(2))


def layer(params: Any, x: jax.Array) -> jax.Array:
    return jnp.maximum(x @ params["w"], 0.5)


PARAMS = {"w": W}
NEAR: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-5}


class TestInputScale:
    def test_a_plain_argument_is_split_at_entry(self) -> None:
        f = jsa.scalify(layer, input_scale={"params*": 2.0**-4, "x": 2.0**3})
        out = f(PARAMS, X)
        assert is_scaled_array(out)
        np.testing.assert_allclose(jsa.asarray(out), jax.jit(layer)(PARAMS, X), **NEAR)
        near = f(PARAMS, jsa.ScaledArray(X, jnp.float32(2.0**20)))
        expected = jax.jit(layer)(PARAMS, X * 2.0**20)
        np.testing.assert_allclose(jsa.asarray(near), expected, rtol=1e-5)

    def test_it_reaches_the_program(self) -> None:
        settings = {"matmul.smallest": 1}
        texts = [
            jsa.scalify(layer, recipe="fp8", settings=settings, input_scale=given)
            .lower(PARAMS, X)
            .as_text()
            for given in (None, {"params*": 2.0**-9})
        ]
        assert texts[0] != texts[1]

    def test_it_outdoes_the_recipe_and_what_is_measured(self) -> None:
        def text(**given: Any) -> str:
            return jsa.scalify(layer, recipe="unit", **given).lower(PARAMS, X).as_text()

        declared = text(settings={"inputs.scale": ["*=2^7"]})
        assert text(input_scale={"*": 2.0**7}) == declared != text()
        both = text(settings={"inputs.scale": ["*=2^3"]}, input_scale={"*": 2.0**7})
        assert both == declared

    def test_a_call_under_a_trace_needs_no_values(self) -> None:
        f = jsa.scalify(layer, recipe="unit", input_scale={"*": 1.0})
        jax.jit(lambda p, x: f(p, x))(PARAMS, X)
        with pytest.raises(UsageError, match="these are traced"):
            jax.jit(lambda p, x: jsa.scalify(layer, recipe="unit")(p, x))(PARAMS, X)

    @pytest.mark.parametrize(
        ("scale", "message"),
        [
            ({"y": 2.0}, "input scale 'y' matches no float argument"),
            ({"x": -3.0}, "is not PATTERN=2"),
        ],
    )
    def test_mistakes_are_named(self, scale: Any, message: str) -> None:
        with pytest.raises(UsageError, match=message):
            jsa.scalify(layer, input_scale=scale)(PARAMS, X)

    def test_what_is_no_mapping(self) -> None:
        with pytest.raises(UsageError, match="not a mapping"):
            jsa.scalify(layer, input_scale=["x=2"])  # type: ignore[call-overload]


@pytest.mark.slow
class TestProfile:
    @pytest.mark.parametrize("recipe", ["propagate", "fp8", "fp8-calibrated"])
    def test_scales_are_those_of_the_profile(self, recipe: str, tmp_path: Path) -> None:
        exported = program_of(layer, PARAMS, X)
        profile = jsa.calibrate(exported, [(PARAMS, X)])
        expected = jsa.rewrite(exported, recipe=recipe, profile=profile).call(PARAMS, X)
        path = tmp_path / "profile.json"
        path.write_text(dump_profile(profile))
        for given in (profile, path, str(path)):
            f = jsa.scalify(layer, recipe=recipe, profile=given)
            np.testing.assert_allclose(jsa.asarray(f(PARAMS, X)), expected, **NEAR)
        assert "f8E4M3FN" in f.lower(PARAMS, X).as_text()

    def test_other_shapes_are_another_program(self) -> None:
        exported = program_of(layer, PARAMS, X)
        f = jsa.scalify(layer, profile=jsa.calibrate(exported, [(PARAMS, X)]))
        with pytest.raises(InputError, match="profile"):
            f(PARAMS, X[:16])

    def test_calibrated_scales_without_one(self) -> None:
        with pytest.raises(UsageError, match="takes its scales from a profile") as caught:
            jsa.scalify(layer, recipe="fp8-calibrated")
        assert "profile=" in str(caught.value.hint)


class TestMapping:
    MESSAGE = r"jax\.vmap cannot map over a function that scalify made"

    @pytest.mark.parametrize("pairs", [False, True])
    def test_the_error_says_what_to_do(self, pairs: bool) -> None:
        f = jsa.scalify(layer, recipe="fp8")
        batch: Any = jnp.stack([X, X])
        if pairs:
            batch = jsa.ScaledArray(batch, jnp.ones(2))
        with pytest.raises(UsageError, match=self.MESSAGE) as caught:
            jax.vmap(f, in_axes=(None, 0))(PARAMS, batch)
        assert 'scalify(jax.vmap(layer, ...), recipe="fp8")' in str(caught.value.hint)
        assert str(caught.value.location).startswith(f"{__file__}:")

    def test_over_integers_and_gradients_and_captured_values(self) -> None:
        numbers = jnp.arange(3)
        with pytest.raises(UsageError, match=self.MESSAGE):
            jax.vmap(jsa.scalify(lambda n: n * X))(numbers)
        with pytest.raises(UsageError, match=self.MESSAGE):
            jax.vmap(jax.grad(jsa.scalify(lambda x: jnp.sum(x * x))))(X)
        with pytest.raises(UsageError, match=self.MESSAGE):
            jax.vmap(lambda y: jsa.scalify(lambda x: x * y)(X[0]))(X)

    def test_what_it_says_works(self) -> None:
        batch = jnp.stack([X, X * 2])
        f = jsa.scalify(jax.vmap(layer, in_axes=(None, 0)))
        out = f(jsa.as_scaled_array(PARAMS), jsa.as_scaled_array(batch))
        expected = jax.vmap(layer, in_axes=(None, 0))(PARAMS, batch)
        np.testing.assert_allclose(jsa.asarray(out), expected, rtol=1e-5)

    def test_nothing_is_left_of_the_guard_in_the_program(self) -> None:
        text = jsa.scalify(layer).lower(PARAMS, X).as_text()
        assert "unmapped" not in text
        twice = jax.jit(jax.grad(lambda x: jnp.sum(jsa.scalify(layer)(PARAMS, x)))).lower(X)
        assert "unmapped" not in twice.as_text()


def test_the_platform_of_the_default_device() -> None:
    assert _compat.default_platform() is None
    assert exported_calls.platforms() is None
    with jax.default_device(jax.devices("cpu")[0]):
        assert _compat.default_platform() == "cpu"
        assert exported_calls.platforms() == ("cpu",)


def test_a_function_runs_on_the_default_device() -> None:
    run = jsa.scalify(lambda x: x @ x, recipe="propagate")
    x = jnp.ones((4, 4))
    with jax.default_device(jax.devices("cpu")[0]):
        assert (run(x) == 4).all()
    assert (run(x) == 4).all()


@pytest.mark.parametrize(
    "name",
    ["rewrite", "collect_stats", "find_nan", "compare_recipes", "blame", "search"],
)
def test_an_option_that_is_misspelt_is_refused(name: str) -> None:
    samples: tuple[Any, ...] = () if name == "rewrite" else ([],)
    with pytest.raises(TypeError, match="recipee"):
        getattr(jsa, name)("", *samples, recipee="fp8")
