"""The op of an activation that reads its input."""

from __future__ import annotations

from scalify_hlo.ir.value_map import ValueSet
from scalify_hlo.scaling.layer_marks import _reader
from tests.py.shared.judge import body_of, parse

SILU = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.logistic %x : tensor<4xf32>
  %1 = stablehlo.abs %0 : tensor<4xf32>
  %2 = stablehlo.multiply %1, %x : tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""


def test_the_nearest_op_that_reads_an_input() -> None:
    module = parse(SILU)
    block = body_of(module)
    x, y = block.arguments
    logistic, absolute, product, _ = (op.operation for op in block.operations)
    with module.context:
        first, second = ValueSet([x]), ValueSet([y])
        assert _reader(product.results[0], first) == (product, 1)
        assert _reader(absolute.results[0], first) == (logistic, 0)
        assert _reader(product.results[0], second) is None
        assert _reader(x, second) is None
