"""Public functions other than `main`: entry functions, which are not rewritten."""

from __future__ import annotations

from collections.abc import Iterator

from scalify_hlo._compat import ir
from scalify_hlo.algebra.search import Search
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.functions import callee_of, copied, fresh_name, is_private
from scalify_hlo.ir.traits import CALLS
from scalify_hlo.ir.value_map import OpSet
from scalify_hlo.ir.walk import ops_in


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
