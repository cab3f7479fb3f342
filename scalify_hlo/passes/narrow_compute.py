"""scalify-narrow-compute: casts the values of a model to the format `compute` of a recipe."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

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

_MIXED: Final = frozenset({"bf16", "f16"})


@dataclass(frozen=True)
class NarrowComputePass(Pass):
    """Casts the values of a model, but not of its loss and its optimizer, to ``compute``.

    A program with matmuls in 16 bits is left as it is: what it computes in f32 is there on purpose.
    A format with the range of f32 needs no scales. Then this pass runs before matmuls are
    quantized, which read and return that format, as they do in a program exported in it.

    Attributes:
        recipe: The name of a preset, or the path of a recipe file.
    """

    name: ClassVar[str] = "scalify-narrow-compute"
    recipe: Recipe = field(default_factory=Recipe)

    def apply(self, module: ir.Operation, index: ModuleIndex, report: Report) -> None:
        """See `Pass.apply`."""
        main = main_function(module)
        if main is None or self.recipe.compute == KEEP:
            return
        records = index.shared(Records)
        if any(not _MIXED.isdisjoint(matmul.formats) for matmul in report.matmuls):
            return
        report.compute = self.recipe.compute
        casts = index.shared(Casts) or index.share(Casts())
        before = casts.count
        narrow_model(main, self.recipe.compute, casts)
        index.casts += casts.count - before
        if self.recipe.computes_wide:  # Matmuls are quantized later.
            return
        marked = marked_ops(module)
        if records is not None:
            records.update(marked)
            records.finish()
        for op in marked:
            clear(op, LEFT)
