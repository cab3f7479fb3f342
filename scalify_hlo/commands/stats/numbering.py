"""Numbers of ops, by which the values of a program are found again in its rewrite.

A rewrite edits ops in place, so an attribute of an op is still there afterwards. A function that is
called several times has its ops several times after inlining: the calls come in the same order in
the original and in the rewrite, so the number of an op and its occurrence identify it.
"""

from __future__ import annotations

from collections import Counter

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.depth import levels_of
from scalify_hlo.deep import run_deep
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import InputError
from scalify_hlo.ir.functions import main_function
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.program.wellformed import located
from scalify_hlo.transforms.inlining import inline_calls

_FUNCTION = "func.func"


def number_ops(module: ir.Module, name: str) -> None:
    """Normalizes a program, and writes a number on each of its ops, in program order.

    Args:
        module: The program, which is edited in place.
        name: Its name in diagnostics.
    """
    with located(name):
        run_passes(module, [NormalizePass()])
    with module.context, ir.Location.unknown():
        for number, op in enumerate(_ops(module.operation)):
            op.attributes[attributes.VALUE_NUMBER] = attributes.integer(number)


def inline_numbered(module: ir.Module, name: str) -> ir.OpView:
    """Inlines all calls of functions with numbered ops; ops keep the name stacks of their calls.

    Args:
        module: The program, which is edited in place.
        name: Its name in diagnostics.

    Returns:
        Its entry function.

    Raises:
        InputError: There is no entry function.
    """

    def inline() -> None:
        with module.context, ir.Location.unknown():
            inline_calls(module.operation, (attributes.VALUE_NUMBER,), named=True)

    run_deep(inline, levels_of(module.operation))
    main = main_function(module.operation)
    if main is None or not main.regions[0].blocks:
        raise InputError("the module has no function `main`", location=name)
    return main


def number_of(op: ir.Operation) -> int | None:
    """Returns the number of an op; None if it has none."""
    if attributes.VALUE_NUMBER not in op.attributes:
        return None
    return int(ir.IntegerAttr(op.attributes[attributes.VALUE_NUMBER]).value)


class Identities:
    """Identifies the ops of `main`, which are asked for in program order."""

    def __init__(self) -> None:
        self._seen: Counter[int] = Counter()
        self._last, self._added = "", 0

    def of(self, op: ir.Operation) -> tuple[str, bool]:
        """Returns the identity of an op, and whether the op has a number.

        An op without a number was added by a rewrite. It is identified by the op before it.
        """
        number = number_of(op)
        if number is None:
            self._added += 1
            return f"{self._last}+{self._added}", False
        self._seen[number] += 1
        turn = self._seen[number]
        self._last, self._added = (f"{number}" if turn == 1 else f"{number}#{turn}"), 0
        return self._last, True


def _ops(module: ir.Operation) -> list[ir.Operation]:
    functions = (_FUNCTION, "builtin.module")
    return ops_in(module, where=lambda op: op.name not in functions, outer_first=True)
