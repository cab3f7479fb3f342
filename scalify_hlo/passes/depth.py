"""How deep the ops of a module nest, which says how deep passes recurse."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from scalify_hlo._compat import ir
from scalify_hlo.roles.frames import CALLS


def levels_of(module: ir.Operation) -> int:
    """The most regions and calls that are inside of each other.

    Where functions call each other in a circle, which the passes refuse, it is an upper bound of
    what they see of it.
    """
    own: dict[str, int] = {}
    called: dict[str, dict[str, int]] = {}
    for index, function in enumerate(_children(module)):
        name = str(index)
        if "sym_name" in function.attributes:
            name = ir.StringAttr(function.attributes["sym_name"]).value
        own[name], called[name] = _inside(function)
    try:
        order = list(TopologicalSorter(called).static_order())
    except CycleError:
        return sum(own.values()) + len(own)
    whole: dict[str, int] = {}
    for name in order:
        inner = [at + whole[callee] + 1 for callee, at in called.get(name, {}).items()]
        whole[name] = max(own.get(name, 0), *inner, 0)
    return max(whole.values(), default=0)


def _inside(function: ir.Operation) -> tuple[int, dict[str, int]]:
    """How deep regions nest in a function, and how deep inside it calls each other one."""
    called: dict[str, int] = {}
    levels: dict[ir.Operation, int] = {function: 0}
    go_on = ir.WalkResult.ADVANCE

    def visit(op: ir.Operation) -> ir.WalkResult:
        key, nests = CALLS.get(op.name), len(op.regions)
        if (key is not None or nests) and op != function:
            level = levels[op.parent.operation]
            if nests:
                levels[op] = level + 1
            if key is not None:
                callee = ir.FlatSymbolRefAttr(op.attributes[key]).value
                called[callee] = max(called.get(callee, 0), level)
        return go_on

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    return max(levels.values()), called


def _children(op: ir.Operation) -> Iterator[ir.Operation]:
    for region in op.regions:
        for block in region:
            for child in block:
                yield child.operation
