"""The choice of a strategy by the kind of scales that a recipe names."""

from __future__ import annotations

from collections.abc import Sequence

from scalify_hlo._compat import ir
from scalify_hlo.casts.blocks.matmuls import Blocks
from scalify_hlo.casts.calibrated import Calibrated
from scalify_hlo.casts.current import Current
from scalify_hlo.casts.delayed import Delayed
from scalify_hlo.casts.matmuls import MARKS, clear, marked_matmuls, names_of
from scalify_hlo.casts.propagated import ByMembers, Plain, Propagated
from scalify_hlo.casts.static import Static
from scalify_hlo.casts.strategy import CastContext, CastStrategy
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import UsageError
from scalify_hlo.ir.functions import entry
from scalify_hlo.ir.locations import remark
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.profile.model import Profile
from scalify_hlo.recipes.model import NONE
from scalify_hlo.report.model import Report
from scalify_hlo.transforms.inlining import inline_calls


def strategy_of(
    context: CastContext,
    profile: Profile | None,
    index: ModuleIndex,
    report: Report,
    *,
    apart: str = "",
    named: bool = False,
) -> CastStrategy:
    """Returns the strategy that casts the operands of a module's matmuls.

    Args:
        context: The module, in which functions with matmuls are inlined, and the recipe, which
            names the kind of scales.
        profile: The profile of the program, for calibrated scales.
        index: Analyses of the module, which are dropped if a call is inlined.
        report: The report, which gets a remark on each composite whose matmuls stay wide.
        apart: The attribute of matmuls whose independent members have scales of their own if others
            are propagated; empty if none have.
        named: As for `inline_calls`.

    Raises:
        UsageError: The recipe needs a profile, and there is none.
    """
    module, recipe = context.module, context.recipe
    kind, main = recipe.scaling.kind, entry(module)
    if kind == "block":
        return Blocks(context)
    if kind == NONE:
        return Plain(context)
    if kind == "propagated":
        if apart and recipe.short_of_range:
            return ByMembers(context, Current(context), apart)
        return Propagated(context)
    others = inline_calls(module, {attributes.ROLES}, named=named, index=index)
    if kind in ("current", "static"):
        return (Current if kind == "current" else Static)(context)
    _leave(module, main, others, report)
    names = names_of(marked_matmuls(main, index.listing))
    if kind == "delayed":
        return Delayed(context, main, names)
    if profile is None:
        raise UsageError(
            f"the recipe {recipe.name} takes its scales from a profile, and there is none",
            hint="make one with `scalify-hlo calibrate`, and give it as --profile or profile=",
        )
    return Calibrated(context, profile, names)


def _leave(
    module: ir.Operation, main: ir.OpView, others: Sequence[ir.Operation], report: Report
) -> None:
    """Keeps matmuls of functions that are not inlined wide, as their operands have no names.

    Args:
        module: The module.
        main: The function that has all other matmuls.
        others: The ops that refer to such functions.
        report: The report, which gets a remark on each of these ops.
    """
    for op in others:
        message = "its matmuls stay wide: scales of single operands need matmuls in main"
        report.remarks.append(remark(op, message))

    for function in module.regions[0].blocks[0].operations:
        if others and function != main:
            for op in ops_in(function, where=lambda op: attributes.ROLES in op.attributes):
                clear(op.opview, MARKS)
