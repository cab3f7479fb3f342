"""Regions that begin like a sum, a maximum or a product and go on: they are none of these."""

from __future__ import annotations

from itertools import product

import pytest

from scalify_hlo.ir.monoid import monoid
from tests.py.shared.judge import body_of, parse, rewritten

FIRST = ("add", "maximum", "minimum", "multiply")
NEXT = (
    "negate %0",
    *(f"{name} %0, %{other}" for name in ("add", "divide") for other in ("half", "a", "b", "0")),
    "reduce_precision %0, format = e5m2",
)
"""The ops after the first one."""

PROGRAM = """
func.func @main(%x: tensor<4xf32>, %y: tensor<2xf32>) -> tensor<4xf32> {
  %half = stablehlo.constant dense<0.5> : $s
  %r = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0]]> : tensor<1x1xi64>}> ({
  ^bb0(%a: $s, %b: $s):
    %0 = stablehlo.FIRST %a, %b : $s
    %1 = stablehlo.NEXT : $s
    stablehlo.return %1 : $s
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}"""


@pytest.mark.parametrize(("first", "following"), product(FIRST, NEXT))
def test_regions_that_go_on_are_no_sums(first: str, following: str) -> None:
    text = PROGRAM.replace("NEXT", following).replace("FIRST", first)
    text = text.replace("$s", "tensor<f32>")
    module = parse(text)
    (reduction,) = (op for op in body_of(module).operations if len(op.operation.regions))
    assert monoid(reduction.operation.regions[0]) is None
    rewritten(text, "scaled")
