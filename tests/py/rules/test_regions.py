"""Unit inference: regions of each op mean the same on data as on values, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from scalify_hlo.rules import units
from tests.py.fuzzing.bodies import BINARY
from tests.py.programs.statements import lines
from tests.py.shared.judge import Array, assert_invariant

HEAD = """
  %zero = stablehlo.constant dense<0.0> : $s
  %inf = stablehlo.constant dense<0xFFF0000000000000> : $s
  %nan = stablehlo.constant dense<0x7FF8000000000000> : $s
  %half = stablehlo.constant dense<0.5> : $s"""
MAP = """
func.func @main(%x: $n, %y: $n, %z: $n, %captured: $s) -> ($n) {HEAD
  %0 = "stablehlo.map"(%x, %y, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: $s, %b: $s, %c: $s):
    REGION
  }) : ($n, $n, $n) -> $n
  return %0 : $n
}"""
REDUCE = """
func.func @main(%x: $n, %y: $n, %z: $s, %captured: $s) -> ($s, $s) {HEAD
  %0:2 = "stablehlo.reduce"(%x, %y, %zero, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: $s, %b: $s, %c: $s, %d: $s):
    REGION
  }) : ($n, $n, $s, $s) -> ($s, $s)
  return %0#0, %0#1 : $s, $s
}"""


def text_of(template: str, statements: Sequence[str], n: int) -> str:
    region = lines("; ".join(statements))
    whole = template.replace("HEAD", HEAD).replace("REGION", region)
    return (
        whole.replace("$s_i1", "tensor<i1>")
        .replace("$s", "tensor<f64>")
        .replace("$n", f"tensor<{n}xf64>")
    )


def arrays_for(seed: int, shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    rng = np.random.default_rng(seed)
    sizes = (np.exp2(rng.uniform(-2, 2, shape)) for shape in shapes)
    signed = (size * rng.choice([1.0, 1.0, -1.0], size.shape) for size in sizes)
    return [value * (rng.random(value.shape) < 0.9) for value in signed]


def check(
    text: str,
    seed: int,
    shapes: Sequence[tuple[int, ...]],
    exponents: Sequence[int],
    pairs: Sequence[bool],
) -> None:
    assert_invariant(text, arrays_for(seed, shapes), exponents, pairs=pairs)


_C = "tensor<complex<f64>>"
REGIONS = {
    **{op: f"r = {op} a b" for op in (*BINARY, "atan2")},
    **{op: f"r = {op} a" for op in ("negate", "abs", "sign", "sine")},
    "clamp": "r = clamp a b c",
    "compare": "p = LT a b; r = select p c zero",
    "select": "p = LT a zero; r = select p b c",
    "complex": f"%0 = stablehlo.complex %a, %b : {_C};"
    f"%1 = stablehlo.imag %0 : ({_C}) -> $s; r = add a 1",
    "real": f"%0 = stablehlo.complex %a, %b : {_C}; %r = stablehlo.real %0 : ({_C}) -> $s",
    "imag": f"%0 = stablehlo.complex %a, %b : {_C}; %r = stablehlo.imag %0 : ({_C}) -> $s",
    "reshape": "%r = stablehlo.reshape %a : ($s) -> $s",
    "broadcast_in_dim": "%r = stablehlo.broadcast_in_dim %a, dims = [] : ($s) -> $s",
    "convert": "%0 = stablehlo.convert %a : ($s) -> tensor<f32>;"
    "%r = stablehlo.convert %0 : (tensor<f32>) -> $s",
    "reduce_precision": "%r = stablehlo.reduce_precision %a, format = e11m9 : $s",
    "sqrt": "s = multiply a a; r = sqrt s",
    "rsqrt": "s = multiply a a; r = rsqrt s",
    "constant": "%k = stablehlo.constant dense<0.5> : $s; r = add a k",
}
"""A region whose meaning depends on the unit of an op."""


@pytest.mark.parametrize("op", REGIONS)
def test_units_of_ops(op: str) -> None:
    text = text_of(MAP, [REGIONS[op], "return r"], 4)
    check(text, 3, [(4,), (4,), (4,), ()], (2, -1, 1, 2), (True,) * 4)


def test_each_derivation_is_tried() -> None:
    names = {name.removeprefix("stablehlo.") for name in units.DERIVATIONS}
    assert names - set(REGIONS) == {"is_finite", "sdy.sharding_constraint"}  # no float; no judge


def test_a_zero_factor_does_not_free_the_sum() -> None:
    """x*y + z with x = 0: z has a value whatever scale fits x."""
    text = text_of(MAP, ["s = multiply a b; r = add s c", "return r"], 4)
    zeros = "  %x = stablehlo.constant dense<0.0> : tensor<4xf64>\n"
    text = text.replace("%x: tensor<4xf64>", "%w: tensor<4xf64>").replace("{\n", "{\n" + zeros, 1)
    added = "  %1 = stablehlo.add %0, %w : tensor<4xf64>\n  return %1"
    text = text.replace("  return %0", added)
    check(text, 3, [(4,), (4,), (4,), ()], (2, -1, 1, 2), (True,) * 4)
