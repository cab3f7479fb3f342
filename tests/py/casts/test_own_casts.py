"""A program's own casts to narrow formats, and its own narrow arithmetic."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo.run.interpreter import evaluate
from tests.py.casts.test_low_precision import general_linear_layer
from tests.py.shared import judge
from tests.py.shared.judge import parse, program_of, stablehlo_of

pytestmark = pytest.mark.filterwarnings("ignore::scalify_hlo.ScalifyWarning")

RECIPES = ["propagate", "bf16", "fp16", "fp8", "unit", "fp8-current", "mxfp8"]
FORMATS = [jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float16]
NUMBERS = np.random.default_rng(0)
X, W = (NUMBERS.normal(size=(64, 64)).astype(np.float32) for _ in range(2))
SMALL = np.float32(1e-4 * 4 / 57344)


def same_bits(program: Any, recipe: str, *arrays: Any, **options: Any) -> None:
    """Checks the bits of a rewritten program's results, on the interpreter."""
    text = stablehlo_of(program, *arrays)
    rewritten = scalify_hlo.rewrite(text, recipe=recipe, **options)
    numbers = [np.asarray(array) for array in arrays]
    for old, new in zip(
        evaluate(parse(text), numbers), evaluate(parse(rewritten), numbers), strict=True
    ):
        np.testing.assert_array_equal(new.view(np.uint8), old.view(np.uint8))


def quantized(x: Any, w: Any, s: Any) -> Any:
    q = jnp.clip(x * 1e-4 / s, -57344, 57344).astype(jnp.float8_e5m2)
    return q, w.astype(jnp.float8_e4m3fn)


@pytest.mark.parametrize("recipe", RECIPES)
def test_operands_of_casts_are_neither_rescaled_nor_clamped(recipe: str) -> None:
    same_bits(lambda *args: [q.astype(jnp.float32) for q in quantized(*args)], recipe, X, W, SMALL)


@pytest.mark.parametrize("recipe", RECIPES)
def test_matmuls_of_f8_keep_their_operands(recipe: str) -> None:
    def program(x: Any, w: Any, s: Any) -> Any:
        q, w = quantized(x, w, s)
        return jax.lax.dot(q, w, preferred_element_type=jnp.float32) * s

    same_bits(program, recipe, X, W, SMALL)


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("size", [4.0, 128.0])
@pytest.mark.parametrize("dtype", FORMATS)
def test_narrow_arguments_are_not_divided_by_declared_sizes(
    dtype: Any, size: float, recipe: str
) -> None:
    narrow = jnp.asarray(X * 128).astype(dtype)
    same_bits(lambda x: x.astype(jnp.float32) + 1, recipe, narrow, input_scale={"x": size})


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("scale", [2.0**-10, 2.0**13])
def test_f16_arithmetic_with_a_loss_scale_keeps_its_values(scale: float, recipe: str) -> None:
    def step(w: Any, x: Any, scale: Any) -> Any:
        def loss(w: Any) -> Any:
            y = w * x + w
            return jnp.sum(y * y, dtype=jnp.float16) * scale / 512

        return jax.grad(loss)(w)

    same_bits(step, recipe, X.astype(np.float16), W.astype(np.float16), np.float16(scale))


@pytest.mark.parametrize("recipe", RECIPES)
def test_reduced_precision_is_of_values(recipe: str) -> None:
    def program(x: Any) -> Any:
        return jax.lax.reduce_precision(x * 1e-3, 4, 3) * 3

    same_bits(program, recipe, X)
    same_bits(program, recipe, X, input_scale={"x": 2.0**9})


@pytest.mark.parametrize("recipe", ["propagate", "fp8", "fp8-current"])
@pytest.mark.parametrize("exponent", [-20, 12])
def test_reduced_precision_is_of_data_where_the_author_asked(exponent: int, recipe: str) -> None:
    """By pairs for the paper's transform, and by a marker in every recipe."""

    def program(x: Any) -> Any:
        x = x if recipe == "propagate" else scalify_hlo.set_scaling(x, 2.0**exponent)
        return jax.lax.reduce_precision(x, 4, 3)

    pair = scalify_hlo.ScaledArray(jnp.asarray(X), jnp.float32(2.0**exponent))
    found = np.asarray(scalify_hlo.asarray(scalify_hlo.scalify(program, recipe=recipe)(pair)))
    expected = np.asarray(jax.lax.reduce_precision(X, 4, 3)) * np.float32(2.0**exponent)
    normal = np.abs(X) > 2.0**-4
    np.testing.assert_array_equal(found[normal], expected[normal])


def decibels(expected: Any, found: Any) -> float:
    data, scale = (np.asarray(each, np.float64) for each in (found.data, found.scale))
    return judge.decibels(expected, data * scale)


@pytest.mark.parametrize("recipe", ["propagate", "bf16", "fp16", "fp8", "fp8-current"])
def test_cotangents_that_only_matmuls_read_are_of_data(recipe: str) -> None:
    """A cast of the program is not one that only rounds because a recipe widens its result."""

    def gradient(w: Any, x: Any, factor: Any) -> Any:
        def loss(w: Any) -> Any:
            return jnp.mean(jnp.square((x @ w).astype(jnp.float32))) * factor

        return jax.grad(loss)(w)

    given = [v.astype(np.float16) for v in (W / 8, X)]
    exported = program_of(gradient, *given, np.float32(1))
    program = scalify_hlo.rewrite(exported, recipe=recipe, signature="scaled")
    wanted = np.asarray(exported.call(*given, np.float32(1)), np.float64)
    pairs = scalify_hlo.scaled_state(program, (*given, np.float32(2.0**-16)))
    found = decibels(wanted * 2.0**-16, jax.jit(program.call)(*pairs))
    assert found > (15 if recipe.startswith("fp8") else 35)


def test_f16_results_of_pairs_need_no_statistic() -> None:
    """Their scales follow from those of the operands."""

    def gradient(w: Any, x: Any) -> Any:
        return jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)

    found = []
    for dtype in (jnp.float16, jnp.float32):
        exported = program_of(gradient, W.astype(dtype), X.astype(dtype))
        _, report = scalify_hlo.rewrite(
            exported, recipe="fp8-current", signature="scaled", report=True
        )
        found.append(report.statistics)
        assert not any("predicted size" in remark.message for remark in report.remarks)
    assert found[0] == found[1]


def test_a_remark_names_the_casts_of_data() -> None:
    exported = program_of(general_linear_layer, X, W)
    _, report = scalify_hlo.rewrite(exported, recipe="fp8", report=True)
    asked = [remark for remark in report.remarks if "rounds data near unit to" in remark.message]
    assert [remark.op for remark in asked] == ["stablehlo.convert"] * 2
    assert "f8E4M3FN" in asked[0].message


def test_a_cast_to_f16_that_only_rounds_is_of_values_of_pairs_too() -> None:
    """Large values overflow as in the original; data near unit would not."""

    def program(x: Any, w: Any) -> Any:
        return x @ w, x.astype(jnp.float16).astype(jnp.float32)

    x = X * np.float32(2.0**20)
    exported = program_of(program, x, W)
    wanted = np.asarray(exported.call(x, W)[1])
    assert np.isinf(wanted).any()
    for recipe in ("bf16", "fp16", "fp8", "fp8-current"):
        rewritten = scalify_hlo.rewrite(exported, recipe=recipe, signature="scaled")
        pairs = scalify_hlo.scaled_state(rewritten, (x, W))
        rounded = scalify_hlo.asarray(rewritten.call(*pairs))[1]
        np.testing.assert_array_equal(np.asarray(rounded), wanted)


@pytest.mark.parametrize("cls", ["Fp8DotGeneralOp", "Fp8DirectDotGeneralOp"])
@pytest.mark.parametrize("declared", [False, True])
@pytest.mark.parametrize("recipe", ["fp16", "fp8", "unit"])
def test_flax_fp8_in_its_first_step(recipe: str, declared: bool, cls: str) -> None:
    """Its scales are one-element tensors that are chosen: their amax histories begin with zeros."""
    from flax import linen as nn
    from flax.linen import fp8_ops

    class Model(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            make = getattr(fp8_ops, cls)
            for _ in range(2):
                x = nn.silu(nn.Dense(64, use_bias=False, dot_general_cls=make)(x))
            return x

    model: Any = Model()
    variables = model.init(jax.random.key(0), X)

    def step(variables: Any, x: Any) -> Any:
        return jax.value_and_grad(lambda v: jnp.mean((model.apply(v, x) - W) ** 2))(variables)

    exported = program_of(step, variables, X)
    scales = scalify_hlo.measured_scales(exported, variables, X) if declared else None
    rewritten = scalify_hlo.rewrite(exported, recipe=recipe, input_scale=scales)
    (loss, exact), (found, others) = (each.call(variables, X) for each in (exported, rewritten))
    assert abs(float(loss - found)) < 0.02 * float(loss)
    for one, other in zip(*map(jax.tree.leaves, (exact["params"], others["params"])), strict=True):
        assert float(jnp.linalg.norm(one - other) / jnp.linalg.norm(one)) < 0.2
