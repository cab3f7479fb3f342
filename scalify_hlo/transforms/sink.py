"""Sinks values of `main` into per-device computations, whose regions capture no values.

Loops and branches capture the values around them.
"""

from __future__ import annotations

from collections.abc import Sequence

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.traits import BODIES
from scalify_hlo.ir.value_map import ValueMap, replace_op
from scalify_hlo.rules.devices import mesh_of, replicated_after


def lower(values: Sequence[ir.Value], places: Sequence[ir.Operation]) -> list[list[ir.Value]]:
    """Sinks values to ops.

    Args:
        values: Values of the function's own block, which are the same on each device.
        places: Ops of the function, in regions too. The per-device computations around them are
            replaced by ops with more operands; handles of the old ops are not valid afterwards.

    Returns:
        For each place, the values that correspond to `values` there.
    """
    sinking = _Sinking(list(values))
    return [sinking.at(place) for place in places]


class _Sinking:
    def __init__(self, values: list[ir.Value]) -> None:
        self._values = values
        self._inside: ValueMap[list[ir.Value]] = ValueMap()

    def at(self, place: ir.Operation) -> list[ir.Value]:
        block = place.block
        while (owner := block.owner.operation).name not in BODIES:
            if owner.name == "func.func":
                return self._values
            block = owner.block
        if block not in self._inside:
            outer = self.at(owner)
            self._inside[block] = [block.add_argument(v.type, v.location) for v in outer]
            _with_operands(owner, outer)
        return self._inside[block]


def _with_operands(op: ir.Operation, values: Sequence[ir.Value]) -> None:
    """Replaces an op by one with more operands, which takes its body."""
    marks = attributes.all_of(op)
    if "in_shardings" in marks:
        types = [value.type for value in values]
        marks["in_shardings"] = replicated_after(marks["in_shardings"], types, mesh_of(op))
    results = [result.type for result in op.results]
    new = emit.taking_regions(op, results, [*op.operands, *values], marks)
    replace_op(op, new.results)
