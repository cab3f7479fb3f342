"""Functions that matter since another one does, which they call."""

from __future__ import annotations

from scalify_hlo.analysis.frames import functions_in
from scalify_hlo.scaling.reaching import _reaching
from tests.py.judge import parse

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
    functions = functions_in(module.body.operations)
    return _reaching(
        functions, lambda block: name in {op.operation.name for op in block.operations}
    )


def test_callers_are_found_with_the_functions_that_they_call() -> None:
    assert reaching("stablehlo.tanh") == {"inner", "outer", "main"}


def test_nothing_is_found_if_no_function_matters() -> None:
    assert reaching("stablehlo.sine") == set()
