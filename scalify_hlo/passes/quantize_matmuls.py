"""scalify-quantize-matmuls: casts the operands of matmuls to the formats of a recipe.

The result is plain StableHLO with matmuls of narrow types. The data of a cast are near unit after
scale propagation, or after a division by a scale that follows from a statistic or a profile.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.analysis.index import LISTING, ModuleIndex
from scalify_hlo.analysis.matmuls import WEIGHT
from scalify_hlo.analysis.sizes import Extent, Sizes
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.dialect.locations import source_location
from scalify_hlo.dialect.traits import MATMULS
from scalify_hlo.dialect.value_map import ValueSet
from scalify_hlo.errors import Remark
from scalify_hlo.passes.base import Pass
from scalify_hlo.profile.model import Profile
from scalify_hlo.quantize.blocks.matmuls import BlockQuantizer
from scalify_hlo.quantize.casts import Casts
from scalify_hlo.quantize.certain_weights import CertainWeights
from scalify_hlo.quantize.collapse_dims import Flattening, on_one_device
from scalify_hlo.quantize.costs import Candidate, not_faster
from scalify_hlo.quantize.exchanges import Exchanges
from scalify_hlo.quantize.marked_ops import LEFT, clear, marked_ops
from scalify_hlo.quantize.matmuls import (
    MARKS,
    ApartMembers,
    Casting,
    MatmulQuantizer,
    Propagated,
    QuantizedOperands,
    Quantizer,
    Scales,
    is_small,
    roles_of,
)
from scalify_hlo.quantize.numbers import Numbers
from scalify_hlo.quantize.operand_scales import Operands, ScaleProvider
from scalify_hlo.quantize.partial_sums import PartialSums
from scalify_hlo.quantize.result_types import rounding_of
from scalify_hlo.quantize.scale_providers import source_of
from scalify_hlo.quantize.selection import (
    UNTRUSTED,
    Choice,
    Selection,
    fall_backs,
    without_operands,
)
from scalify_hlo.quantize.stored_weights import (
    StoredWeights,
    keep_apart,
    storable,
    store_weights,
)
from scalify_hlo.quantize.weight_reads import Weight
from scalify_hlo.recipes.model import KEEP, TURNING, WITH_ALGORITHMS, Recipe
from scalify_hlo.report.matmuls import STORED, OperandScale
from scalify_hlo.report.model import Report
from scalify_hlo.report.records import Records

_Decided: TypeAlias = tuple[Extent, Choice] | None
"""The sizes of a matmul, and the decision on it; None for a matmul without roles."""


@dataclass(frozen=True)
class QuantizeMatmulsPass(Pass):
    """Casts operands of matmuls, by the roles that `scalify-roles` wrote.

    Attributes:
        recipe: The name of a preset, or the path of a recipe file.
        profile: The profile of the program, for calibrated scales.
        wide: The numbers of the matmuls that are not quantized; see `Numbers`.
        listed: Whether the report lists the scales of operands.
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
        source, blocks = None, self.recipe.scaling.kind == "block"
        ops = marked_ops(module, index.listing)
        mark = _apart_mark(main)
        apart = self._own_scales(ops, mark, report)
        if main is not None:
            recipe, profile = self.recipe, self.profile
            source = source_of(module, main, recipe, profile, index, report, apart=apart)
            ops = marked_ops(module, index.listing) if source is not None else ops
        casts = index.share(Casts())
        exchanges = Exchanges()
        sums = self._sums(module, exchanges)
        asked = bool(index.own) and index.asked and not self.recipe.narrow_data
        casting = self._casting(source, casts, exchanges, sums, mark, asked=asked)
        quantizer = self._quantizer(module, casting)
        numbers = index.share(Numbers(self.recipe, self.wide))
        inlined = source is not None and not self.recipe.scaling.propagated
        records = index.share(Records(report, inlined=inlined))
        if index.listing is not None and self.recipe.matmul.output == KEEP:
            index.listing.touch(_rounding(ops))
        known = (report.matmuls, _declared(main)) if self._stored_format else ((), ())
        certain = CertainWeights(*known)
        choices = self._decided(main, ops, numbers, certain)
        stored = None if main is None else self._stored(main, ops, choices, certain, report)
        self._narrow(ops, choices, stored, quantizer, report, records, exchanges)
        if sums is not None:
            sums.join()
        exchanges.finish()
        if source is not None:
            source.finish(report)
        if isinstance(quantizer, BlockQuantizer):  # Each scale is the amax of a block.
            report.statistics += quantizer.count
            quantizer.finish()
        records.finish()
        if main is not None and self.recipe.matmul.narrow and records.complete:
            report.remarks += fall_backs(main, self.recipe.name, report.matmuls)
            report.remarks += without_operands(main, self.recipe, report.matmuls)
        index.casts = casts.count + (quantizer.count if self.recipe.narrow_data else 0)
        if source is not None or blocks:  # It may add ops after all marked ones.
            index.invalidate()
        elif index.listing is not None:
            index.listing.renew()

    def _own_scales(self, ops: Sequence[ir.OpView], mark: str, report: Report) -> bool:
        """Whether matmuls with a mark have a scale for each of their members, if one has the mark.

        With `compute = "f16"` they share one: products of data with scales of their own leave f16.
        """
        members, in_f16 = [op for op in ops if mark in op.attributes], self.recipe.compute == "f16"
        if members and in_f16 and self.recipe.depends_on_sizes:
            message = "members share the predicted scales of their matmuls"
            hint = "drop compute = 'f16', and each member has its own"
            op = members[0].operation
            report.remarks.append(Remark(message, source_location(op.location), op.name, hint))
        return bool(members) and not in_f16

    def _narrow(
        self,
        ops: Sequence[ir.OpView],
        choices: Sequence[_Decided],
        stored: StoredWeights | None,
        quantizer: Quantizer,
        report: Report,
        records: Records,
        exchanges: Exchanges,
    ) -> None:
        """Replaces matmuls by quantized matmuls.

        Args:
            ops: The matmuls that are marked.
            choices: The decision on each.
            stored: The weights that arguments have in the formats of matmuls.
            quantizer: The quantization of one matmul.
            report: The report, which counts quantized matmuls.
            records: The records of the outcome for each matmul.
            exchanges: The collectives that casts stand before.
        """
        blocks = self.recipe.scaling.kind == "block"
        read = self.recipe.state.gradient != KEEP or self.recipe.computes_last
        with_weights: list[Weight] = []
        exchanges.expect(op for op, choice in zip(ops, choices, strict=True) if _is_small(choice))
        if not read:  # Before matmuls replace their transposes, which may be marked as gradients.
            _clear_others(ops, choices)
        for op, decided in zip(ops, choices, strict=True):
            if decided is None:
                continue
            extent, choice = decided
            report.narrowed += choice.formats is not None
            sides = () if stored is None else stored.sides.get(op.results[0], ())
            left = self._quantized(op, choice, quantizer, extent)
            with_weights += _stored_in(left[0], sides)
            known = self.listed and choice.formats is not None
            scales = _with_stored(quantizer.scales, sides) if known else (None, None)
            records.note(left[0], choice.wide, scales, choice.formats if blocks else None)
            if blocks and choice.formats is not None:
                clear(left[0], (attributes.MATMUL,))
            for each in () if read else left:
                clear(each, LEFT)
        keep_apart(with_weights)

    def _stored(
        self,
        main: ir.OpView,
        ops: Sequence[ir.OpView],
        choices: Sequence[_Decided],
        certain: CertainWeights,
        report: Report,
    ) -> StoredWeights | None:
        """Stores the weights of matmuls in the format of the recipe, if it is theirs."""
        if not (format_ := self._stored_format):
            return None
        asked = self._weights(ops, choices)
        stored = store_weights(main, format_, [each for each in asked if certain.has(*each)])
        kept = dict(filter(None, (certain.kept(*each) for each in asked if not stored.has(each))))
        report.remarks += (kept | stored.remarks).values()
        report.state_bytes = stored.bytes
        return stored

    @property
    def _stored_format(self) -> str:
        """The format in which weights that are no state are stored; empty if they keep theirs.

        A stored weight has one scale.
        """
        format_, scaling = self.recipe.state.weight, self.recipe.scaling
        single = scaling.kind != "block" and scaling.weight_scales == "tensor"
        return format_ if single and is_small(format_) else ""

    def _weights(self, ops: Sequence[ir.OpView], choices: Sequence[_Decided]) -> list[Weight]:
        """Returns the weights that matmuls are to read in the format of stored ones."""
        return [
            Weight(op, side)
            for op, decided in zip(ops, choices, strict=True)
            if decided is not None and decided[1].formats is not None
            for side, role in enumerate(roles_of(op))
            if role == WEIGHT and decided[1].formats[side] == self._stored_format
        ]

    def _decided(
        self,
        main: ir.OpView | None,
        ops: Sequence[ir.OpView],
        numbers: Numbers,
        certain: CertainWeights,
    ) -> list[_Decided]:
        """Returns the sizes of each matmul that has roles, and the decision on it."""
        selection, decided = Selection(self.recipe), list[_Decided]()
        sizes, places, candidates = Sizes(), list[int](), list[Candidate]()
        for op in ops:
            if attributes.ROLES not in op.attributes:
                decided.append(None)
                continue
            extent = sizes.of(op)
            choice = selection.of(op, extent)
            if choice.formats is not None and not numbers.narrow(op.operation):
                choice = Choice(None, UNTRUSTED)
            if choice.formats is not None and all(map(is_small, choice.formats)):
                places.append(len(decided))
                candidates.append(Candidate(op, extent, roles_of(op)))
            decided.append((extent, choice))
        format_ = self._stored_format
        weights = self._weights(ops, decided) if format_ and main is not None else []
        weights = [each for each in weights if certain.has(*each)]
        stored = storable(main, format_, weights) if weights and main is not None else ValueSet()
        slower = not_faster(candidates, self.recipe, stored)
        for place, candidate, wide in zip(places, candidates, slower, strict=True):
            if wide is not None:
                decided[place] = candidate.extent, Choice(None, wide)
        selection.sites.refuse_unmatched()
        return decided

    def _quantizer(self, module: ir.Operation, casting: Casting) -> Quantizer:
        """Returns the quantization of matmuls that the recipe names."""
        if self.recipe.scaling.kind == "block":
            return BlockQuantizer(module, self.recipe)
        return MatmulQuantizer(
            casting,
            Flattening() if on_one_device(module) else None,
            algorithms=self.recipe.target in WITH_ALGORITHMS,
            keeps=self.recipe.matmul.output == KEEP,
        )

    def _sums(self, module: ir.Operation, exchanges: Exchanges) -> PartialSums | None:
        """Returns the sums of gradients that devices may have parts of."""
        scaling = self.recipe.scaling
        powers = scaling.power_2_scale or scaling.kind == "calibrated"
        several = not on_one_device(module)
        return PartialSums(module, self.recipe, exchanges) if powers and several else None

    def _casting(
        self,
        source: ScaleProvider | None,
        casts: Casts,
        exchanges: Exchanges,
        sums: PartialSums | None,
        mark: str,
        *,
        asked: bool,
    ) -> Casting:
        """Returns the provider of the quantized operands."""
        apart = self.recipe.target in TURNING
        matmul, listed = self.recipe.matmul, self.listed
        propagated = Propagated(casts, matmul, exchanges, listed=listed, apart=apart)
        if source is None:
            return propagated
        operands = Operands(source, exchanges)
        own = QuantizedOperands(operands, self.recipe, sums, apart=apart, asked=asked)
        return ApartMembers(propagated, own, mark) if self.recipe.scaling.propagated else own

    def _quantized(
        self, op: ir.OpView, choice: Choice, quantizer: Quantizer, extent: Extent
    ) -> list[ir.OpView]:
        """Returns the ops that replace a matmul with roles: itself, or a quantized matmul."""
        if choice.formats is None:
            clear(op, MARKS)
            return [op]
        return quantizer.narrow(op, choice.formats, extent)


def _clear_others(ops: Sequence[ir.OpView], choices: Sequence[_Decided]) -> None:
    """Removes the marks of ops that are not decided on."""
    for op, decided in zip(ops, choices, strict=True):
        if decided is None:
            clear(op, LEFT)


def _apart_mark(main: ir.OpView | None) -> str:
    """Returns the mark of matmuls whose members share no scale although sizes are predicted.

    Those of a sweep do not. The size that a user declared for experts is that of each; but one that
    is measured is that of the largest.
    """
    measured = main is not None and attributes.any_argument_has(main, attributes.MEASURE)
    return attributes.MEMBERS if measured else attributes.INDEPENDENT


def _declared(main: ir.OpView | None) -> set[str]:
    """Returns the names of arguments that the recipe declares to be weights, or that are state."""
    if main is None or not attributes.any_argument_has(main, attributes.ROLE):
        return set()
    marks, names = attributes.argument_attributes(main), attributes.argument_names(main)
    roles = (ir.StringAttr(m[attributes.ROLE]).value if attributes.ROLE in m else "" for m in marks)
    return {name for name, role in zip(names, roles, strict=True) if role == WEIGHT}


def _stored_in(matmul: ir.OpView, sides: Collection[int]) -> list[Weight]:
    """Returns a quantized matmul with the number of its only operand that is stored, if any."""
    swapped = attributes.SWAPPED in matmul.attributes
    return [Weight(matmul, side ^ swapped) for side in sides] if len(sides) == 1 else []


def _with_stored(scales: Scales, sides: Container[int]) -> Scales:
    """Returns the scales of operands, some of which are those of arguments."""
    lhs, rhs = (OperandScale(STORED) if i in sides else scales[i] for i in (0, 1))
    return lhs, rhs


def _is_small(decided: _Decided) -> bool:
    """Whether a matmul gets operands of 8 bits."""
    formats = None if decided is None else decided[1].formats
    return formats is not None and all(map(is_small, formats))


def _rounding(ops: Sequence[ir.OpView]) -> Iterator[ir.Operation]:
    """Yields the ops that round results of matmuls, which may be erased with those."""
    for op in ops:
        if op.operation.name in MATMULS:
            found = rounding_of(op.results[0])
            yield from () if found is None else found.converts
