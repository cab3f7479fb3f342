"""Bounds on what is run: a program that never ends, or needs more memory than there is."""

from __future__ import annotations

import math
from collections import Counter

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import MOST_TOLD, RUN_OPS, XLA_LEVELS
from scalify_hlo.dataflow.depth import levels_of
from scalify_hlo.dataflow.runs import count_runs
from scalify_hlo.errors import InputError
from scalify_hlo.ir.traits import LOOP
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.program.tensors import interface
from scalify_hlo.program.wellformed import place
from scalify_hlo.storage.memory import require_memory


def require_runnable(module: ir.Module, name: str) -> None:
    """Refuses a program that cannot be run, before anything is allocated for it.

    Args:
        module: The program.
        name: Its name in diagnostics.

    Raises:
        InputError: Its loops have too many turns, or a value, or all arguments and results, need
            more memory than this machine has.
    """
    operation = module.operation
    runs = count_runs(operation, _one)["ops"] if ops_in(operation, {LOOP}) else 0
    if runs > RUN_OPS:
        raise InputError(
            f"the program runs {min(runs, MOST_TOLD):,} ops or more, those of loops in each turn, "
            f"and {RUN_OPS:,} are the most",
            location=name,
            hint="give its loops fewer turns",
        )
    # XLA computes values that depend on no argument while it compiles.
    largest = max(ops_in(operation), key=_elements)
    require_memory(_elements(largest), place(largest.location, name))
    described = interface(module, name)
    tensors = [*described.arguments, *described.results]
    sizes = (math.prod(each.shape) * each.dtype.itemsize for each in tensors if each.static)
    require_memory(sum(sizes), name)


def require_shallow(module: ir.Module, name: str) -> None:
    """Refuses a program whose calls and regions nest so deep that XLA crashes.

    Raises:
        InputError: They do.
    """
    levels = levels_of(module.operation)
    if levels > XLA_LEVELS:
        raise InputError(
            f"calls and regions nest {levels} deep, and XLA compiles {XLA_LEVELS} levels at most",
            location=name,
            hint="inline the calls, or write the nested loops as one",
        )


def _elements(op: ir.Operation) -> int:
    """Returns the number of elements of the largest result of an op, each of a byte at least."""
    ranked = (each for each in op.results.types if isinstance(each, ir.RankedTensorType))
    return max((math.prod(each.shape) for each in ranked if each.has_static_shape), default=0)


def _one(_: ir.Operation) -> Counter[str]:
    return Counter(ops=1)
