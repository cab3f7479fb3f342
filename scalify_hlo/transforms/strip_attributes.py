"""Removal of the attributes that passes write for later passes."""

from __future__ import annotations

from collections.abc import Set

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.traits import CALLS, MAKING
from scalify_hlo.ir.walk import ops_in

_CASTS = (attributes.CONSTANT_SCALE, attributes.CAST)

_REDUCE = "stablehlo.reduce"

_MARKS = (
    attributes.COMPUTED,
    attributes.LAYER,
    attributes.LAYER_GRADIENT,
    attributes.EPSILON,
    attributes.LAYER_NUMBER,
    attributes.LAYER_INPUT,
)


def casts_left(module: ir.Operation) -> list[ir.Operation]:
    """Returns the casts of a recipe, and constants in their place, that are not rewritten yet."""

    def is_left(op: ir.Operation) -> bool:
        return any(mark in op.attributes for mark in (*_CASTS, attributes.ROUNDED))

    return ops_in(module, MAKING, where=is_left)


def clear_layers(
    module: ir.Operation, names: Set[str] | None, behind: ir.Operation | None = None
) -> list[ir.Operation]:
    """Removes marks that propagation reads, and returns `casts_left` from the same walk.

    Args:
        module: The module.
        names: The names of the ops with marks; None if all ops may have some.
        behind: An op of a function after all marked ops and casts of that function.
    """
    left: list[ir.Operation] = []
    go_on, skip = ir.WalkResult.ADVANCE, ir.WalkResult.SKIP
    # A composite may have become a call.
    looked_at = None if names is None else names | MAKING | CALLS.keys()

    last = None if behind is None else behind.name

    def visit(op: ir.Operation) -> ir.WalkResult:
        name = op.name
        if name == last and op == behind:
            return ir.WalkResult.INTERRUPT
        if looked_at is not None and name not in looked_at:
            # Regions on single elements contain no layer.
            return skip if name == _REDUCE else go_on
        present = op.attributes
        if len(present):
            for mark in _MARKS:
                if mark in present:
                    del present[mark]
            if any(mark in present for mark in _CASTS):
                left.append(op)
        return go_on

    for function in module.regions[0].blocks[0].operations:
        function.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return left
