"""Markers among the ops of a program, as `scalify-normalize` leaves them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.ir import markers
from scalify_hlo.ir.functions import callee_of
from scalify_hlo.ir.traits import CALLS
from scalify_hlo.ir.value_map import replace_op
from scalify_hlo.ir.walk import ops_in, ops_of
from scalify_hlo.rules.custom import is_custom, plain

BARRIER: Final = "stablehlo.optimization_barrier"
_MARKING: Final = frozenset({BARRIER, *CALLS})
"""The ops that may be markers, or call functions with markers."""


def is_marked(op: ir.Operation) -> bool:
    """Whether a barrier is a marker."""
    return markers.MARKER in op.attributes


def is_marker(op: ir.Operation) -> bool:
    """Whether an op is a marker of any kind, as `scalify-normalize` leaves them."""
    return (op.name == BARRIER and is_marked(op)) or is_custom(op)


def has_markers(block: ir.Block, functions: Collection[str] = ()) -> bool:
    """Whether there is a marker among the ops of a block, or in their regions.

    Args:
        block: The block.
        functions: The functions whose calls count as markers.
    """
    return any(is_marker(op) or _called(op) in functions for op in ops_of(block, _MARKING))


def _called(op: ir.Operation) -> str | None:
    return callee_of(op) if op.name in CALLS else None


def drop(module: ir.Operation) -> None:
    """Removes the markers that the walk did not reach, in functions without calls."""
    for op in ops_in(module, _MARKING, where=is_marker):
        if is_custom(op):
            plain(op.opview)
            continue
        replace_op(op, list(op.operands))
