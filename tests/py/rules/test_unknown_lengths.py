"""Contractions of unknown length."""

from __future__ import annotations

import pytest

from scalify_hlo.ir.walk import ops_in
from tests.py.programs.program import entries, parts_of
from tests.py.shared.judge import rewritten

CONTRACTIONS = {
    name: (text, scale)
    for (name, scale), text in map(
        parts_of,
        entries("""
for NAME = CALL in dot_general = dot_general %x, %y, contracting_dims = [1] x [0];
  dot = dot %x, %y
NAME | s0*s1
%x: tensor<2x$Kx$T>, %y: tensor<$Kx4x$T>
  %0 = stablehlo.CALL
    : (tensor<2x$Kx$T>, tensor<$Kx4x$T>) -> tensor<2x4x$T>

reduce | s0
%x: tensor<2x$Kx$T>, %y: tensor<f32>
  %c = stablehlo.constant dense<0.0> : tensor<$T>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1]
    : (tensor<2x$Kx$T>, tensor<$T>) -> tensor<2x$T>

reduce_by_units | s0
%x: tensor<2x$Kx$T>, %y: tensor<2x$Kx$T>
  %c = stablehlo.constant dense<0.0> : tensor<$T>
  %0:2 = stablehlo.reduce(%x init: %c), (%y init: %c) across dimensions = [1]
    : (tensor<2x$Kx$T>, tensor<2x$Kx$T>, tensor<$T>, tensor<$T>) -> (tensor<2x$T>, tensor<2x$T>)
    reducer(%a: tensor<$T>, %b: tensor<$T>) (%d: tensor<$T>, %e: tensor<$T>) {
      %1 = stablehlo.add %a, %b : tensor<$T>
      %2 = stablehlo.add %d, %e : tensor<$T>
      stablehlo.return %1, %2 : tensor<$T>, tensor<$T>
    }
  return %0#0 : tensor<2x$T>

convolution | s0*s1
%x: tensor<1x8x$Kx$T>, %y: tensor<1x$Kx3x$T>
  %0 = "stablehlo.convolution"(%x, %y) <{
    batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>
  }> : (tensor<1x8x$Kx$T>, tensor<1x$Kx3x$T>) -> tensor<1x8x3x$T>

dynamic_conv | s0*s1
%x: tensor<1x8x$Kx$T>, %y: tensor<1x$Kx3x$T>
  %p = stablehlo.constant dense<[[0, 0]]> : tensor<1x2xi64>
  %0 = "stablehlo.dynamic_conv"(%x, %y, %p) <{
    batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>
  }> : (tensor<1x8x$Kx$T>, tensor<1x$Kx3x$T>, tensor<1x2xi64>) -> tensor<1x8x3x$T>
"""),
    )
}


@pytest.mark.parametrize("type_", ["f32", "f16", "bf16", "f64"])
@pytest.mark.parametrize("name", CONTRACTIONS)
def test_a_contraction_of_unknown_length_is_not_rescaled(name: str, type_: str) -> None:
    body, scale = CONTRACTIONS[name]
    for size, expected in (("64", f"2^3*{scale}"), ("?", scale), ("0", scale)):
        text = body.replace("$K", size).replace("$T", type_)
        module, report = rewritten(text, "scaled")
        assert report.results[0].scale == expected
        (returned,) = ops_in(module.operation, {"func.return"})
        owner = returned.operands[0].owner
        assert (owner.name == "stablehlo.multiply") == (size == "64"), "paid once, if at all"


def test_one_unknown_length_of_several_is_enough() -> None:
    text = """
func.func @main(%x: tensor<64x?x2xf16>, %y: tensor<64x?x3xf16>) -> tensor<2x3xf16> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0, 1] x [0, 1]
    : (tensor<64x?x2xf16>, tensor<64x?x3xf16>) -> tensor<2x3xf16>
  return %0 : tensor<2x3xf16>
}"""
    _, report = rewritten(text, "scaled")
    assert report.results[0].scale == "s0*s1"


def test_a_size_that_is_bounded_is_unknown() -> None:
    bounded = CONTRACTIONS["dot_general"][0].replace("2x$Kx$T", "2x?x$T, #stablehlo.bounds<?, 64>")
    bounded = bounded.replace("$Kx4x$T", "?x4x$T, #stablehlo.bounds<64, ?>").replace("$T", "f32")
    _, report = rewritten(bounded, "scaled")
    assert report.results[0].scale == "s0*s1"
