"""The program that is explained and its original in bf16, with named matmuls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.commands.explain.device import recipe_target
from scalify_hlo.errors import UsageError
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.legalize import LegalizePass
from scalify_hlo.passes.name_matmuls import NameMatmulsPass
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import Options, rewrite_module, run_passes
from scalify_hlo.passes.roles import RolesPass
from scalify_hlo.program.artifact import copy_module
from scalify_hlo.program.wellformed import located
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.matmuls import MatmulReport
from scalify_hlo.report.model import Report
from scalify_hlo.targets.description import Target

_OWN: Final = "scalify."
_WIDE: Final = frozenset({"f32", "f64"})


class Prepared(NamedTuple):
    """A program in which the locations of matmuls have numbers.

    Attributes:
        module: The program.
        report: The report of its rewrite, or only its matmuls if it was not rewritten.
    """

    module: ir.Module
    report: Report


def rewritten(module: ir.Module, options: Options, target: Target, name: str) -> Prepared:
    """Returns the rewrite of a program for a target.

    Args:
        module: The program, which is not changed.
        options: The options of the rewrite.
        target: The device. It decides on the target of the recipe, unless the recipe has one.
        name: The name of the program in diagnostics.

    Raises:
        UsageError: The recipe quantizes no matmul.
        InputError: The program cannot be rewritten.
    """
    recipe = options.recipe
    if not recipe.narrow:
        raise UsageError(
            f"the recipe {recipe.name} quantizes no matmul, so there is nothing to explain",
            hint="give --recipe one that does, such as fp8-current, or leave it out",
        )
    if recipe.target == "any":
        recipe = replace(recipe, target=recipe_target(target))
    new = copy_module(module)
    with located(name):
        asked = replace(options, recipe=recipe, named=True, listed=True)
        return Prepared(new, rewrite_module(new, asked))


def as_it_is(module: ir.Module, name: str) -> Prepared:
    """Returns a program that is not rewritten.

    Args:
        module: The program, which is not changed.
        name: The name of the program in diagnostics.

    Raises:
        InputError: The program is not valid.
    """
    new = copy_module(module)
    passes = [NormalizePass(), RolesPass(), NameMatmulsPass()]
    with located(name):
        report = run_passes(new, [*passes, LegalizePass(expand=False, composites=True)])
    with new.context:
        _clear(new.operation)
    return Prepared(new, report)


def in_bf16(module: ir.Module, target: Target, name: str) -> Prepared:
    """Returns a program with all matmuls, and most other values, in bf16.

    A program that has no matmul of f32 operands is left as it is.

    Args:
        module: The program, which is not changed.
        target: The device.
        name: The name of the program in diagnostics.
    """
    own = as_it_is(module, name)
    if not any(_is_wide(matmul) for matmul in own.report.matmuls):
        return own
    return rewritten(module, Options(recipe=_bf16()), target, name)


def _bf16() -> Recipe:
    return load_recipe("bf16", {"compute": "bf16"})


def _is_wide(matmul: MatmulReport) -> bool:
    return not _WIDE.isdisjoint(matmul.formats[:2])


def _clear(module: ir.Operation) -> None:
    """Removes the attributes of passes, which no compiler knows."""
    for op in ops_in(module):
        present = op.attributes
        own: Sequence[str] = [key for key in present if key.startswith(_OWN)]
        for key in own:
            del present[key]
