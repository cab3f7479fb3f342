"""Weights behind ops that move or multiply them."""

from __future__ import annotations

import pytest

from scalify_hlo.rules.layers import _is_weight
from tests.py.judge import parse

MOVED = """
func.func @main(%w: tensor<4x8xf32>, %i: tensor<i32>, %s: tensor<f32>) -> tensor<2x8xf32> {{
  %one = stablehlo.constant dense<1> : tensor<i32>
  %next = stablehlo.add %i, %one : tensor<i32>
  %size = stablehlo.sine %s : tensor<f32>
  %each = stablehlo.broadcast_in_dim %size, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  %0 = {op}
  return %0 : {type}
}}
"""


@pytest.mark.parametrize(
    ("op", "type_", "is_weight"),
    [
        (
            "stablehlo.dynamic_slice %w, %next, %next, sizes = [2, 8] : "
            "(tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>",
            "tensor<2x8xf32>",
            True,
        ),
        ("stablehlo.multiply %w, %each : tensor<4x8xf32>", "tensor<4x8xf32>", True),
        ("stablehlo.multiply %each, %w : tensor<4x8xf32>", "tensor<4x8xf32>", False),
        ("stablehlo.clamp %each, %w, %each : tensor<4x8xf32>", "tensor<4x8xf32>", True),
        ("stablehlo.clamp %w, %each, %w : tensor<4x8xf32>", "tensor<4x8xf32>", False),
        ("stablehlo.tanh %w : tensor<4x8xf32>", "tensor<4x8xf32>", False),
    ],
)
def test_weights_are_arguments_that_were_moved_about(op: str, type_: str, is_weight: bool) -> None:
    text = MOVED.format(op=op, type=type_).replace("-> tensor<2x8xf32> {", f"-> {type_} {{", 1)
    module = parse(text)
    operations = module.body.operations[0].regions[0].blocks[0].operations
    assert _is_weight(operations[len(operations) - 2].results[0]) is is_weight
