"""The matmuls that read a cast."""

from __future__ import annotations

from scalify_hlo.rules.untrusted import _numbers
from tests.py.judge import body_of, parse
from tests.py.programs.short import mlir

READ = mlir("""x: 4x4
  0 = convert x : 4x4xf16; 1 = transpose 0, dims = [1, 0] : 4x4xf16
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] {scalify.number = 3 : i64}
    : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
  %3 = stablehlo.dot_general %1, %1, contracting_dims = [1] x [0] {scalify.number = 5 : i64}
    : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
  4 = negate 0
  %5 = stablehlo.dot_general %4, %4, contracting_dims = [1] x [0] {scalify.number = 7 : i64}
    : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
  return 3""")


def test_numbers_of_what_reads_a_cast() -> None:
    """Through ops that move its data, and no others."""
    module = parse(READ)
    cast = body_of(module).operations[0]
    with module.context:
        assert _numbers(cast.operation) == {3, 5}
