"""The options that `scalify` shares with `rewrite`, and the transforms of JAX over it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo as jsa
from scalify_hlo import InputError, UsageError, _compat
from scalify_hlo.frontend import scalified
from scalify_hlo.jax_api.scaled_array import is_scaled_array
from scalify_hlo.profile.file import dump_profile
from tests.py.shared.judge import program_of

RNG = np.random.default_rng(0)
X, W = (jnp.asarray(RNG.standard_normal((32, 32)), jnp.float32) for _ in range(2))


def layer(params: Any, x: jax.Array) -> jax.Array:
    return jnp.maximum(x @ params["w"], 0.5)


PARAMS = {"w": W}
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-5}


class TestInputScale:
    def test_a_plain_argument_is_split_at_entry(self) -> None:
        f = jsa.scalify(layer, input_scale={"params*": 2.0**-4, "x": 2.0**3})
        out = f(PARAMS, X)
        assert is_scaled_array(out)
        np.testing.assert_allclose(jsa.asarray(out), jax.jit(layer)(PARAMS, X), **CLOSE)
        near = f(PARAMS, jsa.ScaledArray(X, jnp.float32(2.0**20)))
        expected = jax.jit(layer)(PARAMS, X * 2.0**20)
        np.testing.assert_allclose(jsa.asarray(near), expected, rtol=1e-5)

    def test_it_reaches_the_program(self) -> None:
        settings = {"matmul.smallest": 1}
        texts = [
            jsa.scalify(layer, recipe="fp8", settings=settings, **given).lower(PARAMS, X).as_text()
            for given in ({}, {"input_scale": {"params*": 2.0**-9}})
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
            jsa.scalify(layer, input_scale=["x=2"])


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
            np.testing.assert_allclose(jsa.asarray(f(PARAMS, X)), expected, **CLOSE)
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
        f = jsa.scalify(layer)
        batch: Any = jnp.stack([X, X])
        if pairs:
            batch = jsa.ScaledArray(batch, jnp.ones(2))
        with pytest.raises(UsageError, match=self.MESSAGE) as caught:
            jax.vmap(f, in_axes=(None, 0))(PARAMS, batch)
        assert "scalify(jax.vmap(fn))" in str(caught.value.hint)

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
    assert scalified._platforms() is None
    with jax.default_device(jax.devices("cpu")[0]):
        assert _compat.default_platform() == "cpu"
        assert scalified._platforms() == ("cpu",)


def test_a_function_runs_on_the_default_device() -> None:
    run = jsa.scalify(lambda x: x @ x, recipe="propagate")
    x = jnp.ones((4, 4))
    with jax.default_device(jax.devices("cpu")[0]):
        assert (run(x) == 4).all()
    assert (run(x) == 4).all()
