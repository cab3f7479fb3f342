"""Sizes of functions that read values: near 0 they are linear, and exponentials are doubtful."""

from __future__ import annotations

import math

import pytest

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import ONE, Scale, Scaled
from scalify_hlo.algebra.uncertainty import UNKNOWN, Uncertainty, of_root
from scalify_hlo.rules.read_sizes import size_of_angle, size_of_read
from tests.py.shared.judge import body_of, parse

PROGRAM = """
func.func @main(%x: tensor<4x3xf32>, %m: tensor<4xf32>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {{
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  {before}
  %0 = stablehlo.{op} {operand} : tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}}"""
SPREAD = "%1 = stablehlo.broadcast_in_dim {}, dims = {} : (tensor<{}>) -> tensor<4x3xf32>\n"
SHIFTED = SPREAD.format("%m", "[0]", "4xf32") + "%2 = stablehlo.subtract %x, %1 : tensor<4x3xf32>"
CONSTANT = SPREAD.format("%c", "[]", "f32") + "%2 = stablehlo.subtract %x, %1 : tensor<4x3xf32>"
UNSPREAD = "%2 = stablehlo.subtract %x, %y : tensor<4x3xf32>"
RESCALED = SHIFTED.replace("%2", "%3") + "\n%2 = stablehlo.multiply %3, %y : tensor<4x3xf32>"


def read(op: str, info: Scaled, before: str = "", operand: str = "%x") -> Scaled:
    module = parse(PROGRAM.format(op=op, before=before, operand=operand))
    operations = body_of(module).operations
    found: ir.OpView = operations[len(operations) - 2]
    return size_of_read(found.operation, info)


def known(level: float, octaves: float = 0.5, exponent: int = 0) -> Scaled:
    return Scaled(Scale(exponent), level, of_root(octaves))


def shown(info: Scaled) -> tuple[float, float]:
    assert info.scale == ONE
    return info.level, info.uncertainty.octaves


class TestExponentials:
    LARGE = 3 * math.log2(math.e) * 2.0**5

    @pytest.mark.parametrize(
        ("before", "octaves"),
        [(SHIFTED, 1.0), (RESCALED, 1.0), (CONSTANT, LARGE), (UNSPREAD, LARGE)],
        ids=["shifted", "rescaled", "by a constant", "by as many elements"],
    )
    def test_of_large_values(self, before: str, octaves: float) -> None:
        assert shown(read("exponential", known(5.0), before, "%2")) == (0.0, octaves)

    @pytest.mark.parametrize(("level", "powers"), [(-3.0, 0.0), (0.0, 1.0), (1.0, 4.0)])
    def test_of_small_values(self, level: float, powers: float) -> None:
        """The rms is ``exp(s * s)``; that of small values is near 1."""
        octaves = max(1.0, powers * math.log2(math.e))
        assert shown(read("exponential", known(level))) == pytest.approx((0.0, octaves))

    def test_scales_count(self) -> None:
        found = shown(read("exponential", known(1.0, exponent=3)))
        assert found == (0.0, 3 * math.log2(math.e) * 2.0**4)

    def test_of_absurd_values(self) -> None:
        found = read("exponential", known(1000.0))
        assert found.uncertainty.octaves == pytest.approx(1e6)


@pytest.mark.parametrize("op", ["tanh", "sine"])
def test_bounded_functions(op: str) -> None:
    assert shown(read(op, known(4.0))) == (0.0, 0.0)
    assert shown(read(op, known(-0.5))) == (0.0, 0.0)
    assert shown(read(op, known(-1.0))) == (-1.0, 0.5)
    assert shown(read(op, known(-4.0, exponent=-2))) == (-6.0, 0.5)
    assert shown(read(op, known(0.0, octaves=9.0))) == (0.0, 9.0)


def test_functions_that_vanish_at_zero() -> None:
    assert shown(read("exponential_minus_one", known(4.0))) == (0.0, 1.0)
    assert shown(read("exponential_minus_one", known(-4.0))) == (-4.0, 0.5)


def test_functions_near_one() -> None:
    assert shown(read("cosine", known(7.0, octaves=20.0))) == (0.0, 0.0)
    assert shown(read("log", known(7.0))) == (0.0, 1.0)


def test_integers() -> None:
    assert shown(read("floor", known(4.0))) == (4.0, 0.5)
    assert shown(read("floor", known(-4.0))) == (0.0, 0.5)


def test_nothing_is_known_of_others() -> None:
    assert read("rsqrt", known(4.0)).uncertainty == UNKNOWN


def test_angles() -> None:
    assert shown(size_of_angle(known(-3.0))) == (-3.0, 0.5)
    assert shown(size_of_angle(known(3.0))) == (0.0, 0.0)
    doubtful = Scaled(ONE, 0.0, Uncertainty({}, bias=9.0))
    assert shown(size_of_angle(doubtful)) == (0.0, 9.0)
