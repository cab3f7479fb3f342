"""The table of number formats, compared with ml_dtypes."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from scalify_hlo.algebra.formats import FORMATS

IN_ML_DTYPES = sorted(FORMATS.keys() - {"tf32"})
WIDE = {"f64", "f32", "tf32", "bf16"}
LARGEST = {"f64": np.finfo(np.float64).max, "f32": np.finfo(np.float32).max}


def dtype(name: str) -> np.dtype[Any]:
    if name in ("f64", "f32", "f16"):
        return np.dtype(name.replace("f", "float"))
    full = "bfloat16" if name == "bf16" else f"float{name[1]}_{name[2:].lower()}"
    found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, full))
    return found


@pytest.mark.parametrize("name", IN_ML_DTYPES)
def test_parameters(name: str) -> None:
    format_, info = FORMATS[name], ml_dtypes.finfo(dtype(name))
    assert format_.name == name
    assert format_.bits == info.bits
    assert format_.mantissa_bits == info.nmant
    assert format_.exponent_bits == info.bits - 1 - info.nmant
    assert format_.max_finite == LARGEST.get(name, float(info.max))
    assert format_.max_exponent == math.frexp(format_.max_finite)[1] - 1
    assert 2.0**format_.min_exponent == float(info.smallest_normal)


def test_tf32_has_the_range_of_f32_and_the_mantissa_of_f16() -> None:
    tf32, f32, f16 = FORMATS["tf32"], FORMATS["f32"], FORMATS["f16"]
    assert (tf32.min_exponent, tf32.max_exponent) == (f32.min_exponent, f32.max_exponent)
    assert tf32.exponent_bits == f32.exponent_bits
    assert tf32.mantissa_bits == f16.mantissa_bits
    assert tf32.max_finite == f16.max_finite * 2.0 ** (127 - 15)


@pytest.mark.parametrize("name", IN_ML_DTYPES)
def test_infinities(name: str) -> None:
    with np.errstate(all="ignore"):
        assert FORMATS[name].infinite == np.isinf(
            np.array(np.inf).astype(dtype(name)).astype(float)
        )


def test_wide_formats_flush_subnormal_numbers() -> None:
    assert {name for name, format_ in FORMATS.items() if format_.wide} == WIDE
    for name, format_ in FORMATS.items():
        subnormal = 0 if name in WIDE else format_.mantissa_bits
        assert format_.smallest == 2.0 ** (format_.min_exponent - subnormal)


@pytest.mark.parametrize("name", IN_ML_DTYPES)
def test_a_format_holds_its_normal_numbers(name: str) -> None:
    format_ = FORMATS[name]
    normal, step = 2.0**format_.min_exponent, 2.0**-format_.mantissa_bits
    for held in (1.0, 1 + step, normal, format_.max_finite, normal * (1 + step)):
        assert format_.holds(held)
        assert format_.holds(-held)
    assert not format_.holds(normal / 2)
    if name != "f64":  # which has all numbers that Python has
        assert not format_.holds(1 + step / 2)
        assert not format_.holds(2.0 * 2.0**format_.max_exponent)


@pytest.mark.parametrize(
    ("name", "room"), [("f16", 13), ("bf16", 125), ("f8E5M2", 13), ("f8E4M3FN", 3), ("f8E3M4", -1)]
)
def test_room(name: str, room: int) -> None:
    assert FORMATS[name].room == room
