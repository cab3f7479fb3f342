"""scalify-propagate: splits every float value into data and scale.

The walk over the functions is in `scalify_hlo.scaling.propagation`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.errors import InputError
from scalify_hlo.passes.base import MainPass
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.model import Report
from scalify_hlo.scaling.propagation import Propagation
from scalify_hlo.transforms.strip_attributes import clear_layers


@dataclass(frozen=True)
class PropagatePass(MainPass):
    """Splits values into data and scale, as the recipe and the attributes of `main` ask.

    Attributes:
        recipe: The name of a preset, or the path of a recipe file.
        annotate: Whether each op gets a ``scalify.forms`` attribute with the scales of its results,
            for people and for tests, and the report counts them.
        strict: Whether an op without a scaled form is an error.
        probe: Whether the program gets an op for each value that says which scale it has; see
            `scalify_hlo.rules.probes`. An op that takes the place of another gets its
            ``scalify.value``.
    """

    name: ClassVar[str] = "scalify-propagate"
    recipe: Recipe = field(default_factory=Recipe)
    annotate: bool = False
    strict: bool = False
    probe: bool = False

    def edit(self, main: ir.OpView, index: ModuleIndex, report: Report) -> None:
        """See `MainPass.edit`."""
        module, asked = main.operation.parent, (self.annotate, self.probe)
        Propagation(module, self.recipe, index, report, *asked).main(main)
        if index.layers or index.own or not index.counted:
            index.casts = len(clear_layers(module, index.marked))
        if self.strict:
            refuse_remarks(report)


def refuse_remarks(report: Report) -> None:
    """Raises an error for the first remark, if there is one."""
    if report.remarks:
        first = report.remarks[0]
        message, hint = f"{first.op} {first.message}", first.hint or _AT_ONE
        raise InputError(message, location=first.location, hint=hint)


_AT_ONE: Final = "rewrite without --strict to let values through at scale 1 there"
