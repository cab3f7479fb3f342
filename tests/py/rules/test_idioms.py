"""Casts of values whose sizes are hard to predict, and how the benchmark judges them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

from benchmarks.idiom_programs import IDIOMS, Dot, Idiom, normal
from benchmarks.idioms import (
    RECIPES,
    Case,
    Figures,
    Limits,
    amax_exponent,
    flushed,
    limits_of,
    observed,
    operand_error,
    reductions,
)
from benchmarks.numerics import rounded
from tests.py.shared.judge import shaped, stablehlo_of

F16, E4M3 = np.dtype(np.float16), np.dtype(ml_dtypes.float8_e4m3fn)
FORMATS = pytest.mark.parametrize("format_", [F16, E4M3], ids=str)
VALUES = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
Function = Callable[..., jax.Array]


@cache
def case_of(name: str) -> Case:
    return Case(IDIOMS[name])


def made(function: Function, *makes: Any) -> Case:
    return Case(Idiom(function.__name__, function, makes or (normal(64, 64),)))


def identity(_: Dot, x: jax.Array) -> jax.Array:
    return x


def judged(values: np.ndarray[Any, Any], format_: Any, exponent: int) -> Figures:
    """The figures of values that are cast with a scale of 2^exponent."""
    largest = float(ml_dtypes.finfo(format_).max)
    operand = np.clip(np.ldexp(values, -exponent), -largest, largest).astype(format_)
    limits = limits_of(values, format_, values)
    return Figures(operand_error(operand, values), flushed(operand, values), limits)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "scale"), [*product(IDIOMS, (-8, 0, 8))], ids=str)
def test_a_cast_to_f16_is_as_good_as_with_the_best_scale(name: str, scale: int) -> None:
    figures = case_of(name).measure("fp16", scale)
    assert not figures.problems, figures


@pytest.mark.slow
@pytest.mark.parametrize("name", IDIOMS)
def test_a_cast_to_e4m3_is_as_good_as_with_the_best_scale(name: str) -> None:
    figures = case_of(name).measure("fp8", 0)
    assert not figures.problems, figures


READ_DIRECTLY = ("squarings", "relu_chain", "relu_chain_shared", "gru", "lstm", "online_softmax")
"""Idioms with a matmul that reads the activation, whose declared scale is all that is known."""


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["fp8", "unit"])
@pytest.mark.parametrize("name", [*READ_DIRECTLY, "erfc", "power16"])
@pytest.mark.parametrize("scale", [-8, 8])
def test_a_measured_activation_needs_no_declared_scale(name: str, scale: int, recipe: str) -> None:
    figures = case_of(name).measure(recipe, scale, {"inputs.verify": "x"})
    assert not figures.problems, figures


class TestJudge:
    @FORMATS
    @pytest.mark.parametrize("octaves", [0, 1])
    def test_a_well_scaled_operand_holds(self, format_: Any, octaves: int) -> None:
        assert not judged(VALUES, format_, amax_exponent(VALUES, format_) + octaves).problems

    @FORMATS
    def test_a_scale_that_is_too_small_saturates(self, format_: Any) -> None:
        figures = judged(VALUES, format_, amax_exponent(VALUES, format_) - 3)
        assert figures.problems == ["error"]

    def test_a_scale_that_is_too_large_flushes(self) -> None:
        figures = judged(VALUES, E4M3, amax_exponent(VALUES, E4M3) + 6)
        assert figures.problems == ["zeros"]
        assert figures.zeros > figures.limits.zeros

    @FORMATS
    def test_zeros_hold_nothing(self, format_: Any) -> None:
        figures = judged(VALUES, format_, 48)
        assert figures.problems == ["error", "zeros"]
        assert (figures.error, figures.zeros) == (1.0, VALUES.size)

    @pytest.mark.parametrize("wrong", [np.nan, np.inf])
    def test_what_is_not_finite_has_an_infinite_error(self, wrong: float) -> None:
        operand = VALUES.astype(np.float16)
        operand[0, 0] = wrong
        assert operand_error(operand, VALUES) == np.inf

    def test_the_scale_of_an_operand_is_found(self) -> None:
        data = rounded(VALUES.astype(np.float64), E4M3, -6)
        assert operand_error(np.ldexp(data, 31), VALUES) == operand_error(data, VALUES) < 0.03

    def test_a_scale_that_is_no_power_of_two_is_not_forgiven(self) -> None:
        assert operand_error(VALUES * 1.4, VALUES) > 0.2

    def test_a_failure_and_a_wide_operand_hold_nothing(self) -> None:
        assert Figures(0.0, 0, Limits(1.0, 0), wide=True).problems == ["wide"]
        assert Figures(0.0, 0, Limits(1.0, 0), failure="KeyError: 0").problems == ["KeyError: 0"]


class TestCase:
    @pytest.mark.slow
    @pytest.mark.parametrize("recipe", RECIPES)
    def test_an_operand_with_a_good_scale_holds(self, recipe: str) -> None:
        # Data 2^5 times unit have an amax that suits E4M3.
        assert not made(identity).measure(recipe, -5).problems

    @pytest.mark.parametrize(("scale", "problems"), [(-12, ["error"]), (12, ["error", "zeros"])])
    def test_an_operand_with_a_wrong_scale_does_not(self, scale: int, problems: list[str]) -> None:
        assert made(identity).measure("fp8", scale).problems == problems

    def test_a_cast_inside_counts_as_the_best_one_does(self) -> None:
        def twice(dot: Dot, x: jax.Array, w: jax.Array) -> jax.Array:
            return dot(dot(x, w), w)

        weight = normal(64, 64, rms=2.0**-3)
        case = made(twice, normal(64, 64), weight)
        assert case.measure("fp8-current", 0).ratio == pytest.approx(1, abs=0.01)
        assert "error" in case.measure("fp8", 14).problems

    def test_a_wide_operand_is_told(self) -> None:
        settings = {f"matmul.{role}": "f32" for role in ("activation", "weight", "gradient")}
        assert made(identity).measure("fp16", 0, settings).problems == ["wide"]

    def test_a_chaotic_value_is_no_reference(self) -> None:
        def chaos(_: Dot, x: jax.Array) -> jax.Array:
            x = jax.nn.sigmoid(x)
            y: jax.Array = lax.fori_loop(0, 40, lambda _, x: 4 * x * (1 - x), x)
            return y

        (problem,) = made(chaos).measure("fp16", 0).problems
        assert "chaos is no reference" in problem


def test_the_last_operand_is_returned_in_its_format() -> None:
    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        half = (x @ w).astype(jnp.float16)
        return jnp.matmul(half, w.astype(jnp.float16), preferred_element_type=jnp.float32) + 1

    shape = shaped(64, 64)
    seen = observed(stablehlo_of(program, shape, shape))
    assert '-> (tensor<64x64xf32> {jax.result_info = "result"}, tensor<64x64xf16>' in seen.text
    assert seen.inner == ((np.dtype(np.float32), np.dtype(np.float32)),)


def test_reductions_are_counted_once_for_each_call() -> None:
    total: Function = jax.jit(jnp.sum)

    def program(x: jax.Array) -> jax.Array:
        return total(x) + total(2 * x) + x.max()

    shape = shaped(64)
    assert reductions(stablehlo_of(program, shape)) == 3
