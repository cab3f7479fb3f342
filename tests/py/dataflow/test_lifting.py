"""Values of loops, branches, functions and devices at the end of `main`, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.frames import named
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import InputError
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.run.runner import compile_module
from scalify_hlo.transforms.hoist import Combine, add_results, lift
from scalify_hlo.transforms.inlining import inline_calls
from tests.py.devices import eight_devices, sharded_lifting
from tests.py.dialect.test_structure import LOOP
from tests.py.shared.judge import assert_all_close, body_of, main_of, parse, stablehlo_of
from tests.py.shared.lifted import arrays, calls, matmuls, nested, observe

COMBINES = pytest.mark.parametrize("combine", ["maximum", "add"])


def amax(values: list[Any]) -> float:
    return max(float(np.max(np.abs(value))) for value in values)


def run(function: Any, given: tuple[Any, ...], combine: Combine) -> list[Any]:
    """The lifted values, once the results were found to be those of the program as it was."""
    text = stablehlo_of(function, *given)
    module = parse(text)
    count = observe(module, combine)
    expected, actual = compile_module(text)(given), compile_module(module)(given)
    assert_all_close(actual[:-count], expected, rtol=1e-5, atol=1e-5)
    return actual[-count:]


@COMBINES
@pytest.mark.parametrize(("function", "given"), [(nested, arrays()), (calls, arrays()[:2])])
def test_a_program_computes_what_it_did(function: Any, given: Any, combine: Combine) -> None:
    """Values that are lifted out of loops, branches and calls are tested with calibrations."""
    assert all(np.all(values > 0) for values in run(function, given, combine))


def test_a_branch_that_is_never_taken_gives_zero() -> None:
    w, xs, flags = arrays()
    assert run(nested, (w, xs, np.zeros_like(flags)), "maximum")[0] == 0


def test_values_of_loops_and_of_their_results() -> None:
    """A value that is the result of a loop is that of the loop which takes its place."""
    module = parse(LOOP)
    main = main_of(module)
    loop = main.regions[0].blocks[0].operations[1]
    body = loop.regions[1].blocks[0]
    wanted = [loop.results[1], body.arguments[1], body.operations[2].results[0], loop.results[1]]
    with module.context, ir.Location.unknown():
        add_results(main, lift(main, wanted, "maximum"), [""] * 4)
    values = compile_module(module)([np.full((2, 3), 1.5, np.float32), np.array(4, np.int32)])
    assert [float(np.max(v)) for v in values] == [72, 24, 12, 24, 24]


def test_each_op_is_made_anew_once() -> None:
    module = parse(stablehlo_of(nested, *arrays()))
    before = _loops(module)
    observe(module, "maximum")
    assert _loops(module) == before


def _loops(module: ir.Module) -> list[str]:
    names = [op.name for op in ops_in(module.operation) if op.regions]
    return sorted(name for name in names if name.startswith("stablehlo") and "reduce" not in name)


MATRIX = "tensor<4x4xf32>"
MARKED = "{scalify.roles = []}"
MATMUL = (
    f"stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] {MARKED}"
    f' : ({MATRIX}, {MATRIX}) -> {MATRIX} loc("here")'
)


def call(name: str, of: str = "%x") -> str:
    return f"call @{name}({of}) : ({MATRIX}) -> {MATRIX}"


def program(**functions: str | tuple[str, str]) -> ir.Module:
    """Functions of a matrix, of one or two ops each."""
    text = ""
    for name, ops in functions.items():
        each = (ops,) if isinstance(ops, str) else ops
        lines = [f"%{i} = {op}" for i, op in enumerate(each)]
        lines.append(f"return %{len(each) - 1} : {MATRIX}")
        private = "" if name == "main" else "private "
        text += f"func.func {private}@{name}(%x: {MATRIX}) -> {MATRIX} {{\n"
        text += "\n".join(lines) + "\n}\n"
    return parse(text)


PLAIN = f"stablehlo.negate %x : {MATRIX}"


class TestCalls:
    def test_functions_without_marks_stay_and_the_others_go(self) -> None:
        module = program(
            main=(call("outer"), call("plain", "%0")),
            outer=(call("plain"), call("inner", "%0")),
            inner=MATMUL,
            plain=PLAIN,
        )
        with module.context, ir.Location.unknown():
            assert inline_calls(module.operation, [attributes.ROLES]) == []
        assert module.operation.verify()
        names = [op.attributes["sym_name"].value for op in module.body.operations]
        assert names == ["main", "plain"]
        ops = list(body_of(module).operations)
        assert [op.operation.name for op in ops] == [
            "func.call",
            "stablehlo.dot_general",
            "func.call",
            "func.return",
        ]
        assert ops[1].location.name_str == "here"

    @pytest.mark.parametrize(("callee", "kept"), [("inner", False), ("plain", True)])
    def test_the_listing_of_main_is_dropped_if_a_call_is_inlined(
        self, callee: str, kept: bool
    ) -> None:
        module = program(main=(call(callee), MATMUL), inner=MATMUL, plain=PLAIN)
        index = ModuleIndex()
        with module.context, ir.Location.unknown():
            block = body_of(module)
            index.list_ops(block)
            inline_calls(module.operation, [attributes.ROLES], index=index)
            assert (index.listing is not None) == kept
            if index.listing is not None:
                assert index.listing.ops == named(block)

    def test_composites_are_left_and_reported(self) -> None:
        composite = (
            f'stablehlo.composite "a.b" %x {{decomposition = @inner}} : ({MATRIX}) -> {MATRIX}'
        )
        module = program(main=composite, inner=MATMUL)
        with module.context, ir.Location.unknown():
            left = inline_calls(module.operation, [attributes.ROLES])
        assert [op.name for op in left] == ["stablehlo.composite"]
        assert len(list(module.body.operations)) == 2


CONDITION = """
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.while(%y = %x) : tensor<2x2xf32>
    cond {
      %1 = stablehlo.dot_general %y, %y, contracting_dims = [1] x [0] {scalify.roles = []}
        : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      %2 = stablehlo.slice %1 [0:1, 0:1] : (tensor<2x2xf32>) -> tensor<1x1xf32>
      %3 = stablehlo.reshape %2 : (tensor<1x1xf32>) -> tensor<f32>
      %4 = stablehlo.compare LT, %3, %3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      stablehlo.return %y : tensor<2x2xf32>
    }
  return %0 : tensor<2x2xf32>
}"""
REDUCE = """
func.func @main(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %1 = stablehlo.dot_general %a, %b, contracting_dims = [] x [] {scalify.roles = []}
        : (tensor<f32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }
  return %0 : tensor<f32>
}"""


@pytest.mark.parametrize(
    ("text", "message", "cure"),
    [
        (CONDITION, "in the condition of a loop", "in the body"),
        (REDUCE, "in a region of 'stablehlo.reduce'", "outside of it"),
    ],
    ids=["condition", "reduce"],
)
def test_what_cannot_be_lifted_is_refused(text: str, message: str, cure: str) -> None:
    module = parse(text)
    main = main_of(module)
    values = [op.operands[0] for op in matmuls(module)] + [op.results[0] for op in matmuls(module)]
    with module.context, ir.Location.unknown(), pytest.raises(InputError, match=message) as error:
        lift(main, values, "maximum")
    assert cure in str(error.value)
    assert error.value.location is not None


@pytest.fixture(scope="module")
def spread() -> dict[str, Any]:
    """Returns the results of programs for eight devices, in a process of its own."""
    found: dict[str, Any] = eight_devices.run(sharded_lifting.main)
    return found


@pytest.mark.slow
class TestDevices:
    @COMBINES
    @pytest.mark.parametrize("name", ["loop", "nested"])
    def test_results_are_as_they_were(
        self, spread: dict[str, Any], name: str, combine: str
    ) -> None:
        assert spread[f"{name} {combine}"]["same"]

    def test_every_device_has_the_largest_of_all(self, spread: dict[str, Any]) -> None:
        xs = 2 * arrays()[1]  # the larger half of what it is given
        first, each, nested = spread["loop maximum"]["values"] + spread["nested maximum"]["values"]
        assert each == nested == [pytest.approx(amax([xs]))] * 8
        # Devices have two turns each, and the first of them is in another matmul too.
        assert first == [pytest.approx(amax([xs[0::2]]))] * 8

    def test_sums_count_every_device(self, spread: dict[str, Any]) -> None:
        # It is over all devices, although its data are the same along one axis.
        assert spread["loop add"]["values"] == [[[3 * 8] * 2] * 8, [[3 * 8 * 2] * 2] * 8]
        assert spread["nested add"]["values"] == [[[3 * 8] * 2] * 8]
