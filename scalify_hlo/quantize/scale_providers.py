"""The providers of the scales of matmul operands, by the kind that a recipe names."""

from __future__ import annotations

from collections.abc import Sequence

from scalify_hlo._compat import ir
from scalify_hlo.analysis.index import ModuleIndex
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.walk import ops_in
from scalify_hlo.errors import Remark, UsageError
from scalify_hlo.profile.model import Profile
from scalify_hlo.quantize.calibrated import Calibrated
from scalify_hlo.quantize.constant_operands import ConstantOperands
from scalify_hlo.quantize.current import Current
from scalify_hlo.quantize.delayed import Delayed
from scalify_hlo.quantize.marked_ops import marked_matmuls
from scalify_hlo.quantize.matmuls import MARKS
from scalify_hlo.quantize.observed import names_of
from scalify_hlo.quantize.operand_scales import ScaleProvider
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.model import Report
from scalify_hlo.transforms.inlining import inline_calls


def source_of(
    module: ir.Operation,
    main: ir.OpView,
    recipe: Recipe,
    profile: Profile | None,
    index: ModuleIndex,
    report: Report,
    *,
    apart: bool = False,
) -> ScaleProvider | None:
    """Returns the provider of scales for the operands of a module's matmuls.

    Args:
        module: The module, in which functions with matmuls are inlined.
        main: The entry function.
        recipe: The recipe, which names the kind of scales.
        profile: The profile of the program, for calibrated scales.
        index: Analyses of the module, which are dropped if a call is inlined.
        report: The report, which gets a remark on each composite whose matmuls stay wide.
        apart: Whether independent members have scales of their own if others are propagated.

    Returns:
        The provider; None if scales are propagated, or are those of blocks.

    Raises:
        UsageError: The recipe needs a profile, and there is none.
    """
    kind = recipe.scaling.kind
    if kind == "propagated" and apart and recipe.short_of_range:
        return Current(recipe, ConstantOperands(module, recipe))
    if kind in ("propagated", "block"):
        return None
    others = inline_calls(module, {attributes.ROLES}, index=index)
    if kind == "current":
        return Current(recipe, ConstantOperands(module, recipe))
    _leave(module, main, others, report)
    names = names_of(marked_matmuls(main, index.listing))
    if kind == "delayed":
        return Delayed(main, recipe, names)
    if profile is None:
        raise UsageError(
            f"the recipe {recipe.name} takes its scales from a profile, and there is none",
            hint="make one with `scalify-hlo calibrate`, and give it as --profile or profile=",
        )
    return Calibrated(recipe, profile, names, ConstantOperands(module, recipe))


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
        report.remarks.append(Remark(message, str(op.location), op.name))

    for function in module.regions[0].blocks[0].operations:
        if others and function != main:
            for op in ops_in(function, where=lambda op: attributes.ROLES in op.attributes):
                for mark in MARKS:
                    if mark in op.attributes:
                        del op.attributes[mark]
