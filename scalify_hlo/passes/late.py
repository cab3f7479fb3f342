"""Passes that make a program faster, and choose no scale and no format; they come last."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

from scalify_hlo._compat import ir
from scalify_hlo.casts.kept import KeptForm
from scalify_hlo.casts.rounded_results import round_results
from scalify_hlo.casts.second_casts import cast_again, part_statistics
from scalify_hlo.casts.selection import without_effect
from scalify_hlo.casts.slices import keep_slices_in_order
from scalify_hlo.dataflow.frames import named
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.errors import Remark
from scalify_hlo.ir.functions import main_function
from scalify_hlo.ir.locations import source_location
from scalify_hlo.ir.traits import CALLS
from scalify_hlo.ir.value_map import run_native
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.base import MainPass, Pass
from scalify_hlo.recipes.effects import MISSING
from scalify_hlo.recipes.formats import AUTO
from scalify_hlo.recipes.model import KEEP, Recipe
from scalify_hlo.report.model import Report
from scalify_hlo.rules.placement import on_one_device
from scalify_hlo.transforms.held import cut_held
from scalify_hlo.transforms.late_factors import LateFactors
from scalify_hlo.transforms.matmul_dims import order_casts, order_dims
from scalify_hlo.transforms.residuals import cut_residuals
from scalify_hlo.transforms.scatter import replace_scatters


@dataclass(frozen=True)
class OptimizePass(Pass):
    """Replaces scatters of single numbers into a constant by selects, bit for bit.

    The gradient of a cross-entropy with integer labels is such a scatter. For GPUs, matmuls have
    their dimensions in the order in which transposes read them; see `matmul_dims`. Both have
    nothing to do with formats: they make the original faster too. The pass comes after all passes
    that choose scales and formats, so that it changes none of them.

    Attributes:
        gpu: Whether the program is for GPUs, and no other pass orders its matmuls.
    """

    name: ClassVar[str] = "scalify-optimize"
    gpu: bool = False

    def apply(self, module: ir.Operation, _: ModuleIndex, report: Report) -> None:
        """See `Pass.apply`."""
        report.optimized = replace_scatters(module)
        if self.gpu:
            report.ordered += order_dims(module, sums=False)
        if report.optimized or report.ordered:
            return
        main = main_function(module)
        location = source_location((module if main is None else main).location)
        told = _NOTHING + _NO_MATMUL * self.gpu
        report.remarks.append(Remark(told, location, "func.func", _LEAVE_OUT))


_NOTHING: Final = "--optimize has no effect: no scatter puts single numbers into a constant"
_NO_MATMUL: Final = ", and no matmul makes its result in another order than its reader"
_LEAVE_OUT: Final = "leave out --optimize (optimize=True)"


@dataclass(frozen=True)
class LateFactorsPass(Pass):
    """Moves scales of FP8 matmuls behind sums and shardings in programs for several devices.

    It comes after scale propagation, which leaves factors behind matmuls.
    """

    name: ClassVar[str] = "scalify-late-factors"

    def apply(self, module: ir.Operation, _: ModuleIndex, __: Report) -> None:
        """See `Pass.apply`."""
        if not on_one_device(module):
            LateFactors().move(module)


@dataclass(frozen=True)
class RoundResultsPass(MainPass):
    """Moves casts to f8 right behind the matmuls whose results they round.

    It comes after scale propagation, which leaves factors between a matmul and a cast.
    """

    name: ClassVar[str] = "scalify-round-results"

    def edit(self, main: ir.OpView, _: ModuleIndex, __: Report) -> None:
        """See `MainPass.edit`."""
        if on_one_device(main.operation.parent):
            round_results(main.regions[0].blocks[0])


@dataclass(frozen=True)
class OrderDimsPass(Pass):
    """Orders the dimensions of matmuls as those of their largest tensor, for GPUs.

    It comes after all casts and scales, between a matmul and what reads it, are in their places.
    """

    name: ClassVar[str] = "scalify-order-dims"

    def apply(self, module: ir.Operation, _: ModuleIndex, report: Report) -> None:
        """See `Pass.apply`."""
        report.ordered += order_dims(module, sums=True)
        if on_one_device(module):
            order_casts(module)


@dataclass(frozen=True)
class CastAgainPass(MainPass):
    """Casts large weights a second time, so that no copy is kept for the backward pass.

    Nor is a wide copy kept of an argument that is normalized before it is cast. The pass is for
    devices that read both operands of an FP8 matmul along the summed dimension. It comes after
    scale propagation, which visits each cast once.
    """

    name: ClassVar[str] = "scalify-cast-again"

    def edit(self, main: ir.OpView, _: ModuleIndex, __: Report) -> None:
        """See `MainPass.edit`."""
        if on_one_device(main.operation.parent):
            block = main.regions[0].blocks[0]
            ops = named(block)
            cast_again(block, ops)
            part_statistics(ops)


@dataclass(frozen=True)
class CutResidualsPass(Pass):
    """Has the forward pass keep less for the backward pass, in loops and in blocks.

    It comes after all casts, so that a value that is only read as f8 is kept as that.

    Attributes:
        recipe: The recipe. With ``residuals = "auto"`` it is a remark that there is nothing to
            change, or that loops are left.
    """

    name: ClassVar[str] = "scalify-cut-residuals"
    recipe: Recipe = field(default_factory=Recipe)

    def apply(self, module: ir.Operation, _: ModuleIndex, report: Report) -> None:
        """See `Pass.apply`."""
        calls = len(ops_in(module, CALLS))
        asked, rounds = self.recipe.residuals == AUTO, self.recipe.activations.saved != KEEP
        form = KeptForm(module, self.recipe) if rounds else None
        left: list[Remark] = []
        saved = cut_residuals(module, form, left) + cut_held(module, form)
        if saved and self.recipe.orders_dims:
            keep_slices_in_order(module)
        if len(ops_in(module, CALLS)) != calls:  # Some were inlined.
            run_native("builtin.module(symbol-dce)", module, verify=False)
        report.kept_before = sum(each.before for each in saved)
        report.kept_after = sum(each.after for each in saved)
        report.kept_rounded = sum(each.rounded for each in saved)
        report.remarks += left if asked else []
        main = main_function(module)
        if asked and not saved:
            told = source_location((module if main is None else main).location)
            report.remarks.append(Remark(_NO_RESIDUALS, told, "func.func", _KEEP))
        if main is not None and rounds and not report.kept_rounded:
            if report.state_bytes:  # A step of training, for which the preset is meant.
                told = source_location(main.location)
                report.remarks.append(Remark(_NONE_ROUNDED, told, "func.func", _LEAVE_SAVED))
            else:
                report.remarks += without_effect(main, self.recipe, {"activations"})


_NONE_ROUNDED: Final = f"activations.saved has no effect: {MISSING['activations']}"
_LEAVE_SAVED: Final = "leave out activations.saved, or take fp8-state8"
_NO_RESIDUALS: Final = (
    "--residuals auto has no effect: no pass keeps more for a later one than that has to read"
)
_KEEP: Final = "leave it out (residuals='auto')"
