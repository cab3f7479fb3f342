"""The factors of Unit Scaling are what random tensors show, and predictions what they say."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from scalify_hlo.algebra.scale import ONE, Scaled
from scalify_hlo.api import make_options, rewrite
from scalify_hlo.passes.pipeline import rewrite_module
from scalify_hlo.program.program import read_text
from scalify_hlo.rules import unit_scaling
from scalify_hlo.rules.unit_scaling import ACTIVATIONS, size_of
from tests.py.shared import judge
from tests.py.shared.judge import rms, stablehlo_of
from tests.py.shared.unit_functions import (
    EACH_FUNCTION,
    FUNCTIONS,
    X,
    cross_entropy,
    layer_norm,
    normal,
    with_gradients,
)

TOLERANCE = 0.02
UNIT = pytest.approx(1, rel=TOLERANCE)


def factor_of(name: str) -> unit_scaling.ActivationSize:
    return ACTIVATIONS[name.partition(" ")[0]]


def factor_of_cross_entropy(size: int) -> float:
    """Returns the factor of the gradient of softmax cross-entropy, for equal probabilities."""
    return size / math.sqrt(size - 1)


def factor_of_layer_norm_weight(rows: int) -> float:
    """Returns the factor of the gradients of gain and bias of a layer norm; others are 1."""
    return 1 / math.sqrt(rows)


class TestFactors:
    """Each factor brings random tensors to unit."""

    @EACH_FUNCTION
    @pytest.mark.parametrize("exponent", [-4, 4])
    def test_of_activations_far_from_unit_are_within_a_bit(self, name: str, exponent: int) -> None:
        y = FUNCTIONS[name](2.0**exponent * normal(1 << 18))
        assert abs(math.log2(rms(y)) - factor_of(name).size(exponent)) < 1

    def test_of_a_matmul_and_its_gradients(self) -> None:
        b, m, n = 512, 1024, 256
        y, gx, gw = with_gradients(jnp.matmul, 2)(
            normal(b, m), normal(m, n, seed=1), normal(b, n, seed=2)
        )
        for value, terms in ((y, m), (gx, n), (gw, b)):
            assert rms(value) * unit_scaling.matmul(terms) == UNIT

    def test_of_a_sum(self) -> None:
        y, gx = with_gradients(lambda x: x.sum(-1), 1)(normal(1 << 14, 64), normal(1 << 14))
        assert rms(y) * unit_scaling.sum_of(64) == UNIT
        assert rms(gx) == UNIT

    def test_of_a_weighted_add(self) -> None:
        weights = (0.5, 2.0, 1.25)
        terms = [normal(1 << 18, seed=i) for i in range(3)]
        add = with_gradients(lambda *x: sum(w * t for w, t in zip(weights, x, strict=True)), 3)
        y, *gradients = add(*terms, normal(1 << 18, seed=4))
        assert rms(y) * unit_scaling.weighted_add(weights) == UNIT
        for weight, gradient in zip(weights, gradients, strict=True):
            assert rms(gradient) / weight == UNIT

    def test_of_a_softmax_whose_elements_are_alike(self) -> None:
        """The paper's assumption: probabilities of 1/s throughout."""
        x, g = jnp.zeros((512, 256)), normal(512, 256)
        y, gx = with_gradients(jax.nn.softmax, 1)(x, g)
        assert rms(y) * unit_scaling.softmax(256) == UNIT
        assert rms(gx) * unit_scaling.softmax(256) == UNIT


def cross_entropy_of_one_hot(x: jax.Array, labels: jax.Array) -> jax.Array:
    one_hot = jax.nn.one_hot(labels, x.shape[-1])
    return -(one_hot * jax.nn.log_softmax(x)).sum(-1).mean()


def predicted(
    fn: Callable[..., Any],
    *arguments: Any,
    scales: dict[str, float] | None = None,
    **settings: object,
) -> list[float]:
    """log2 of the rms that each result is expected to have."""
    program = read_text(stablehlo_of(fn, *arguments))
    with program.module.context:
        options = replace(
            make_options("unit", "same", {"*": 1.0, **(scales or {})}, settings), annotate=True
        )
        report = rewrite_module(program.module, options)
    infos = [result.info for result in report.results]
    assert all(isinstance(info, Scaled) for info in infos)
    return [info.at(ONE).level for info in infos if isinstance(info, Scaled)]


class TestPredictions:
    """Rules give whole layers the factors of the table."""

    @pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "sigmoid"])
    def test_of_activations(self, name: str) -> None:
        factor = factor_of(name)
        forward, backward = predicted(with_gradients(FUNCTIONS[name], 1), X, X)
        assert forward == pytest.approx(factor.size())
        assert backward == pytest.approx(factor.gradient_size)

    def test_of_a_sigmoid(self) -> None:
        """Jax writes it as a quotient; with a backward part, 1 - sigmoid(x) is what is known."""
        assert predicted(jax.nn.sigmoid, X) == [pytest.approx(ACTIVATIONS["sigmoid"].size())]
        assert predicted(jax.lax.logistic, X) == [pytest.approx(ACTIVATIONS["sigmoid"].size())]
        forward, backward = predicted(with_gradients(jax.nn.sigmoid, 1), X, X)
        assert forward == pytest.approx(ACTIVATIONS["sigmoid"].size(), abs=0.5)
        assert backward == pytest.approx(ACTIVATIONS["sigmoid"].gradient_size)

    @EACH_FUNCTION
    def test_of_activations_of_other_inputs(self, name: str) -> None:
        (size,) = predicted(lambda x, w: FUNCTIONS[name](x @ w), X, normal(64, 64))
        assert size == pytest.approx(factor_of(name).size(3))

    @pytest.mark.parametrize("size", [-6, 0])
    @pytest.mark.parametrize(
        "limit",
        [
            lambda x: jnp.minimum(x, 6),
            lambda x: jnp.maximum(x, -6),
            lambda x: jnp.clip(x, -6, 20),
            lambda x: jax.lax.clamp(-6.0, x, 6.0),
            jax.nn.relu6,
            lambda x: jax.lax.clamp(0.0, x, 6.0),
            lambda x: jax.lax.clamp(-6.0, x, 0.0),
        ],
    )
    def test_of_limits_far_above_the_values(self, limit: Callable[[Any], Any], size: int) -> None:
        (level,) = predicted(lambda x: limit(2.0**size * x), X)
        assert abs(level - math.log2(rms(limit(2.0**size * normal(64, 64))))) < 0.1

    @pytest.mark.parametrize("name", ["exponential", "logistic", "sqrt", "tanh"])
    @pytest.mark.parametrize("element", ["f16", "f32"])
    def test_of_constants(self, name: str, element: str) -> None:
        text = f"""func.func @main() -> tensor<{element}> {{
          %x = stablehlo.constant dense<5.000000e-01> : tensor<{element}>
          %y = stablehlo.{name} %x : tensor<{element}>
          return %y : tensor<{element}>
        }}"""
        expected = judge.evaluate(judge.parse(text), [])
        found = judge.evaluate(judge.parse(rewrite(text, recipe="unit")), [])
        assert np.array_equal(found, expected)

    def test_of_a_function_that_is_called_twice(self) -> None:
        relu = jax.jit(jax.nn.silu)
        (size,) = predicted(lambda x: relu(relu(x)), X)
        assert size == pytest.approx(2 * ACTIVATIONS["silu"].size(), abs=0.125)  # so far at a call

    def test_of_a_matmul_and_its_gradients(self) -> None:
        sizes = predicted(with_gradients(jnp.matmul, 2), X, normal(64, 96), normal(256, 96))
        assert sizes == [pytest.approx(size_of(unit_scaling.matmul(k))) for k in (64, 96, 256)]

    def test_of_sums(self) -> None:
        assert predicted(lambda x: x.sum(-1), normal(4, 96)) == [
            pytest.approx(size_of(unit_scaling.sum_of(96)))
        ]
        (size,) = predicted(lambda x, y: 0.5 * x + 3 * y, X, X)
        assert size == pytest.approx(size_of(unit_scaling.weighted_add([0.5, 3])))

    def test_of_a_softmax(self) -> None:
        forward, backward = predicted(with_gradients(jax.nn.softmax, 1), X, X)
        assert forward == size_of(unit_scaling.softmax(64))
        assert backward == pytest.approx(size_of(unit_scaling.softmax(64)), abs=0.05)

    @pytest.mark.parametrize("loss", [cross_entropy, cross_entropy_of_one_hot])
    def test_of_cross_entropy(self, loss: Callable[..., Any]) -> None:
        """With the factor of the mean, 1/B."""
        (size,) = predicted(jax.grad(loss), X, jnp.zeros(256, int))
        assert size == pytest.approx(size_of(factor_of_cross_entropy(64)) - 8, abs=0.05)

    def test_of_a_layer_norm(self) -> None:
        scales = {"arg0": 2.0**6, "arg1": 1.0, "arg2": 2.0**-10}
        norm = with_gradients(layer_norm, 3)
        y, gx, gw, gc = predicted(norm, X, jnp.ones(64), jnp.zeros(64), X, scales=scales)
        assert y == pytest.approx(0, abs=0.05)
        assert gx == pytest.approx(-6, abs=0.05)  # over the deviation of the input
        for size in (gw, gc):
            assert size == pytest.approx(size_of(factor_of_layer_norm_weight(256)), abs=0.05)

    def test_of_a_quotient_by_the_root_of_a_constant(self) -> None:
        """Scores of attention are over the root of the width of a head."""

        def scores(q: jax.Array, k: jax.Array) -> jax.Array:
            return q @ k.T / jnp.sqrt(jnp.full((), 4096.0))

        assert predicted(scores, X, X) == [pytest.approx(size_of(unit_scaling.matmul(64)) - 6)]

    @pytest.mark.parametrize("ddof", [0, 1])
    def test_of_a_variance(self, ddof: int) -> None:
        """jnp.var subtracts what is an argument of its function from the count."""

        def variance(x: jax.Array) -> jax.Array:
            return jnp.var(x, axis=-1, ddof=ddof)

        x = normal(16, 4096)
        (size,) = predicted(variance, x)
        assert size == pytest.approx(math.log2(rms(variance(x))), abs=0.7)

    def test_of_the_gradient_of_values(self) -> None:
        """Between that of a query for each position, and of all queries that attend all alike."""

        def attend(scores: jax.Array, v: jax.Array) -> jax.Array:
            return jax.nn.softmax(scores, axis=-1) @ v

        sizes = predicted(with_gradients(attend, 2), normal(256, 256), X, normal(256, 64))
        assert sizes[-1] == pytest.approx(-2)

    def test_of_sizes_that_are_no_powers_of_two(self) -> None:
        scales = {"x": 3.0, "y": 0.02}
        (size,) = predicted(lambda x, y: x * y, X, X, scales=scales)
        assert size == pytest.approx(math.log2(0.06))

    def test_behind_an_operand_that_is_measured(self) -> None:
        """Its data are near the top of their format, and its scale is smaller by as much."""

        def untrusted(x: jax.Array, w: jax.Array) -> jax.Array:
            y = x @ x.T / 16
            y = y @ y / 256
            return y @ y @ w

        x, w = normal(256, 256), normal(256, 64)
        (measured,) = predicted(untrusted, x, w)
        (wide,) = predicted(untrusted, x, w, untrusted="wide")
        assert measured == pytest.approx(wide, abs=1)

    @pytest.mark.parametrize("mask", [[1] * 64, list(range(1, 65))])
    def test_of_integers_behind_a_barrier(self, mask: list[int]) -> None:
        """A value that the backward pass computes again has the operands of the first one."""

        def masked(x: jax.Array) -> jax.Array:
            numbers, x = jax.lax.optimization_barrier((jnp.asarray(mask), x))
            return jnp.asarray(x * numbers.astype(jnp.float32))

        assert predicted(masked, X) == [pytest.approx(math.log2(rms(mask)))]

    def test_of_rows_of_groups(self) -> None:
        """Each row is in one of the segments that a mask says."""

        def grouped(x: jax.Array, ends: jax.Array) -> jax.Array:
            rows = jax.lax.broadcasted_iota(jnp.int32, (4, *x.shape), 1)
            starts = jnp.concatenate([jnp.zeros(1, int), ends[:-1]])
            inside = (rows >= starts[:, None, None]) & (rows < ends[:, None, None])
            return jax.lax.select(inside, jax.lax.broadcast(x, (4,)), jnp.zeros(inside.shape))

        ends = jnp.array([16, 100, 150, 256])
        (size,) = predicted(grouped, X, ends)
        assert size == pytest.approx(math.log2(rms(grouped(X, ends))), abs=0.1)

    def test_errors_do_not_add_up_along_a_model(self) -> None:
        """Sizes of a deep network are exact, although no factor of it is a power of two."""
        weights = [normal(96, 96, seed=i) for i in range(12)]

        def deep(weights: list[jax.Array], x: jax.Array) -> jax.Array:
            for weight in weights:
                x = jnp.maximum(x @ weight, 0)
            return x

        x = normal(256, 96, seed=20)
        (size,) = predicted(deep, weights, x)
        assert size == pytest.approx(12 * (size_of(unit_scaling.matmul(96)) - 0.5))
        assert abs(math.log2(rms(deep(weights, x))) - size) < 0.5

    def test_nothing_is_predicted_unless_asked(self) -> None:
        program = read_text(stablehlo_of(jnp.tanh, X))
        with program.module.context:
            report = rewrite_module(program.module, make_options("fp8", "same", {"*": 1.0}))
        info = report.results[0].info
        assert isinstance(info, Scaled)
        assert (info.scale, info.level) == (ONE, 0)
