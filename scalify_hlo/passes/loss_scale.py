"""scalify-loss-scale: multiplies the gradients of a step by one scale, as loss scaling does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.casts.loss_scale import LOSS, Scaling, scale_automatically
from scalify_hlo.dataflow.carried import carried_arguments
from scalify_hlo.dataflow.cotangents import cotangents_of
from scalify_hlo.dataflow.frames import Frame
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import UsageError
from scalify_hlo.ir.locations import remark
from scalify_hlo.passes.base import MainPass
from scalify_hlo.recipes.effects import MISSING
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.model import Report, StateReport
from scalify_hlo.transforms.inlining import inline_calls


@dataclass(frozen=True)
class LossScalePass(MainPass):
    """Scales the loss of a program, after `scalify-roles`; see `scalify_hlo.casts.loss_scale`.

    With a constant power of two S, each value X of the backward pass becomes S * X, and the
    optimizer and the caller read S * X * 1/S. In f32 and without casts, each result has the bits
    that it had before, unless a number leaves the normal range. All calls are inlined.

    Attributes:
        recipe: The name of a preset, or the path of a recipe file.
    """

    name: ClassVar[str] = "scalify-loss-scale"
    recipe: Recipe = field(default_factory=Recipe)

    def edit(self, main: ir.OpView, index: ModuleIndex, report: Report) -> None:
        """See `MainPass.edit`.

        Raises:
            UsageError: The scales of operands are delayed, and that of the loss is automatic.
        """
        options, automatic = self.recipe.loss_scale, self.recipe.loss_scale.kind == "automatic"
        if automatic and self.recipe.scaling.kind == "delayed":
            raise UsageError(
                "the state of delayed scales has no place for an automatic scale of the loss",
                hint="set loss_scale.kind=constant, or scaling.kind=current",
            )
        names = attributes.argument_names(main)
        results = attributes.result_names(attributes.result_attributes(main))
        carried = {}
        if automatic:
            frame = Frame.of(main)
            carried = carried_arguments(main, names, results, {}, frame)
            frame.release()
        inline_calls(main.operation.parent, (), named=True, index=index)
        found = cotangents_of(main)
        scaling = Scaling(found, options.value)
        scaling.run()
        scaling.mark_ends()
        if not scaling.ends:
            message = f"loss_scale.kind has no effect: {MISSING['loss_scale']}"
            report.remarks.append(remark(main, message, _EXPORT))
        if automatic:
            report.statistics += scale_automatically(main, scaling, options, carried)
            report.scaling_state, report.kept = StateReport((LOSS,), 0), len(carried)
        index.invalidate()


_EXPORT = "rewrite the function that takes the gradient, as jax.value_and_grad returns it"
