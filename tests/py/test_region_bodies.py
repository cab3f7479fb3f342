"""Regions that begin like a sum, a maximum or a product and go on: they are none of these."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from scalify_hlo.dialect.monoid import monoid
from tests.py.judge import Array, assert_invariant, parse, rewritten

FIRST = ("add", "maximum", "minimum", "multiply")
NEXT = {
    **{
        name: f"stablehlo.{name} %0 : $s"
        for name in (
            *("abs", "cbrt", "ceil", "cosine", "exponential", "exponential_minus_one", "floor"),
            *("log", "log_plus_one", "logistic", "negate", "round_nearest_even", "rsqrt", "sign"),
            *("sine", "sqrt", "tan", "tanh"),
        )
    },
    **{
        f"{name} with {other}": f"stablehlo.{name} %0, %{other} : $s"
        for name in ("add", "divide", "maximum", "minimum", "multiply", "power", "subtract")
        for other in ("0", "a", "b", "half")
    },
    "reduce_precision": "stablehlo.reduce_precision %0, format = e5m2 : $s",
}
"""The ops after the first one, by name."""

REGION = """({
  ^bb0(%a: $s, %b: $s):
    %0 = stablehlo.FIRST %a, %b : $s
    %1 = NEXT
    stablehlo.return %1 : $s
  })"""
_GROUPS = "replica_groups = dense<[[0]]> : tensor<1x1xi64>"
_PROGRAM = """
func.func @main(%x: tensor<4xf32>, %y: tensor<2xf32>) -> RESULT {
  %half = stablehlo.constant dense<0.5> : $s
  %zero = stablehlo.constant dense<0.0> : $s
  %r = OP
  return %r : RESULT
}"""
OPS = {
    "reduce": (
        f'"stablehlo.reduce"(%x, %zero) <{{dimensions = array<i64: 0>}}> {REGION}'
        " : (tensor<4xf32>, $s) -> $s",
        "$s",
    ),
    "reduce_window": (
        f'"stablehlo.reduce_window"(%x, %zero) <{{window_dimensions = array<i64: 2>}}> {REGION}'
        " : (tensor<4xf32>, $s) -> tensor<3xf32>",
        "tensor<3xf32>",
    ),
    "scatter": (
        '"stablehlo.scatter"(%x, %i, %y) <{scatter_dimension_numbers = #stablehlo.scatter<'
        "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}>"
        f" {REGION} : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>",
        "tensor<4xf32>",
    ),
}
COLLECTIVES = {
    "all_reduce": f'"stablehlo.all_reduce"(%x) <{{{_GROUPS}}}> {REGION}',
    "reduce_scatter": '"stablehlo.reduce_scatter"(%x) '
    f"<{{scatter_dimension = 0 : i64, {_GROUPS}}}> {REGION}",
}
X = np.array([1.5, -0.75, 3.0, 0.375], np.float32)
Y = np.array([-1.25, 2.5], np.float32)
ARRAYS: tuple[Array, Array] = (X, Y)
EXPONENTS = (3, -2)


def text_of(op: str, result: str, first: str, following: str) -> str:
    text = _PROGRAM.replace("OP", op).replace("RESULT", result).replace("NEXT", NEXT[following])
    indices = "  %i = stablehlo.constant dense<[[1], [3]]> : tensor<2x1xi32>\n  %half ="
    return text.replace("FIRST", first).replace("  %half =", indices).replace("$s", "tensor<f32>")


@pytest.mark.slow
@pytest.mark.parametrize(("first", "op"), list(product(FIRST, OPS)))
def test_means_the_same(first: str, op: str) -> None:
    for following in NEXT:
        assert_invariant(text_of(*OPS[op], first, following), ARRAYS, EXPONENTS)


@pytest.mark.parametrize(("first", "op"), list(product(FIRST, COLLECTIVES)))
def test_collectives_are_no_sums_either(first: str, op: str) -> None:
    """One device exchanges nothing, so what the region is taken for is looked at."""
    result = "tensor<4xf32>"
    for following in NEXT:
        text = text_of(f"{COLLECTIVES[op]} : ({result}) -> {result}", result, first, following)
        module = parse(text)
        block = module.body.operations[0].body.blocks[0]
        (collective,) = (o for o in block.operations if len(o.operation.regions))
        assert monoid(collective.operation.regions[0]) is None, following
        rewritten(text, "scaled")
