"""Steps of constants through functions, and loops that carry them."""

from __future__ import annotations

from scalify_hlo.quantize.constants import Functions
from scalify_hlo.transforms.carries import carried_to
from tests.py.judge import body_of, parse
from tests.py.programs.short import mlir

MOVED = mlir("""x: 2x3
  0 = reshape x : 3x2; 1 = call turned 0 : 2x3; 2 = reshape 1 : 6; return 2
def turned(x: 3x2)
  0 = transpose x, dims = [1, 0] : 2x3; return 0
def other(x: 3x2)
  0 = negate x; return 0""")


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


LOOP = mlir("""x y: 4, n: i32
  0:3 = while a = x, b = y, i = n: LT i n
    d = negate b; return a d i
  return 0#0""")


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
