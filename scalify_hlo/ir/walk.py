"""The ops inside of an op."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from scalify_hlo._compat import ir


def ops_in(
    parent: ir.Operation | ir.OpView,
    names: Collection[str] = (),
    *,
    where: Callable[[ir.Operation], bool] | None = None,
    outer_first: bool = False,
) -> list[ir.Operation]:
    """Returns an op and the ops inside of it, in program order.

    They are listed first, as ops cannot be edited on a walk of the bindings, nor errors raised.

    Args:
        parent: The op.
        names: The names of the ops that are listed; all if it is empty.
        where: Whether an op of these names is listed.
        outer_first: Whether an op comes before the ops in its regions, and not after them.
    """
    found: list[ir.Operation] = []
    note, go_on = found.append, ir.WalkResult.ADVANCE

    def visit(op: ir.Operation) -> ir.WalkResult:
        if (not names or op.name in names) and (where is None or where(op)):
            note(op)
        return go_on

    parent.operation.walk(visit, ir.WalkOrder.PRE_ORDER if outer_first else ir.WalkOrder.POST_ORDER)
    return found


def ops_of(block: ir.Block, names: Collection[str]) -> list[ir.Operation]:
    """Returns the ops of a block, and those inside of them, that have one of some names."""
    owner = block.owner.operation
    parents = [owner] if owner.name == "func.func" else block.operations
    return [op for parent in parents for op in ops_in(parent, names)]


def read_by(op: ir.Operation | ir.OpView) -> Iterator[ir.Value]:
    """Yields the values that an op reads, in its regions too."""
    yield from op.operands
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from read_by(inner)
