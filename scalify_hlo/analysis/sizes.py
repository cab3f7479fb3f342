"""The sizes M, N and K of matmuls and convolutions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect import ragged, scaled_dot
from scalify_hlo.dialect.ragged import RAGGED_DOT


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
        if op.operation.name != "stablehlo.dot_general":
            return _extent(op)
        operands = op.operands
        key = op.attributes["dot_dimension_numbers"], operands[0].type, operands[1].type
        if key not in self._known:
            self._known[key] = _extent(op)
        return self._known[key]


def _extent(op: ir.OpView) -> Extent:
    lhs, rhs = (list(value.type.shape) for value in list(op.operands)[:2])
    if op.operation.name == "stablehlo.dot_general":
        numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
        summed = list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)
        gone = (
            [*summed[0], *numbers.lhs_batching_dimensions],
            [
                *summed[1],
                *numbers.rhs_batching_dimensions,
            ],
        )
        terms = [max(lhs[i], rhs[j]) for i, j in zip(*summed, strict=True)]
        batch = _product(lhs[i] for i in numbers.lhs_batching_dimensions)
        return Extent(_rest(lhs, gone[0]), _rest(rhs, gone[1]), _product(terms), batch)
    if op.operation.name == RAGGED_DOT:
        return _of_ragged(op)
    if scaled_dot.is_scaled_dot(op.operation, op.operation.name):
        return _of_blocks(op)
    if op.operation.name == "stablehlo.dot":
        return Extent(_product(lhs[:-1]), _product(rhs[1:]), _product([max(lhs[-1], rhs[0])]))
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    output = numbers.kernel_output_feature_dimension
    windows = _rest(list(op.results[0].type.shape), [numbers.output_feature_dimension])
    return Extent(windows, _product([rhs[output]]), _rest(rhs, [output]))


def _of_blocks(op: ir.OpView) -> Extent:
    """Returns the extent of a matmul of operands with block scales."""
    lhs, rhs = (list(value.type.shape) for value in list(op.operands)[:2])
    numbers = scaled_dot.dimensions(op)
    m = _rest(lhs, [*numbers.lhs_contracting, *numbers.lhs_batching])
    n = _rest(rhs, [*numbers.rhs_contracting, *numbers.rhs_batching])
    k = _product(lhs[d] for d in numbers.lhs_contracting)
    return Extent(m, n, k, _product(lhs[d] for d in numbers.lhs_batching))


def _of_ragged(op: ir.OpView) -> Extent:
    """Returns the extent of a ragged matmul; K of an average group if groups share the sum."""
    lhs, rhs, groups = (list(value.type.shape) for value in list(op.operands)[:3])
    numbers = ragged.dimensions(op)
    m = _rest(lhs, [*numbers.lhs_contracting, *numbers.lhs_batching])
    n = _rest(rhs, [*numbers.rhs_contracting, *numbers.rhs_batching, *numbers.rhs_group])
    k = _product(lhs[d] for d in numbers.lhs_contracting)
    if k.known and groups[-1] > 0 and set(numbers.lhs_ragged) & set(numbers.lhs_contracting):
        k = Size(max(k.least // groups[-1], 1))
    return Extent(m, n, k)


def _rest(shape: list[int], dims: Iterable[int]) -> Size:
    """Returns the product of the sizes of all other dimensions."""
    without = set(dims)
    return _product(size for d, size in enumerate(shape) if d not in without)


def _product(sizes: Iterable[int]) -> Size:
    """Returns the product of sizes; sizes that are not static are negative."""
    every = list(sizes)
    known = [size for size in every if size >= 0]
    return Size(math.prod(known), len(known) == len(every))
