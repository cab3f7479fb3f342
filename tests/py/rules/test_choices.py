"""Constants of zeros."""

from __future__ import annotations

import numpy as np
import pytest

from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.rules.choices import is_zero
from tests.py.shared.judge import assert_invariant, body_of, parse, rewritten

PROGRAM = """
func.func @main(%x: tensor<f32>) -> tensor<f32> {{
  %0 = stablehlo.constant dense<{value}> : tensor<{type}>
  %1 = stablehlo.broadcast_in_dim {of}, dims = {dims} : (tensor<{type}>) -> tensor<3x{element}>
  return %x : tensor<f32>
}}"""


@pytest.mark.parametrize(
    ("value", "type_", "zero"),
    [
        ("0.0", "f32", True),
        ("-0.0", "f32", True),
        ("1.0", "f32", False),
        ("0.0", "3xf32", True),
        ("[0.0, 1.0, 0.0]", "3xf32", False),
        ("0", "i32", False),
        ("(0.0, 0.0)", "complex<f32>", False),
    ],
)
def test_constants(value: str, type_: str, zero: bool) -> None:
    element = type_.removeprefix("3x")
    dims = "[0]" if element != type_ else "[]"
    text = PROGRAM.format(value=value, type=type_, of="%0", dims=dims, element=element)
    module = parse(text)
    constant, broadcast, _ = body_of(module).operations
    assert is_zero(constant.results[0]) is zero
    assert is_zero(broadcast.results[0]) is zero


@pytest.mark.parametrize("scaled", ["%c, %x", "%x, %c"])
def test_a_select_of_a_complex_constant_is_exact(scaled: str) -> None:
    """The gradient of the magnitude of a complex number has one."""
    z = "tensor<2xcomplex<f32>>"
    text = f"""func.func @main(%re: tensor<2xf32>, %p: tensor<2xi1>) -> tensor<2xf32> {{
      %x = stablehlo.complex %re, %re : {z}
      %c = stablehlo.constant dense<(1.0, 0.0)> : {z}
      %0 = stablehlo.select %p, {scaled} : tensor<2xi1>, {z}
      %1 = stablehlo.real %0 : ({z}) -> tensor<2xf32>
      return %1 : tensor<2xf32>
    }}"""
    arrays = [np.array([3, -0.5], np.float32), np.array([True, False])]
    assert_invariant(text, arrays, [5, 0])
    rewritten(text, "scaled", recipe=load_recipe("fp8"))


def test_arguments() -> None:
    text = PROGRAM.format(value="0.0", type="f32", of="%x", dims="[]", element="f32")
    module = parse(text)
    block = body_of(module)
    assert not is_zero(block.operations[1].results[0])
    assert not is_zero(block.arguments[0])
