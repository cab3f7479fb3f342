"""The scale rewriter: the operations that rules use to rewrite a function on data and scales.

The rewriter edits in place: a value of the program becomes the data of its pair. A table has its
other facts, the `ScaleInfo`. So an op whose rule is "the same op on data" is not edited, and keeps
its location, attributes and sharding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import MANY, NORMAL, SAFE_REACH
from scalify_hlo.algebra.runtime_size import powers_of
from scalify_hlo.algebra.scale import (
    OF_AUTHOR,
    OF_CAST,
    OF_CONSTANTS,
    OF_PAIRS,
    ONE,
    VALUES,
    Scale,
    Scaled,
    ScaleInfo,
    Splat,
    right_of,
)
from scalify_hlo.algebra.uncertainty import CERTAIN, UNKNOWN, Uncertainty, of_root
from scalify_hlo.errors import Remark
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import element_type, is_f64
from scalify_hlo.ir.locations import location_of
from scalify_hlo.ir.traits import INSIDES
from scalify_hlo.recipes.model import UNIT, Recipe
from scalify_hlo.rules.alignment import Alignment
from scalify_hlo.rules.attended import Attention
from scalify_hlo.rules.measured_sizes import MeasuredSizes
from scalify_hlo.rules.placement import share_sharding
from scalify_hlo.rules.reported_scales import CastScale
from scalify_hlo.rules.rescaler import Rescaler
from scalify_hlo.rules.result_scales import ResultScales
from scalify_hlo.rules.runtime_scales import RuntimeScales
from scalify_hlo.rules.statistics import Devices
from scalify_hlo.rules.values import Values

_NEEDED_BITS = 2
"""The exponent bits that casts need; each further bit lets a shared scale be off by an octave."""

INPUT = 0.5
"""The uncertainty, in octaves, of the sizes of inputs: rounding, and statistics."""

ROUNDED_DOWN, ROUNDED_BIAS = 0.5, 0.2
"""The mean of log2 of data whose scale is the power of two at or below their size, in octaves, and
how far it is from that. The weights of a model are often of one size, so that this adds up."""

_IN_POWERS = 8.0
"""The same for each degree of a power of an input, whose declared scale may be inaccurate."""

Walker: TypeAlias = "Callable[[ir.Block, ScaleRewriter], None]"
"""A function that applies the rules to the ops of a block, with a rewriter."""


class Untrusted(NamedTuple):
    """A cast of data whose predicted size could not be trusted.

    Attributes:
        remark: The remark to the user.
        numbers: The numbers of the matmuls that read it, if they are to stay wide.
    """

    remark: Remark
    numbers: frozenset[int]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the rewrite of a module, which all its functions share.

    Attributes:
        recipe: The options of the rewrite.
        narrow: Whether data become narrow.
        tracks_uncertainty: Whether uncertainties are needed: data are narrow, or become narrow.
        marked: The functions that have markers, or call a function that has.
        casting: The functions that have casts of a recipe, or call a function that has.
        writing: The functions that return a value into which they write.
        cast_exponents: log2 of the scale of the last cast of each kind, if sizes are predicted.
        probed: Whether the program gets probes; see `scalify_hlo.rules.probes`.
        own: Whether the program may round values to narrow formats itself. Otherwise, all narrow
            data were made by casts of the recipe.
        asked: Whether the author asked for scales, by pairs or by markers.
        splats: The constants that casts and statistics share.
    """

    recipe: Recipe
    narrow: bool = False
    tracks_uncertainty: bool = False
    marked: Collection[str] = ()
    casting: Collection[str] = ()
    writing: Collection[str] = ()
    cast_exponents: dict[Hashable, int] = field(default_factory=dict)
    probed: bool = False
    own: bool = False
    asked: bool = False
    splats: emit.Splats = field(default_factory=emit.Splats)

    @property
    def of_pairs(self) -> int:
        """The right to round the data of pairs that the caller passes."""
        return OF_PAIRS if self.recipe.narrow else OF_AUTHOR

    @property
    def predicts(self) -> bool:
        """Whether sizes are predicted by the factors of Unit Scaling."""
        return self.recipe.predict == UNIT


@dataclass(slots=True)
class Notes:
    """Notes of a rewrite.

    Attributes:
        remarks: The remarks to the user.
        given_up: For each op, how often it read a scaled operand at scale 1.
        untrusted: The casts of data whose size could not be trusted.
        casts: The scales of the casts of matmul operands, for the report.
        statistics: For each statistic that the program computes, the name of its function.
        called: The notes of the functions that are called. A copy of a function may be called in
            trials only, and then has no part in the program.
        trial: Whether the notes are of a copy that will be erased, and are discarded.
    """

    remarks: list[Remark] = field(default_factory=list)
    given_up: Counter[str] = field(default_factory=Counter)
    untrusted: list[Untrusted] = field(default_factory=list)
    casts: list[CastScale] = field(default_factory=list)
    statistics: list[str] = field(default_factory=list)
    called: list[Notes] = field(default_factory=list)
    trial: bool = False

    def take_called(self) -> None:
        """Adds the notes of all functions that are called, each once."""
        for notes in self._all_called({id(self)}):
            self.remarks += notes.remarks
            self.given_up.update(notes.given_up)
            self.untrusted += notes.untrusted
            self.casts += notes.casts
            self.statistics += notes.statistics

    def _all_called(self, seen: set[int]) -> Iterator[Notes]:
        """Yields the notes of functions that are called, but for those seen, in program order."""
        for notes in self.called:
            if id(notes) not in seen:
                seen.add(id(notes))
                yield notes
                yield from notes._all_called(seen)


class ScaleRewriter:
    """The rewriter of one function, with which rules look up scales and rescale operands.

    Args:
        top: The op at the top of the function before which factors are built.
        settings: The settings of the module.
        notes: The notes, to which remarks are added.
        walker: The function that rewrites regions of ops.
        devices: In a per-device computation, the devices that have parts of its tensors.

    Attributes:
        values: The scale information of the function's values.
        runtime_scales: The builder of run-time factors.
        sizes: The levels that depend on measured sizes.
        rescaler: The rescaler of single values.
        settings: The settings of the module. `recipe`, `narrow`, `tracks_uncertainty` and
            `predicts` are copies of them.
        notes: The notes; other ones while a copy is rewritten that will be erased.
        devices: As given.
        next: The op after the one that is being rewritten.
        attention: The softmaxes with which values were averaged.
    """

    def __init__(
        self,
        top: ir.Operation,
        settings: Settings,
        notes: Notes,
        walker: Walker,
        *,
        devices: Devices | None = None,
    ) -> None:
        self.settings, self.notes, self.devices = settings, notes, devices
        self.recipe, self.predicts = settings.recipe, settings.predicts
        self.narrow, self.tracks_uncertainty = settings.narrow, settings.tracks_uncertainty
        self.next, self.unsure = top, list[ir.Value]()
        self._walker = walker
        self.values = values = Values()
        self.runtime_scales = RuntimeScales(top, tracks_uncertainty=settings.tracks_uncertainty)
        self.sizes = sizes = MeasuredSizes(self.runtime_scales)
        self.rescaler = rescaler = Rescaler(values, self.runtime_scales)
        self.attention = Attention()
        self._result_scales = ResultScales(values, narrow=settings.narrow, own=settings.own)
        self._alignment = Alignment(
            rescaler,
            self._result_scales,
            sizes,
            narrow=settings.narrow,
            tracks_uncertainty=settings.tracks_uncertainty,
            anchored=settings.recipe.meet == "anchor",
        )
        self._known, self._own = values.known, settings.own
        # Frequent operations are bound to the part that has them, which saves a call.
        self.info, self.infos, self.format = values.info, values.infos, values.format
        self.replace, self.assume, self.pass_on = values.replace, values.assume, values.pass_on
        self.concerns, self.region, self.is_wide = values.concerns, values.region, values.is_wide
        self.rescale_to, self.multiply = rescaler.rescale_to, rescaler.multiply
        self.bounded = self._result_scales.bounded
        self.keeps_values = self._result_scales.keeps_values
        self.align, self.meet = self._alignment.align, self._alignment.meet
        self.read_next = self._alignment.read_next

    @property
    def depth(self) -> int:
        """The number of nested regions that are being rewritten."""
        return self.values.depth

    def walk(self, block: ir.Block) -> None:
        """Rewrites a block of a region of the current op."""
        following = self.next
        self._walker(block, self)
        self.next = following

    def isolated(self, top: ir.Operation, devices: Devices | None = None) -> ScaleRewriter:
        """Returns a rewriter for a region that captures no values.

        Args:
            top: The op at the top of the region.
            devices: The devices that have parts of its tensors; as here if None.
        """
        devices = devices or self.devices
        return ScaleRewriter(top, self.settings, self.notes, self._walker, devices=devices)

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Discards notes while a copy is rewritten that will be erased."""
        notes, changed = self.notes, self.values.changed
        self.notes = Notes(trial=True)
        runtimes = self.runtime_scales.count
        try:
            yield
        finally:
            self.notes, self.values.changed = notes, changed
            self.runtime_scales.forget(runtimes)

    def set(self, value: ir.Value, info: ScaleInfo) -> None:
        """Sets the scale information of a value; in narrow formats the level is folded."""
        if info is None:
            return
        known = self._known
        if self._own and isinstance(info, Scaled):
            info = info._replace(right=self._right_of(value, info.right))
        if isinstance(info, Scaled) and info.level > NORMAL:
            info = self._finite(value, info)
        known[value] = info
        results = self._result_scales
        if isinstance(info, Scaled) and (info.scale != ONE or not results.is_wide(value)):
            target = results.of(value, info)
            if target is not info.scale:
                if not results.is_wide(value) and (made := self.values.moved.get(value)):
                    target = next(iter(made))  # Its uses read data at this scale already.
                before = self.values.at_scale(value, target)
                moved = self._move_definition(value, target) if before is None else before
                at = info.at(target)
                if not (info.scale / target).passing:
                    known[moved] = at._replace(level=0, uncertainty=UNKNOWN)
                elif before is not None:  # The value was set before, at another level.
                    known[moved] = at
                value = moved
            if self._own and self._is_unsure(value):
                self.unsure.append(value)

    def _is_unsure(self, value: ir.Value) -> bool:
        """Whether data of pairs may leave f16, as they are at a product of many scales.

        Each of the factors may be wrong by an octave, and all in the same direction.
        """
        format_, info = self.format(value), self._known.get(value)
        if format_ is None or format_.wide or format_.small or not isinstance(info, Scaled):
            return False
        return info.right >= OF_PAIRS and info.scale.factors > MANY

    def _finite(self, value: ir.Value, info: Scaled) -> Scaled:
        """Returns the scale information of a value; its size is not known if it is infinite.

        A size below the format is kept: the value is zero, and its products are.
        """
        most = SAFE_REACH[is_f64(value.type)] - info.scale.exponent
        known = info.scale.static and not powers_of(info.level)
        if not known or info.level <= most:
            return info
        return info._replace(level=most, uncertainty=UNKNOWN)

    def right(self, op: ir.Operation) -> int:
        """Returns the right to round data that the result of an op has; that of its operands.

        Data that a cast of the recipe made may be rounded only in their own format. Constants take
        part in what their partners do, and those without a partner in what the program asks for.
        """
        if not self._own:
            return OF_CAST
        right, constant, element = VALUES, True, element_type(op.results[0].type)
        for operand, info in zip(op.operands, self.infos(list(op.operands)), strict=True):
            own = right_of(info)
            constant = constant and (isinstance(info, Splat) or own == OF_CONSTANTS)
            if own > OF_CAST or (own == OF_CAST and element_type(operand.type) == element):
                right = max(right, own)
        return OF_CONSTANTS if constant and self.settings.asked else right

    def _right_of(self, value: ir.Value, right: int) -> int:
        """Returns the right to round data that a value has, from the operands of its op too."""
        owner = value.owner
        # The right of a result of a loop or a call is that of a value in its body.
        if not (right or isinstance(owner, ir.Block) or owner.name in INSIDES):
            right = self.right(owner)
        return VALUES if right == OF_CAST and self.values.is_wide(value) else right

    def asks(self, op: ir.Operation) -> bool:
        """Whether the data of the result of an op may be rounded, as the author asked for it.

        Such a result has a scale, so that its products with small numbers get one.
        """
        return self._own and self.settings.asked and self.right(op) >= OF_PAIRS

    def rounds_values(self, value: ir.Value) -> bool:
        """Whether the program rounds a narrow value, so that the data have to stay the value."""
        info = self._known.get(value)
        return self._own and not self.is_wide(value) and right_of(info) == VALUES

    def set_input_uncertainty(self) -> None:
        """Sets the uncertainty of the sizes of the program's inputs that are declared."""
        if not self.tracks_uncertainty:
            return
        for value, info in self._known.items():
            if isinstance(info, Scaled) and not info.uncertainty.degrees:
                self._known[value] = self._as_input(info)

    def _as_input(self, info: Scaled) -> Scaled:
        """Returns the scale information of an input, whose scale may be at or below its size."""
        found = of_root(INPUT, _IN_POWERS).drifting(info.uncertainty.drift)
        pair = info.scale.given
        if not pair:
            bias = ROUNDED_BIAS if powers_of(info.level) else 0.0
            return info._replace(uncertainty=found.with_bias(bias))
        if not self.recipe.matmul.small:  # The paper's rules are for scales, and f16 has room.
            return info._replace(uncertainty=found.with_bias(ROUNDED_DOWN + ROUNDED_BIAS))
        found = found.with_bias(ROUNDED_BIAS)
        if self.predicts:
            return info._replace(level=info.level + ROUNDED_DOWN, uncertainty=found)
        return info._replace(uncertainty=found.drifting(ROUNDED_DOWN))

    def outward(self, end: ir.Operation) -> None:
        """Rescales the results of a region to scale 1 if their scales are computed inside of it.

        Args:
            end: The terminator of the region, which is being rewritten.
        """
        for index, info in enumerate(self.infos(list(end.operands))):
            if isinstance(info, Scaled) and self._computed_inside(info.scale):
                self.rescale(end, index, ONE)
        self.forget_sizes(end)

    def forget_sizes(self, end: ir.Operation) -> None:
        """Makes sizes of the results of a region unknown if they are measured inside of it.

        Args:
            end: The terminator of the region, which is being rewritten.
        """
        for value in end.operands:
            info = self.info(value)
            if isinstance(info, Scaled) and any(
                self._computed_inside(Scale(0, ((runtime, 1),)))
                for runtime in powers_of(info.level)
            ):
                self.assume(value, info._replace(level=float(info.level), uncertainty=UNKNOWN))

    def _computed_inside(self, scale: Scale) -> bool:
        """Whether a run-time scale is not visible outside of the current region."""
        if self.depth:
            return scale.depth >= self.depth
        return bool(self.runtime_scales.computed(scale))

    def result(
        self,
        op: ir.Operation,
        scale: Scale,
        level: float = 0,
        uncertainty: Uncertainty = CERTAIN,
    ) -> None:
        """Sets the scale, level and uncertainty of the only result of an op."""
        self.set(op.results[0], Scaled(scale, level, uncertainty))

    def size(self, info: ScaleInfo) -> float:
        """Returns the expected log2 of the rms of a value; 0 for unscaled values."""
        if isinstance(info, Splat):
            return info.size if self.narrow else info.level
        if isinstance(info, Scaled) and info.scale.passing:
            return info.level + info.scale.size
        return 0

    def remark(self, op: ir.Operation, message: str) -> Remark:
        """Adds a remark on an op."""
        remark = Remark(message, location_of(op), op.operation.name)
        self.notes.remarks.append(remark)
        return remark

    def rescale(self, op: ir.Operation, index: int, scale: Scale) -> None:
        """Replaces an operand by its data at another scale."""
        self.replace(op, index, self.rescale_to(op.operands[index], scale, op.operation))

    def read(self, op: ir.Operation, index: int) -> None:
        """Replaces an operand by its value X_d * X_s."""
        if isinstance(self._known.get(op.operands[index]), Scaled):
            self.notes.given_up[op.operation.name] += 1
            self.rescale(op, index, ONE)

    def read_all(self, op: ir.Operation) -> None:
        """Replaces all operands by their values."""
        for index in range(len(op.operands)):
            self.read(op, index)

    def as_values(self, op: ir.Operation, index: int) -> None:
        """Rescales an operand to scale 1 if data are values; see `keeps_values`."""
        value = op.operands[index]
        info = self._known.get(value)
        if isinstance(info, Scaled) and info.scale.passing and self.keeps_values(value):
            self.rescale(op, index, ONE)

    def normalize(self, value: ir.Value, at: ir.Operation) -> ir.Value:
        """Folds the level of a value into its scale, so that the data are near unit."""
        info = self._known.get(value)
        if not isinstance(info, Scaled) or not info.level:
            return value
        return self.rescale_to(value, info.normalized, at)

    def normalized_alike(self, op: ir.Operation, info: Scaled) -> Scale:
        """Returns the scale of a cast: that of the last cast of its kind if it is close enough.

        Predicted sizes drift along a model. Layers whose casts have equal scales have equal
        kernels, which XLA compiles once. The cost is range: 2 octaves of about 17 in E4M3, and 3 of
        32 in E5M2.
        """
        normalized, result = info.normalized, op.results[0]
        format_ = self.format(result)
        if not normalized.static or format_ is None:
            return normalized
        # A return reads a cast too, and has no result.
        each = (use.owner.operation.results.types[:1] for use in result.uses)
        readers = frozenset(chain.from_iterable(each))
        key = op.operands[0].type, result.type, readers
        exponents = self.settings.cast_exponents
        last = exponents.get(key, normalized.exponent)
        alike = abs(last - normalized.exponent) <= format_.exponent_bits - _NEEDED_BITS
        exponent = exponents[key] = last if alike else normalized.exponent
        return Scale(exponent)

    def residual_level(self, info: Scaled, scale: Scale) -> float:
        """Returns the level of data at a scale if sizes are predicted; else 0."""
        if not self.predicts or not scale.static or not info.scale.static:
            return info.residual
        return info.level + info.scale.exponent - scale.exponent

    def _move_definition(self, value: ir.Value, target: Scale) -> ir.Value:
        """Rescales a value to another scale right after its definition, for all its uses.

        Returns:
            The data at that scale.
        """
        uses = [(use.owner, use.operand_number) for use in value.uses]
        moved = self.rescale_to(value, target, self.next)
        share_sharding(value, moved)
        for owner, index in uses:
            owner.operands[index] = moved
        return moved
