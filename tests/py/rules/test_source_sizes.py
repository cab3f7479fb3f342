"""Sizes of constants, and how certain they are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import ONE, Scaled
from scalify_hlo.algebra.uncertainty import CONSTANT
from scalify_hlo.rules.source_sizes import info_of_constant
from tests.py.shared.judge import body_of, parse

CONSTANT_PROGRAM = """
func.func @main() -> tensor<{type}> {{
  %0 = stablehlo.constant dense<{values}> : tensor<{type}>
  return %0 : tensor<{type}>
}}"""


def found(values: object, type_: str) -> Scaled | None:
    module = parse(CONSTANT_PROGRAM.format(values=values, type=type_))
    op = body_of(module).operations[0]
    return info_of_constant(ir.DenseElementsAttr(op.attributes["value"]))


def info(values: object, type_: str = "4xf32") -> Scaled:
    known = found(values, type_)
    assert known is not None
    assert known.scale == ONE
    return known


@pytest.mark.parametrize(
    ("values", "size"),
    [
        ([1.0, 2.0, 3.0, 4.0], 7.5),
        ([-1.0, 0.0, 0.0, 1.0], 0.5),
        ([0.25, float(2**31), 0.25, 0.25], 2.0**60),
    ],
)
def test_size(values: list[float], size: float) -> None:
    assert info(values).level == pytest.approx(0.5 * math.log2(size))


@pytest.mark.parametrize("values", [[1.0, 0.0, 2.0, 4.0], [2.0**-5, 2.0**5, 2.0**-5, 2.0**5]])
def test_elements_within_five_octaves_are_certain(values: list[float]) -> None:
    assert info(values).uncertainty is CONSTANT


def test_elements_that_are_octaves_apart_are_not() -> None:
    """The standard deviation of their logarithms is 10 octaves; zeros do not count."""
    uncertainty = info([2.0**-10, 0.0, 2.0**10, 0.0]).uncertainty
    assert uncertainty.octaves == 10.0
    assert uncertainty.constant


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ("1.0", "4xf32"),
        ("[0.0, -0.0]", "2xf32"),
        (f"[1.0, {2.0**32}]", "2xf32"),
        ("[1, 2]", "2xi32"),
    ],
    ids=["splat", "zeros", "mask", "integers"],
)
def test_these_tell_no_size(values: str, type_: str) -> None:
    assert found(values, type_) is None


def test_numbers_that_are_not_finite_do_not_count() -> None:
    bits = np.array([1.0, np.inf, 1.0, np.nan], np.float32).tobytes().hex().upper()
    assert info(f'"0x{bits}"').level == 0.0
