"""The dimensions of a matmul's operands that are output channels."""

from __future__ import annotations

import pytest

from scalify_hlo.casts.channels import channels
from tests.py.programs.program import texts
from tests.py.shared.judge import body_of, parse

TEXTS = texts("""
dot
%x: tensor<5x8xf32>, %w: tensor<8x3xf32>
  %0 = stablehlo.dot %x, %w : (tensor<5x8xf32>, tensor<8x3xf32>) -> tensor<5x3xf32>

vector
%x: tensor<5x8xf32>, %w: tensor<8xf32>
  %0 = stablehlo.dot %x, %w : (tensor<5x8xf32>, tensor<8xf32>) -> tensor<5xf32>

from_vector
%x: tensor<8xf32>, %w: tensor<8x3xf32>
  %0 = stablehlo.dot %x, %w : (tensor<8xf32>, tensor<8x3xf32>) -> tensor<3xf32>

batched
%x: tensor<5x2x8xf32>, %w: tensor<8x3x2xf32>
  %0 = stablehlo.dot_general %x, %w, batching_dims = [1] x [2], contracting_dims = [2] x [0]
    : (tensor<5x2x8xf32>, tensor<8x3x2xf32>) -> tensor<2x5x3xf32>

inner
%x: tensor<8xf32>, %w: tensor<8xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [0] x [0]
    : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>

ragged
%x: tensor<11x8xf32>, %w: tensor<3x8x7xf32>, %n: tensor<3xi64>
  %0 = "chlo.ragged_dot"(%x, %w, %n) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [], rhs_batching_dimensions = [],
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>
  } : (tensor<11x8xf32>, tensor<3x8x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>

summed
%x: tensor<8x5xf32>, %y: tensor<8x7xf32>, %n: tensor<4xi64>
  %0 = "chlo.ragged_dot"(%x, %y, %n) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [], rhs_batching_dimensions = [],
      lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = []>
  } : (tensor<8x5xf32>, tensor<8x7xf32>, tensor<4xi64>) -> tensor<4x5x7xf32>

convolution
%x: tensor<2x6x6x4xf32>, %w: tensor<3x3x4x5xf32>
  %0 = stablehlo.convolution(%x, %w)
    dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x6x6x4xf32>, tensor<3x3x4x5xf32>) -> tensor<2x4x4x5xf32>
""")

Dims = tuple[tuple[int, ...], tuple[int, ...]] | None


@pytest.mark.parametrize(
    ("name", "left", "right"),
    [
        ("dot", ((0,), (0,)), ((1,), (1,))),
        ("vector", ((0,), (0,)), None),
        ("from_vector", None, ((1,), (0,))),
        ("batched", ((0, 1), (1, 0)), ((1, 2), (2, 0))),
        ("inner", None, None),
        ("ragged", None, ((2,), (1,))),
        ("summed", None, None),
        ("convolution", None, ((3,), (3,))),
    ],
)
def test_channels(name: str, left: Dims, right: Dims) -> None:
    module = parse(TEXTS[name])
    op = body_of(module).operations[0]
    assert (channels(op, 0), channels(op, 1)) == (left, right)


def test_an_empty_operand_has_no_channels() -> None:
    module = parse(TEXTS["dot"].replace("8x3", "8x0").replace("5x3", "5x0"))
    op = body_of(module).operations[0]
    assert (channels(op, 0), channels(op, 1)) == (((0,), (0,)), None)
