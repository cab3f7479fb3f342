"""scalify-normalize: replaces ops without a rule by ops that have one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.casts.encoding import has_elements
from scalify_hlo.dataflow.frames import Named
from scalify_hlo.dataflow.index import LISTING, ModuleIndex
from scalify_hlo.errors import InputError
from scalify_hlo.ir.contraction import RAGGED_DOT
from scalify_hlo.ir.formats import REDUCE_PRECISION, cuts_range, is_narrow
from scalify_hlo.ir.functions import main_function, terminator
from scalify_hlo.ir.locations import source_location
from scalify_hlo.ir.markers import ASKING, MARKER
from scalify_hlo.ir.traits import MAKING
from scalify_hlo.ir.value_map import erase, replace_op
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.base import Pass
from scalify_hlo.report.model import Report
from scalify_hlo.rules.chlo import EXPANDED
from scalify_hlo.rules.table import RULES
from scalify_hlo.transforms.chlo import expand
from scalify_hlo.transforms.inlining import copy_entries
from scalify_hlo.transforms.marker_barriers import lower_calls
from scalify_hlo.transforms.ragged import lower_composites


@dataclass(frozen=True)
class NormalizePass(Pass):
    """Replaces ops without a rule by ops that have one.

    The pass counts ops, removes tuples, and expands ops of CHLO that have no rule. It replaces
    composites of ragged matmuls by ops, and calls of public functions by calls of private copies.

    Attributes:
        expand: Whether ops of CHLO are expanded, and ragged matmuls are replaced, for the passes
            that find roles and layers. `scalify-propagate` needs neither: it expands an op of CHLO
            only if an operand is scaled.
    """

    name: ClassVar[str] = "scalify-normalize"
    preserves: ClassVar[frozenset[str]] = frozenset({LISTING})
    expand: bool = True

    def apply(self, module: ir.Operation, index: ModuleIndex, report: Report) -> None:
        """See `Pass.apply`."""
        copy_entries(module)
        calls = _count(module, index)
        lower_calls(calls)
        _refuse_foreign(module, index)
        expands = self.expand and _expand(module, index)
        if self.expand and _COMPOSITE in index.ops and lower_composites(module):
            index.ops[RAGGED_DOT] += 1
            expands = True
        if _ELEMENT in index.ops:
            _untuple(module)
        if calls or expands or _ELEMENT in index.ops:
            index.invalidate()
        report.ops = index.ops


def _expand(module: ir.Operation, index: ModuleIndex) -> bool:
    """Expands the ops of CHLO that have no rule, and returns whether there are any."""
    chlo = {op for op in index.ops if op.startswith("chlo.")}
    kept = {op for op in chlo if op in RULES and RULES[op].family != EXPANDED}
    if chlo == kept:
        return False
    expand(module, keep=kept)
    index.dense = True  # The ops that it makes may have constants.
    return True


_ELEMENT = "stablehlo.get_tuple_element"
_COMPOSITE = "stablehlo.composite"


def _untuple(module: ir.Operation) -> None:
    """Replaces elements of tuples by the values that the tuples were made of."""
    for element in ops_in(module, {_ELEMENT}):
        whole = element.operands[0].owner
        if isinstance(whole, ir.Block) or whole.name != "stablehlo.tuple":
            continue
        part = whole.operands[element.attributes["index"].value]
        replace_op(element, [part])
        if not list(whole.results[0].uses):
            erase(whole)


_DIALECTS = frozenset({"builtin", "func", "stablehlo", "chlo", "sdy"})


def _refuse_foreign(module: ir.Operation, index: ModuleIndex) -> None:
    """Raises an error for the first op of a dialect that exported programs do not have."""
    foreign = {name for name in index.ops if name.partition(".")[0] not in _DIALECTS}
    foreign |= index.ops.keys() & {"builtin.unrealized_conversion_cast"}
    if not foreign:
        return
    found = ops_in(module, foreign)
    raise InputError(
        f"{found[0].name!r} is not a StableHLO op",
        location=source_location(found[0].location),
        hint="export the program to StableHLO, or give it before it was lowered from StableHLO",
    )


def _count(module: ir.Operation, index: ModuleIndex) -> list[ir.Operation]:
    """Counts the ops of the module, and lists those of `main`.

    Returns:
        The calls that are markers.
    """
    main, found = main_function(module), list[Named]()
    block = main.regions[0].blocks[0] if main is not None and main.regions[0].blocks else None
    # Other results have the type of an operand.
    types = set() if block is None else {argument.type for argument in block.arguments}
    for function in module.regions[0].blocks[0].operations:
        if block is not None and function == main:
            found += index.list_ops(block).every()
            index.ops.update([function.operation.name, terminator(block).name])
        else:
            found += ((op.name, op) for op in ops_in(function))
    index.ops.update([module.name, *(name for name, _ in found)])
    calls, cuts = list[ir.Operation](), False
    for name, op in found:
        if name in MAKING:
            types.add(op.results[0].type)
            cuts = cuts or (name == REDUCE_PRECISION and cuts_range(op))
            index.dense = index.dense or (name == "stablehlo.constant" and has_elements(op))
        elif name == "func.call" and MARKER in op.attributes:
            calls.append(op)
    index.markers += len(calls)
    index.asked = any(op.attributes[MARKER].value in ASKING for op in calls)
    index.own = cuts or any(map(is_narrow, types))
    return calls
