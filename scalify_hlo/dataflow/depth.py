"""The nesting depth of the ops of a module, which bounds the recursion of passes."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import TopologicalSorter

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.listing import Listing
from scalify_hlo.ir.functions import callee_of, symbol_of
from scalify_hlo.ir.traits import CALLS


def levels_of(module: ir.Operation, main: Listing | None = None) -> int:
    """Returns the largest number of nested regions and calls.

    Args:
        module: A ``builtin.module``.
        main: The ops of ``main`` if they are listed, which saves a walk over them.
    """
    own: dict[str, int] = {}
    called: dict[str, dict[str, int]] = {}
    nested = 0  # Modules inside of the module call their own functions.
    for child in _children(module):
        if child.name != "func.func":
            nested = max(nested, levels_of(child) + 1 if len(child.regions) else 0)
            continue
        listed = main is not None and child == main.function
        name = symbol_of(child)
        own[name], called[name] = _among(main) if main is not None and listed else _inside(child)
    whole: dict[str, int] = {}
    for name in TopologicalSorter(called).static_order():
        inner = [at + whole[callee] + 1 for callee, at in called.get(name, {}).items()]
        whole[name] = max(own.get(name, 0), *inner, 0)
    return max([nested, *whole.values()])


def _among(main: Listing) -> tuple[int, dict[str, int]]:
    """Returns the same as `_inside`, for listed ops."""
    deepest, called = 0, dict[str, int]()
    flat: dict[str, bool] = {}  # Whether ops of a name have no regions and call nothing.
    for _, op, inside in main.nests:
        if inside and all(_is_flat(name, inner, flat) for name, inner in inside):
            deepest = max(deepest, 1)
            continue
        own, inner = _inside(op)
        nests = int(len(op.regions) > 0)
        deepest = max(deepest, own + nests)
        for callee, level in inner.items():
            called[callee] = max(called.get(callee, 0), level + nests)
    for op in (op for name, op in main.ops if name in CALLS):
        called.setdefault(callee_of(op), 0)
    return deepest, called


def _is_flat(name: str, op: ir.Operation, known: dict[str, bool]) -> bool:
    """Whether an op has no regions, and calls no function."""
    flat = known.get(name)
    if flat is None:
        # Except for composites, which are calls, all ops of a name have regions, or none has.
        flat = known[name] = name not in CALLS and not len(op.regions)
    return flat


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


def _children(op: ir.Operation) -> Iterator[ir.Operation]:
    for region in op.regions:
        for block in region:
            for child in block:
                yield child.operation
