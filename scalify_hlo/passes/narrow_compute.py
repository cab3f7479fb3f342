"""scalify-narrow-compute: casts the values of a model to the format `compute` of a recipe."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.analysis.index import ModuleIndex
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.passes.base import Pass
from scalify_hlo.quantize.casts import Casts
from scalify_hlo.quantize.marked_ops import LEFT, clear, marked_ops
from scalify_hlo.quantize.mixed_precision import narrow_model
from scalify_hlo.recipes.model import KEEP, Recipe
from scalify_hlo.report.model import Report
from scalify_hlo.report.records import Records


@dataclass(frozen=True)
class NarrowComputePass(Pass):
    """Casts the values of a model, but not of its loss and its optimizer, to ``compute``.

    Attributes:
        recipe: The name of a preset, or the path of a recipe file.
    """

    name: ClassVar[str] = "scalify-narrow-compute"
    recipe: Recipe = field(default_factory=Recipe)

    def apply(self, module: ir.Operation, index: ModuleIndex, report: Report) -> None:
        """See `Pass.apply`."""
        del report  # The records of matmuls write to it.
        main = main_function(module)
        if main is None or self.recipe.compute == KEEP:
            return
        casts = index.shared(Casts) or index.share(Casts())
        before = casts.count
        narrow_model(main, self.recipe.compute, casts)
        index.casts += casts.count - before
        marked = marked_ops(module)
        records = index.shared(Records)
        if records is not None:
            records.update(marked)
            records.finish()
        for op in marked:
            clear(op, LEFT)
