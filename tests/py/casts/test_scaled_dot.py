"""Matmuls of operands with block scales, which a program has already: recipes leave them alone."""

from __future__ import annotations

from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo import rewrite
from scalify_hlo._compat import ir
from scalify_hlo.ir.scaled_dot import BLOCK_SCALED_DOT
from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.passes.summary import summary
from scalify_hlo.recipes.loading import load_recipe
from tests.py.shared.judge import parse, program_of

RECIPES = ("propagate", "bf16", "fp16", "fp8", "fp8-current", "unit", "mxfp8")
M, N, K, BLOCK = 32, 48, 64, 32
DIMENSIONS = (((2,), (2,)), ((0,), (0,)))


def native(x: Any, y: Any, c: Any, d: Any) -> Any:
    """A matmul of operands with block scales."""
    return jax.lax.scaled_dot(
        x,
        y,
        lhs_scale=c,
        rhs_scale=d,
        dimension_numbers=DIMENSIONS,
        preferred_element_type=jnp.float32,
    )


def arguments() -> tuple[Any, ...]:
    """Operands whose rows have scales from 2^-14 to 2^8, as tokens may have."""
    random = np.random.default_rng(0)
    x, y = (random.standard_normal((1, rows, K)).astype(ml_dtypes.float8_e4m3fn) for rows in (M, N))
    exponents = np.repeat(np.linspace(-14, 8, M).round()[None, :, None], K // BLOCK, axis=2)
    scales = 2.0**exponents, np.ones((1, N, K // BLOCK))
    return x, y, *(scale.astype(ml_dtypes.float8_e8m0fnu) for scale in scales)


def exported(function: Any = native) -> jax.export.Exported:
    """The program of a function of the arguments."""
    return program_of(function, *arguments())


def calls(text: str) -> list[str]:
    """The lines with the matmul in the text of a program."""
    names = ('composite "xla.scaled_dot"', f"custom_call @{BLOCK_SCALED_DOT}")
    return [line.split(" loc(")[0] for line in text.splitlines() if any(n in line for n in names)]


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_composites_are_left_alone(recipe: str, signature: Any) -> None:
    """The composite, its decomposition and its values are those of the program."""
    program = exported()
    made, report = rewrite(program, recipe=recipe, signature=signature, report=True)
    assert len(calls(made.mlir_module())) == 1
    assert made.mlir_module().count("stablehlo.dot_general") == 1
    given = arguments()
    taken = scalify_hlo.as_scaled_array(given, 1.0) if signature == "scaled" else given
    got = scalify_hlo.asarray(made.call(*taken))
    np.testing.assert_array_equal(np.asarray(got), np.asarray(program.call(*given)))
    assert not [remark for remark in report.remarks if "composite" in remark.message]


@pytest.mark.parametrize("recipe", ["fp8", "fp8-current"])
def test_they_are_reported_as_narrow(recipe: str) -> None:
    """The report has the formats and sizes of the program, and no reason to stay wide."""
    report = rewrite(exported(), recipe=recipe, report=True)[1]
    (matmul,) = report.matmuls
    assert matmul.formats == ("f8E4M3FN", "f8E4M3FN", "f32")
    assert str(matmul.extent) == f"{M} x {N} x {K}"
    assert matmul.wide is None
    assert "1 of 1 matmul in FP8" in summary(report)


@pytest.mark.parametrize("exponents", [(3, 0), (0, -5), (-7, 4)])
def test_scales_of_all_operands_multiply(exponents: tuple[int, ...]) -> None:
    """The matmul is linear in both operands, whose data do not change."""
    program = exported()
    made = rewrite(program, recipe="propagate", signature="scaled")
    data = arguments()
    pairs = [
        scalify_hlo.ScaledArray(jnp.asarray(value), jnp.float32(2.0**exponent))
        for value, exponent in zip(data, exponents, strict=False)
    ]
    got = np.asarray(scalify_hlo.asarray(made.call(*pairs, *data[2:])))
    want = np.asarray(program.call(*data)) * np.float32(2.0 ** sum(exponents))
    np.testing.assert_array_equal(got, want)


def custom_call(recipe: str) -> tuple[ir.Module, Any]:
    """A rewritten program with the custom call for GPUs between other ops."""

    def model(x: Any, y: Any, c: Any, d: Any, w: Any) -> Any:
        return jnp.tanh(jax.nn.scaled_matmul(x, y, c, d))[0] @ w

    given = *arguments(), np.ones((N, N), np.float32)
    lowered = jax.jit(model).trace(*given).lower(lowering_platforms=("cuda",))
    module = parse(lowered.as_text())
    with module.context:
        return module, rewrite_module(module, Options(recipe=load_recipe(recipe)))


@pytest.mark.parametrize("recipe", RECIPES)
def test_custom_calls_are_left_alone(recipe: str) -> None:
    """The custom call keeps its operands, and is counted as a matmul."""
    module, report = custom_call(recipe)
    (call,) = (line for line in calls(str(module)) if BLOCK_SCALED_DOT in line)
    assert "(%arg0, %arg1, %arg2, %arg3)" in call
    if recipe != "propagate":
        wanted = ["stablehlo.custom_call", "stablehlo.dot_general"]
        assert [matmul.op for matmul in report.matmuls] == wanted
        assert report.matmuls[0].wide is None


def test_matmuls_behind_them_are_quantized() -> None:
    """A matmul that reads the result of a block-scaled one is cast, and nothing else is."""

    def model(x: Any, y: Any, c: Any, d: Any, w: Any) -> Any:
        return native(x, y, c, d)[0] @ w

    weight = np.random.default_rng(1).standard_normal((N, 64), np.float32)
    program = program_of(model, *arguments(), weight)
    made, report = rewrite(program, recipe="fp8-current", report=True)
    assert [matmul.wide for matmul in report.matmuls] == [None, None]
    assert report.matmuls[1].formats[0] == "f8E4M3FN"
    assert calls(made.mlir_module())
