"""Signs of values, the ops around them, and the number of turns of loops, against counting."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from operator import ge, gt, le, lt, ne
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

from scalify_hlo.dataflow.turns import turns_of
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.program.program import read_text
from scalify_hlo.rules.read_sizes import sign_of
from scalify_hlo.rules.values import enclosing
from tests.py.shared.judge import body_of, parse, stablehlo_of

COMPARISONS = {"LT": lt, "LE": le, "GT": gt, "GE": ge, "NE": ne}

LOOP = """
func.func @main(%x: tensor<f32>, %n: tensor<i32>) -> tensor<f32> {{
  %start = stablehlo.constant dense<{start}> : tensor<i32>
  %end = stablehlo.constant dense<{end}> : tensor<i32>
  %step = stablehlo.constant dense<{step}> : tensor<i32>
  %0:3 = stablehlo.while(%i = %start, %limit = %end, %v = %x)
      : tensor<i32>, tensor<i32>, tensor<f32>
    cond {{
      %goes_on = stablehlo.compare {direction}, {operands}
          : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %goes_on : tensor<i1>
    }} do {{
      %next = stablehlo.{moves} : tensor<i32>
      stablehlo.return %next, {limit}, %v : tensor<i32>, tensor<i32>, tensor<f32>
    }}
  return %0#2 : tensor<f32>
}}
"""


def turns(text: str) -> int | None:
    module = read_text(text).module
    with module.context:
        (loop,) = ops_in(module.operation, {"stablehlo.while"})
        return turns_of(loop)


def counted(start: int, end: int, step: int, goes_on: Callable[[int, int], bool]) -> int | None:
    count = 0
    while goes_on(start, end):
        start, count = start + step, count + 1
        if count > 100:
            return None
    return count


@pytest.mark.parametrize("direction", COMPARISONS)
def test_every_count_and_step(direction: str) -> None:
    for start, end, step in itertools.product((-3, 0, 4), (-2, 0, 10), (-3, -1, 0, 1, 2)):
        text = LOOP.format(
            start=start,
            end=end,
            step=step,
            direction=direction,
            operands="%i, %end",
            moves="add %i, %step",
            limit="%limit",
        )
        expected = counted(start, end, step, COMPARISONS[direction]) if step else None
        assert turns(text) == expected, (start, end, step)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, 4),
        ({"direction": "GE", "operands": "%end, %i"}, 4),
        ({"operands": "%i, %limit"}, 4),
        ({"direction": "GE", "operands": "%limit, %i"}, 4),
        ({"operands": "%i, %limit", "limit": "%next"}, None),
        ({"operands": "%i, %n"}, None),
        ({"operands": "%start, %end"}, None),
        ({"moves": "add %step, %i"}, 4),
        ({"moves": "subtract %step, %i"}, None),
        ({"moves": "subtract %i, %step", "start": 10, "end": 1, "direction": "GE"}, 4),
        ({"moves": "multiply %i, %step"}, None),
        ({"moves": "add %i, %n"}, None),
        ({"direction": "EQ"}, None),
    ],
)
def test_spellings(changed: dict[str, object], expected: int | None) -> None:
    usual = {
        "start": 0,
        "end": 10,
        "step": 3,
        "direction": "LE",
        "operands": "%i, %end",
        "moves": "add %i, %step",
        "limit": "%limit",
    }
    assert turns(LOOP.format(**usual | changed)) == expected


@pytest.mark.parametrize(("length", "known"), [(5, True), (1, True), (5, False)])
def test_loops_of_jax(length: int, *, known: bool) -> None:
    def loop(x: jax.Array, n: jax.Array) -> Any:
        return lax.fori_loop(0, length if known else n, lambda _, v: v * 2, x)

    text = str(export.export(jax.jit(loop))(np.ones(2), np.int32(1)).mlir_module())
    assert turns(text) == (length if known else None)


@pytest.mark.parametrize(
    ("function", "sign"),
    [
        (jnp.abs, 1),
        (lambda x: -jnp.abs(x), -1),
        (lambda x: x * x, 1),
        (lambda x: jnp.exp(x) * -2.0, -1),
        (lambda x: -jnp.exp(x).T / 3, -1),
        (lambda _: jnp.arange(4.0) * -0.1, -1),
        (lambda x: -jnp.abs(x) * -jnp.exp(x), 1),
        (lambda x: x, 0),
        (lambda x: x * jnp.abs(x), 0),
        (jnp.sin, 0),
    ],
)
def test_sign_of_result(function: Callable[[Any], Any], sign: int) -> None:
    text = stablehlo_of(function, np.ones((4, 4), np.float32))
    module = parse(text)
    assert sign_of(body_of(module).operations[-1].operands[0]) == sign


REDUCE = """
func.func @main(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [0]
      : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }
  return %0 : tensor<f32>
}"""


def test_a_value_is_in_the_ops_around_it() -> None:
    module = parse(REDUCE)
    main = module.body.operations[0].operation
    op = main.regions[0].blocks[0].operations[0].operation
    block = op.regions[0].blocks[0]
    assert enclosing(block.arguments[0]) == [op, main, module.operation]
    assert enclosing(block.operations[0].results[0]) == [op, main, module.operation]
    assert enclosing(op.results[0]) == [main, module.operation]
