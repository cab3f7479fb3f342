"""Sizes that are predicted by the factors of Unit Scaling, and the preset `unit`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from click.testing import CliRunner, Result

import scalify_hlo
from examples import data, gpt2
from examples.xla import Executable, flat
from scalify_hlo._compat import ir
from scalify_hlo.api import make_options
from scalify_hlo.cli.main import main
from scalify_hlo.passes.pipeline import rewrite_module
from scalify_hlo.program import read_text
from scalify_hlo.recipe import load_recipe
from scalify_hlo.rules import unit_scaling
from scalify_hlo.rules.unit_scaling import ACTIVATIONS, size_of
from scalify_hlo.scale import ONE, Scaled
from tests.py.judge import assert_invariant, parse

CONFIG = gpt2.Config(layers=2, width=64, heads=2, sequence=32, vocab=64, batch=4)
TOLERANCE = 0.02

FUNCTIONS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "relu": jax.nn.relu,
    "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "gelu of tanh": jax.nn.gelu,
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "silu": jax.nn.silu,
}
EACH_FUNCTION = pytest.mark.parametrize("name", FUNCTIONS)


def normal(*shape: int, seed: int = 0) -> jax.Array:
    return jax.random.normal(jax.random.key(seed), shape)


def rms(x: Any) -> float:
    return float(np.sqrt(np.mean(np.square(np.asarray(x, np.float64)))))


def factor_of(name: str) -> unit_scaling.Activation:
    return ACTIVATIONS[name.partition(" ")[0]]


def with_gradients(fn: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A function's result and the gradients of its inputs, given that of the result last."""

    def run(*arguments: Any) -> Any:
        result, back = jax.vjp(fn, *arguments[:count])
        return (result, *back(arguments[count]))

    return run


class TestFactors:
    """Each factor brings random tensors to unit."""

    @EACH_FUNCTION
    def test_of_activations(self, name: str) -> None:
        factor, x, g = factor_of(name), normal(1 << 20), normal(1 << 20, seed=1)
        y, back = with_gradients(FUNCTIONS[name], 1)(x, g)
        assert float(jnp.std(y)) * factor.forward == pytest.approx(1, rel=TOLERANCE)
        assert rms(back) * factor.backward == pytest.approx(1, rel=TOLERANCE)
        assert float(jnp.mean(y)) == pytest.approx(factor.mean, abs=0.01)
        assert rms(y) == pytest.approx(2 ** factor.size(), rel=TOLERANCE)

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
            assert rms(value) * unit_scaling.matmul(terms) == pytest.approx(1, rel=TOLERANCE)

    def test_of_a_sum(self) -> None:
        y, gx = with_gradients(lambda x: x.sum(-1), 1)(normal(1 << 14, 64), normal(1 << 14))
        assert rms(y) * unit_scaling.sum_of(64) == pytest.approx(1, rel=TOLERANCE)
        assert rms(gx) == pytest.approx(1, rel=TOLERANCE)

    def test_of_a_weighted_add(self) -> None:
        weights = (0.5, 2.0, 1.25)
        terms = [normal(1 << 18, seed=i) for i in range(3)]
        add = with_gradients(lambda *x: sum(w * t for w, t in zip(weights, x, strict=True)), 3)
        y, *gradients = add(*terms, normal(1 << 18, seed=4))
        assert rms(y) * unit_scaling.weighted_add(weights) == pytest.approx(1, rel=TOLERANCE)
        for weight, gradient in zip(weights, gradients, strict=True):
            assert rms(gradient) / weight == pytest.approx(1, rel=TOLERANCE)

    def test_of_a_softmax_whose_elements_are_alike(self) -> None:
        """The paper's assumption: probabilities of 1/s throughout."""
        x, g = jnp.zeros((512, 256)), normal(512, 256)
        y, gx = with_gradients(jax.nn.softmax, 1)(x, g)
        assert rms(y) * unit_scaling.softmax(256) == pytest.approx(1, rel=TOLERANCE)
        assert rms(gx) * unit_scaling.softmax(256) == pytest.approx(1, rel=TOLERANCE)

    @pytest.mark.parametrize("size", [3, 64, 1000])
    def test_of_cross_entropy_whose_classes_are_alike(self, size: int) -> None:
        """The same assumption: the gradient is 1/s, and (1 - s)/s for the label."""
        logits, labels = jnp.zeros((64, size)), jnp.arange(64) % size
        gx = jax.grad(lambda x: cross_entropy(x, labels) * 64)(logits)
        assert rms(gx) * unit_scaling.cross_entropy(size) == pytest.approx(1, rel=TOLERANCE)

    def test_of_a_layer_norm(self) -> None:
        b, n = 64, 1 << 14
        y, gx, gw, gc = with_gradients(layer_norm, 3)(
            normal(b, n), jnp.ones(n), jnp.zeros(n), normal(b, n, seed=1)
        )
        assert rms(y) == pytest.approx(1, rel=TOLERANCE)
        assert rms(gx) == pytest.approx(1, rel=TOLERANCE)
        for value in (gw, gc):
            size = rms(value) * unit_scaling.layer_norm_weight(b)
            assert size == pytest.approx(1, rel=TOLERANCE)


def cross_entropy(x: jax.Array, labels: jax.Array) -> jax.Array:
    chosen = jnp.take_along_axis(x, labels[:, None], axis=-1)[:, 0]
    return (jax.nn.logsumexp(x, axis=-1) - chosen).mean()


def cross_entropy_of_one_hot(x: jax.Array, labels: jax.Array) -> jax.Array:
    one_hot = jax.nn.one_hot(labels, x.shape[-1])
    return -(one_hot * jax.nn.log_softmax(x)).sum(-1).mean()


def layer_norm(x: jax.Array, w: jax.Array, c: jax.Array) -> jax.Array:
    centred = x - x.mean(-1, keepdims=True)
    variance = jnp.square(centred).mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + 1e-5) * w + c


def text_of(fn: Callable[..., Any], *arguments: Any) -> str:
    return str(jax.export.export(jax.jit(fn))(*arguments).mlir_module())


def predicted(
    fn: Callable[..., Any], *arguments: Any, scales: dict[str, float] | None = None
) -> list[float]:
    """log2 of the rms that each result is expected to have."""
    program = read_text(text_of(fn, *arguments))
    with program.module.context:
        options = replace(make_options("unit", "same", scales), annotate=True)
        report = rewrite_module(program.module, options)
    forms = [result.form for result in report.results]
    assert all(isinstance(form, Scaled) and form.scale.static for form in forms)
    return [form.scale.exponent + form.level for form in forms if isinstance(form, Scaled)]


X = normal(256, 64)


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
        # One more than the table: probabilities sharpen while a model learns.
        assert backward == pytest.approx(size_of(unit_scaling.softmax(64)) + 1, abs=0.05)

    @pytest.mark.parametrize("loss", [cross_entropy, cross_entropy_of_one_hot])
    def test_of_cross_entropy(self, loss: Callable[..., Any]) -> None:
        """With the factor of the mean, 1/B."""
        (size,) = predicted(jax.grad(loss), X, jnp.zeros(256, int))
        assert size == pytest.approx(size_of(unit_scaling.cross_entropy(64)) - 8, abs=0.05)

    def test_of_a_layer_norm(self) -> None:
        scales = {"arg0": 2.0**6, "arg1": 1.0, "arg2": 2.0**-10}
        norm = with_gradients(layer_norm, 3)
        y, gx, gw, gc = predicted(norm, X, jnp.ones(64), jnp.zeros(64), X, scales=scales)
        assert y == pytest.approx(0, abs=0.05)
        assert gx == pytest.approx(-6, abs=0.05)  # over the deviation of the input
        for size in (gw, gc):
            assert size == pytest.approx(size_of(unit_scaling.layer_norm_weight(256)), abs=0.05)

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
        program = read_text(text_of(jnp.tanh, X))
        with program.module.context:
            report = rewrite_module(program.module, make_options("fp8", "same"))
        assert report.results[0].form == Scaled(ONE)


def step_text() -> str:
    step = jax.export.export(jax.jit(gpt2.adamw_step))
    return str(step(*gpt2.abstract_state(CONFIG, gpt2.ADAMW)).mlir_module())


@pytest.fixture(scope="module", name="text")
def _text() -> str:
    return step_text()


@pytest.fixture(scope="module", name="scales")
def _scales(text: str) -> dict[str, float]:
    tokens = np.zeros((CONFIG.batch, CONFIG.sequence + 1), np.int32)
    return scalify_hlo.measured_scales(text, *flat(gpt2.state(CONFIG, gpt2.ADAMW)), tokens)


def scalar_ops(text: str) -> Counter[str]:
    """The ops of rank 0 that compute floats, constants and what moves them apart."""
    found: list[str] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        for result in op.results:
            type_ = result.type
            if isinstance(type_, ir.RankedTensorType) and type_.rank == 0:
                found.append(op.name)
        return ir.WalkResult.ADVANCE

    parse_and_walk(text, visit)
    passive = {"stablehlo.constant", "stablehlo.convert", "stablehlo.reshape"}
    return Counter(name for name in found if name not in passive)


def parse_and_walk(text: str, visit: Callable[[ir.Operation], ir.WalkResult]) -> None:
    module = parse(text)
    module.operation.walk(visit)


class TestPreset:
    def test_computes_no_scale_at_run_time(self, text: str, scales: dict[str, float]) -> None:
        rewritten = scalify_hlo.rewrite(text, recipe="unit", input_scale=scales)
        assert scalar_ops(rewritten) == scalar_ops(text)
        assert "f8E4M3FN" in rewritten
        assert "f8E5M2" in rewritten
        paired = scalify_hlo.rewrite(text, recipe="unit", signature="scaled")
        assert scalar_ops(paired) != scalar_ops(text)

    def test_keeps_state_as_it_is(self, text: str, scales: dict[str, float]) -> None:
        rewritten = scalify_hlo.rewrite(text, recipe="unit", input_scale=scales)
        before, after = (Executable(t) for t in (text, rewritten))
        state = flat(gpt2.state(CONFIG, gpt2.ADAMW))
        assert [x.dtype for x in before.stored(state)] == [x.dtype for x in after.stored(state)]

    def test_trains_with_the_signature_of_the_program(
        self, text: str, scales: dict[str, float]
    ) -> None:
        rewritten = scalify_hlo.rewrite(text, recipe="unit", input_scale=scales)
        losses = [trained(t, 12) for t in (text, rewritten)]
        assert losses[0][-1] < losses[0][0] - 0.3
        assert abs(losses[1][-1] - losses[0][-1]) < 0.03
        assert losses[1] != losses[0]

    def test_operands_of_matmuls_are_near_unit(self, text: str, scales: dict[str, float]) -> None:
        sizes = observed(text, scales)
        assert len(sizes) > 20
        assert sizes.min() > -4
        assert sizes.max() < 9

    def test_a_declared_scale_says_the_same_as_a_given_one(
        self, text: str, scales: dict[str, float]
    ) -> None:
        given = scalify_hlo.rewrite(text, recipe="unit", input_scale=scales)
        declared = {"inputs.scale": [f"{name}={scale!r}" for name, scale in scales.items()]}
        assert scalify_hlo.rewrite(text, recipe="unit", settings=declared) == given
        wrong = {"inputs.scale": ["*=2^9"]}
        assert scalify_hlo.rewrite(text, recipe="unit", settings=wrong, input_scale=scales) == given

    @pytest.mark.parametrize("scale", ["x", "x=3", "=2^1", "x=2^k"])
    def test_a_declared_scale_is_a_power_of_two(self, scale: str, tmp_path: Any) -> None:
        with pytest.raises(scalify_hlo.UsageError, match="is not PATTERN=2\\^k"):
            load_recipe("unit", {"inputs.scale": [scale]})
        path = tmp_path / "r.toml"
        path.write_text(f'base = "unit"\n[inputs]\nscale = ["{scale}"]\n')
        with pytest.raises(scalify_hlo.InputError, match="is not PATTERN") as caught:
            load_recipe(path)
        assert caught.value.location == str(path)

    def test_a_declared_scale_has_to_match(self, text: str) -> None:
        with pytest.raises(scalify_hlo.UsageError, match="'nobody' matches no float argument"):
            scalify_hlo.rewrite(text, recipe="unit", settings={"inputs.scale": ["nobody=2^1"]})

    def test_takes_scales_of_constants_from_them(self) -> None:
        weight = 2.0**-20 * normal(64, 64, seed=1)
        text = text_of(lambda x: jnp.tanh(x @ weight * 2.0**18), X)
        rewritten = scalify_hlo.rewrite(text, recipe="unit", input_scale={"x": 1.0})
        assert "tensor<64x64xf8E4M3FN>" in rewritten
        assert "tensor<64x64xf32>" not in rewritten
        assert not scalar_ops(rewritten)

    def test_an_export_has_its_gradients_at_declared_scales(self) -> None:
        def model(w: jax.Array, x: jax.Array) -> jax.Array:
            return jnp.square(jax.nn.gelu(x @ w)).mean()

        w = 2.0**-12 * normal(64, 64, seed=1)
        exported = jax.export.export(jax.jit(model))(w, X)
        declared = {"inputs.scale": ["w=2^-12", "x=1"]}
        unit = scalify_hlo.rewrite(exported, recipe="unit", settings=declared)
        gradient = jax.grad(unit.call)(w, X)
        expected = jax.grad(model)(w, X)
        assert rms(gradient - expected) < 0.1 * rms(expected)


class TestAlike:
    """What XLA compiles stays small: little is added, and equal layers stay equal."""

    def test_factors_stand_at_casts_and_matmuls_alone(
        self, text: str, scales: dict[str, float]
    ) -> None:
        rewritten = scalify_hlo.rewrite(text, recipe="unit", input_scale=scales)
        before, after = op_names(text), op_names(rewritten)
        casts = after["stablehlo.clamp"] - before["stablehlo.clamp"]
        lines = rewritten.splitlines()
        matmuls = sum("stablehlo.dot_general" in line and "xf8E" in line for line in lines)
        added = after["stablehlo.multiply"] - before["stablehlo.multiply"]
        assert casts > 20
        assert 0 < added <= casts + matmuls
        made = {"clamp", "constant", "convert", "multiply", "optimization_barrier", "reshape"}
        made = {f"stablehlo.{name}" for name in made} | {"stablehlo.broadcast_in_dim"}
        assert {n: c for n, c in after.items() if n not in made} == {
            n: c for n, c in before.items() if n not in made
        }

    def test_layers_whose_gradients_drift_are_cast_alike(self) -> None:
        layers = 8

        def loss(weights: list[jax.Array], x: jax.Array) -> jax.Array:
            for w in weights:
                x = jax.nn.relu(x @ w)
            return jnp.square(x).sum()

        weights = [2.0**-3 * normal(64, 64, seed=i) for i in range(layers)]
        text = text_of(lambda w, x: jax.value_and_grad(loss)(w, x), weights, X)
        given = {"*": 2.0**-3, "x": 1.0}
        rewritten = scalify_hlo.rewrite(text, recipe="unit", input_scale=given)
        products = [line for line in rewritten.splitlines() if "stablehlo.multiply" in line]
        assert not any("xf8E" in line for line in products)  # a cast stays as it was rounded
        found = cast_factors(rewritten)
        assert sum(map(len, found.values())) > 2 * layers
        for factors in found.values():
            assert len(set(factors)) <= 1 + len(factors) // 4


def op_names(text: str) -> Counter[str]:
    """How many ops of each name a program has."""
    found: Counter[str] = Counter()

    def visit(op: ir.Operation) -> ir.WalkResult:
        found[op.name] += 1
        return ir.WalkResult.ADVANCE

    parse_and_walk(text, visit)
    return found


def cast_factors(text: str) -> dict[str, list[float]]:
    """What data are multiplied with before they are clamped, for each type that they get."""
    found: dict[str, list[float]] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "stablehlo.clamp":
            cast = next(iter(op.results[0].uses)).owner
            found.setdefault(str(cast.results[0].type), []).append(factor_of_product(op))
        return ir.WalkResult.ADVANCE

    parse_and_walk(text, visit)
    return found


def factor_of_product(clamp: ir.Operation) -> float:
    """The constant that makes what is clamped; 1 if there is none."""
    made = clamp.operands[1].owner
    if isinstance(made, ir.Block) or made.name != "stablehlo.multiply":
        return 1.0
    constant = made.operands[1].owner
    if isinstance(constant, ir.Block) or constant.name != "stablehlo.constant":
        return 1.0
    splat = ir.DenseFPElementsAttr(constant.attributes["value"]).get_splat_value()
    return float(ir.FloatAttr(splat).value)


def trained(text: str, steps: int) -> list[float]:
    executable = Executable(text)
    state = executable.stored(flat(gpt2.state(CONFIG, gpt2.ADAMW)))
    losses = []
    for batch in data.batches(CONFIG.batch, CONFIG.sequence, steps, 0):
        results = executable([*state, *flat(batch % CONFIG.vocab)])
        state = results[: len(state)]
        losses.append(float(results[len(state)]))
    return losses


def observed(text: str, scales: dict[str, float]) -> np.ndarray:
    """log2 of the rms of each matmul operand's data in the first step."""
    program = read_text(text)
    options = replace(make_options("unit", "same", scales), observe=True)
    with program.module.context:
        told = rewrite_module(program.module, options)
        executable = Executable(program.module.operation.get_asm(enable_debug_info=False))
    state = executable.stored(flat(gpt2.state(CONFIG, gpt2.ADAMW)))
    batch = next(iter(data.batches(CONFIG.batch, CONFIG.sequence, 1, 0)))
    results = executable([*state, *flat(batch % CONFIG.vocab)])
    rms_of = [float(value) for value in results[-2 * len(told.observed) :: 2]]
    return np.log2([value for value in rms_of if value])


WIDE = {f"matmul.{key}": "f32" for key in ("activation", "weight", "gradient", "output")}


class TestInvariance:
    @pytest.mark.parametrize("settings", [WIDE, dict.fromkeys(WIDE, "keep")])
    @EACH_FUNCTION
    def test_predictions_change_no_bit_of_wide_data(
        self, name: str, settings: dict[str, str]
    ) -> None:
        def step(x: jax.Array, w: jax.Array, v: jax.Array) -> Any:
            def loss(w: jax.Array, v: jax.Array) -> jax.Array:
                hidden = FUNCTIONS[name](x @ w)
                return cross_entropy(jax.nn.softmax(hidden @ v), jnp.arange(16))

            return jax.value_and_grad(loss, argnums=(0, 1))(w, v)

        arrays = [np.asarray(normal(16, 16, seed=i)) for i in range(3)]
        text = text_of(step, *arrays)
        recipe = load_recipe("unit", settings)
        assert_invariant(text, arrays, [3, -4, 1], recipe=recipe)


class TestMeasuredScales:
    def test_are_those_of_scaled_arrays(self) -> None:
        tree = {"w": 0.02 * normal(8, 8), "b": jnp.zeros(8), "n": jnp.arange(3)}
        exported = jax.export.export(jax.jit(lambda t, x: (t["w"] @ x + t["b"], t["n"])))(
            tree, jnp.ones(8)
        )
        found = scalify_hlo.measured_scales(exported, tree, 5 * jnp.ones(8))
        assert found == {"t['b']": 1.0, "t['w']": 2.0**-6, "x": 4.0}
        expected = scalify_hlo.as_scaled_array(tree)
        assert float(expected["w"].scale) == found["t['w']"]
        assert float(expected["b"].scale) == found["t['b']"]
        scalify_hlo.rewrite(exported, recipe="unit", input_scale=found)

    def test_of_unused_arguments_are_left_out(self) -> None:
        exported = jax.export.export(jax.jit(lambda _, y: y))(jnp.ones(8), jnp.ones(4))
        found = scalify_hlo.measured_scales(exported, jnp.ones(8), 4 * jnp.ones(4))
        assert found == {"y": 4.0}

    def test_of_programs_by_position(self) -> None:
        text = text_of(lambda x, n, y: (x + n, y), jnp.ones(4), 3, jnp.ones(2, jnp.bfloat16))
        values = [8 * np.ones(4, np.float32), np.int32(3), jnp.full(2, 0.25, jnp.bfloat16)]
        expected = {"x": 8.0, "y": 0.25}
        assert scalify_hlo.measured_scales(text, *values) == expected
        assert scalify_hlo.measured_scales(parse(text), *values) == expected

    def test_are_of_the_size_of_complex_and_of_finite_values(self) -> None:
        text = text_of(lambda x, y: (x, y), jnp.ones(2, complex), jnp.ones(3))
        values = [
            np.array([3 + 4j, 3 - 4j], np.complex64),
            np.array([np.inf, np.nan, 2], np.float32),
        ]
        assert scalify_hlo.measured_scales(text, *values) == {"x": 4.0, "y": 2.0}

    def test_of_names_that_stand_for_others_are_given_by_position(self) -> None:
        tree = {"a*": jnp.ones(2), "ab": 4 * jnp.ones(2)}
        found = scalify_hlo.measured_scales(text_of(lambda t: t, tree), *tree.values())
        assert found == {"arg0": 1.0, "t['ab']": 4.0}

    def test_refuse_values_that_do_not_fit(self) -> None:
        exported = jax.export.export(jax.jit(lambda x: x))(jnp.ones(4))
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
        exported = jax.export.export(jax.jit(lambda x: x))(jnp.ones(4))
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
        # Weights as small as these underflow where their size is not known.
        assert self.error(fp8(params, x), expected) > 0.2
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

    def test_takes_those_of_a_call_before_under_a_trace(self) -> None:
        params, x = self.values()
        unit = scalify_hlo.scalify(self.model, recipe="unit")
        result = unit(params, x)
        np.testing.assert_array_equal(jax.jit(lambda p: unit(p, x))(params), result)
        jax.clear_caches()  # so that it is traced again
        np.testing.assert_array_equal(jax.jit(lambda p: unit(p, x))(params), result)
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
        path.write_text(text_of(lambda x, w, n: (x @ w, n), X, normal(64, 64), jnp.arange(3)))
        return path

    @pytest.fixture(name="values")
    def _values(self, tmp_path: Path) -> Path:
        path = tmp_path / "values.npz"
        arrays = {"x": 4 * np.asarray(X), "arr_1": np.asarray(X[:64]) / 8, "n": np.arange(3)}
        np.savez(path, allow_pickle=False, **arrays)
        return path

    def test_measures_input_values(self, program: Path, values: Path) -> None:
        x, w = (float(scale) for scale in measured_by(4 * X, X[:64] / 8))
        expected = scalify_hlo.rewrite(
            program.read_text(), recipe="unit", input_scale={"x": x, "w": w}
        )
        result = call("rewrite", str(program), "--recipe", "unit", "--input-values", str(values))
        assert result.stdout.strip() == expected.strip()

    def test_a_given_scale_overrides_a_measured_one(self, program: Path, values: Path) -> None:
        given = ["--recipe", "unit", "--input-scale", "*=2^5"]
        both = call("rewrite", str(program), *given, "--input-values", str(values))
        assert both.exit_code == 0
        assert both.stdout == call("rewrite", str(program), *given).stdout

    def test_refuses_values_that_do_not_fit(self, program: Path, tmp_path: Path) -> None:
        path = tmp_path / "wrong.npz"
        good = {"x": np.asarray(X), "w": np.asarray(X[:64]), "n": np.arange(3)}
        for wrong, message in (
            ({**good, "w": np.ones((3, 3), np.float32)}, "the array for 'w' is float32[3, 3]"),
            ({"x": good["x"]}, "no array for the argument 'w'"),
            ({**good, "z": np.ones(1)}, "an array 'z', which is no argument"),
        ):
            np.savez(path, allow_pickle=False, **wrong)
            result = call("rewrite", str(program), "--input-values", str(path), code=2)
            assert message in result.stderr
            assert not result.stdout
        path.write_text("no arrays")
        result = call("rewrite", str(program), "--input-values", str(path), code=1)
        assert "no .npz file of arrays" in result.stderr


def measured_by(*arrays: Any) -> list[float]:
    return [scalify_hlo.as_scaled_array(array).scale for array in arrays]


def call(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == code, result.stderr
    return result
