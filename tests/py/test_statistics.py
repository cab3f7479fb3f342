"""Powers of two from the bits of floats."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scalify_hlo.rules.statistics import _BITS, DOWN, NEAREST, UP


def power(number: float, rounding: str, *, wide: bool) -> float:
    """A number, rounded to a power of two as the ops that are emitted do it."""
    float_, int_ = (np.float64, np.uint64) if wide else (np.float32, np.uint32)
    bits = _BITS[wide]
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
        assert int(np.array(np.inf, float_).view(int_)) == _BITS[wide].infinity
        assert int(np.array(1.0, float_).view(int_)) == _BITS[wide].one
