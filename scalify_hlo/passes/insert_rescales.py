"""scalify-insert-rescales: inserts the dynamic rescalings that a recipe asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.casts.rescaling import Rescaling
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.passes.base import MainPass
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.model import Report


@dataclass(frozen=True)
class InsertRescalesPass(MainPass):
    """Inserts markers that rescale gradients, matmul operands, named values and state.

    Attributes:
        recipe: The name of a preset, or the path of a recipe file.
    """

    name: ClassVar[str] = "scalify-insert-rescales"
    recipe: Recipe = field(default_factory=Recipe)

    def edit(self, main: ir.OpView, index: ModuleIndex, report: Report) -> None:
        """See `MainPass.edit`."""
        index.markers += Rescaling(main, self.recipe, report).run()
