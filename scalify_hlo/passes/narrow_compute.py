"""scalify-narrow-compute: casts the values of a model to the format `compute` of a recipe."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import is_small
from scalify_hlo.casts.casts import Casts, casts_of
from scalify_hlo.casts.matmuls import LEFT, clear, marked_ops
from scalify_hlo.casts.mixed_precision import narrow_model
from scalify_hlo.casts.selection import Selection
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.dataflow.sizes import Sizes
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import Remark
from scalify_hlo.ir.traits import MATMULS
from scalify_hlo.ir.value_map import OpSet
from scalify_hlo.passes.base import MainPass
from scalify_hlo.recipes.formats import AUTO
from scalify_hlo.recipes.model import KEEP, Recipe
from scalify_hlo.report.model import MatmulReport, Report
from scalify_hlo.report.records import Records

_MIXED: Final = frozenset({"bf16", "f16"})


@dataclass(frozen=True)
class NarrowComputePass(MainPass):
    """Casts the values of a model, but not of its loss and its optimizer, to ``compute``.

    A program with matmuls in 16 bits is left as it is: what it computes in f32 is there on purpose.
    If the recipe names the format, that is a remark. Matmuls that the recipe itself cast to 16 bits
    do not count.

    If the target decides on the format, a program is left as it is of which the recipe quantizes no
    matmul. What the program computes from its arguments keeps its format up to the first matmul
    that is quantized.

    If the format has the range of f32, it needs no scales. Then this pass runs before matmuls are
    quantized, which read and return that format, as they do in a program exported in it. Operands
    in f16 have more digits than bf16, so that they are cast before.

    Attributes:
        recipe: The name of a preset, or the path of a recipe file.
    """

    name: ClassVar[str] = "scalify-narrow-compute"
    recipe: Recipe = field(default_factory=Recipe)

    def edit(self, main: ir.OpView, index: ModuleIndex, report: Report) -> None:
        """See `MainPass.edit`."""
        if self.recipe.rest == KEEP:
            return
        module = main.operation.parent
        records = index.shared(Records)
        mixed = _mixed(report.matmuls if records is None else records.before)
        decided = self.recipe.compute == AUTO
        quantized = self._quantized(module, index) if decided and mixed is None else None
        if mixed is None and (quantized is None or quantized):
            self._narrow(main, index, quantized)
            report.compute = self.recipe.rest
        elif mixed is not None and not decided:
            report.remarks.append(self._kept(mixed))
        if self.recipe.computes_last:
            _finish(module, records)

    def _quantized(self, module: ir.Operation, index: ModuleIndex) -> OpSet | None:
        """Returns the matmuls that the recipe quantizes, if the device is not slower with it.

        Returns None if no matmul has roles, as in a pipeline without `scalify-roles`.
        """
        matmuls = [op for op in marked_ops(module, index.listing) if op.operation.name in MATMULS]
        with_roles = [op for op in matmuls if attributes.ROLES in op.attributes]
        if matmuls and not with_roles:
            return None
        selection, sizes = Selection(self.recipe), Sizes()
        chosen = ((op, selection.of(op, sizes.of(op)).formats) for op in with_roles)
        return OpSet(op.operation for op, both in chosen if both and all(map(is_small, both)))

    def _narrow(self, main: ir.OpView, index: ModuleIndex, quantized: OpSet | None) -> None:
        casts = index.shared(Casts) or index.share(casts_of(self.recipe))
        before = casts.count
        kind = attributes.DATA if self.recipe.computes_last else ""
        narrow_model(main, self.recipe.rest, casts, kind, quantized)
        index.casts += casts.count - before

    def _kept(self, matmul: MatmulReport) -> Remark:
        """Returns a remark on a program that keeps its formats."""
        own = next(format_ for format_ in matmul.formats if format_ in _MIXED)
        message = (
            f"compute is {self.recipe.compute}, and the program has matmuls in {own}, "
            "so all formats are kept"
        )
        return Remark(message, matmul.location, matmul.op, "leave out compute")


def _mixed(matmuls: Iterable[MatmulReport]) -> MatmulReport | None:
    """Returns the first matmul that the program has in 16 bits."""
    found = (each for each in matmuls if not _MIXED.isdisjoint(each.formats))
    return next(found, None)


def _finish(module: ir.Operation, records: Records | None) -> None:
    """Completes the records of matmuls, and clears the marks that were left for this pass."""
    marked = marked_ops(module)
    if records is not None:
        records.update(marked)
        records.finish()
    for op in marked:
        clear(op, LEFT)
