"""Steps of constants through functions, and loops that carry them."""

from __future__ import annotations

from scalify_hlo.casts.constant_folding import Functions
from scalify_hlo.transforms.carries import carried_to
from tests.py.shared.judge import body_of, parse

MOVED = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = call @turned(%0) : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.reshape %1 : (tensor<2x3xf32>) -> tensor<6xf32>
  return %2 : tensor<6xf32>
}
func.func private @turned(%x: tensor<3x2xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func private @other(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = stablehlo.negate %x : tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
"""


def test_steps_of_functions_stand_in_the_place_of_calls() -> None:
    module = parse(MOVED)
    main, turned, _ = module.body.operations
    first, call, last, _ = (op.operation for op in main.regions[0].blocks[0].operations)
    inner = turned.regions[0].blocks[0].operations[0].operation
    functions = Functions(module.operation)
    assert list(functions.moves([first, call, last])) == [first, inner, last]
    assert list(functions.moves([call])) == [inner]
    assert functions.moved_argument(call) == 0
    assert functions.source(first) == 0


LOOP = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %0:3 = stablehlo.while(%a = %x, %b = %y, %i = %n) : tensor<4xf32>, tensor<4xf32>, tensor<i32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %d = stablehlo.negate %b : tensor<4xf32>
      stablehlo.return %a, %d, %i : tensor<4xf32>, tensor<4xf32>, tensor<i32>
    }
  return %0#0 : tensor<4xf32>
}
"""


def test_a_loop_that_returns_what_it_takes_carries_it() -> None:
    module = parse(LOOP)
    block = body_of(module)
    loop = block.operations[0].operation
    body = loop.regions[1].blocks[0]
    end = body.operations[1].operation
    kept, changed, _ = body.arguments
    assert carried_to(kept, end, 0) == []
    assert carried_to(kept, end, 1) is None
    assert carried_to(kept, body.operations[0].operation, 0) is None
    assert carried_to(changed, end, 1) is None
    assert carried_to(block.arguments[0], end, 0) is None
    assert carried_to(loop.results[0], end, 0) is None
    assert carried_to(body.operations[0].results[0], end, 1) is None


def test_no_cast_is_hoisted_if_no_function_casts_its_argument() -> None:
    module = parse(MOVED)
    assert not Functions(module.operation).hoist_casts()
