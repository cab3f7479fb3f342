"""scalify-insert-rescales: inserts the dynamic rescalings that a recipe asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.casts.rescaling import Rescaling
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.ir.functions import main_function
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.base import Pass
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.model import Report


@dataclass(frozen=True)
class InsertRescalesPass(Pass):
    """Inserts markers that rescale gradients, matmul operands, named values and state.

    Attributes:
        recipe: The name of a preset, or the path of a recipe file.
    """

    name: ClassVar[str] = "scalify-insert-rescales"
    recipe: Recipe = field(default_factory=Recipe)

    def apply(self, module: ir.Operation, index: ModuleIndex, report: Report) -> None:
        """See `Pass.apply`."""
        main = main_function(module)
        if main is not None:
            index.markers += Rescaling(main, self.recipe, report, partial(_having, module)).run()


def _having(module: ir.Operation, mark: str) -> list[ir.OpView]:
    """Returns the ops that have a mark."""
    return [op.opview for op in ops_in(module, where=lambda op: mark in op.attributes)]
