"""scalify-quantize-matmuls: casts the operands of matmuls to the formats of a recipe.

The result is plain StableHLO with matmuls of narrow types. The data of a cast are near unit after
scale propagation, or after a division by a scale that follows from a statistic or a profile.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import is_small
from scalify_hlo.casts.casts import casts_of
from scalify_hlo.casts.costs import not_faster
from scalify_hlo.casts.matmuls import LEFT, MARKS, Matmul, clear, marked_ops
from scalify_hlo.casts.named_state import by_argument
from scalify_hlo.casts.numbers import Numbers
from scalify_hlo.casts.results import rounding_of
from scalify_hlo.casts.selection import UNTRUSTED, Selection, fall_backs, without_operands
from scalify_hlo.casts.stored_weights import (
    CertainWeights,
    Weight,
    keep_apart,
    storable,
    store_weights,
)
from scalify_hlo.casts.strategies import strategy_of
from scalify_hlo.casts.strategy import CastContext, CastStrategy
from scalify_hlo.dataflow.index import LISTING, ModuleIndex
from scalify_hlo.dataflow.matmuls import WEIGHT
from scalify_hlo.dataflow.sizes import Sizes
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.locations import remark
from scalify_hlo.ir.traits import MATMULS
from scalify_hlo.ir.value_map import ValueSet
from scalify_hlo.passes.base import MainPass
from scalify_hlo.profile.model import Profile
from scalify_hlo.recipes.model import KEEP, Recipe
from scalify_hlo.report.model import Report
from scalify_hlo.report.records import Records, number_of


@dataclass(frozen=True)
class QuantizeMatmulsPass(MainPass):
    """Casts operands of matmuls, by the roles that `scalify-roles` wrote.

    Attributes:
        recipe: The name of a preset, or the path of a recipe file.
        profile: The profile of the program, for calibrated scales.
        wide: The numbers of the matmuls that are not quantized; see `Numbers`.
        listed: Whether the report lists the scales of operands.
        named: Whether ops of functions that are inlined keep the name stacks of their calls.
    """

    name: ClassVar[str] = "scalify-quantize-matmuls"
    preserves: ClassVar[frozenset[str]] = frozenset({LISTING})
    recipe: Recipe = field(default_factory=Recipe)
    profile: Profile | None = None
    wide: frozenset[int] = frozenset()
    listed: bool = False
    named: bool = False

    def edit(self, main: ir.OpView, index: ModuleIndex, report: Report) -> None:
        """See `MainPass.edit`."""
        module = main.operation.parent
        ops = marked_ops(module, index.listing)
        apart = self._members(main, ops, report)
        asked = bool(index.own) and index.asked and not self.recipe.narrow_data
        casts = index.share(casts_of(self.recipe))
        context = CastContext(module, self.recipe, casts, self.listed, asked)
        strategy = strategy_of(context, self.profile, index, report, apart=apart, named=self.named)
        ops = marked_ops(module, index.listing) if strategy.inlines else ops
        numbers = index.share(Numbers(self.recipe, self.wide))
        output = self.recipe.matmul.output
        records = index.share(Records(report, inlined=strategy.inlines, output=output))
        if index.listing is not None and self.recipe.matmul.output == KEEP:
            index.listing.touch(_rounding(ops))
        known = (report.matmuls, _declared(main)) if self._stored_format else ((), ())
        certain = CertainWeights(*known)
        selection = Selection(self.recipe)
        matmuls = self._decided(main, ops, numbers, certain, selection)
        if self._stored_format:
            self._store(main, matmuls, certain, report)
        if not self._reads_marks:  # Before transposes are replaced, which may be gradients.
            for op in ops:
                if attributes.ROLES not in op.attributes:
                    clear(op, LEFT)
        context.exchanges.expect(matmul.op for matmul in matmuls if matmul.is_small)
        self._narrow(matmuls, strategy, records)
        report.narrowed += sum(matmul.formats is not None for matmul in matmuls)
        strategy.finish(report)
        records.finish()
        if self.recipe.matmul.narrow and records.complete:
            report.remarks += fall_backs(main, self.recipe.name, report.matmuls)
            report.remarks += without_operands(main, self.recipe, report.matmuls)
            report.remarks += selection.sites.unmatched(main)
        index.casts = casts.count + (strategy.count if self.recipe.narrow_data else 0)
        if strategy.adds:
            index.invalidate()
        elif index.listing is not None:
            index.listing.renew()

    def _members(self, main: ir.OpView, ops: Sequence[ir.OpView], report: Report) -> str:
        """Returns the mark of matmuls with a scale for each of their members; empty if none has it.

        With `compute = "f16"` they share one: products of data with scales of their own leave f16.
        Those of a sweep share no scale although sizes are predicted. The size that a user declared
        for experts is that of each; but one that is measured is that of the largest.
        """
        measured = attributes.any_argument_has(main, attributes.MEASURE)
        mark = attributes.MEMBERS if measured else attributes.INDEPENDENT
        members, in_f16 = [op for op in ops if mark in op.attributes], self.recipe.compute == "f16"
        if members and in_f16 and self.recipe.depends_on_sizes:
            message = "members share the predicted scales of their matmuls"
            hint = "drop compute = 'f16', and each member has its own"
            report.remarks.append(remark(members[0], message, hint))
        return mark if members and not in_f16 else ""

    @property
    def _reads_marks(self) -> bool:
        """Whether a later pass reads the marks of gradients of weights."""
        return self.recipe.state.gradient != KEEP or self.recipe.computes_last

    def _narrow(self, matmuls: Iterable[Matmul], strategy: CastStrategy, records: Records) -> None:
        """Replaces matmuls by quantized matmuls.

        Args:
            matmuls: The matmuls with the decision on each.
            strategy: The way to cast their operands.
            records: The records of the outcome for each matmul.
        """
        with_weights: list[Weight] = []
        for matmul in matmuls:
            op, formats, number = matmul.op, matmul.formats, number_of(matmul.op)
            left = [op]
            if formats is None:
                clear(op, MARKS)
            else:
                left, scales = strategy.narrow(op, formats, matmul.extent)
                with_weights += _stored_in(left[0], matmul.stored)
                if self.listed:
                    matmul.note(scales)
            records.note(number, left[0], matmul.wide, matmul.scales, formats)
            for each in () if self._reads_marks else left:
                clear(each, LEFT)
        keep_apart(with_weights)

    def _store(
        self, main: ir.OpView, matmuls: Sequence[Matmul], certain: CertainWeights, report: Report
    ) -> None:
        """Stores the weights of matmuls in the format of the recipe, if it is theirs."""
        asked, options = self._weights(matmuls), by_argument(main, self.recipe.state)
        found = [each for each in asked if certain.has(*each)]
        stored = store_weights(main, self._stored_format, found, options)
        kept = dict(filter(None, (certain.kept(*each) for each in asked if not stored.has(each))))
        named = zip(attributes.argument_names(main), options, strict=True)
        for name in [name for name, own in named if own.read_only != self._stored_format]:
            kept.pop(name, None)
        report.remarks += (kept | stored.remarks).values()
        report.state_bytes = stored.bytes
        for matmul in matmuls:
            matmul.stored = stored.sides.get(matmul.op.results[0], ())

    @property
    def _stored_format(self) -> str:
        """The format in which weights that are no state are stored; empty if they keep theirs.

        A stored weight has one scale.
        """
        format_, scaling = self.recipe.matmul.weight, self.recipe.scaling
        single = scaling.kind != "block" and scaling.weight_scales == "tensor"
        stored = single and is_small(format_) and format_ in self.recipe.state.read_only_formats
        return format_ if stored else ""

    def _weights(self, matmuls: Iterable[Matmul]) -> list[Weight]:
        """Returns the weights that matmuls are to read in the format of stored ones."""
        return [each for matmul in matmuls for each in matmul.weights(self._stored_format)]

    def _decided(
        self,
        main: ir.OpView,
        ops: Sequence[ir.OpView],
        numbers: Numbers,
        certain: CertainWeights,
        selection: Selection,
    ) -> list[Matmul]:
        """Returns each matmul that has roles, with the decision on it."""
        sizes, matmuls = Sizes(), list[Matmul]()
        for op in ops:
            if attributes.ROLES in op.attributes:
                matmul = selection.of(op, sizes.of(op))
                if matmul.formats is not None and not numbers.narrow(op.operation):
                    matmul.keep(UNTRUSTED)
                matmuls.append(matmul)
        format_ = self._stored_format
        weights = self._weights(matmuls) if format_ else []
        weights = [each for each in weights if certain.has(*each)]
        stored = ValueSet()
        if weights:
            stored = storable(main, format_, weights, by_argument(main, self.recipe.state))
        small = [matmul for matmul in matmuls if matmul.is_small]
        for matmul, wide in zip(small, not_faster(small, self.recipe, stored), strict=True):
            if wide is not None:
                matmul.keep(wide)
        selection.sites.refuse_unmatched()
        return matmuls


def _declared(main: ir.OpView) -> set[str]:
    """Returns the names of arguments that the recipe declares to be weights, or that are state."""
    marks, names = attributes.argument_attributes(main), attributes.argument_names(main)
    named = zip(names, map(attributes.role_of, marks), strict=True)
    return {name for name, role in named if role == WEIGHT}


def _stored_in(matmul: ir.OpView, sides: Collection[int]) -> list[Weight]:
    """Returns a quantized matmul with the number of its only operand that is stored, if any."""
    swapped = attributes.SWAPPED in matmul.attributes
    return [Weight(matmul, side ^ swapped) for side in sides] if len(sides) == 1 else []


def _rounding(ops: Sequence[ir.OpView]) -> Iterator[ir.Operation]:
    """Yields the ops that round results of matmuls, which may be erased with those."""
    for op in ops:
        if op.operation.name in MATMULS:
            found = rounding_of(op.results[0])
            yield from () if found is None else found.converts
