"""scalify-apply-recipe: puts casts where a recipe wants low precision, and narrow matmuls between.

What it writes is plain StableHLO of narrow types. Propagation, which comes after, sees to it that
the casts are of data near unit size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.passes.base import Pass, main_function
from scalify_hlo.passes.casts import Casts
from scalify_hlo.passes.compute import narrow_model
from scalify_hlo.passes.matrices import Flattening, on_one_device
from scalify_hlo.passes.narrowing import (
    MARKS,
    Casting,
    Narrowing,
    Propagated,
    Scaled,
    is_small,
)
from scalify_hlo.passes.numbers import Numbers
from scalify_hlo.passes.records import Records
from scalify_hlo.passes.report import Report
from scalify_hlo.passes.rescaling import Rescaling
from scalify_hlo.passes.scaling import Operands, Source
from scalify_hlo.passes.selection import UNTRUSTED, Choice, Selection, fall_backs
from scalify_hlo.passes.sources import source_of
from scalify_hlo.passes.state_formats import narrow_arguments, narrow_results, without_state
from scalify_hlo.profile import Profile
from scalify_hlo.recipe import KEEP, WITH_ALGORITHMS, Recipe
from scalify_hlo.roles.frames import BODIES, BRANCHES, LOOP
from scalify_hlo.roles.listing import Listing
from scalify_hlo.roles.matmuls import MATMULS
from scalify_hlo.roles.sizes import Extent, Sizes


@dataclass(frozen=True)
class ApplyRecipePass(Pass):
    """Inserts the casts of a recipe, by the roles that `scalify-roles` wrote.

    Attributes:
        recipe: A preset's name or a recipe's file. Its formats of state are those of pairs.
        profile: Of the program, for calibrated scales.
        wide: The numbers of the matmuls and gradients that stay as they are.
    """

    name: ClassVar[str] = "scalify-apply-recipe"
    keeps_listing: ClassVar[bool] = True
    recipe: Recipe = field(default_factory=Recipe)
    profile: Profile | None = None
    wide: frozenset[int] = frozenset()

    def apply(self, module: ir.Operation, report: Report) -> None:
        """See `Pass.apply`."""
        main = main_function(module)
        if main is not None and self.recipe.rescales:
            Rescaling(main, self.recipe, report, partial(_having, module)).run()
        casts = Casts()
        source = None
        if main is not None:
            source = source_of(module, main, self.recipe, self.profile, report)
        casting = self._casting(source, casts)
        edited = source is not None or self.recipe.rescales
        narrowing = Narrowing(
            casting,
            Flattening() if on_one_device(module) else None,
            algorithms=self.recipe.target in WITH_ALGORITHMS,
        )
        listing = None if edited else report.listing
        ops = _marked(module, listing)
        numbers = Numbers(self.recipe, self.wide)
        records = Records(report, inlined=source is not None)
        marked = self._narrow(ops, narrowing, report, numbers, records)
        if source is not None:
            source.finish(report)
            # It makes loops and the like anew.
            marked = _marked(module) if marked else []
        if main is not None:
            roles = narrow_arguments(main, self.recipe.state)
            report.remarks += without_state(main, self.recipe, roles)
            edited |= narrow_results(main, self.recipe.state, casts)
        for op in marked:
            for number in _gradients(op):
                _narrow_gradient(op.results[number], self.recipe.state.gradient, casts, numbers)
        if main is not None and self.recipe.compute != KEEP:
            narrow_model(main, self.recipe.compute, casts)
            marked = _marked(module)  # it copies functions, and erases others
            records.update(marked)
            edited = True
        for op in marked:
            _clear(op, _LEFT)
        records.finish()
        if main is not None and self.recipe.matmul.narrow and records.complete:
            report.remarks += fall_backs(main, self.recipe.name, report.matmuls)
        report.casts = casts.count + (casting.count if self.recipe.narrow_data else 0)
        if edited:
            report.listing = None
        elif report.listing is not None:
            report.listing.renew()

    def _narrow(
        self,
        ops: Sequence[ir.OpView],
        narrowing: Narrowing,
        report: Report,
        numbers: Numbers,
        records: Records,
    ) -> list[ir.OpView]:
        """Puts narrow matmuls in the places of matmuls.

        Args:
            ops: All that are marked.
            narrowing: Makes them.
            report: Counts them.
            numbers: Says which stay as they are.
            records: Takes what became of each.

        Returns:
            What has marks that are still to be read; other marks are gone.
        """
        selection, sizes = Selection(self.recipe), Sizes()
        read = (self.recipe.state.gradient, self.recipe.compute) != (KEEP, KEEP)
        marked: list[ir.OpView] = []
        for op in ops:
            left = [op]
            if attributes.ROLES in op.attributes:
                extent = sizes.of(op)
                choice = selection.of(op, extent)
                if choice.formats is not None and not numbers.narrow(op.operation):
                    choice = Choice(None, UNTRUSTED)
                report.narrowed += choice.formats is not None
                left = self._narrowed(op, choice, narrowing, extent)
                records.note(left[0], choice.wide)
            if read:
                marked += left
            else:
                for each in left:
                    _clear(each, _LEFT)
        selection.sites.refuse_unmatched()
        return marked

    def _casting(self, source: Source | None, casts: Casts) -> Casting:
        """How operands get narrow."""
        if source is None:
            return Propagated(casts, self.recipe.matmul)
        return Scaled(Operands(source), self.recipe)

    def _narrowed(
        self, op: ir.OpView, choice: Choice, narrowing: Narrowing, extent: Extent
    ) -> list[ir.OpView]:
        """What stands in the place of a matmul with roles: itself, or a narrow one."""
        if choice.formats is None:
            _clear(op, MARKS)
            return [op]
        return narrowing.narrow(op, choice.formats, extent)


def _marked(module: ir.Operation, listing: Listing | None = None) -> list[ir.OpView]:
    """The ops that have a mark of those in `_LEFT`: matmuls, what makes gradients of weights.

    Args:
        module: The module.
        listing: The ops of `main`, where they were listed.
    """
    found: list[ir.OpView] = []
    gradient, go_on = attributes.STATE_GRADIENT, ir.WalkResult.ADVANCE

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in MATMULS or gradient in op.attributes:
            found.append(op.opview)
        return go_on

    if listing is None:
        module.walk(visit)
        return found
    main = main_function(module)
    for function in module.regions[0].blocks[0].operations:
        if function != main:
            function.operation.walk(visit)
            continue
        for name, op in listing.ops[: listing.touched]:
            if name in _WITH_OPS:
                op.walk(visit)
            elif name in MATMULS or gradient in op.attributes:
                found.append(op.opview)
    return found


_WITH_OPS = BODIES | BRANCHES | {LOOP}
"""The ops of `main` with regions in which there may be such ops."""


def _having(module: ir.Operation, mark: str) -> list[ir.OpView]:
    """The ops that have a mark."""
    found: list[ir.OpView] = []
    go_on = ir.WalkResult.ADVANCE

    def visit(op: ir.Operation) -> ir.WalkResult:
        if mark in op.attributes:
            found.append(op.opview)
        return go_on

    module.walk(visit)
    return found


def _narrow_gradient(value: ir.Value, format_: str, casts: Casts, numbers: Numbers) -> None:
    """Rounds the gradient of a weight; those of vectors are no place to save bytes with FP8."""
    if format_ == KEEP or (is_small(format_) and value.type.rank < _MATRIX):
        return
    if numbers.narrow(None):
        numbers.write(casts.through(value, format_).owner)


_MATRIX = 2
"""The rank from which on FP8 gradients save anything."""

_LEFT = (attributes.STATE_GRADIENT, attributes.PART, attributes.MATMUL)
"""What passes wrote for this one."""


def _gradients(op: ir.OpView) -> list[int]:
    """The numbers of the results of an op that are gradients of weights."""
    if attributes.STATE_GRADIENT not in op.attributes:
        return []
    return [number.value for number in op.attributes[attributes.STATE_GRADIENT]]


def _clear(op: ir.OpView, marks: Iterable[str]) -> None:
    present = op.attributes
    for mark in marks:
        if mark in present:
            del present[mark]
