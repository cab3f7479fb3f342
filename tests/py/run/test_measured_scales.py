"""Scales of inputs are measured from values that are given, or from those of the first call."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo.algebra.measured import Measured
from tests.py.shared.commands import call
from tests.py.shared.judge import parse, program_of, rms, stablehlo_of, unrecorded
from tests.py.shared.unit_functions import X, normal


class TestMeasuredScales:
    def test_are_those_of_scaled_arrays(self) -> None:
        tree = {"w": 0.02 * normal(8, 8), "b": jnp.zeros(8), "n": jnp.arange(3)}
        exported = program_of(lambda t, x: (t["w"] @ x + t["b"], t["n"]), tree, jnp.ones(8))
        found = scalify_hlo.measured_scales(exported, tree, 5 * jnp.ones(8))
        assert found == {"t['b']": 1.0, "t['w']": pytest.approx(rms(tree["w"]), rel=1e-3), "x": 5.0}
        expected = scalify_hlo.as_scaled_array(tree)
        assert float(expected["w"].scale) == 2.0 ** math.floor(math.log2(found["t['w']"]))
        assert float(expected["b"].scale) == found["t['b']"]
        scalify_hlo.rewrite(exported, recipe="unit", input_scale=found)

    def test_of_unused_arguments_are_left_out(self) -> None:
        exported = program_of(lambda _, y: y, jnp.ones(8), jnp.ones(4))
        found = scalify_hlo.measured_scales(exported, jnp.ones(8), 4 * jnp.ones(4))
        assert found == {"y": 4.0}

    def test_of_programs_by_position(self) -> None:
        text = stablehlo_of(lambda x, n, y: (x + n, y), jnp.ones(4), 3, jnp.ones(2, jnp.bfloat16))
        values = [8 * np.ones(4, np.float32), np.int32(3), jnp.full(2, 0.25, jnp.bfloat16)]
        expected = {"x": 8.0, "y": 0.25}
        assert scalify_hlo.measured_scales(text, *values) == expected
        assert scalify_hlo.measured_scales(parse(text), *values) == expected

    def test_are_of_the_size_of_complex_and_of_finite_values(self) -> None:
        text = stablehlo_of(lambda x, y: (x, y), jnp.ones(2, complex), jnp.ones(3))
        values = [
            np.array([3 + 4j, 3 - 4j], np.complex64),
            np.array([np.inf, np.nan, 2], np.float32),
        ]
        assert scalify_hlo.measured_scales(text, *values) == {"x": 5.0, "y": 2.0}

    def test_of_names_that_stand_for_others_are_given_by_position(self) -> None:
        tree = {"a*": jnp.ones(2), "ab": 4 * jnp.ones(2)}
        found = scalify_hlo.measured_scales(stablehlo_of(lambda t: t, tree), *tree.values())
        assert found == {"arg0": 1.0, "t['ab']": 4.0}

    def test_refuse_values_that_do_not_fit(self) -> None:
        exported = program_of(lambda x: x, jnp.ones(4))
        for wrong, message in (
            ((jnp.ones(3),), "the array for 'x' is float32\\[3\\]"),
            ((), "do not fit the program"),
            (({"x": jnp.ones(4)},), "do not fit the program"),
            ((jnp.ones(4, int),), "the array for 'x' is int32"),
        ):
            with pytest.raises(scalify_hlo.UsageError, match=message):
                scalify_hlo.measured_scales(exported, *wrong)
        text = str(exported.mlir_module())
        with pytest.raises(scalify_hlo.UsageError, match="do not fit the program"):
            scalify_hlo.measured_scales(text, jnp.ones(4), jnp.ones(4))

    def test_refuse_traced_values(self) -> None:
        exported = program_of(lambda x: x, jnp.ones(4))
        with pytest.raises(scalify_hlo.UsageError, match="a traced value has no size"):
            jax.jit(lambda x: scalify_hlo.measured_scales(exported, x))(jnp.ones(4))


class TestScalify:
    """Input scales are measured from the values of the first call."""

    @staticmethod
    def model(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        return jnp.tanh(x @ params["w"]) @ params["v"]

    @staticmethod
    def values() -> tuple[dict[str, jax.Array], jax.Array]:
        return {"w": 2.0**-9 * normal(32, 32), "v": 2.0**7 * normal(32, 32, seed=1)}, normal(32, 32)

    @staticmethod
    def error(result: Any, expected: Any) -> float:
        return rms(np.asarray(result) - np.asarray(expected)) / rms(expected)

    def test_takes_the_scales_of_the_first_call(self) -> None:
        params, x = self.values()
        unit, fp8 = (scalify_hlo.scalify(self.model, recipe=r) for r in ("unit", "fp8"))
        expected = self.model(params, x)
        assert self.error(unit(params, x), expected) < 0.06
        assert self.error(fp8(params, x), expected) < 0.1
        assert isinstance(unit(params, x), jax.Array)

    def test_bakes_them(self) -> None:
        params, x = self.values()
        unit = scalify_hlo.scalify(self.model, recipe="unit")
        text = unit.lower(params, x).as_text()
        assert "dense<5.120000e+02>" in text  # 1 / 2^-9, less what the rms of few samples adds
        later = jax.tree.map(lambda w: 2.0**20 * w, params)
        unit(params, x)
        assert unit.lower(later, x).as_text() == text

    def test_measures_again_for_other_shapes(self) -> None:
        unit = scalify_hlo.scalify(jnp.matmul, recipe="unit")
        for x, w in ((X, normal(64, 32)), (2.0**30 * X, 2.0**-30 * normal(64, 64))):
            assert self.error(unit(x, w), x @ w) < 0.06
        assert self.error(unit(2.0**-30 * X, w), 2.0**-30 * (X @ w)) > 0.5  # scales are fixed

    def test_says_what_to_do_under_a_trace(self) -> None:
        params, x = self.values()
        unit = scalify_hlo.scalify(self.model, recipe="unit")
        for traced in (jax.jit(unit), jax.grad(lambda p, x: unit(p, x).sum())):
            with pytest.raises(scalify_hlo.UsageError, match="these are traced") as caught:
                traced(params, x)
            assert "outside of jax.jit" in str(caught.value.hint)

    @pytest.mark.slow
    def test_takes_those_of_a_call_before_under_a_trace(self) -> None:
        params, x = self.values()
        unit = scalify_hlo.scalify(self.model, recipe="unit")
        result = unit(params, x)
        assert self.error(jax.jit(lambda p: unit(p, x))(params), result) < 1e-3
        jax.clear_caches()  # so that it is traced again
        assert self.error(jax.jit(lambda p: unit(p, x))(params), result) < 1e-3
        gradient = jax.grad(lambda p: unit(p, x).sum())(params)
        expected = jax.grad(lambda p: self.model(p, x).sum())(params)
        assert self.error(gradient["w"], expected["w"]) < 0.1

    def test_takes_declared_ones_under_a_trace(self) -> None:
        params, x = self.values()
        settings = {"inputs.scale": ["params['w']=2^-9", "params['v']=2^7", "x=1"]}
        unit = scalify_hlo.scalify(self.model, recipe="unit", settings=settings)
        result = jax.jit(unit)(params, x)
        assert self.error(result, self.model(params, x)) < 0.06
        some = {"inputs.scale": ["params*=2^-9"]}
        with pytest.raises(scalify_hlo.UsageError, match="these are traced"):
            jax.jit(scalify_hlo.scalify(self.model, recipe="unit", settings=some))(params, x)

    def test_declared_ones_count_more_than_measured_ones(self) -> None:
        params, x = self.values()
        settings = {"inputs.scale": ["params['w']=2^9"]}
        unit = scalify_hlo.scalify(self.model, recipe="unit", settings=settings)
        assert self.error(unit(params, x), self.model(params, x)) > 0.2

    def test_takes_scales_of_captured_arrays_from_them(self) -> None:
        params, x = self.values()
        unit = scalify_hlo.scalify(lambda x: self.model(params, x), recipe="unit")
        assert self.error(unit(x), self.model(params, x)) < 0.06

    def test_knows_nothing_of_captured_values_of_a_trace(self) -> None:
        params, _ = self.values()

        @jax.jit
        def outer(params: Any) -> Any:
            return scalify_hlo.scalify(lambda x: self.model(params, x), recipe="unit")(np.ones(32))

        with pytest.raises(scalify_hlo.UsageError, match="these are traced"):
            outer(params)

    @pytest.mark.slow
    def test_takes_scaled_arrays_numbers_and_static_arguments(self) -> None:
        params, x = self.values()

        def model(params: Any, x: Any, factor: float, *, twice: bool) -> Any:
            return (1 + twice) * factor * self.model(params, x)

        unit = scalify_hlo.scalify(model, recipe="unit", static_argnames="twice")
        expected = model(params, x, 3.0, twice=True)
        assert self.error(unit(params, x, 3.0, twice=True), expected) < 0.06
        pairs = scalify_hlo.as_scaled_array(params)
        result = scalify_hlo.asarray(unit(pairs, x, 3.0, twice=True))
        assert self.error(result, expected) < 0.08

    def test_serves_as_a_method(self) -> None:
        class Model:
            scale = 2.0

            @scalify_hlo.scalify(recipe="unit", static_argnums=0)
            def call(self, x: Any) -> Any:
                return self.scale * x

        assert Model().call(jnp.ones(4)).tolist() == [2.0] * 4

    def test_trains_a_model_outside_and_inside_of_a_loop(self) -> None:
        _, x = self.values()
        params = {"w": normal(32, 32) / 6, "v": normal(32, 32, seed=1) / 6}

        def step(params: Any) -> Any:
            gradients = jax.grad(lambda p: jnp.square(self.model(p, x)).mean())(params)
            return jax.tree.map(lambda p, g: p - 5 * g, params, gradients)

        unit = scalify_hlo.scalify(step, recipe="unit")
        expected = step(step(params))
        assert self.error(unit(unit(params))["w"], expected["w"]) < 0.05
        inside = jax.lax.fori_loop(0, 2, lambda _, p: unit(p), params)
        assert self.error(inside["w"], expected["w"]) < 0.05


class TestCommand:
    @pytest.fixture(name="program")
    def _program(self, tmp_path: Path) -> Path:
        path = tmp_path / "f.mlir"
        path.write_text(stablehlo_of(lambda x, w, n: (x @ w, n), X, normal(64, 64), jnp.arange(3)))
        return path

    @pytest.fixture(name="values")
    def _values(self, tmp_path: Path) -> Path:
        path = tmp_path / "values.npz"
        arrays = {"x": 4 * np.asarray(X), "arr_1": np.asarray(X[:64]) / 8, "n": np.arange(3)}
        np.savez(path, allow_pickle=False, **arrays)
        return path

    def test_measures_input_values(self, program: Path, values: Path) -> None:
        x, w = (Measured(f"{rms(value):.4g}") for value in (4 * X, X[:64] / 8))
        expected = scalify_hlo.rewrite(
            program.read_text(), recipe="unit", input_scale={"x": x, "w": w}
        )
        result = call("rewrite", program, "--recipe", "unit", "--input-values", values, code=0)
        assert result.stdout.strip() == expected.strip()

    def test_a_given_scale_overrides_a_measured_one(self, program: Path, values: Path) -> None:
        given = ["--recipe", "unit", "--input-scale", "*=2^5"]
        both = call("rewrite", program, *given, "--input-values", values, code=0)
        plain = call("rewrite", program, *given, code=0)
        assert unrecorded(both.stdout) == unrecorded(plain.stdout)
