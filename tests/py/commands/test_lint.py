"""Lints find what is planted, and nothing in programs that only look like it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from scalify_hlo.api import make_options
from scalify_hlo.cli.inspected import Inspected
from scalify_hlo.cli.matmul_table import Selection
from scalify_hlo.commands.lint.model import Finding
from scalify_hlo.commands.lint.run import LINTS
from scalify_hlo.program.program import read_text
from tests.py.shared import commands
from tests.py.shared.judge import shaped
from tests.py.shared.schemas import faults

F16, BF16, F32 = jnp.float16, jnp.bfloat16, jnp.float32
E4M3, E5M2 = jnp.float8_e4m3fn, jnp.float8_e5m2
Function = Callable[..., Any]


def text_of(function: Function, *types: Any) -> str:
    module = jax.export.export(jax.jit(function), platforms=["cpu"])(*types).mlir_module()
    return str(module)


def found(
    function: Function, *types: Any, recipe: str = "propagate", **given: Any
) -> list[Finding]:
    settings = {key.replace("__", "."): str(value) for key, value in given.items()}
    options = make_options(recipe, "same", None, settings)
    findings = Inspected.of(read_text(text_of(function, *types)), options, Selection()).findings
    return [each for each in findings if each.lint != "unit-scale"]  # It has tests of its own.


def kinds(function: Function, *types: Any, recipe: str = "propagate", **given: Any) -> list[str]:
    return [finding.lint for finding in found(function, *types, recipe=recipe, **given)]


# One f32 matmul among those of a bf16 model.


def mlp(x: jax.Array, *weights: jax.Array) -> jax.Array:
    for w in weights:
        x = jax.nn.relu(x @ w)
    return x


MODEL = shaped(32, 32, dtype=BF16), *[shaped(32, 32, dtype=BF16)] * 3


def promoted(x: jax.Array, *weights: jax.Array) -> jax.Array:
    return mlp(x, *weights[:2]).astype(F32) @ weights[2].astype(F32)


def summed_in_f32(x: jax.Array, *weights: jax.Array) -> jax.Array:
    for w in weights:
        x = jax.nn.relu(jnp.matmul(x, w, preferred_element_type=F32)).astype(BF16)
    return x


def test_a_matmul_left_in_f32() -> None:
    (finding,) = found(promoted, *MODEL)
    assert finding.lint == "f32-in-bf16"
    assert "its operands are f32, and 2 of 3 matmuls take bf16" in finding.message
    line = promoted.__code__.co_firstlineno + 1
    assert f'{Path(__file__)}":{line}:' in finding.location


@pytest.mark.parametrize("function", [mlp, summed_in_f32])
def test_a_model_of_bf16_is_as_it_should_be(function: Function) -> None:
    assert kinds(function, *MODEL) == []


def test_a_model_of_f32_has_nothing_left() -> None:
    assert kinds(mlp, *[shaped(32, 32)] * 4) == []


def test_what_a_recipe_leaves_wide_has_its_reason_in_the_report() -> None:
    assert "f32-in-bf16" not in kinds(promoted, *MODEL, recipe="fp8-current")


# Epsilons.


def normalized(x: jax.Array, epsilon: float) -> jax.Array:
    return x / jnp.sqrt(jnp.mean(x.astype(F32) ** 2).astype(x.dtype) + x.dtype.type(epsilon))


def guarded(x: jax.Array, epsilon: float) -> jax.Array:
    return x / jnp.maximum(jnp.abs(x), x.dtype.type(epsilon))


def rooted(x: jax.Array, epsilon: float) -> jax.Array:
    return jnp.sqrt(jnp.maximum(x, x.dtype.type(epsilon)))


@pytest.mark.parametrize("function", [normalized, guarded])
@pytest.mark.parametrize(("dtype", "epsilon"), [(F16, 1e-8), (F16, 0.0), (F32, 1e-40)])
def test_an_epsilon_that_a_format_does_not_have(
    function: Function, dtype: Any, epsilon: float
) -> None:
    assert kinds(lambda x: function(x, epsilon), shaped(32, dtype=dtype)) == ["epsilon"]


@pytest.mark.parametrize("function", [normalized, guarded, rooted])
@pytest.mark.parametrize(("dtype", "epsilon"), [(F16, 1e-6), (BF16, 1e-30), (F32, 1e-12)])
def test_an_epsilon_that_a_format_has(function: Function, dtype: Any, epsilon: float) -> None:
    assert kinds(lambda x: function(x, epsilon), shaped(32, dtype=dtype)) == []


def test_a_bound_of_zero_is_no_epsilon() -> None:
    assert kinds(lambda x: rooted(x, 0.0), shaped(32, dtype=F16)) == []
    assert kinds(lambda x: jax.nn.relu(x + F16(0)), shaped(32, dtype=F16)) == []


def test_the_message_on_an_epsilon_has_its_line_and_the_smallest_number() -> None:
    (finding,) = found(lambda x: guarded(x, 0.0), shaped(32, dtype=F16))
    assert finding.message.endswith("its epsilon is 0 in f16, whose smallest number is 2^-24")
    assert f'{Path(__file__)}":{guarded.__code__.co_firstlineno + 1}:' in finding.location


# Infinities on their way to f8.


def masked(x: jax.Array, fill: float, dtype: Any) -> jax.Array:
    mask = jnp.tril(jnp.ones(x.shape, bool))
    return jnp.where(mask, x, fill).astype(dtype)


@pytest.mark.parametrize(
    ("fill", "dtype", "told"),
    [
        (-jnp.inf, E4M3, "-inf is cast to f8E4M3FN, which makes NaN of it"),
        (-jnp.inf, E5M2, "-inf is cast to f8E5M2, which keeps it, and 0 times it is NaN"),
        (-1e9, E4M3, "whose largest number is 448: it becomes NaN"),
        (-1e9, E5M2, "whose largest number is 57344: it becomes an infinity"),
    ],
)
def test_an_infinity_that_is_cast(fill: float, dtype: Any, told: str) -> None:
    (finding,) = found(lambda x: masked(x, fill, dtype), shaped(8, 8))
    assert finding.lint == "infinity-in-f8"
    assert told in finding.message


def test_an_infinity_of_a_dense_constant_that_is_cast() -> None:
    mask = jnp.where(jnp.tril(jnp.ones((8, 8), bool)), 0, -jnp.inf)
    assert kinds(lambda x: (x + mask).astype(E4M3), shaped(8, 8)) == ["infinity-in-f8"]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: masked(x, -400.0, E4M3),
        lambda x: jax.nn.softmax(masked(x, -jnp.inf, F32)).astype(E4M3),
        lambda x: jnp.clip(masked(x, -jnp.inf, F32), -448, 448).astype(E4M3),
        lambda x: masked(x, -jnp.inf, BF16),
    ],
    ids=["in range", "softmax", "clamped", "bf16"],
)
def test_an_infinity_that_does_not_reach_f8(function: Function) -> None:
    assert kinds(function, shaped(8, 8)) == []


# Long sums.


def summed(x: jax.Array) -> jax.Array:
    total: jax.Array = jax.lax.reduce(x, x.dtype.type(0), jax.lax.add, (0,))
    return total


def multiplied(x: jax.Array, w: jax.Array) -> jax.Array:
    return x @ w


@pytest.mark.parametrize(("dtype", "most"), [(F16, 2048), (BF16, 256)])
def test_a_sum_that_its_format_cannot_count(dtype: Any, most: int) -> None:
    (finding,) = found(summed, shaped(most + 1, dtype=dtype))
    assert finding.lint == "long-sum"
    assert f"sums {most + 1} terms" in finding.message
    assert finding.message.endswith(f"counts to {most}")
    assert kinds(summed, shaped(most, dtype=dtype)) == []


def test_sums_in_f32_are_of_any_length() -> None:
    assert kinds(summed, shaped(1 << 20)) == []
    assert kinds(lambda x: jnp.sum(x), shaped(1 << 20, dtype=F16)) == []
    assert (
        kinds(lambda x: jax.lax.reduce(x, F16(0), jax.lax.max, (0,)), shaped(9999, dtype=F16)) == []
    )


def test_a_matmul_whose_result_leaves_f16() -> None:
    long = shaped(2, 1 << 17, dtype=F16), shaped(1 << 17, 2, dtype=F16)
    assert kinds(multiplied, *long) == ["long-sum"]
    assert kinds(lambda x, w: jnp.matmul(x, w, preferred_element_type=F32), *long) == []
    assert kinds(multiplied, shaped(2, 1 << 15, dtype=F16), shaped(1 << 15, 2, dtype=F16)) == []


# Exponentials.


@pytest.mark.parametrize(
    "function",
    [jnp.exp, jnp.expm1, lambda x: jnp.exp(x + 1), lambda x: jnp.exp(-x), lambda x: jnp.exp(x * x)],
    ids=["exp", "expm1", "sum", "negative", "square"],
)
def test_an_exponential_of_what_nothing_bounds(function: Function) -> None:
    (finding,) = found(function, shaped(8, 8, dtype=F16))
    assert finding.lint == "exp-in-f16"
    assert "leaves f16 where its operand is above 11.1" in finding.message
    assert kinds(function, shaped(8, 8)) == []
    assert kinds(function, shaped(8, 8, dtype=BF16)) == []


@pytest.mark.parametrize(
    "function",
    [
        jax.nn.softmax,
        jax.nn.log_softmax,
        jax.nn.logsumexp,
        jax.grad(lambda x: jnp.sum(jax.nn.softmax(x)[0])),
        jax.nn.elu,
        lambda x: jnp.exp(-jnp.abs(x)),
        lambda x: jnp.exp(-(x * x) / 2),
        lambda x: jnp.exp(-jnp.sum(x * x, axis=0)),
        lambda x: jnp.exp(-lax.reduce_window(x * x, F16(0), lax.add, (1, 2), (1, 1), "SAME")),
        lambda x: jnp.exp(jnp.minimum(x, 8)),
        lambda x: jnp.exp(jnp.clip(x, -8, 8)),
        lambda x: jnp.exp(4 * jnp.tanh(x)),
        lambda x: 1 / (1 + jnp.exp(-x)),
        lambda x: jnp.exp(x.astype(F32)).astype(F16),
    ],
    ids=range(14),
)
def test_an_exponential_of_what_is_bounded(function: Function) -> None:
    assert "exp-in-f16" not in kinds(function, shaped(8, 8, dtype=F16))


# Weights that are cast in each call.


def inferred(x: jax.Array, w: jax.Array) -> jax.Array:
    return x.astype(BF16) @ w.astype(BF16)


def trained(x: jax.Array, w: jax.Array) -> Any:
    return w - jax.grad(lambda w: jnp.sum(inferred(x, w).astype(F32) ** 2))(w)


LARGE = shaped(16, 64), shaped(64, 64)


def test_a_weight_that_inference_casts() -> None:
    (finding,) = found(inferred, *LARGE)
    assert (finding.lint, finding.name) == ("recast-weight", "w")
    assert finding.message.endswith("casts the weight w to bf16 in each call")


def test_weights_that_a_recipe_casts() -> None:
    (finding,) = found(multiplied, *LARGE, recipe="fp8-current")
    assert (finding.lint, finding.name) == ("recast-weight", "w")
    assert f'{Path(__file__)}":{multiplied.__code__.co_firstlineno + 1}:' in finding.location


def test_casts_that_have_to_be_in_the_program() -> None:
    assert kinds(trained, *LARGE) == []
    assert kinds(lambda x, w: x.astype(BF16) @ w, LARGE[0], shaped(64, 64, dtype=BF16)) == []
    assert kinds(inferred, shaped(16, 16), shaped(16, 16)) == []  # too small to be worth it
    constant = jnp.ones((64, 64))
    assert kinds(lambda x: multiplied(x, constant), LARGE[0], recipe="fp8-current") == []


# Scales that no one declared.


def test_a_scale_that_no_one_declared() -> None:
    findings = found(multiplied, *LARGE, recipe="unit")
    undeclared = [f.name for f in findings if f.lint == "undeclared-scale"]
    assert undeclared == ["x", "w"]


def test_scales_that_are_declared_or_not_needed() -> None:
    declared = kinds(multiplied, *LARGE, recipe="unit", inputs__scale="*=2^-2")
    assert "undeclared-scale" not in declared
    half = found(multiplied, *LARGE, recipe="unit", inputs__scale="w=2^-2")
    assert [f.name for f in half if f.lint == "undeclared-scale"] == ["x"]
    assert "undeclared-scale" not in kinds(multiplied, *LARGE, recipe="fp8-current")
    assert "undeclared-scale" not in kinds(multiplied, *LARGE, recipe="bf16")
    assert kinds(multiplied, *LARGE) == []


# The command.


AS_IT_IS = ("--recipe", "propagate")


call = partial(commands.call, "inspect", "-")


def test_the_overview_has_a_line_for_each_kind() -> None:
    text = text_of(lambda x: jnp.exp(jnp.exp(x)), shaped(8, 8, dtype=F16))
    lines = call(text=text).stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("exp-in-f16")]
    assert line.split()[:2] == ["exp-in-f16", "2"]
    assert "test_lint.py:" in line
    assert "lint: none" in call(text=text_of(jnp.exp, shaped(8))).stdout


def test_findings_are_in_the_json() -> None:
    content = json.loads(call(*AS_IT_IS, "--format", "json", text=text_of(promoted, *MODEL)).stdout)
    assert faults(content, "inspect") == []
    lints = [finding["lint"] for finding in content["findings"]]
    assert lints == ["f32-in-bf16", "unit-scale", "unit-scale", "unit-scale"]


def test_functions_that_are_called_are_looked_into() -> None:
    inner = jax.jit(jnp.exp)
    assert kinds(lambda x: inner(x) + inner(x), shaped(8, dtype=F16)) == ["exp-in-f16"] * 2


def test_loops_are_looked_into() -> None:
    def function(x: jax.Array) -> Any:
        return jax.lax.fori_loop(0, 3, lambda _, x: jnp.exp(x), x)

    assert kinds(function, shaped(8, dtype=F16)) == ["exp-in-f16"]


def test_every_lint_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs/reports.md").read_text()
    for lint in LINTS:
        assert f"| `{lint.name}` | {lint.description} |" in page
