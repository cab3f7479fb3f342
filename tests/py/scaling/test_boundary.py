"""Reports of arguments and results."""

from __future__ import annotations

import pytest

from scalify_hlo.recipes.loading import load_recipe
from tests.py.shared.judge import rewritten

PROGRAM = """
func.func @main(%x: tensor<32x32xf32>, %i: tensor<4xi32>) -> (tensor<32x32xf32>, tensor<4xi32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
    : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0, %i : tensor<32x32xf32>, tensor<4xi32>
}
"""


@pytest.mark.parametrize("recipe", ["propagate", "fp8"])
@pytest.mark.parametrize(("signature", "pair"), [("same", False), ("scaled", True)])
def test_floats_are_pairs_of_a_scaled_signature(recipe: str, signature: str, pair: bool) -> None:
    _, report = rewritten(PROGRAM, signature, recipe=load_recipe(recipe))
    assert [argument.paired for argument in report.arguments] == [pair, False]
    assert [result.paired for result in report.results] == [pair, False]
