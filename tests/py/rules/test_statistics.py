"""Powers of two from the bits of floats."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scalify_hlo._compat import ir
from scalify_hlo.rules.emitter import BITS, DOWN, NEAREST, UP, Emitter
from tests.py.shared.judge import body_of, evaluate, parse


def power(number: float, rounding: str, *, wide: bool) -> float:
    """A number, rounded to a power of two as the ops that are emitted do it."""
    float_, int_ = (np.float64, np.uint64) if wide else (np.float32, np.uint32)
    bits = BITS[wide]
    word = int(np.array(number, float_).view(int_)) + bits.added(rounding)
    return float(np.array(word & ~bits.fraction, int_).view(float_))


@pytest.mark.parametrize("wide", [False, True])
class TestRounding:
    def test_down_and_up(self, wide: bool) -> None:
        numbers = [1.0, 1.5, 2.0, 3.0, 0.75]
        assert [power(n, DOWN, wide=wide) for n in numbers] == [1.0, 1.0, 2.0, 2.0, 0.5]
        assert [power(n, UP, wide=wide) for n in numbers] == [1.0, 2.0, 2.0, 4.0, 1.0]

    def test_to_the_nearest_logarithm(self, wide: bool) -> None:
        float_ = np.float64 if wide else np.float32
        halfway = float_(math.sqrt(2))
        assert power(float(halfway), NEAREST, wide=wide) == 2.0
        assert power(float(np.nextafter(halfway, float_(1))), NEAREST, wide=wide) == 1.0

    def test_infinity_and_one(self, wide: bool) -> None:
        float_, int_ = (np.float64, np.uint64) if wide else (np.float32, np.uint32)
        assert int(np.array(np.inf, float_).view(int_)) == BITS[wide].infinity
        assert int(np.array(1.0, float_).view(int_)) == BITS[wide].one


@pytest.mark.parametrize("largest", [448.0, 57344.0, 240.0, 448.0 * 2.0**-3, 448.0 * 2.0**-64])
def test_scales_from_bits_are_those_of_a_division(largest: float) -> None:
    """At all exponents, at the fraction of the largest number and beside it."""
    number = int(np.float32(largest).view(np.uint32)) & 0x7FFFFF
    fractions = np.unique(np.clip([0, 1, number - 1, number, number + 1, 0x7FFFFF], 0, 0x7FFFFF))
    exponents = np.arange(17, 255, dtype=np.uint32) << 23
    bits = (exponents[:, None] | fractions.astype(np.uint32)).ravel()
    amax = bits.view(np.float32)
    type_ = f"tensor<{amax.size}xf32>"
    module = parse(f"func.func @main(%x: {type_}) -> {type_} {{ return %x : {type_} }}")
    with module.context, ir.Location.unknown():
        end = body_of(module).operations[0].operation
        emitter = Emitter(end, wide=False, shape=(amax.size,))
        end.operands[0] = emitter.inverse_scale(end.operands[0], largest)
    (found,) = evaluate(module, [amax])
    exact = np.float32(largest) / amax.astype(np.float64)
    wanted = np.exp2(np.floor(np.log2(exact)))
    np.testing.assert_array_equal(
        found, np.where(wanted >= 2.0**-126, wanted, 1).astype(np.float32)
    )
