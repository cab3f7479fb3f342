"""The sharding that a value hands on to what it is moved to."""

from __future__ import annotations

from scalify_hlo.rules.placement import MHLO, SDY, share_sharding
from tests.py.shared.judge import parse

PROGRAM = """
sdy.mesh @mesh = <["a"=2]>
func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>},
                %y: tensor<4xf32> {mhlo.sharding = "{devices=[2]0,1}"}, %z: tensor<f32>)
    -> tensor<f32> {
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>}
      : tensor<4xf32>
  %1 = stablehlo.abs %y : tensor<4xf32>
  %2 = stablehlo.reduce(%x init: %z) across dimensions = [0]
      : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %3 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }
  return %2 : tensor<f32>
}
"""


def test_sharing() -> None:
    module = parse(PROGRAM)
    block = module.body.operations[1].regions[0].blocks[0]
    negated, absolute, reduced, _ = block.operations
    x, y, z = block.arguments
    with module.context:
        share_sharding(z, absolute.results[0])
        share_sharding(reduced.regions[0].blocks[0].arguments[0], absolute.results[0])
        share_sharding(reduced.results[0], absolute.results[0])
        share_sharding(x, y)  # what is an argument itself has one already
        assert not {SDY, MHLO} & set(absolute.attributes.keys())
        share_sharding(x, absolute.results[0])
        assert str(absolute.attributes[SDY]) == str(negated.attributes[SDY])
        assert MHLO not in absolute.attributes
        share_sharding(y, negated.results[0])
        assert str(negated.attributes[MHLO]) == '"{devices=[2]0,1}"'


def test_of_a_result() -> None:
    module = parse(PROGRAM)
    negated, absolute, _, _ = module.body.operations[1].regions[0].blocks[0].operations
    with module.context:
        share_sharding(negated.results[0], absolute.results[0])
        assert str(absolute.attributes[SDY]) == str(negated.attributes[SDY])
