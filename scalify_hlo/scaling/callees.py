"""Specialized functions: copies with scales among their arguments and results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter

from scalify_hlo._compat import func, ir
from scalify_hlo.algebra.scale import RuntimeScale, Scaled, ScaleInfo
from scalify_hlo.algebra.search import Search
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.functions import callee_of, is_private, symbol_of, terminator
from scalify_hlo.ir.traits import CALLS
from scalify_hlo.ir.value_map import replace_op
from scalify_hlo.ir.walk import ops_of
from scalify_hlo.rules.devices import replicated_after
from scalify_hlo.rules.isolated import add_parameters, drop_unused, scale_operands
from scalify_hlo.rules.marked_ops import has_markers
from scalify_hlo.rules.parameters import Parameters
from scalify_hlo.rules.placement import SDY
from scalify_hlo.rules.recurrence import has_narrow_values
from scalify_hlo.rules.scale_rewriter import ScaleRewriter

_PLACING = ("mhlo.", "sdy.")
"""Prefixes of the attributes that give the placement of results of calls."""


@dataclass(frozen=True)
class Callee:
    """A specialized function.

    Attributes:
        function: The copy; the function itself if the copy would be the same.
        rewriter: Its scale rewriter, which defines the run-time scales of its results.
        parameters: The run-time scales that the caller passes, in the order of the caller.
        passed: The arguments with which it was rewritten.
        taken: The numbers of the arguments that it keeps as extra arguments.
        results: The scale information of its results.
        computed: The run-time scales that it computes for the results, and returns after them.
        copied: Whether `function` is a copy.
    """

    function: ir.OpView
    rewriter: ScaleRewriter
    parameters: tuple[RuntimeScale, ...]
    passed: Parameters
    taken: tuple[int, ...]
    results: tuple[ScaleInfo, ...]
    computed: tuple[RuntimeScale, ...]
    copied: bool


def runs_of(places: Sequence[str], module: ir.Operation) -> int:
    """Returns how often ops run in a call of ``main``, of which those in loops count once.

    Args:
        places: The function that each op is in.
        module: The module.
    """
    counts = Counter(places)
    if counts.keys() <= {"main"}:
        return counts["main"]
    calls = _calls_from_main(functions_in(module))
    return sum(count * calls[name] for name, count in counts.items())


def _calls_from_main(functions: Mapping[str, ir.OpView]) -> Counter[str]:
    """Returns how often each function runs in a call of ``main``; regions count once."""
    counts = Counter({"main": 1})
    ordered = list(TopologicalSorter(_callers(functions)).static_order())
    for name in ordered:
        if counts[name] and functions[name].regions[0].blocks:
            for callee in called_in(functions[name].regions[0].blocks[0]):
                counts[callee] += counts[name]
    return counts


def _callers(functions: Mapping[str, ir.OpView]) -> dict[str, set[str]]:
    """Returns the functions that call each function."""
    callers: dict[str, set[str]] = {name: set() for name in functions}
    for name, function in functions.items():
        for block in function.regions[0].blocks:
            for callee in called_in(block):
                callers.setdefault(callee, set()).add(name)
    return callers


def called_in(block: ir.Block) -> list[str]:
    """Returns the functions that are called in a block and in the regions of its ops."""
    return [callee_of(op) for op in ops_of(block, CALLS)]


def take_scales(
    copy: ir.OpView, infos: Sequence[ScaleInfo], rewriter: ScaleRewriter
) -> tuple[RuntimeScale, ...]:
    """Adds the run-time scales of the arguments' scales as extra arguments.

    Args:
        copy: A ``func.func``, which is edited.
        infos: The scale information of its arguments at the call.
        rewriter: The rewriter of the function.

    Returns:
        The run-time scales of the function, in the order of those of the caller.
    """
    parameters = add_parameters(copy.regions[0].blocks[0], infos, rewriter)
    if parameters:
        marks = attributes.argument_attributes(copy)
        _set_arguments(copy, [*marks, *({} for _ in parameters)])
    return parameters


def return_scales(
    copy: ir.OpView, results: Sequence[ScaleInfo], rewriter: ScaleRewriter
) -> tuple[RuntimeScale, ...]:
    """Returns the computed scales of results as extra results of a function.

    Args:
        copy: A ``func.func``, which is edited.
        results: The scale information of its results.
        rewriter: The rewriter of the function.

    Returns:
        The scales that the function returns after its results.
    """
    scales = [info.scale for info in results if isinstance(info, Scaled)]
    computed = tuple(
        dict.fromkeys(g for scale in scales for g in rewriter.runtime_scales.computed(scale))
    )
    if not computed:
        return ()
    values = [rewriter.runtime_scales.value(runtime) for runtime in computed]
    marks = attributes.result_attributes(copy)
    returned = terminator(copy.regions[0].blocks[0]).operands
    attributes.return_values(copy, [*returned, *values])
    attributes.set_result_attributes(copy, [*marks, *({} for _ in values)])
    return computed


def drop_untaken(copy: ir.OpView, count: int) -> tuple[int, ...]:
    """Erases arguments without uses.

    Args:
        copy: A ``func.func``, which is edited.
        count: The number of its last arguments that may be erased.

    Returns:
        The numbers of the remaining arguments, among these arguments.
    """
    if not count:
        return ()
    marks = attributes.argument_attributes(copy)
    start = len(marks) - count
    taken = drop_unused(copy.regions[0].blocks[0], count)
    _set_arguments(copy, [*marks[:start], *(marks[start + i] for i in taken)])
    return taken


def _set_arguments(copy: ir.OpView, marks: list[attributes.Attributes]) -> None:
    """Sets the type of a function to that of its body, with the attributes of arguments."""
    attributes.renew_function_type(copy)
    attributes.set_argument_attributes(copy, marks)


def new_call(
    op: ir.OpView, callee: Callee, rewriter: ScaleRewriter, callers: Sequence[RuntimeScale]
) -> ir.OpView:
    """Replaces a call by a call of the copy; it stays if the name is the same.

    Args:
        op: The call, which is erased if it is replaced.
        callee: The copy, and the run-time scales that it takes.
        rewriter: The rewriter of the function that has the call.
        callers: The run-time scales of the calling function, some of which the copy takes.

    Returns:
        The call of the copy.
    """
    name = symbol_of(callee.function)
    if name == callee_of(op):
        return op
    rewriter.values.changed = True
    block = callee.function.regions[0].blocks[0]
    taken = [callers[i] for i in callee.taken]
    scales = scale_operands(block, taken, rewriter, op.operation)
    call = func.CallOp(
        list(attributes.function_type(callee.function).results),
        ir.FlatSymbolRefAttr.get(name),
        [*op.operands, *scales],
        **emit.before(op),
    )
    computed = [scale.type for scale in list(call.results)[len(op.results) :]]
    for key, mark in attributes.all_of(op).items():
        if key.startswith(_PLACING):
            placed = key == SDY and computed
            call.attributes[key] = replicated_after(mark, computed) if placed else mark
    replace_op(op, list(call.results)[: len(op.results)])  # The scales are the last results.
    return call


# The functions of a module that have markers or narrow floats, or call one that has.


def marked_functions(functions: Mapping[str, ir.OpView], index: ModuleIndex) -> set[str]:
    """Returns the functions that have markers, or call a function that has."""
    if index.counted and not index.markers:
        return set()
    return _reaching(functions, has_markers)


def casting_functions(functions: Mapping[str, ir.OpView]) -> set[str]:
    """Returns the private functions that have narrow floats, or call a function that has."""
    private = {name: function for name, function in functions.items() if is_private(function)}
    return _reaching(private, lambda body: has_narrow_values([body]))


def _reaching(functions: Mapping[str, ir.OpView], is_found: Callable[[ir.Block], bool]) -> set[str]:
    """Returns the functions whose bodies satisfy a predicate, and those that call one of them."""
    bodies = {n: f.regions[0].blocks[0] for n, f in functions.items() if f.regions[0].blocks}
    found = {name for name, body in bodies.items() if is_found(body)}
    # Functions that are found already are not looked for as callers.
    others = bodies.keys() - found if found else ()
    callers = _callers({name: functions[name] for name in others})
    return set(Search(found, lambda name: callers.get(name, ())))
