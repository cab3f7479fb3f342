"""The ops that `scalify-roles` marked for the passes that quantize."""

from __future__ import annotations

from collections.abc import Iterable

from scalify_hlo._compat import ir
from scalify_hlo.analysis.frames import BODIES, BRANCHES, LOOP
from scalify_hlo.analysis.listing import Listing
from scalify_hlo.analysis.matmuls import MATMULS
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.functions import main_function

LEFT = (attributes.STATE_GRADIENT, attributes.PART, attributes.MATMUL)
"""The attributes of `scalify-roles` that the last quantizing pass removes."""

_WITH_OPS = BODIES | BRANCHES | {LOOP}
"""The ops with regions in `main` that may contain marked ops."""


def marked_ops(module: ir.Operation, listing: Listing | None = None) -> list[ir.OpView]:
    """Returns the matmuls, and the ops that make gradients of weights.

    Args:
        module: The module.
        listing: The ops of `main`, if they were listed.
    """
    found: list[ir.OpView] = []
    gradient, go_on = attributes.STATE_GRADIENT, ir.WalkResult.ADVANCE

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in MATMULS or gradient in op.attributes:
            found.append(op.opview)
        return go_on

    if listing is None:
        module.walk(visit)
        return found
    main = main_function(module)
    for function in module.regions[0].blocks[0].operations:
        if function != main:
            function.operation.walk(visit)
            continue
        for name, op in listing.ops[: listing.touched]:
            if name in _WITH_OPS:
                op.walk(visit)
            elif name in MATMULS or gradient in op.attributes:
                found.append(op.opview)
    return found


def clear(op: ir.OpView, marks: Iterable[str]) -> None:
    """Removes attributes from an op."""
    present = op.attributes
    for mark in marks:
        if mark in present:
            del present[mark]
