"""The ops around a value."""

from __future__ import annotations

from scalify_hlo.rules.values import enclosing
from tests.py.shared.judge import parse

REDUCE = """
func.func @main(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [0]
      : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }
  return %0 : tensor<f32>
}"""


def test_a_value_is_in_the_ops_around_it() -> None:
    module = parse(REDUCE)
    main = module.body.operations[0].operation
    op = main.regions[0].blocks[0].operations[0].operation
    block = op.regions[0].blocks[0]
    assert enclosing(block.arguments[0]) == [op, main, module.operation]
    assert enclosing(block.operations[0].results[0]) == [op, main, module.operation]
    assert enclosing(op.results[0]) == [main, module.operation]
