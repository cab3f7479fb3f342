"""Sizes that are predicted by the factors of Unit Scaling, and the preset `unit`."""

from __future__ import annotations

from collections import Counter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from examples import data, gpt2
from examples.xla import Executable, flat
from scalify_hlo._compat import ir
from scalify_hlo.api import make_options
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.recipes.loading import load_recipe
from tests.py.shared.cast_stats import casts_of, log2_rms
from tests.py.shared.judge import assert_invariant, parse, program_of, rms, stablehlo_of, unrecorded
from tests.py.shared.unit_functions import EACH_FUNCTION, FUNCTIONS, X, cross_entropy, normal

CONFIG = gpt2.Config(layers=2, width=64, heads=2, sequence=32, vocab=64, batch=4)

WIDE = {f"matmul.{key}": "f32" for key in ("activation", "weight", "gradient", "output")}


@pytest.fixture(scope="module", name="text")
def _text() -> str:
    return stablehlo_of(gpt2.adamw_step, *gpt2.abstract_state(CONFIG, gpt2.ADAMW))


@pytest.fixture(scope="module", name="scales")
def _scales(text: str) -> dict[str, float]:
    tokens = np.zeros((CONFIG.batch, CONFIG.sequence + 1), np.int32)
    return scalify_hlo.measured_scales(text, *flat(gpt2.state(CONFIG, gpt2.ADAMW)), tokens)


def scalar_ops(text: str) -> Counter[str]:
    """The ops of rank 0 that compute floats, constants and what moves them apart."""
    module = parse(text)
    passive = {"stablehlo.constant", "stablehlo.convert", "stablehlo.reshape"}
    return Counter(
        op.name
        for op in ops_in(module.operation, where=lambda op: op.name not in passive)
        for result in op.results
        if isinstance(result.type, ir.RankedTensorType) and result.type.rank == 0
    )


class TestPreset:
    @pytest.mark.slow
    def test_computes_no_scale_at_run_time(self, text: str, scales: dict[str, float]) -> None:
        settings = {"residuals": "keep"}  # Calls are inlined with "auto".
        rewritten = scalify_hlo.rewrite(text, recipe="unit", input_scale=scales, settings=settings)
        assert scalar_ops(rewritten) == scalar_ops(text)
        assert "f8E4M3FN" in rewritten
        assert "f8E5M2" in rewritten
        paired = scalify_hlo.rewrite(text, recipe="unit", signature="scaled")
        assert scalar_ops(paired) != scalar_ops(text)

    @pytest.mark.slow
    def test_keeps_state_as_it_is(self, text: str, scales: dict[str, float]) -> None:
        rewritten = scalify_hlo.rewrite(
            text, recipe="unit", input_scale=scales, settings={"residuals": "keep"}
        )
        before, after = (Executable(t) for t in (text, rewritten))
        state = flat(gpt2.state(CONFIG, gpt2.ADAMW))
        assert [x.dtype for x in before.stored(state)] == [x.dtype for x in after.stored(state)]

    @pytest.mark.slow
    def test_trains_with_the_signature_of_the_program(
        self, text: str, scales: dict[str, float]
    ) -> None:
        rewritten = scalify_hlo.rewrite(text, recipe="unit", input_scale=scales)
        losses = [trained(t, 12) for t in (text, rewritten)]
        assert losses[0][-1] < losses[0][0] - 0.3
        assert abs(losses[1][-1] - losses[0][-1]) < 0.03
        assert losses[1] != losses[0]

    @pytest.mark.slow
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
        new = scalify_hlo.rewrite(text, recipe="unit", settings=declared)
        assert unrecorded(new) == unrecorded(given)
        wrong = {"inputs.scale": ["*=2^9"]}
        new = scalify_hlo.rewrite(text, recipe="unit", settings=wrong, input_scale=scales)
        assert unrecorded(new) == unrecorded(given)

    @pytest.mark.parametrize("scale", ["x", "x=-3", "=2^1", "x=2^k"])
    def test_a_declared_scale_is_a_positive_number(self, scale: str, tmp_path: Any) -> None:
        with pytest.raises(scalify_hlo.UsageError, match="is not PATTERN=2\\^k"):
            load_recipe("unit", {"inputs.scale": [scale]})
        path = tmp_path / "r.toml"
        path.write_text(f'base = "unit"\n[inputs]\nscale = ["{scale}"]\n')
        with pytest.raises(scalify_hlo.InputError, match="is not PATTERN") as caught:
            load_recipe(path)
        assert caught.value.location == f"{path}:3"

    def test_a_declared_scale_has_to_match(self, text: str) -> None:
        with pytest.raises(scalify_hlo.UsageError, match="'nobody' matches no float argument"):
            scalify_hlo.rewrite(text, recipe="unit", settings={"inputs.scale": ["nobody=2^1"]})

    def test_takes_scales_of_constants_from_them(self) -> None:
        weight = 2.0**-20 * normal(64, 64, seed=1)
        text = stablehlo_of(lambda x: jnp.tanh(x @ weight * 2.0**18), X)
        rewritten = scalify_hlo.rewrite(text, recipe="unit", input_scale={"x": 1.0})
        assert "tensor<64x64xf8E4M3FN>" in rewritten
        assert "tensor<64x64xf32>" not in rewritten
        assert not scalar_ops(rewritten)

    def test_an_export_has_its_gradients_at_declared_scales(self) -> None:
        def model(w: jax.Array, x: jax.Array) -> jax.Array:
            return jnp.square(jax.nn.gelu(x @ w)).mean()

        w = 2.0**-12 * normal(64, 64, seed=1)
        exported = program_of(model, w, X)
        declared = {"inputs.scale": ["w=2^-12", "x=1"]}
        unit = scalify_hlo.rewrite(exported, recipe="unit", settings=declared)
        gradient = jax.grad(unit.call)(w, X)
        expected = jax.grad(model)(w, X)
        assert rms(gradient - expected) < 0.1 * rms(expected)


def test_a_program_may_return_what_it_casts() -> None:
    """The op that reads the result of the cast has no result itself."""
    text = stablehlo_of(lambda x: x.astype(jnp.float8_e4m3fn), X)
    rewritten = scalify_hlo.rewrite(text, recipe="unit")
    assert "-> tensor<256x64xf8E4M3FN>" in rewritten


class TestAlike:
    """The program that XLA compiles stays small: few ops are added, and equal layers stay equal."""

    def test_factors_stand_at_casts_and_matmuls_alone(
        self, text: str, scales: dict[str, float]
    ) -> None:
        rewritten = scalify_hlo.rewrite(
            text, recipe="unit", input_scale=scales, settings={"residuals": "keep"}
        )
        before, after = op_names(text), op_names(rewritten)
        casts = after["stablehlo.clamp"] - before["stablehlo.clamp"]
        lines = rewritten.splitlines()
        matmuls = sum("stablehlo.dot_general" in line and "xf8E" in line for line in lines)
        added = after["stablehlo.multiply"] - before["stablehlo.multiply"]
        assert casts > 20
        saturating = after["stablehlo.add"] - before["stablehlo.add"]  # X + X * 0
        assert 0 < added - saturating <= casts + matmuls
        made = {"clamp", "constant", "convert", "multiply", "optimization_barrier", "reshape"}
        made.add("add")  # Of X + X * 0, which makes infinities NaN.
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
        text = stablehlo_of(lambda w, x: jax.value_and_grad(loss)(w, x), weights, X)
        given = {"*": 2.0**-3, "x": 1.0}
        rewritten = scalify_hlo.rewrite(text, recipe="unit", input_scale=given)
        products = [line for line in rewritten.splitlines() if "stablehlo.multiply" in line]
        assert not any("xf8E" in line for line in products)  # a cast stays as it was rounded
        found = cast_factors(rewritten)
        assert sum(map(len, found.values())) > 2 * layers
        for factors in found.values():
            assert len(set(factors)) <= 1 + len(factors) // 4


def op_names(text: str) -> Counter[str]:
    """Returns the number of ops of each name in a program."""
    module = parse(text)
    return Counter(op.name for op in ops_in(module.operation))


def cast_factors(text: str) -> dict[str, list[float]]:
    """Returns the factors of data before they are clamped, by the type of their cast."""
    module, found = parse(text), dict[str, list[float]]()
    for op in ops_in(module.operation, {"stablehlo.clamp"}):
        cast = next(iter(op.results[0].uses)).owner
        found.setdefault(str(cast.results[0].type), []).append(factor_of_product(op))
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
    batch = next(iter(data.batches(CONFIG.batch, CONFIG.sequence, 1, 0)))
    arguments = flat((*gpt2.state(CONFIG, gpt2.ADAMW), batch % CONFIG.vocab))
    arrays = [np.asarray(a) for a in arguments]
    return log2_rms(casts_of(text, arrays, make_options("unit", "same", scales)))


def test_a_cast_may_be_returned() -> None:
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf8E4M3FN> {
      %0 = stablehlo.convert %x {scalify.cast = "data"} : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
      return %0 : tensor<4xf8E4M3FN>
    }"""
    assert "stablehlo.convert" in scalify_hlo.rewrite(text, recipe="unit")


@pytest.mark.slow
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
        text = stablehlo_of(step, *arrays)
        recipe = load_recipe("unit", settings)
        assert_invariant(text, arrays, [3, -4, 1], recipe=recipe)
