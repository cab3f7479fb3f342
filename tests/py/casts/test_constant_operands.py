"""Which axis of a constant becomes an axis of an operand, through the ops between them."""

from __future__ import annotations

import pytest

from scalify_hlo.ir.through import _unreshaped, dims_through
from tests.py.shared.judge import body_of, parse

PROGRAM = """
func.func @main(%x: tensor<{before}xf32>, %i: tensor<i32>) -> tensor<{after}xf32> {{
  %0 = {op}
  return %0 : tensor<{after}xf32>
}}"""


def axes(before: str, after: str, op: str, type_: str = "") -> list[int | None]:
    """The axis of the operand for each axis of the result."""
    type_ = type_ or f" : (tensor<{before}xf32>) -> tensor<{after}xf32>"
    module = parse(PROGRAM.format(before=before, after=after, op=op + type_))
    step = body_of(module).operations[0].operation
    return dims_through(step) or [None] * step.results[0].type.rank


@pytest.mark.parametrize(
    ("before", "after", "op", "found"),
    [
        ("2x3x4", "4x2x3", "stablehlo.transpose %x, dims = [2, 0, 1]", [2, 0, 1]),
        ("2x3x4", "2x3x2", "stablehlo.slice %x [0:2, 0:3, 1:3]", [0, 1, None]),
        ("6x4", "2x3x4", "stablehlo.reshape %x", [None, None, 1]),
        ("4x6", "4x2x3", "stablehlo.reshape %x", [0, None, None]),
        ("4x1", "5x4x7", "stablehlo.broadcast_in_dim %x, dims = [1, 2]", [None, 0, None]),
        ("4x5", "5x4x7", "stablehlo.broadcast_in_dim %x, dims = [1, 0]", [1, 0, None]),
    ],
)
def test_axis_before(before: str, after: str, op: str, found: list[int | None]) -> None:
    assert axes(before, after, op) == found


@pytest.mark.parametrize(
    ("op", "found"),
    [
        ("stablehlo.reverse %x, dims = [1] : tensor<2x3xf32>", [0, None]),
        ("stablehlo.convert %x : tensor<2x3xf32>", [0, 1]),
        ("stablehlo.negate %x : tensor<2x3xf32>", [None, None]),
    ],
)
def test_axis_before_ops_of_one_type(op: str, found: list[int | None]) -> None:
    assert axes("2x3", "2x3", op, type_=" ") == found


def test_axis_before_a_dynamic_slice() -> None:
    op = "stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 2]"
    types = " : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>"
    assert axes("2x3", "2x2", op, types) == [0, None]


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ((2, 3, 4), (6, 4), [None, 2]),
        ((2, 3, 4), (2, 12), [0, None]),
        ((6, 2), (2, 6), [None, None]),
        ((2, 6), (6, 2), [None, None]),
        ((4, 2, 4), (8, 4), [None, 2]),
        ((4, 2, 4), (4, 8), [0, None]),
    ],
)
def test_axes_that_keep_their_place_through_a_reshape(
    before: tuple[int, ...], after: tuple[int, ...], found: list[int | None]
) -> None:
    assert [_unreshaped(before, after, axis) for axis in range(len(after))] == found
