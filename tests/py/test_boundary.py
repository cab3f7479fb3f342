"""Reports of arguments and results."""

from __future__ import annotations

import pytest

from scalify_hlo.recipes.loading import load_recipe
from tests.py.judge import rewritten
from tests.py.programs.short import mlir

PROGRAM = mlir("""x: 32x32, i: 4xi32
  0 = dot_general x x, contracting_dims = [1] x [0] : 32x32; return 0 i""")


@pytest.mark.parametrize("recipe", ["propagate", "fp8"])
@pytest.mark.parametrize(("signature", "pair"), [("same", False), ("scaled", True)])
def test_floats_are_pairs_of_a_scaled_signature(recipe: str, signature: str, pair: bool) -> None:
    _, report = rewritten(PROGRAM, signature, recipe=load_recipe(recipe))
    assert [argument.paired for argument in report.arguments] == [pair, False]
    assert [result.paired for result in report.results] == [pair, False]
