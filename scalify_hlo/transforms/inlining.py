"""Inlines the functions that have marked ops, so that all marked ops are in `main`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from scalify_hlo._compat import ir
from scalify_hlo.algebra.search import Search
from scalify_hlo.dataflow.frames import Named
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.dataflow.listing import Listing
from scalify_hlo.dataflow.names import joined, name_of
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.functions import callee_of, copied, fresh_name, is_private, referred_by
from scalify_hlo.ir.traits import CALLS, REFERENCES
from scalify_hlo.ir.value_map import OpSet, erase, replace_by_block, run_native
from scalify_hlo.ir.walk import ops_in

_CALL = "func.call"


def inline_calls(
    module: ir.Operation,
    marks: Collection[str],
    *,
    named: bool = False,
    index: ModuleIndex | None = None,
) -> list[ir.Operation]:
    """Inlines each call, in regions too, of a function that reaches a marked op.

    MLIR's own pass does not inline calls in jaxlib. Ops keep their locations. A private function
    without references is erased.

    Args:
        module: A ``builtin.module``, which is edited in place.
        marks: Names of attributes. An op with one of them is marked; all are if there are none.
        named: Whether the name stack of a call is put before those of the ops that take its place,
            and its source location is that of ops without one.
        index: Analyses of the module, which are dropped if a call is inlined.

    Returns:
        The ops other than calls, such as composites, that refer to a function with a marked op.
        These ops and their functions are kept.
    """
    functions = _functions(module, marks, None if index is None else index.listing)
    needed = _needed(functions)
    if not needed:
        return []
    calls = (call for function in functions.values() for call in function.calls)
    if index is not None and any(callee_of(call) in needed for call in calls):
        index.invalidate()
    inlining = _Inlining(functions, needed, named=named)
    for name in functions:
        inlining.flatten(name)
    # The last pass of a rewrite verifies the module.
    run_native("builtin.module(symbol-dce)", module, verify=False)
    refers = any(function.refers for function in functions.values())
    return _left(module, needed) if refers else []


@dataclass
class _Function:
    """A function of the module.

    Attributes:
        op: The function.
        marked: Whether it has a marked op.
        refers: Whether it has an op other than a call that refers to functions.
        calls: Its calls.
    """

    op: ir.Operation
    marked: bool = False
    refers: bool = False
    calls: list[ir.Operation] = field(default_factory=list)


def _functions(
    module: ir.Operation, marks: Collection[str], listing: Listing | None
) -> dict[str, _Function]:
    """Returns the functions of a module that have a body, by name."""
    found: dict[str, _Function] = {}
    for view in module.regions[0].blocks[0].operations:
        op = view.operation
        if op.name != "func.func" or not op.regions[0].blocks:
            continue
        function = found[op.attributes["sym_name"].value] = _Function(op, not marks)
        inside: Iterable[Named] = ((each.name, each) for each in ops_in(op))
        if listing is not None and op == listing.function:
            inside = listing.every()
        for name, each in inside:
            if name == _CALL:
                function.calls.append(each)
            elif not function.marked:
                attributes = each.attributes
                function.marked = any(mark in attributes for mark in marks)
            function.refers = function.refers or name in REFERENCES
    return found


def _needed(functions: dict[str, _Function]) -> set[str]:
    """Returns the functions that have a marked op, or reach one by calls."""
    callers: dict[str, set[str]] = {}
    for name, function in functions.items():
        for call in function.calls:
            callers.setdefault(callee_of(call), set()).add(name)
    marked = (name for name, function in functions.items() if function.marked)
    return set(Search(marked, lambda name: callers.get(name, ())))


class _Inlining:
    """Inlines calls: first those in a function, and then those of the function."""

    def __init__(self, functions: dict[str, _Function], needed: set[str], *, named: bool) -> None:
        self._functions, self._needed, self._named = functions, needed, named
        self._flat: set[str] = set()

    def flatten(self, name: str) -> None:
        """Inlines all calls of needed functions in a function."""
        if name in self._flat:
            return
        for call in self._functions[name].calls:
            callee = callee_of(call)
            if callee in self._needed:
                self.flatten(callee)
                inline_call(call, self._functions[callee].op, named=self._named)
        self._flat.add(name)


def inline_call(call: ir.Operation, callee: ir.Operation, *, named: bool = True) -> list[Any]:
    """Replaces a call by a copy of the ops of the function, and returns these.

    Args:
        call: A ``func.call``, which is erased.
        callee: The function, with a body.
        named: See `inline_calls`.
    """
    copy = callee.clone(ip=ir.InsertionPoint(callee)).operation
    if named and (name := name_of(call)):
        _prefix_names(copy, name, _without_name(call.location))
    ops = replace_by_block(call, copy.regions[0].blocks[0])
    erase(copy)
    return ops


def _prefix_names(function: ir.Operation, name: str, caller: ir.Location) -> None:
    """Puts a name stack before those of the ops of a function.

    Args:
        function: The function.
        name: The name stack.
        caller: The source location of ops that have none.
    """
    for op in ops_in(function):
        inner = _without_name(op.location)
        place = caller if isinstance(inner, ir.UnknownLoc) else inner
        op.location = ir.Location.name(joined(name, name_of(op)), place)


def _without_name(location: ir.Location) -> ir.Location:
    return location.child_loc if isinstance(location, ir.NameLoc) else location


def _left(module: ir.Operation, needed: set[str]) -> list[ir.Operation]:
    """Returns the ops other than calls that refer to needed functions."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "builtin.module" and op.parent is not None:
            return ir.WalkResult.SKIP  # A nested module has its own symbols.
        if not needed.isdisjoint(referred_by(op)):
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


# Public functions other than `main`: entry functions, which are not rewritten.


def copy_entries(module: ir.Operation) -> None:
    """Replaces calls of public functions other than `main` by calls of private copies.

    A caller outside of the program still gets the original function. Inside of the program, the
    copy is rewritten like any other function.

    Args:
        module: A ``builtin.module``, which is edited in place.
    """
    functions = {n: op for n, op in functions_in(module).items() if op.regions[0].blocks}
    entries = {n: op for n, op in functions.items() if n != "main" and not is_private(op)}
    if not entries:
        return
    taken = set(functions)
    copies: dict[str, str] = {}

    def copies_for(function: ir.Operation) -> Iterator[ir.Operation]:
        for name in _redirected(function, entries.keys() - copies.keys(), copies, taken):
            yield copied(entries[name], copies[name]).operation

    others = (op.operation for name, op in functions.items() if name not in entries)
    Search(others, copies_for, seen=OpSet()).to_end()


def _redirected(
    function: ir.Operation, new: set[str], copies: dict[str, str], taken: set[str]
) -> list[str]:
    """Replaces calls in a function by calls of copies, and returns functions without a copy."""
    found: list[str] = []

    for op in ops_in(function, CALLS):
        name = callee_of(op)
        if name in new and name not in copies:
            copies[name] = fresh_name(name, taken)
            taken.add(copies[name])
            found.append(name)
        if name in copies:
            op.attributes[CALLS[op.name]] = ir.FlatSymbolRefAttr.get(copies[name])
    return found
