"""scalify-normalize: replaces ops without a rule by ops that have one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.casts.encoding import has_elements
from scalify_hlo.dataflow.index import LISTING, ModuleIndex
from scalify_hlo.dataflow.listing import Listing
from scalify_hlo.errors import InputError
from scalify_hlo.ir.contraction import RAGGED_DOT
from scalify_hlo.ir.formats import REDUCE_PRECISION, cuts_range, format_of
from scalify_hlo.ir.functions import main_function, terminator
from scalify_hlo.ir.locations import source_location
from scalify_hlo.ir.markers import ASKING, MARKER, RULE
from scalify_hlo.ir.traits import MAKING, REFERENCES
from scalify_hlo.ir.value_map import erase, replace_op
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.base import Pass
from scalify_hlo.report.model import Report
from scalify_hlo.rules.chlo import EXPANDED
from scalify_hlo.rules.table import RULES
from scalify_hlo.transforms.chlo import expand
from scalify_hlo.transforms.entries import copy_entries
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
    count = _Count(index)
    main = main_function(module)
    for function in module.regions[0].blocks[0].operations:
        if main is None or function != main or not main.regions[0].blocks:
            count.inside(function.operation)
            continue
        block = main.regions[0].blocks[0]
        count.arguments(block)
        count.listed(index.list_ops(block))
        index.ops.update([function.operation.name, terminator(block).name])
    index.ops[module.name] += 1
    index.ops.update(count.names)
    if not index.ops.keys().isdisjoint(REFERENCES):
        index.plain_calls = False
    index.markers += len(count.calls)
    index.asked = any(op.attributes[MARKER].value in ASKING for op in count.calls)
    index.own = count.cuts or any(count.narrow.values())
    return count.calls


class _Count:
    """A walk over all ops of a program.

    Args:
        index: The index, in which constants and calls are noted.

    Attributes:
        names: The names of the ops.
        narrow: For each type of which there are floats, whether it has less range than f32. Results
            of ops that have the type of an operand are not looked at.
        cuts: Whether an op rounds to such a format.
        calls: The calls that are markers.
    """

    def __init__(self, index: ModuleIndex) -> None:
        self.cuts = False
        self.names: list[str] = []
        self.narrow: dict[ir.Type, bool] = {}
        self.calls: list[ir.Operation] = []
        self._index = index

    def listed(self, listing: Listing) -> None:
        """Visits listed ops, and before each the ops in its regions."""
        self.names += [name for name, _ in listing.ops]
        nests = iter(listing.nests)
        nest = next(nests, None)
        for name, op in listing.ops:
            if nest is not None and op is nest.op:
                for inner, inner_op in nest.inner:
                    self._note(inner, inner_op)
                nest = next(nests, None)
            if name in _LOOKED_AT:
                self._look(name, op)

    def _note(self, name: str, op: ir.Operation) -> None:
        self.names.append(name)
        if name in _LOOKED_AT:
            self._look(name, op)

    def inside(self, op: ir.Operation) -> None:
        """Visits an op and all ops in its regions by a native walk, which is faster."""
        note, go_on = self._note, ir.WalkResult.ADVANCE

        def visit(op: ir.Operation) -> ir.WalkResult:
            note(op.name, op)
            return go_on

        op.walk(visit)

    def _look(self, name: str, op: ir.Operation) -> None:
        index = self._index
        if name in MAKING:
            self._note_format(op.results[0].type)
        if name == REDUCE_PRECISION:
            self.cuts = self.cuts or cuts_range(op)
        elif name == "stablehlo.constant":
            index.dense = index.dense or has_elements(op)
        elif name in MAKING:
            return
        elif MARKER in op.attributes:
            self.calls.append(op)
            index.plain_calls &= RULE not in op.attributes
        elif op.parent.name != "func.func":
            index.plain_calls = False

    def _note_format(self, type_: ir.Type) -> None:
        if type_ not in self.narrow:
            format_ = format_of(type_)
            self.narrow[type_] = format_ is not None and not format_.wide

    def arguments(self, block: ir.Block) -> None:
        """Looks at the arguments of `main`."""
        for argument in block.arguments:
            self._note_format(argument.type)


_LOOKED_AT = MAKING | {"func.call"}
