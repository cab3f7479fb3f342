"""Parts of propagation: functions that matter, ops after the last cast, inputs of activations."""

from __future__ import annotations

from typing import Any

import pytest

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import ONE, Scaled
from scalify_hlo.dataflow.frames import named
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.functions import terminator
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.passes.propagate import PropagatePass
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.report.model import Report
from scalify_hlo.rules import marked_ops
from scalify_hlo.rules.activations import Activations
from scalify_hlo.rules.isolated import placeholder
from scalify_hlo.rules.scale_rewriter import Notes, ScaleRewriter, Settings
from scalify_hlo.scaling import propagation
from scalify_hlo.scaling.callees import _reaching
from scalify_hlo.scaling.last_ops import LastOps
from scalify_hlo.scaling.propagation import Propagation
from tests.py.shared.judge import body_of, parse

CALLS = """
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @outer(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @outer(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @inner(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @inner(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.tanh %x : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @other(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
"""


def reaching(name: str) -> set[str]:
    module = parse(CALLS)
    functions = functions_in(module.operation)
    return _reaching(
        functions, lambda block: name in {op.operation.name for op in block.operations}
    )


def test_callers_are_found_with_the_functions_that_they_call() -> None:
    assert reaching("stablehlo.tanh") == {"inner", "outer", "main"}


def test_nothing_is_found_if_no_function_matters() -> None:
    assert reaching("stablehlo.sine") == set()


CAST_FIRST = """
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf8E4M3FN>, tensor<4xf32>) {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %1 = stablehlo.add %x, %x : tensor<4xf32>
  %2 = stablehlo.negate %1 : tensor<4xf32>
  return %0, %2 : tensor<4xf8E4M3FN>, tensor<4xf32>
}
"""
WIDE = CAST_FIRST.replace("f8E4M3FN", "f64")


@pytest.mark.parametrize(("text", "start"), [(CAST_FIRST, 1), (WIDE, 0)])
def test_ops_after_the_last_cast_begin_right_after_it(text: str, start: int) -> None:
    module = parse(text)
    block = body_of(module)
    with module.context, ir.Location.unknown():
        settings = Settings(load_recipe("unit"))
        rewriter = ScaleRewriter(placeholder(block), settings, Notes(), lambda *_: None)
        ops = [*named(block), ("func.return", terminator(block))]
        assert LastOps(ops[1:], {}, rewriter).start == start  # without the placeholder


def test_no_op_is_known_to_be_wide_without_a_listing(monkeypatch: pytest.MonkeyPatch) -> None:
    known: list[int] = []

    class Noted(LastOps):
        def __init__(self, *arguments: Any) -> None:
            known.append(arguments[3])
            super().__init__(*arguments)

    monkeypatch.setattr(propagation, "LastOps", Noted)
    run_passes(parse(WIDE), [PropagatePass(load_recipe("unit"))])
    assert known == [0]


@pytest.mark.parametrize(("text", "narrow"), [(WIDE, False), (CAST_FIRST, True)])
@pytest.mark.parametrize("listed", [True, False])
def test_main_has_narrow_values_if_one_of_its_floats_is_narrow(
    text: str, narrow: bool, listed: bool
) -> None:
    module = parse(text)
    index, block = ModuleIndex(), body_of(module)
    with module.context, ir.Location.unknown():
        if listed:
            index.list_ops(block)
        recipe = load_recipe("propagate")
        walk = Propagation(module.operation, recipe, index, Report(), annotate=False, probe=False)
        assert walk._has_narrow_values(block) == narrow


TWO_INPUTS = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %y {scalify.layer_input = [0, 1, 1, 0]} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def test_an_op_may_read_the_inputs_of_several_activations() -> None:
    module = parse(TWO_INPUTS)
    block = body_of(module)
    op = block.operations[0].operation
    with module.context, ir.Location.unknown():
        assert attributes.LAYER_INPUT in op.attributes
        settings = Settings(load_recipe("unit"))
        rewriter = ScaleRewriter(placeholder(block), settings, Notes(), lambda *_: None)
        infos = [Scaled(ONE.shift(exponent)) for exponent in (3, 5)]
        for argument, info in zip(block.arguments, infos, strict=True):
            rewriter.set(argument, info)
        activations = Activations()
        activations.note(op, rewriter)
    assert activations._inputs == {0: infos[1], 1: infos[0]}


UNREACHED = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @uncalled(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.composite "scalify.custom_scale" %x {
    composite_attributes = {rule = @rule}, decomposition = @plain
  } : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.composite "scalify.custom_scale" %0 {
    composite_attributes = {rule = @rule}, decomposition = @plain
  } : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.optimization_barrier {scalify.marker = "rebalance"} %1 : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func private @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @rule(%x: tensor<4xf32>, %s: tensor<f32>) -> (tensor<4xf32>, tensor<f32>) {
  return %x, %s : tensor<4xf32>, tensor<f32>
}
"""


def test_all_markers_that_the_walk_does_not_reach_are_removed() -> None:
    module = parse(UNREACHED)
    with module.context, ir.Location.unknown():
        marked_ops.drop(module.operation)
        block = module.body.operations[1].regions[0].blocks[0]
        names = [op.operation.name for op in block.operations]
    assert names == ["func.call", "func.call", "func.return"]
