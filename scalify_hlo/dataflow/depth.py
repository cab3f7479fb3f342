"""The nesting depth of the ops of a module, which bounds the recursion of passes."""

from __future__ import annotations

from graphlib import TopologicalSorter

from scalify_hlo._compat import ir
from scalify_hlo.ir.functions import callee_of, symbol_of
from scalify_hlo.ir.traits import CALLS


def levels_of(module: ir.Operation) -> int:
    """Returns the largest number of nested regions and calls.

    Args:
        module: A ``builtin.module``.
    """
    own: dict[str, int] = {}
    called: dict[str, dict[str, int]] = {}
    nested = 0  # Modules inside of the module call their own functions.
    for child in (op.operation for region in module.regions for block in region for op in block):
        if child.name != "func.func":
            nested = max(nested, levels_of(child) + 1 if len(child.regions) else 0)
            continue
        name = symbol_of(child)
        own[name], called[name] = _inside(child)
    whole: dict[str, int] = {}
    for name in TopologicalSorter(called).static_order():
        inner = [at + whole[callee] + 1 for callee, at in called.get(name, {}).items()]
        whole[name] = max(own.get(name, 0), *inner, 0)
    return max([nested, *whole.values()])


def _inside(function: ir.Operation) -> tuple[int, dict[str, int]]:
    """Returns the depth of a function's regions, and the depth at which it calls each callee."""
    called: dict[str, int] = {}
    around, deepest = [function], 0
    go_on = ir.WalkResult.ADVANCE

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal deepest
        calls, nests = op.name in CALLS, len(op.regions)
        if (calls or nests) and op != function:
            parent = op.parent
            del around[around.index(parent) + 1 :]
            if calls:
                callee = callee_of(op)
                called[callee] = max(called.get(callee, 0), len(around) - 1)
            if nests:
                around.append(op)
                deepest = max(deepest, len(around) - 1)
        return go_on

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    return deepest, called
