"""Where the scales of matmul operands come from, by the kind that a recipe names."""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.diagnostics import UsageError
from scalify_hlo.dialect import attributes
from scalify_hlo.passes.calibrated import Calibrated
from scalify_hlo.passes.constant_operands import ConstantOperands
from scalify_hlo.passes.current import Current
from scalify_hlo.passes.delayed import Delayed
from scalify_hlo.passes.inlining import inline_calls
from scalify_hlo.passes.observe import names_of
from scalify_hlo.passes.scaling import Source
from scalify_hlo.profile import Profile
from scalify_hlo.recipe import Recipe


def source_of(
    module: ir.Operation, main: ir.OpView, recipe: Recipe, profile: Profile | None
) -> Source | None:
    """What gives the operands of a module's matmuls scales of their own.

    Args:
        module: Functions with matmuls are inlined in it.
        main: The function that it starts at.
        recipe: Names the kind.
        profile: Of the program, for calibrated scales.

    Returns:
        None where scales come through the program.

    Raises:
        UsageError: The recipe needs a profile, and there is none.
    """
    kind = recipe.scaling.kind
    if kind == "propagated":
        return None
    inline_calls(module, {attributes.ROLES})
    if kind == "current":
        return Current(recipe, ConstantOperands(module, recipe))
    names = names_of(main)
    if kind == "delayed":
        return Delayed(main, recipe, names)
    if profile is None:
        raise UsageError(
            f"the recipe {recipe.name} takes its scales from a profile, and there is none",
            hint="make one with `scalify-hlo calibrate`, and give it as --profile or profile=",
        )
    return Calibrated(recipe, profile, names, ConstantOperands(module, recipe))
