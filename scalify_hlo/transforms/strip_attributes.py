"""Removal of the attributes that passes write for later passes."""

from __future__ import annotations

from collections.abc import Set

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.traits import CALLS, MAKING
from scalify_hlo.ir.walk import ops_in

_CASTS = (attributes.CONSTANT_SCALE, attributes.CAST)

_MARKS = (
    attributes.COMPUTED,
    attributes.LAYER,
    attributes.LAYER_GRADIENT,
    attributes.EPSILON,
    attributes.LAYER_NUMBER,
    attributes.LAYER_INPUT,
    attributes.CELL_STATE,
)


def casts_left(module: ir.Operation) -> list[ir.Operation]:
    """Returns the casts of a recipe, and constants in their place, that are not rewritten yet."""

    def is_left(op: ir.Operation) -> bool:
        return any(mark in op.attributes for mark in (*_CASTS, attributes.ROUNDED))

    return ops_in(module, MAKING, where=is_left)


def clear_layers(module: ir.Operation, names: Set[str] | None) -> list[ir.Operation]:
    """Removes marks that propagation reads, and returns `casts_left` from the same walk.

    Args:
        module: The module.
        names: The names of the ops with marks; None if all ops may have some.
    """
    # A composite may have become a call.
    found = ops_in(module, () if names is None else names | MAKING | CALLS.keys())
    for op in found:
        present = op.attributes
        for mark in _MARKS if len(present) else ():
            if mark in present:
                del present[mark]
    return [op for op in found if any(mark in op.attributes for mark in _CASTS)]
