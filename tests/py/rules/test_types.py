"""Every float type of StableHLO: f4 to f64, and complex; quantized types are refused."""

from __future__ import annotations

import numpy as np
import pytest

from scalify_hlo import InputError
from scalify_hlo.ir.formats import FORMATS
from scalify_hlo.program.tensors import DTYPES, Array
from scalify_hlo.run.interpreter import evaluate
from tests.py.shared.judge import parse, propagated

REAL = [name for name in FORMATS if name in DTYPES]
BELOW_F8 = [name for name in REAL if name.startswith(("f4E", "f6E"))]
"""Ops that the interpreter cannot run."""
COMPLEX = ["complex<f32>", "complex<f64>"]
RUN = [name for name in (*REAL, *COMPLEX) if name not in BELOW_F8]
X, Y = (1.0, 2.0, 0.5, 1.5), (2.0, 1.0, 1.0, 0.5)

_SUM = """%c = stablehlo.constant dense<ZERO> : $S
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0]
    : ($T, $S) -> $S
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : ($S) -> $T"""
_DOT = """%0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : ($T, $T) -> $S
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : ($S) -> $T"""
_SELECT = """%p = stablehlo.compare EQ, %x, %y : ($T, $T) -> tensor<4xi1>
  %1 = stablehlo.select %p, %x, %y : tensor<4xi1>, $T"""
BODIES = {
    "add": "%1 = stablehlo.add %x, %y : $T",
    "divide": "%1 = stablehlo.divide %x, %y : $T",
    "dot_general": _DOT,
    "exponential": "%1 = stablehlo.exponential %x : $T",
    "multiply": "%1 = stablehlo.multiply %x, %y : $T",
    "negate": "%1 = stablehlo.negate %x : $T",
    "reduce": _SUM,
    "rsqrt": "%1 = stablehlo.rsqrt %x : $T",
    "select": _SELECT,
    "splat": "%c = stablehlo.constant dense<ONE> : $T\n  %1 = stablehlo.add %x, %c : $T",
    "sqrt": "%1 = stablehlo.sqrt %x : $T",
    "tan": "%1 = chlo.tan %x : $T -> $T",
}


def program(type_: str, op: str) -> str:
    zero, one = ("(0.0, 0.0)", "(1.0, 0.0)") if type_ in COMPLEX else ("0.0", "1.0")
    text = f"func.func @main(%x: $T, %y: $T) -> $T {{\n  {BODIES[op]}\n  return %1 : $T\n}}"
    text = text.replace("ZERO", zero).replace("ONE", one)
    return text.replace("$T", f"tensor<4x{type_}>").replace("$S", f"tensor<{type_}>")


def run(text: str, arrays: list[Array]) -> list[Array]:
    return evaluate(parse(text), arrays)


def wide(type_: str, values: object) -> Array:
    return np.asarray(values).astype(np.complex128 if type_ in COMPLEX else np.float64)


@pytest.mark.slow
@pytest.mark.parametrize("type_", RUN)
@pytest.mark.parametrize("op", BODIES)
def test_means_the_same(type_: str, op: str) -> None:
    """X at 2 * X_d, where that is a number of the type."""
    dtype = np.dtype(DTYPES[type_])
    text = program(type_, op)
    scale = np.dtype(np.float64 if "f64" in type_ else np.float32)
    x, y = (wide(type_, values).astype(dtype) for values in (X, Y))
    (expected,) = run(text, [(wide(type_, x) * 2).astype(dtype), y])
    arguments = [x, np.asarray(2, scale), y, np.asarray(1, scale)]
    data, factor = run(propagated(text, signature="scaled"), arguments)
    assert factor.dtype == scale
    actual = (wide(type_, data) * float(factor)).astype(dtype)
    np.testing.assert_array_equal(wide(type_, actual), wide(type_, expected))


@pytest.mark.parametrize("type_", BELOW_F8)
@pytest.mark.parametrize("op", BODIES)
def test_is_rewritten(type_: str, op: str) -> None:
    """The pass at the end verifies the module."""
    assert f"tensor<4x{type_}>, %arg1: tensor<f32>" in propagated(
        program(type_, op), signature="scaled"
    )


@pytest.mark.parametrize("type_", ["f64", "complex<f64>"])
def test_scales_of_f64_go_beyond_f32(type_: str) -> None:
    dtype, text = np.dtype(DTYPES[type_]), program(type_, "multiply")
    x = wide(type_, X).astype(dtype)
    tiny, huge = np.asarray(2.0**-300), np.asarray(2.0**400)
    data, factor = run(propagated(text, signature="scaled"), [x, tiny, x, huge])
    np.testing.assert_array_equal(data * float(factor), x * x * 2.0**100)


def test_scale_format_is_no_float() -> None:
    text = program("f8E8M0FNU", "multiply")
    assert "arg2" not in propagated(text, signature="scaled")


QUANTIZED = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}"""


def test_quantized_types_are_refused() -> None:
    with pytest.raises(InputError, match="a type of the program is quantized already") as caught:
        propagated(QUANTIZED)
    assert caught.value.location == "<program>:3:75"
