"""What a report says of arguments and results."""

from __future__ import annotations

import pytest

from tests.py.judge import rewritten

PROGRAM = """
func.func @main(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0, %i : tensor<4xf32>, tensor<4xi32>
}
"""


@pytest.mark.parametrize(("signature", "pair"), [("same", False), ("scaled", True)])
def test_floats_are_pairs_of_a_scaled_signature(signature: str, pair: bool) -> None:
    _, report = rewritten(PROGRAM, signature)
    assert [argument.paired for argument in report.arguments] == [pair, False]
    assert [result.paired for result in report.results] == [pair, False]
