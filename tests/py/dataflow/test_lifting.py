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
from tests.py.shared.judge import (
    assert_all_close,
    body_of,
    main_of,
    parse,
    program_of,
    stablehlo_of,
)
from tests.py.shared.lifted import (
    STEPS,
    TURNS,
    arrays,
    calls,
    left_of_calls,
    left_of_nested,
    matmuls,
    nested,
    observe,
)

COMBINES = pytest.mark.parametrize("combine", ["max", "add"])


def amax(values: list[Any]) -> float:
    return max(float(np.max(np.abs(value))) for value in values)


def run(function: Any, given: tuple[Any, ...], combine: Combine) -> list[Any]:
    """What is lifted, after the results were found to be those of the program as it was."""
    exported = program_of(function, *given)
    text = exported.mlir_module()
    module = parse(text)
    count = observe(module, combine)
    expected, actual = compile_module(text)(given), compile_module(module)(given)
    assert_all_close(actual[:-count], expected, rtol=1e-5, atol=1e-5)
    return actual[-count:]


class TestControlFlow:
    def test_the_largest_of_all_turns_of_a_branch_in_a_loop(self) -> None:
        values = run(nested, arrays(), "max")
        inside, outside = left_of_nested(*arrays())
        np.testing.assert_allclose(values, [amax(inside), amax(outside)], rtol=1e-5)

    def test_a_branch_that_is_never_taken_gives_zero(self) -> None:
        w, xs, flags = arrays()
        assert run(nested, (w, xs, np.zeros_like(flags)), "max")[0] == 0

    def test_the_sum_over_all_turns_of_a_branch_in_a_loop(self) -> None:
        values = run(nested, arrays(), "add")
        taken = int(arrays()[2].sum())
        assert [v.tolist() for v in values] == [[3 * STEPS * taken] * 2, [3 * TURNS] * 2]

    def test_values_of_loops_and_of_their_results(self) -> None:
        """A value that is the result of a loop is that of the loop which takes its place."""
        module = parse("""
func.func @main(%x: tensor<f32>, %n: tensor<i32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<f32>
    cond {
      %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %i, %one : tensor<i32>
      %2 = stablehlo.add %y, %y : tensor<f32>
      stablehlo.return %1, %2 : tensor<i32>, tensor<f32>
    }
  return %0#1 : tensor<f32>
}""")
        main = main_of(module)
        block = main.regions[0].blocks[0]
        loop = block.operations[2]
        body = loop.regions[1].blocks[0]
        wanted = [
            loop.results[1],
            body.arguments[1],
            body.operations[1].results[0],
            loop.results[1],
        ]
        with module.context, ir.Location.unknown():
            add_results(main, lift(main, wanted, "max"), ["", "", "", ""])
        values = compile_module(module)([np.array(1.5, np.float32), np.array(4, np.int32)])
        assert [float(v) for v in values] == [24, 24, 12, 24, 24]

    def test_each_op_is_made_anew_once(self) -> None:
        module = parse(stablehlo_of(nested, *arrays()))
        before = _loops(module)
        observe(module, "max")
        assert _loops(module) == before


def _loops(module: ir.Module) -> list[str]:
    names = [op.name for op in ops_in(module.operation) if op.regions]
    return sorted(name for name in names if name.startswith("stablehlo") and "reduce" not in name)


class TestCalls:
    def test_each_call_has_a_value_of_its_own(self) -> None:
        w, xs, _ = arrays()
        values = run(calls, (w, xs), "max")
        np.testing.assert_allclose(values, [amax(v) for v in left_of_calls(w, xs)], rtol=1e-5)

    def test_how_often_each_call_is_made(self) -> None:
        values = run(calls, arrays()[:2], "add")
        assert [v.tolist() for v in values] == [[3, 3], [3 * TURNS] * 2, [3, 3]]

    def test_functions_without_marks_stay_and_the_others_go(self) -> None:
        module = parse("""
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = call @outer(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @plain(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func private @outer(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = call @plain(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @inner(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func private @inner(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] {scalify.roles = []}
    : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("here")
  return %0 : tensor<4x4xf32>
}
func.func private @plain(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  return %x : tensor<4x4xf32>
}""")
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
        module = parse(f"""
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {{
  %0 = call @{callee}(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [0] {{scalify.roles = []}}
    : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}}
func.func private @inner(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {{
  %0 = stablehlo.add %x, %x {{scalify.roles = []}} : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}}
func.func private @plain(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {{
  return %x : tensor<4x4xf32>
}}""")
        index = ModuleIndex()
        with module.context, ir.Location.unknown():
            block = body_of(module)
            index.list_ops(block)
            inline_calls(module.operation, [attributes.ROLES], index=index)
            assert (index.listing is not None) == kept
            if index.listing is not None:
                assert index.listing.ops == named(block)

    def test_composites_are_left_and_reported(self) -> None:
        module = parse("""
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.composite "a.b" %x {decomposition = @inner}
    : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @inner(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] {scalify.roles = []}
    : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}""")
        with module.context, ir.Location.unknown():
            left = inline_calls(module.operation, [attributes.ROLES])
        assert [op.name for op in left] == ["stablehlo.composite"]
        assert len(list(module.body.operations)) == 2

    def test_recursion_is_refused(self) -> None:
        module = parse("""
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = call @inner(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @inner(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = call @inner(%x) {scalify.roles = []} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.add %0, %0 {scalify.roles = []} : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}""")
        with (
            module.context,
            ir.Location.unknown(),
            pytest.raises(InputError, match="@inner calls itself") as error,
        ):
            inline_calls(module.operation, [attributes.ROLES])
        assert "as a loop" in str(error.value)


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
        lift(main, values, "max")
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
        first, each, nested = spread["loop max"]["values"] + spread["nested max"]["values"]
        assert each == nested == [pytest.approx(amax([xs]))] * 8
        # Devices have two turns each, and the first of them is in another matmul too.
        assert first == [pytest.approx(amax([xs[0::2]]))] * 8

    def test_sums_count_every_device(self, spread: dict[str, Any]) -> None:
        # It is over all devices, although its data are the same along one axis.
        assert spread["loop add"]["values"] == [[[3 * 8] * 2] * 8, [[3 * 8 * 2] * 2] * 8]
        assert spread["nested add"]["values"] == [[[3 * 8] * 2] * 8]
