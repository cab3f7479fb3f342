"""Constants in other formats: their scales, their rounding, and where casts saturate."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.casts.encoding import (
    RMS,
    Scales,
    _varint,
    bound,
    encode,
    exponent_below_rms,
    log2_rms,
    unclipped,
)
from tests.py.shared.judge import body_of, parse

PROGRAM = "func.func @main() {{ %0 = stablehlo.constant dense<{}> : tensor<{}> return }}"


def encoded(values: object, type_: str, element: str, scales: Scales = RMS) -> tuple[str, object]:
    """The data of an encoded constant as text, and its exponents."""
    module = parse(PROGRAM.format(values, type_))
    op = body_of(module).operations[0]
    with module.context, ir.Location.unknown():
        attribute, exponents = encode(op.attributes["value"], [], ir.Type.parse(element), scales)
        return str(attribute), exponents.tolist()


class TestScales:
    def test_rms(self) -> None:
        text, exponent = encoded([1.0, 7.0, 1.0, 7.0], "4xf32", "f8E4M3FN")  # rms 5
        assert exponent == 2
        data = "[2.500000e-01, 1.750000e+00, 2.500000e-01, 1.750000e+00]"
        assert text == f"dense<{data}> : tensor<4xf8E4M3FN>"

    @pytest.mark.parametrize(
        ("largest", "margin", "exponent"),
        [(448.0, 0, 0), (449.0, 0, 1), (448.0, 2, 2), (1.0, 0, -8)],
    )
    def test_max(self, largest: float, margin: int, exponent: int) -> None:
        scales = Scales("max", margin=margin)
        assert encoded([0.0, -largest], "2xf32", "f8E4M3FN", scales)[1] == exponent

    def test_each_index_of_an_axis_has_a_scale(self) -> None:
        values = [[1.0, 448.0], [0.5, 896.0], [0.0, 0.0]]
        scales = Scales("max", axes=(0,))
        text, exponents = encoded(values, "3x2xf32", "f8E4M3FN", scales)
        assert exponents == [0, 1, 0]
        assert "[1.000000e+00, 4.480000e+02], [2.500000e-01, 4.480000e+02]" in text

    def test_given(self) -> None:
        text, exponent = encoded([1.0, 2.0], "2xf32", "f16", Scales("given", exponent=3))
        assert exponent == 3
        assert text == "dense<[1.250000e-01, 2.500000e-01]> : tensor<2xf16>"


def test_rms_of_values_whose_squares_overflow_and_of_nothing() -> None:
    values = np.array([3e300, -3e300, np.inf, np.nan])
    assert log2_rms(values) == pytest.approx(math.log2(3e300))
    assert exponent_below_rms(values) == math.floor(math.log2(3e300))
    assert exponent_below_rms(np.array([1e-300, -1e-300])) == -997
    assert log2_rms(np.array([])) == log2_rms(np.array([0.0, np.inf, np.nan])) == 0.0


def test_powers_of_two_that_bring_magnitudes_into_range() -> None:
    target = FORMATS["f8E4M3FN"]
    largest = np.array([0.0, 448.0, 448.5, 896.0, 224.0, 225.0])
    assert unclipped(largest, target).tolist() == [0, 0, 1, 1, -1, 0]


@pytest.mark.parametrize(
    ("source", "target", "most"),
    [
        ("f32", "f16", 65504.0),
        ("f32", "f8E4M3FN", 448.0),
        ("bf16", "f16", 65504.0),
        ("f32", "bf16", None),
        ("f16", "f32", None),
        ("f16", "f8E5M2", None),
        ("f16", "f16", None),
    ],
)
def test_casts_to_fewer_exponent_bits_saturate(
    source: str, target: str, most: float | None
) -> None:
    assert bound(FORMATS[source], FORMATS[target]) == most


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "01"),
        (127, "ff"),
        (128, "0202"),
        ((1 << 14) - 1, "feff"),
        (1 << 14, "040002"),
        ((1 << 49) - 1, "c0" + "ff" * 6),
        (1 << 49, "80" + "00" * 6 + "02"),
        (1 << 56, "00" + "00" * 7 + "01"),
    ],
)
def test_lengths_as_bytecode_has_them(number: int, expected: str) -> None:
    assert _varint(number).hex() == expected
