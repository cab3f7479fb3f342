"""The dimensions of matmuls: those of batches, those of the result, and those that are summed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from scalify_hlo._compat import chlo, ir, stablehlo

DOT: Final = "stablehlo.dot"
DOT_GENERAL: Final = "stablehlo.dot_general"
RAGGED_DOT: Final = "chlo.ragged_dot"
NUMBERS: Final = "dot_dimension_numbers"
_RAGGED_NUMBERS: Final = "ragged_dot_dimension_numbers"


class Axes(NamedTuple):
    """The dimensions of an operand.

    Attributes:
        batch: Those that both operands share.
        free: Those of the result that are this operand's own.
        summed: Those that are contracted.
    """

    batch: tuple[int, ...]
    free: tuple[int, ...]
    summed: tuple[int, ...]

    @property
    def order(self) -> list[int]:
        """All dimensions: batch, free and summed ones."""
        return [*self.batch, *self.free, *self.summed]


class Contraction(NamedTuple):
    """The dimensions of both operands of a matmul."""

    lhs: Axes
    rhs: Axes

    @property
    def attribute(self) -> ir.Attribute:
        """The dimension numbers of a ``dot_general``."""
        (lhs, _, left), (rhs, _, right) = self
        return stablehlo.DotDimensionNumbers.get(*map(list, (lhs, rhs, left, right)))

    @property
    def summed(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The dimensions of both operands that are summed, pair by pair."""
        return self.lhs.summed, self.rhs.summed

    @property
    def batch(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The dimensions that both operands share, pair by pair."""
        return self.lhs.batch, self.rhs.batch

    @property
    def swapped(self) -> Contraction:
        """The dimensions for swapped operands."""
        return Contraction(self.rhs, self.lhs)

    def in_result(self, side: int, rank: int) -> dict[int, int]:
        """Returns the dimensions of the result that batch and free dimensions of an operand become.

        Those of the left operand come before those of the right one, after those of batches.

        Args:
            side: 0 for the left operand, 1 for the right one.
            rank: The rank of the result, which may begin with a dimension of groups.
        """
        batch, free, _ = self[side]
        first = rank - len(self.rhs.free) - (0 if side else len(free))
        start = rank - len(self.rhs.free) - len(self.lhs.free) - len(batch)
        places = {d: start + i for i, d in enumerate(batch)}
        return places | {d: first + i for i, d in enumerate(free)}


def contraction_of(op: ir.Operation | ir.OpView) -> Contraction:
    """Returns the dimensions of a matmul, one of the ops in `CONTRACTED`.

    Those of the groups of a ragged matmul's right operand are in none of the three kinds.
    """
    ranks = op.operands[0].type.rank, op.operands[1].type.rank
    name = op.operation.name
    if name == DOT_GENERAL:
        return of_numbers(op.attributes[NUMBERS], ranks)
    if name == DOT:
        return contraction(ranks, ((), ()), ((ranks[0] - 1,), (0,)))
    numbers = ragged_numbers(op.attributes[_RAGGED_NUMBERS])
    batch = numbers.lhs_batching, numbers.rhs_batching
    summed = numbers.lhs_contracting, numbers.rhs_contracting
    return contraction(ranks, batch, summed, numbers.rhs_group)


def of_numbers(attribute: ir.Attribute, ranks: Iterable[int]) -> Contraction:
    """Returns the dimensions of a ``dot_general``, from the attribute that has them."""
    numbers = stablehlo.DotDimensionNumbers(attribute)
    batch = numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions
    summed = numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions
    return contraction(ranks, batch, summed)


def dot_numbers(
    lhs_summed: Sequence[int], rhs_summed: Sequence[int], batch: Sequence[int] = ()
) -> ir.Attribute:
    """Returns the dimension numbers of a ``dot_general`` whose operands share their first ones."""
    sides = (Axes(tuple(batch), (), tuple(summed)) for summed in (lhs_summed, rhs_summed))
    return Contraction(*sides).attribute


def contraction(
    ranks: Iterable[int],
    batches: Sequence[Iterable[int]],
    sums: Sequence[Iterable[int]],
    groups: Sequence[int] = (),
) -> Contraction:
    """Returns the dimensions of operands of some ranks, whose other dimensions are free.

    Args:
        ranks: The ranks of both operands.
        batches: The dimensions that they share.
        sums: The dimensions that are summed.
        groups: The dimensions of the right operand that are of neither kind.
    """
    sides = []
    for rank, batch, summed, other in zip(ranks, batches, sums, ((), groups), strict=True):
        taken = tuple(batch), tuple(summed)
        free = tuple(d for d in range(rank) if d not in (*taken[0], *taken[1], *other))
        sides.append(Axes(taken[0], free, taken[1]))
    return Contraction(*sides)


class RaggedNumbers(NamedTuple):
    """The dimension numbers of a ragged matmul, in the order of the attribute."""

    lhs_batching: Sequence[int]
    rhs_batching: Sequence[int]
    lhs_contracting: Sequence[int]
    rhs_contracting: Sequence[int]
    lhs_ragged: Sequence[int]
    rhs_group: Sequence[int]

    @property
    def attribute(self) -> ir.Attribute:
        """The dimension numbers as an attribute of the op."""
        return chlo.RaggedDotDimensionNumbers.get(*map(list, self))


def ragged_numbers(attribute: ir.Attribute) -> RaggedNumbers:
    """Returns the dimension numbers of a ``chlo.ragged_dot``, from the attribute that has them."""
    found = chlo.RaggedDotDimensionNumbers(attribute)
    names = (f"{name}_dimensions" for name in RaggedNumbers._fields)
    return RaggedNumbers(*(list(getattr(found, name)) for name in names))
