"""The dimensions of a matmul's operands that are output channels."""

from __future__ import annotations

import pytest

from scalify_hlo.casts.channels import channels
from tests.py.programs.program import texts
from tests.py.shared.judge import body_of, parse

TEXTS = texts("""
for NAME = LEFT = RIGHT = RESULT in dot = 5x8 = 8x3 = 5x3; vector = 5x8 = 8 = 5;
  from_vector = 8 = 8x3 = 3
NAME
%x: tensor<LEFTxf32>, %w: tensor<RIGHTxf32>
  %0 = stablehlo.dot %x, %w : (tensor<LEFTxf32>, tensor<RIGHTxf32>) -> tensor<RESULTxf32>

for NAME = LEFT = RIGHT = RESULT = DIMS in
  batched = 5x2x8 = 8x3x2 = 2x5x3xf32 = batching_dims = [1] x [2], contracting_dims = [2] x [0];
  inner = 8 = 8 = f32 = contracting_dims = [0] x [0]
NAME
%x: tensor<LEFTxf32>, %w: tensor<RIGHTxf32>
  %0 = stablehlo.dot_general %x, %w, DIMS
    : (tensor<LEFTxf32>, tensor<RIGHTxf32>) -> tensor<RESULT>

for NAME = LEFT = RIGHT = COUNT = RESULT = DIMS = GROUPS in
  ragged = 11x8 = 3x8x7 = 3 = 11x7 = [1] = [0]; summed = 8x5 = 8x7 = 4 = 4x5x7 = [0] = []
NAME
%x: tensor<LEFTxf32>, %w: tensor<RIGHTxf32>, %n: tensor<COUNTxi64>
  %0 = "chlo.ragged_dot"(%x, %w, %n) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [], rhs_batching_dimensions = [],
      lhs_contracting_dimensions = DIMS, rhs_contracting_dimensions = DIMS,
      lhs_ragged_dimensions = [0], rhs_group_dimensions = GROUPS>
  } : (tensor<LEFTxf32>, tensor<RIGHTxf32>, tensor<COUNTxi64>) -> tensor<RESULTxf32>

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
