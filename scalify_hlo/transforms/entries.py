"""Public functions other than `main`: entry functions, which are not rewritten."""

from __future__ import annotations

from collections.abc import Iterator

from scalify_hlo._compat import ir
from scalify_hlo.algebra.search import Search
from scalify_hlo.dialect.functions import copied, fresh_name
from scalify_hlo.dialect.traits import CALLS
from scalify_hlo.dialect.value_map import OpSet
from scalify_hlo.dialect.walk import ops_in


def copy_entries(module: ir.Operation) -> None:
    """Replaces calls of public functions other than `main` by calls of private copies.

    A caller outside of the program still gets the original function. Inside of the program, the
    copy is rewritten like any other function.

    Args:
        module: A ``builtin.module``, which is edited in place.
    """
    functions = [
        op.operation
        for op in module.regions[0].blocks[0].operations
        if op.operation.name == "func.func" and op.operation.regions[0].blocks
    ]
    entries = {_name(op): op for op in functions if _is_entry(op)}
    if not entries:
        return
    taken = {_name(op) for op in functions}
    copies: dict[str, str] = {}

    def copies_for(function: ir.Operation) -> Iterator[ir.Operation]:
        for name in _redirected(function, entries.keys() - copies.keys(), copies, taken):
            yield copied(entries[name].opview, copies[name]).operation

    others = (op for op in functions if _name(op) not in entries)
    Search(others, copies_for, seen=OpSet()).to_end()


def _redirected(
    function: ir.Operation, new: set[str], copies: dict[str, str], taken: set[str]
) -> list[str]:
    """Replaces calls in a function by calls of copies, and returns functions without a copy."""
    found: list[str] = []

    for op in ops_in(function, CALLS):
        attribute = CALLS[op.name]
        name = op.attributes[attribute].value
        if name in new and name not in copies:
            copies[name] = fresh_name(name, taken)
            taken.add(copies[name])
            found.append(name)
        if name in copies:
            op.attributes[attribute] = ir.FlatSymbolRefAttr.get(copies[name])
    return found


def _is_entry(function: ir.Operation) -> bool:
    visibility = function.attributes
    if "sym_visibility" in visibility and visibility["sym_visibility"].value == "private":
        return False
    return _name(function) != "main"


def _name(function: ir.Operation) -> str:
    return str(function.attributes["sym_name"].value)
