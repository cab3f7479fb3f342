"""The devices of a computation on each device, and of those around it."""

from __future__ import annotations

from scalify_hlo.rules.devices import devices_of
from tests.py.shared.judge import parse

NESTED = """
sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>]
      out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%y: tensor<8xf32>) {
    %1 = sdy.manual_computation(%y) in_shardings=[<@mesh, [{"b"}]>]
        out_shardings=[<@mesh, [{"b"}]>] manual_axes={"b"} (%z: tensor<2xf32>) {
      sdy.return %z : tensor<2xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
"""


def test_of_nested_computations() -> None:
    module = parse(NESTED)
    outer = module.body.operations[1].regions[0].blocks[0].operations[0].operation
    inner = outer.regions[0].blocks[0].operations[0].operation
    with module.context:
        alone, both, around = devices_of(inner, nested=False), devices_of(inner), devices_of(outer)
        assert alone is not None
        assert both is not None
        assert around is not None
        assert (alone.count, both.count, around.count) == (4, 8, 2)
        assert devices_of(outer, nested=False) == around
        assert devices_of(module.body.operations[1].operation) is None
