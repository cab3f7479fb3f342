"""The sizes M, N and K of matmuls and convolutions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.ir.contraction import DOT_GENERAL, NUMBERS, RAGGED_DOT, contraction_of
from scalify_hlo.ir.ragged import terms
from scalify_hlo.ir.scaled_dot import dimensions, is_scaled_dot
from scalify_hlo.ir.traits import CONTRACTED


class Size(NamedTuple):
    """M, N or K of a matmul: the product of some sizes of an operand.

    Attributes:
        least: The product of the static sizes.
        known: Whether all sizes are static.
    """

    least: int
    known: bool = True

    def below(self, bound: int) -> bool:
        """Whether the size is known to be less than a bound."""
        return self.known and self.least < bound

    def __str__(self) -> str:
        return str(self.least) if self.known else "?"


class Extent(NamedTuple):
    """M, N and K of a matmul of matrices; batch dimensions are not counted.

    Attributes:
        m: The rows of the left operand; of a convolution, its windows.
        n: The columns of the right operand; of a convolution, its output features.
        k: The number of terms of each sum.
        batch: The number of matmuls of matrices that it is.
    """

    m: Size
    n: Size
    k: Size
    batch: Size = Size(1)

    def __str__(self) -> str:
        return " x ".join(map(str, self[:3]))


class Sizes:
    """M, N and K of the matmuls of a program; equal matmuls are computed once."""

    def __init__(self) -> None:
        self._known: dict[tuple[ir.Attribute | ir.Type, ...], Extent] = {}

    def of(self, op: ir.OpView) -> Extent:
        """Returns M, N and K of a matmul."""
        if op.operation.name != DOT_GENERAL:
            return _extent(op)
        operands = op.operands
        key = op.attributes[NUMBERS], operands[0].type, operands[1].type
        if key not in self._known:
            self._known[key] = _extent(op)
        return self._known[key]


def _extent(op: ir.OpView) -> Extent:
    name = op.operation.name
    lhs, rhs = (list(value.type.shape) for value in list(op.operands)[:2])
    if name not in CONTRACTED and not is_scaled_dot(op.operation, name):
        numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
        output = numbers.kernel_output_feature_dimension
        windows = _rest(list(op.results[0].type.shape), [numbers.output_feature_dimension])
        return Extent(windows, _product([rhs[output]]), _rest(rhs, [output]))
    of = contraction_of(op) if name in CONTRACTED else dimensions(op)
    m, n = _product(lhs[d] for d in of.lhs.free), _product(rhs[d] for d in of.rhs.free)
    k = _product(max(lhs[i], rhs[j]) for i, j in zip(*of.summed, strict=True))
    if name == RAGGED_DOT:
        return Extent(m, n, _of_group(op, k))
    return Extent(m, n, k, _product(lhs[d] for d in of.lhs.batch))


def _of_group(op: ir.OpView, k: Size) -> Size:
    """Returns K of an average group of a ragged matmul, if groups share the sum."""
    groups = terms(op) if k.known else None
    return k if groups is None else Size(groups)


def _rest(shape: list[int], dims: Iterable[int]) -> Size:
    """Returns the product of the sizes of all other dimensions."""
    without = set(dims)
    return _product(size for d, size in enumerate(shape) if d not in without)


def _product(sizes: Iterable[int]) -> Size:
    """Returns the product of sizes; sizes that are not static are negative."""
    every = list(sizes)
    known = [size for size in every if size >= 0]
    return Size(math.prod(known), len(known) == len(every))
