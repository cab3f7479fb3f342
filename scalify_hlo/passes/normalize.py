"""scalify-normalize: brings a program to the ops that have rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.diagnostics import InputError
from scalify_hlo.dialect.markers import MARKER, RULE
from scalify_hlo.passes.base import Pass
from scalify_hlo.passes.chlo import expand
from scalify_hlo.passes.encoding import has_elements
from scalify_hlo.passes.markers import lower_calls
from scalify_hlo.passes.report import Report
from scalify_hlo.rules.table import RULES


@dataclass(frozen=True)
class NormalizePass(Pass):
    """Counts ops, takes tuples apart, and expands those of CHLO that have no rule of their own."""

    name: ClassVar[str] = "scalify-normalize"

    def apply(self, module: ir.Operation, report: Report) -> None:
        """See `Pass.apply`."""
        lower_calls(_count(module, report))
        _refuse_foreign(module, report)
        chlo = {op for op in report.ops if op.startswith("chlo.")}
        kept = {op for op in chlo if op in RULES and RULES[op].family != "expanded"}
        if chlo != kept:
            expand(module, keep=kept)
            report.dense = True  # for all that is known of what it makes
        if _ELEMENT in report.ops:
            _untuple(module)


_SYMBOL_USERS = frozenset({"stablehlo.composite", "stablehlo.custom_call"})


_ELEMENT = "stablehlo.get_tuple_element"


def _untuple(module: ir.Operation) -> None:
    """Takes elements of tuples from the values that the tuples were made of."""
    elements: list[ir.OpView] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == _ELEMENT:
            elements.append(op.opview)
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    for element in elements:
        whole = element.operands[0].owner
        if isinstance(whole, ir.Block) or whole.name != "stablehlo.tuple":
            continue
        part = whole.operands[element.attributes["index"].value]
        element.results[0].replace_all_uses_with(part)
        element.operation.erase()
        if not list(whole.results[0].uses):
            whole.erase()


_DIALECTS = frozenset({"builtin", "func", "stablehlo", "chlo", "sdy"})


def _refuse_foreign(module: ir.Operation, report: Report) -> None:
    """Complains of the first op of a dialect that exported programs do not have."""
    foreign = {name for name in report.ops if name.partition(".")[0] not in _DIALECTS}
    foreign |= report.ops.keys() & {"builtin.unrealized_conversion_cast"}
    if not foreign:
        return
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in foreign:
            found.append(op)
            return ir.WalkResult.INTERRUPT
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    raise InputError(
        f"{found[0].name!r} is not a StableHLO op",
        location=str(found[0].location),
        hint="export the program to StableHLO, or lower it to StableHLO first",
    )


def _count(module: ir.Operation, report: Report) -> list[ir.Operation]:
    """Counts ops by a native walk, which takes a third of the time of iterating over blocks.

    Returns:
        The calls that are markers.
    """
    calls: list[ir.Operation] = []
    names: list[str] = []
    note, go_on = names.append, ir.WalkResult.ADVANCE

    def visit(op: ir.Operation) -> ir.WalkResult:
        name = op.name
        note(name)
        if name == "stablehlo.constant":
            report.dense = report.dense or has_elements(op)
        elif name == "func.call":
            if MARKER in op.attributes:
                calls.append(op)
                report.plain_calls &= RULE not in op.attributes
            elif op.parent.name != "func.func":
                report.plain_calls = False
        return go_on

    module.walk(visit)
    report.ops.update(names)
    if not _SYMBOL_USERS.isdisjoint(report.ops):
        report.plain_calls = False
    report.markers += len(calls)
    return calls
