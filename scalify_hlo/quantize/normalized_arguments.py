"""Statistics of normalized arguments behind barriers, so that casts read the argument itself.

XLA for GPUs normalizes the rows of a tensor in one kernel, if it finds a tensor in memory that is
multiplied with one statistic of itself. That kernel has one result in one order. If the result is
cast to f8 for matmuls that read it in two orders, as those of a forward and a backward pass do, the
kernel writes it wide, another one reads it, and it is kept for the gradient of the normalization.

Behind a barrier, the statistic is a kernel of its own, and that of the cast reads the argument. If
a kernel computes the tensor, it takes the statistic along anyway. With two statistics, as those of
a layer normalization, the argument would be read once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import NORMALIZATION_OPS, SECOND_CAST_ELEMENTS
from scalify_hlo.algebra.search import Search
from scalify_hlo.analysis.frames import Named
from scalify_hlo.dialect import traits
from scalify_hlo.dialect.formats import format_of
from scalify_hlo.dialect.functions import is_block, maker
from scalify_hlo.dialect.splats import is_constant
from scalify_hlo.dialect.value_map import ValueSet
from scalify_hlo.quantize.cast_costs import contracted_last
from scalify_hlo.quantize.casts import barrier_after
from scalify_hlo.quantize.second_casts import readers_of

_BROADCAST: Final = "stablehlo.broadcast_in_dim"
_REDUCE: Final = "stablehlo.reduce"
_SMALL: Final = traits.EACH | traits.SAME_ORDER


def part_statistics(ops: Sequence[Named]) -> int:
    """Puts the statistics of normalized arguments behind barriers.

    Args:
        ops: The ops of the block of ``main``, of which casts were not erased.

    Returns:
        The number of statistics.
    """
    found = ValueSet()
    for name, op in ops:
        if name == "stablehlo.convert" and _is_read_in_two_orders(op):
            found.add_all(_statistic(op))
    for value in list(found):
        uses = [(use.owner, use.operand_number) for use in value.uses]
        apart = barrier_after(value)
        for user, number in uses:
            user.operands[number] = apart
    return len(found)


def _is_read_in_two_orders(cast: ir.Operation) -> bool:
    """Whether matmuls sum over the last dimension of a large cast to 8 bits, and over another."""
    type_ = cast.results[0].type
    format_ = format_of(type_)
    if format_ is None or not format_.small or not type_.has_static_shape:
        return False
    if prod(type_.shape) < SECOND_CAST_ELEMENTS:
        return False
    dots = [read for read in readers_of(cast.results[0]) if read[0].name == "stablehlo.dot_general"]
    return len({contracted_last(op.opview)[side] for op, side in dots}) == 2


def _statistic(cast: ir.Operation) -> list[ir.Value]:
    """Returns the only statistic with which a cast normalizes an argument; none if it does not."""
    arguments, spread = ValueSet(), ValueSet()
    for value in _sources(cast.operands[0]):
        if is_block(value.owner):
            arguments.add(value)
        elif value.owner.operation.name == _BROADCAST:
            if prod(value.owner.operands[0].type.shape) > 1:
                spread.add(value.owner.operands[0])
        else:
            return []
    reduced = [(value, reduce) for value in spread if (reduce := _reduce_of(value)) is not None]
    if len(arguments) != 1 or len(reduced) != 1:
        return []
    value, reduce = reduced[0]
    own = ValueSet(_sources(reduce.operands[0]))
    return [value] if list(own) == list(arguments) else []


def _sources(value: ir.Value) -> Iterator[ir.Value]:
    """Yields the values of the same number of elements of which elementwise ops make a value."""
    count = prod(value.type.shape)

    def is_made(value: ir.Value) -> bool:
        made = not is_block(value.owner) and value.owner.name in traits.EACH
        return made and len(search.found) <= NORMALIZATION_OPS

    def made_of(value: ir.Value) -> Iterator[ir.Value]:
        operands = value.owner.operands if is_made(value) else ()
        return (each for each in operands if prod(each.type.shape) == count)

    search = Search([value], made_of, seen=ValueSet())
    for here in search:
        if not is_constant(here) and not is_made(here):
            yield here


def _reduce_of(value: ir.Value) -> ir.Operation | None:
    """Returns the only reduction of which ops on its result make a value; None for others."""
    found = list[ir.Operation]()

    def made_of(value: ir.Value) -> Sequence[ir.Value]:
        small = not is_block(value.owner) and value.owner.name in _SMALL
        return list(value.owner.operands) if small else []

    search = Search([value], made_of, seen=ValueSet(), limit=NORMALIZATION_OPS + 1)
    for here in search:
        op = maker(here)
        if op is not None and op.name == _REDUCE and len(op.results) == 1:
            found.append(op)
        elif not is_constant(here) and (op is None or op.name not in _SMALL):
            return None
    return found[0] if len(found) == 1 and not search.ended else None
