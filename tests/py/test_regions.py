"""Unit inference: regions made at random mean the same on data as on values, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import ANY, ONE
from scalify_hlo.rules import units
from scalify_hlo.rules.units import Inference, Unit
from tests.py.fuzzing.bodies import BINARY, draw_body, order_by
from tests.py.judge import Array, assert_invariant
from tests.py.programs.short import mlir
from tests.py.programs.statements import lines

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
REDUCE = mlir("""x y: $n, z captured: $s
  HEAD
    %0:2 = "stablehlo.reduce"(%x, %y, %zero, %z) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: $s, %b: $s, %c: $s, %d: $s):
      REGION
    }) : ($n, $n, $s, $s) -> ($s, $s)
    return %0#0, %0#1 : $s, $s""")
SORT = mlir("""x y z: $n, captured: $s
  HEAD
    %0:3 = "stablehlo.sort"(%x, %y, %z) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: $s, %a_: $s, %b: $s, %b_: $s, %c: $s, %c_: $s):
      REGION
    }) : ($n, $n, $n) -> ($n, $n, $n)
    return %0#0, %0#1, %0#2 : $n, $n, $n""")
# The interpreter scatters in place, so an update that is an input too would change on the way.
SCATTER = mlir("""x y z: $n, captured: $s
  HEAD
    i = const [[1], [3], [1], [0]] : 4x1xi32; u = negate x
    %0:2 = "stablehlo.scatter"(%x, %y, %i, %z, %u) <{
      scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
    }> ({
    ^bb0(%a: $s, %b: $s, %c: $s, %d: $s):
      REGION
    }) : ($n, $n, tensor<4x1xi32>, $n, $n) -> ($n, $n)
    return %0#0, %0#1 : $n, $n""")


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


RUNS = given(
    random=st.randoms(use_true_random=False),
    seed=st.integers(0, 2**32 - 1),
    exponents=st.tuples(*[st.integers(-2, 2)] * 4),
    pairs=st.tuples(*[st.sampled_from((True, True, False))] * 4),
)


def check(
    text: str,
    seed: int,
    shapes: Sequence[tuple[int, ...]],
    exponents: Sequence[int],
    pairs: Sequence[bool],
) -> None:
    assert_invariant(text, arrays_for(seed, shapes), exponents, pairs=pairs)


OPS: dict[str, tuple[str, str, int, int, list[tuple[int, ...]]]] = {
    "map": (MAP, "abc", 4, 4, [(4,), (4,), (4,), ()]),
    "reduce": (REDUCE, "abcd", 3, 2, [(2,), (2,), (), ()]),
    "scatter": (SCATTER, "abcd", 3, 4, [(4,), (4,), (4,), ()]),
    "sort": (SORT, "abc", 4, 4, [(4,), (4,), (4,), ()]),
}
"""Programs, the arguments of their regions, how many ops these have, n, and what they take."""


@pytest.mark.parametrize("op", OPS)
@settings(max_examples=60)
@RUNS
def test_drawn_regions(
    op: str, random: Random, seed: int, exponents: tuple[int, ...], pairs: tuple[bool, ...]
) -> None:
    template, names, count, n, shapes = OPS[op]
    body = draw_body(random, names, count)
    other = f" {random.choice(body.names)}" if op in ("reduce", "scatter") else ""
    ending = (
        order_by(body) if op == "sort" else (*body.statements, f"return {body.names[-1]}{other}")
    )
    check(text_of(template, ending, n), seed, shapes, exponents, pairs)


def first(inference: Inference, op: ir.OpView) -> Unit:
    """Wrong: looks at the first operand only."""
    return inference.of(op.operands[0])


def second(inference: Inference, op: ir.OpView) -> Unit:
    """Wrong: looks at the second operand only."""
    return inference.of(op.operands[1])


def unit(_: Inference, __: ir.OpView) -> Unit:
    """Wrong: looks at no operand."""
    return ONE


def fitting(_: Inference, __: ir.OpView) -> Unit:
    """Wrong: as if it were zero."""
    return ANY


_C = "tensor<complex<f64>>"
WRONG = {
    **{op: (first, f"r = {op} a b") for op in BINARY},
    **{op: (unit, f"r = {op} a") for op in ("negate", "abs")},
    "clamp": (first, "r = clamp a b c"),
    "compare": (unit, "p = LT a b; r = select p c zero"),
    "atan2": (unit, "r = atan2 a b"),
    "select": (second, "p = LT a zero; r = select p b c"),
    "complex": (
        first,
        f"%0 = stablehlo.complex %a, %b : {_C}; %1 = stablehlo.imag %0 : ({_C}) -> $s; r = add a 1",
    ),
    "real": (unit, f"%0 = stablehlo.complex %a, %b : {_C}; %r = stablehlo.real %0 : ({_C}) -> $s"),
    "imag": (unit, f"%0 = stablehlo.complex %a, %b : {_C}; %r = stablehlo.imag %0 : ({_C}) -> $s"),
    "reshape": (unit, "%r = stablehlo.reshape %a : ($s) -> $s"),
    "broadcast_in_dim": (unit, "%r = stablehlo.broadcast_in_dim %a, dims = [] : ($s) -> $s"),
    "sign": (first, "r = sign a"),
    "sine": (first, "r = sine a"),
    "convert": (
        unit,
        "%0 = stablehlo.convert %a : ($s) -> tensor<f32>;"
        "%r = stablehlo.convert %0 : (tensor<f32>) -> $s",
    ),
    "reduce_precision": (unit, "%r = stablehlo.reduce_precision %a, format = e11m9 : $s"),
    "sqrt": (first, "s = multiply a a; r = sqrt s"),
    "rsqrt": (first, "s = multiply a a; r = rsqrt s"),
    "constant": (fitting, "%k = stablehlo.constant dense<0.5> : $s; r = add a k"),
}
"""A wrong derivation of each op's unit, and a region whose meaning it changes."""


@pytest.mark.parametrize("op", WRONG)
def test_wrong_units_are_noticed(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    derive, region = WRONG[op]
    text = text_of(MAP, [region, "return r"], 4)
    shapes = [(4,), (4,), (4,), ()]
    check(text, 3, shapes, (2, -1, 1, 2), (True,) * 4)
    monkeypatch.setitem(units.DERIVATIONS, f"stablehlo.{op}", derive)
    with pytest.raises(AssertionError):
        check(text, 3, shapes, (2, -1, 1, 2), (True,) * 4)


def test_each_derivation_is_tried() -> None:
    names = {name.removeprefix("stablehlo.") for name in units.DERIVATIONS}
    assert names - set(WRONG) == {"is_finite", "sdy.sharding_constraint"}  # no float; no judge


def test_a_zero_factor_does_not_free_the_sum() -> None:
    """x*y + z with x = 0: z has a value whatever scale fits x."""
    text = text_of(MAP, ["s = multiply a b; r = add s c", "return r"], 4)
    zeros = "  %x = stablehlo.constant dense<0.0> : tensor<4xf64>\n"
    text = text.replace("%x: tensor<4xf64>", "%w: tensor<4xf64>").replace("{\n", "{\n" + zeros, 1)
    added = "  %1 = stablehlo.add %0, %w : tensor<4xf64>\n  return %1"
    text = text.replace("  return %0", added)
    check(text, 3, [(4,), (4,), (4,), ()], (2, -1, 1, 2), (True,) * 4)
