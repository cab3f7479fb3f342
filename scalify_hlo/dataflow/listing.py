"""The ops of `main`, listed once for several passes, since a walk takes longer than most passes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.frames import Named, named, operations
from scalify_hlo.ir import traits
from scalify_hlo.ir.formats import is_narrow
from scalify_hlo.ir.functions import in_block

_INHERITING = traits.ELEMENTWISE | traits.MOVES
"""Ops whose float results have the format of an operand."""

_AT_TIMES_WITH_REGIONS = frozenset({"stablehlo.composite"})


class Nest(NamedTuple):
    """A listed op that may have regions.

    Attributes:
        name: The name of the op.
        op: The op.
        inner: The ops in its regions and in theirs, each after those in its own regions.
    """

    name: str
    op: ir.Operation
    inner: list[Named]


class Listing:
    """The ops of a block without its terminator, in order.

    Passes that neither add nor erase ops preserve the listing. They note the ops that they mark.
    The ops after the last marked op are unchanged, and a pass on marked ops does not list them
    again.

    Args:
        block: The block of a function.

    Attributes:
        function: The function.
        ops: The ops with their names.
        touched: The number of ops up to and including the last marked op.
        with_roles: The names of the ops that `scalify-roles` marked, of other functions too; None
            if it did not run, or if these ops were replaced since.
        wide: Whether all floats of the block were wide when it was checked. Floats in regions of
            its ops are not checked.
    """

    def __init__(self, block: ir.Block) -> None:
        self._block = block
        self.function: ir.Operation = block.owner.operation
        self.ops: list[Named] = named(block)
        self.touched = 0
        self.with_roles: set[str] | None = None
        self.wide = False
        self._nests: list[Nest] | None = None

    @property
    def nests(self) -> list[Nest]:
        """The listed ops that may have regions, which are walked once for several passes."""
        if self._nests is None:
            # Except for a few names, either all ops of a name have regions, or none has.
            nesting = {name for name, op in dict(self.ops).items() if len(op.regions)}
            nesting |= _AT_TIMES_WITH_REGIONS
            self._nests = [Nest(name, op, _inside(op)) for name, op in self.ops if name in nesting]
        return self._nests

    def every(self) -> Iterator[Named]:
        """Yields the ops, and before each those in its regions."""
        nests = iter(self.nests)
        nest = next(nests, None)
        for name, op in self.ops:
            if nest is not None and op is nest.op:
                yield from nest.inner
                nest = next(nests, None)
            yield name, op

    def note_formats(self) -> None:
        """Checks whether all floats are wide."""
        made = [op for name, op in self.ops if name not in _INHERITING]
        types = {argument.type for argument in self._block.arguments}
        types.update(result.type for op in made for result in op.results)
        self.wide = not any(map(is_narrow, types))

    @property
    def wide_behind(self) -> int:
        """The number of ops after the marked ones, if they are known to make wide floats."""
        return len(self.ops) - self.touched if self.wide else 0

    def touch(self, ops: Iterable[ir.Operation]) -> None:
        """Notes that ops were marked, listed ones, ones in regions, or ones of other functions."""
        last = None
        for op in ops:
            around = in_block(op, self._block)
            if around is not None and (last is None or last.is_before_in_block(around)):
                last = around
        if last is not None:
            self.touched = max(self.touched, self._place(last) + 1)

    def _place(self, op: ir.Operation) -> int:
        return bisect_left(self.ops, True, key=lambda listed: not listed[1].is_before_in_block(op))

    def renew(self) -> None:
        """Lists the ops up to the last marked one again, after ops were added or erased."""
        rest = self.ops[self.touched :]
        new = operations(self._block, rest[0][1]) if rest else operations(self._block)
        self.ops = [*((op.name, op) for op in new), *rest]
        self.touched = len(new)
        self.with_roles = None
        self._nests = None


def _inside(op: ir.Operation) -> list[Named]:
    """Returns the ops in the regions of an op, with their names."""
    found: list[Named] = []
    note, go_on = found.append, ir.WalkResult.ADVANCE

    def visit(inner: ir.Operation) -> ir.WalkResult:
        note((inner.name, inner))
        return go_on

    op.walk(visit)
    return found[:-1]
