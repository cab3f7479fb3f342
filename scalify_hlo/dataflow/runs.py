"""Counts of what a program runs: an op of a function for each call, of a loop for each turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.depth import levels_of
from scalify_hlo.dataflow.turns import turns_of
from scalify_hlo.deep import run_deep
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.functions import callee_of, main_function
from scalify_hlo.ir.traits import CALLS, LOOP

Kinds = Callable[[ir.Operation], Counter[str]]


def count_runs(module: ir.Operation, kinds: Kinds) -> Counter[str]:
    """Returns how often a program runs ops of some kinds.

    A loop counts as one turn if their number is not known, and a branch as if it were taken.

    Args:
        module: A ``builtin.module``.
        kinds: Returns the kinds of an op, apart from the ops inside of it.
    """
    main = main_function(module)
    if main is None:
        return Counter()
    runs, operation = _Runs(functions_in(module), kinds), main.operation
    return run_deep(lambda: runs.inside(operation), levels_of(module))


class _Runs:
    """Counts the ops of functions, each of which is read once."""

    def __init__(self, functions: dict[str, ir.OpView], kinds: Kinds) -> None:
        self._functions, self._kinds = functions, kinds
        self._known: dict[str, Counter[str]] = {}

    def inside(self, op: ir.Operation) -> Counter[str]:
        """Returns the counts of the ops in the regions of an op."""
        found: Counter[str] = Counter()
        for region in op.regions:
            for block in region.blocks:
                for inner in block.operations:
                    found += self._of(inner.operation)
        return found

    def _of(self, op: ir.Operation) -> Counter[str]:
        own, name = self._kinds(op), op.name
        if name in CALLS:
            return own + self._called(callee_of(op))
        if not len(op.regions):
            return own
        turns = turns_of(op) if name == LOOP else 1
        return own + Counter({k: n * (turns or 1) for k, n in self.inside(op).items()})

    def _called(self, symbol: str) -> Counter[str]:
        if symbol not in self._known:
            function = self._functions.get(symbol)
            found = Counter[str]() if function is None else self.inside(function.operation)
            self._known[symbol] = found
        return self._known[symbol]
