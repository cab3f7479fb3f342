"""The functions of a module, and what refers to them."""

from __future__ import annotations

from functools import cached_property

from scalify_hlo._compat import ir
from scalify_hlo.ir import markers
from scalify_hlo.ir.functions import callee_of, is_private, referred_by, symbol_of
from scalify_hlo.ir.walk import ops_in

CALL = "func.call"


def functions_in(module: ir.Operation) -> dict[str, ir.OpView]:
    """Returns the functions of a module by name; nested modules have functions of their own."""
    ops = module.regions[0].blocks[0].operations
    return {symbol_of(op): op for op in ops if op.operation.name == "func.func"}


def symbols_in(module: ir.Operation) -> set[str]:
    """Returns the names of the functions of a module, and of all else that symbols refer to."""
    ops = module.regions[0].blocks[0].operations
    return {symbol_of(op) for op in ops if "sym_name" in op.attributes}


class Calls:
    """The functions of a module, and their calls, as they are when they are asked for first.

    Args:
        module: The module.

    Attributes:
        module: The module.
    """

    def __init__(self, module: ir.Operation) -> None:
        self.module = module

    @cached_property
    def functions(self) -> dict[str, ir.OpView]:
        """The functions by name."""
        return functions_in(self.module)

    @property
    def sites(self) -> dict[str, list[ir.Operation]]:
        """The calls of each function by its name."""
        return self._references[0]

    def only(self, function: ir.OpView) -> bool:
        """Whether nothing but calls refers to a function, which no other module sees."""
        name = symbol_of(function)
        return is_private(function) and name not in self._references[1]

    @cached_property
    def _references(self) -> tuple[dict[str, list[ir.Operation]], set[str]]:
        """The calls of each function, and the functions to which other ops refer."""
        calls: dict[str, list[ir.Operation]] = {}
        others: set[str] = set()
        for op in (op for function in self.functions.values() for op in ops_in(function)):
            if op.name == CALL:
                calls.setdefault(callee_of(op), []).append(op)
                others.update([callee_of(op)] if markers.RULE in op.attributes else [])
            others.update(referred_by(op))
        return calls, others
