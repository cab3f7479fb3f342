"""The matmuls that read a cast."""

from __future__ import annotations

from scalify_hlo.rules.untrusted import _numbers
from tests.py.shared.judge import body_of, parse

READ = """
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.convert %x : (tensor<4x4xf32>) -> tensor<4x4xf16>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x4xf16>) -> tensor<4x4xf16>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] {scalify.number = 3 : i64}
    : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
  %3 = stablehlo.dot_general %1, %1, contracting_dims = [1] x [0] {scalify.number = 5 : i64}
    : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
  %4 = stablehlo.negate %0 : tensor<4x4xf16>
  %5 = stablehlo.dot_general %4, %4, contracting_dims = [1] x [0] {scalify.number = 7 : i64}
    : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
"""


def test_numbers_of_what_reads_a_cast() -> None:
    """Through ops that move its data, and no others."""
    module = parse(READ)
    cast = body_of(module).operations[0]
    with module.context:
        assert _numbers(cast.operation) == {3, 5}
