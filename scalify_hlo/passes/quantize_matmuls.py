"""scalify-quantize-matmuls: casts the operands of matmuls to the formats of a recipe.

The result is plain StableHLO with matmuls of narrow types. The casts are of data near unit after
scale propagation, or after the operands are divided by scales that a statistic or a profile gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.analysis.index import LISTING, ModuleIndex
from scalify_hlo.analysis.sizes import Extent, Sizes
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.passes.base import Pass
from scalify_hlo.profile.model import Profile
from scalify_hlo.quantize.casts import Casts
from scalify_hlo.quantize.collapse_dims import Flattening, on_one_device
from scalify_hlo.quantize.marked_ops import LEFT, clear, marked_ops
from scalify_hlo.quantize.matmuls import (
    MARKS,
    Casting,
    Narrowing,
    Propagated,
    QuantizedOperands,
)
from scalify_hlo.quantize.numbers import Numbers
from scalify_hlo.quantize.operand_scales import Operands, ScaleProvider
from scalify_hlo.quantize.scale_providers import source_of
from scalify_hlo.quantize.selection import UNTRUSTED, Choice, Selection, fall_backs
from scalify_hlo.recipes.model import KEEP, WITH_ALGORITHMS, Recipe
from scalify_hlo.report.model import Report
from scalify_hlo.report.records import Records


@dataclass(frozen=True)
class QuantizeMatmulsPass(Pass):
    """Casts operands of matmuls by the roles that `scalify-roles` wrote.

    Attributes:
        recipe: A preset's name or a recipe's file.
        profile: The profile of the program, for calibrated scales.
        wide: The numbers of the matmuls that stay as they are; see `Numbers`.
        listed: Whether the report is to have the scales of operands.
    """

    name: ClassVar[str] = "scalify-quantize-matmuls"
    preserves: ClassVar[frozenset[str]] = frozenset({LISTING})
    recipe: Recipe = field(default_factory=Recipe)
    profile: Profile | None = None
    wide: frozenset[int] = frozenset()
    listed: bool = False

    def apply(self, module: ir.Operation, index: ModuleIndex, report: Report) -> None:
        """See `Pass.apply`."""
        main = main_function(module)
        source = None
        if main is not None:
            source = source_of(module, main, self.recipe, self.profile, report)
        if source is not None:
            index.invalidate()
        casts = index.share(Casts())
        casting = self._casting(source, casts)
        narrowing = Narrowing(
            casting,
            Flattening() if on_one_device(module) else None,
            algorithms=self.recipe.target in WITH_ALGORITHMS,
        )
        numbers = index.share(Numbers(self.recipe, self.wide))
        records = index.share(Records(report, inlined=source is not None))
        ops = marked_ops(module, index.listing)
        self._narrow(ops, narrowing, report, numbers, records)
        if source is not None:
            source.finish(report)
        records.finish()
        if main is not None and self.recipe.matmul.narrow and records.complete:
            report.remarks += fall_backs(main, self.recipe.name, report.matmuls)
        index.casts = casts.count + (casting.count if self.recipe.narrow_data else 0)
        if index.listing is not None:
            index.listing.renew()

    def _narrow(
        self,
        ops: Sequence[ir.OpView],
        narrowing: Narrowing,
        report: Report,
        numbers: Numbers,
        records: Records,
    ) -> None:
        """Puts narrow matmuls in the places of matmuls.

        Args:
            ops: All that are marked.
            narrowing: Makes them.
            report: Counts them.
            numbers: Says which stay as they are.
            records: Takes what became of each.
        """
        selection, sizes = Selection(self.recipe), Sizes()
        read = (self.recipe.state.gradient, self.recipe.compute) != (KEEP, KEEP)
        for op in ops:
            left = [op]
            if attributes.ROLES in op.attributes:
                extent = sizes.of(op)
                choice = selection.of(op, extent)
                if choice.formats is not None and not numbers.narrow(op.operation):
                    choice = Choice(None, UNTRUSTED)
                report.narrowed += choice.formats is not None
                left = self._narrowed(op, choice, narrowing, extent)
                known = self.listed and choice.formats is not None
                records.note(left[0], choice.wide, narrowing.scales if known else (None, None))
            for each in () if read else left:
                clear(each, LEFT)
        selection.sites.refuse_unmatched()

    def _casting(self, source: ScaleProvider | None, casts: Casts) -> Casting:
        """Returns the source of the narrow operands."""
        if source is None:
            return Propagated(casts, self.recipe.matmul, listed=self.listed)
        return QuantizedOperands(Operands(source), self.recipe)

    def _narrowed(
        self, op: ir.OpView, choice: Choice, narrowing: Narrowing, extent: Extent
    ) -> list[ir.OpView]:
        """What stands in the place of a matmul with roles: itself, or a narrow one."""
        if choice.formats is None:
            clear(op, MARKS)
            return [op]
        return narrowing.narrow(op, choice.formats, extent)
