"""Rewrites a function on data and scales: the operations that rules are written in.

The walk edits in place: a value of the program becomes the data of its pair, and what else is
known of it, its `ScaleInfo`, is kept in a table. An op whose rule is "the same op on data" is
therefore not touched at all, and keeps its location, its attributes and its sharding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import ONE, Scale, Scaled, ScaleInfo, Splat
from scalify_hlo.algebra.uncertainty import CERTAIN, Uncertainty, of_root
from scalify_hlo.errors import Remark
from scalify_hlo.recipes.model import UNIT, Recipe
from scalify_hlo.rules.alignment import Alignment
from scalify_hlo.rules.attended import Attention
from scalify_hlo.rules.cast_scales import CastScale
from scalify_hlo.rules.placement import share_sharding
from scalify_hlo.rules.rescaler import Rescaler
from scalify_hlo.rules.result_scales import ResultScales
from scalify_hlo.rules.runtime_scales import RuntimeScales
from scalify_hlo.rules.statistics import Devices
from scalify_hlo.rules.values import Values

_NEEDED_BITS = 2
"""Bits of exponent that casts need; each of the others lets a shared scale be an octave off."""

_INPUT = 0.5
"""Octaves by which the sizes of inputs differ from their scales: rounding, and their statistics."""

_IN_POWERS = 8.0
"""The same for each degree of a power of an input: its scale may have been said too roughly."""

Walker: TypeAlias = "Callable[[ir.Block, ScaleRewriter], None]"
"""Applies the rules to the ops of a block, with a rewriter."""


class Observation(NamedTuple):
    """Data that are cast.

    Attributes:
        data: They, before they are rounded.
        scale: Their scale.
        name: The name stack of what made them.
    """

    data: ir.Value
    scale: Scale
    name: str


class Untrusted(NamedTuple):
    """A cast of data whose predicted size could not be trusted.

    Attributes:
        remark: What the user is told of it.
        numbers: Those of the matmuls that read it, where the recipe leaves them wide.
    """

    remark: Remark
    numbers: frozenset[int]


@dataclass(frozen=True, slots=True)
class Settings:
    """The rewrite of a module, the same for all of its functions.

    Attributes:
        recipe: The options of the rewrite.
        narrow: Whether data are going to be narrow.
        doubts: Whether it matters how far sizes are certain: data are narrow, or are going to be.
        marked: The functions that have markers in them, or call one that has.
        casting: The functions that have casts of a recipe in them, or call one that has.
        writing: The functions that return a value after they have written into it.
        cast_exponents: log2 of the scale of the last cast of each kind, where sizes are predicted.
    """

    recipe: Recipe
    narrow: bool = False
    doubts: bool = False
    marked: Collection[str] = ()
    casting: Collection[str] = ()
    writing: Collection[str] = ()
    cast_exponents: dict[Hashable, int] = field(default_factory=dict)

    @property
    def predicts(self) -> bool:
        """Whether sizes are predicted by the factors of Unit Scaling."""
        return self.recipe.predict == UNIT


@dataclass(slots=True)
class Notes:
    """Takes what is found on the way.

    Attributes:
        remarks: What the user should know.
        given_up: How often each op read a scaled operand at scale 1.
        untrusted: The casts of data whose size could not be trusted.
        casts: The scales of the casts of matmul operands that a report is to have.
        statistics: For each statistic that the program takes, the name of its function.
        trial: Whether they are of a copy that will be erased, and count for nothing.
    """

    remarks: list[Remark] = field(default_factory=list)
    given_up: Counter[str] = field(default_factory=Counter)
    untrusted: list[Untrusted] = field(default_factory=list)
    casts: list[CastScale] = field(default_factory=list)
    statistics: list[str] = field(default_factory=list)
    trial: bool = False


class ScaleRewriter:
    """Rewrites one function: rules ask it for scales, and rescale operands with it.

    Args:
        top: The op at the top of the function before which factors are built.
        settings: Those of the module.
        notes: Takes what is found.
        walker: Walks the regions of ops.
        devices: Those that have parts of its tensors, in a per-device computation.
        observe: Whether the data of casts are noted in `observed`.

    Attributes:
        values: The scales of the function's values.
        runtime_scales: Builds run-time factors.
        rescaler: Rescales single values.
        settings: As given; `recipe`, `narrow`, `doubts` and `predicts` are theirs.
        notes: As given; others while a copy is walked that will be erased.
        devices: As given.
        next: The op after the one that the walk is at.
        observed: The data of casts; None if they are not noted.
        attention: The softmaxes that values were averaged with.
    """

    def __init__(
        self,
        top: ir.Operation,
        settings: Settings,
        notes: Notes,
        walker: Walker,
        *,
        devices: Devices | None = None,
        observe: bool = False,
    ) -> None:
        self.settings, self.notes, self.devices = settings, notes, devices
        self.recipe, self.predicts = settings.recipe, settings.predicts
        self.narrow, self.doubts = settings.narrow, settings.doubts
        self.next = top
        self.observed: list[Observation] | None = [] if observe else None
        self._walker = walker
        self.values = values = Values()
        self.runtime_scales = RuntimeScales(top, doubts=settings.doubts)
        self.rescaler = rescaler = Rescaler(values, self.runtime_scales)
        self.attention = Attention()
        self._result_scales = ResultScales(values, narrow=settings.narrow)
        self._alignment = Alignment(
            rescaler,
            self._result_scales,
            narrow=settings.narrow,
            doubts=settings.doubts,
            anchored=settings.recipe.meet == "anchor",
        )
        self._known = values.known
        # What rules ask for at each op goes to the part that knows it without a further call.
        self.info, self.infos, self.format = values.info, values.infos, values.format
        self.replace, self.assume, self.pass_on = values.replace, values.assume, values.pass_on
        self.concerns, self.region = values.concerns, values.region
        self.rescale_to, self.multiply = rescaler.rescale_to, rescaler.multiply
        self.bounded = self._result_scales.bounded
        self.keeps_values = self._result_scales.keeps_values
        self.align, self.meet = self._alignment.align, self._alignment.meet
        self.read_next = self._alignment.read_next

    @property
    def depth(self) -> int:
        """How many regions of the function are being worked on, one in another."""
        return self.values.depth

    def walk(self, block: ir.Block) -> None:
        """Walks a block of a region of the op that the walk is at."""
        following = self.next
        self._walker(block, self)
        self.next = following

    def isolated(self, top: ir.Operation, devices: Devices | None = None) -> ScaleRewriter:
        """A rewriter for a region that sees no value of this one.

        Args:
            top: The op at the top of the region.
            devices: Those that have parts of its tensors; as here if None.
        """
        devices = devices or self.devices
        return ScaleRewriter(top, self.settings, self.notes, self._walker, devices=devices)

    @contextmanager
    def trying(self) -> Iterator[None]:
        """While a copy is walked, and erased: what is said of it counts for nothing."""
        notes, changed = self.notes, self.values.changed
        self.notes = Notes(trial=True)
        runtimes = self.runtime_scales.count
        try:
            yield
        finally:
            self.notes, self.values.changed = notes, changed
            self.runtime_scales.forget(runtimes)

    def set(self, value: ir.Value, info: ScaleInfo) -> None:
        """Says what a value is now; pays its level where the format is narrow."""
        if info is None:
            return
        known = self._known
        known[value] = info
        results = self._result_scales
        if isinstance(info, Scaled) and (info.scale != ONE or not results.is_wide(value)):
            target = results.of(value, info)
            if target is not info.scale:
                before = self.values.at_scale(value, target)
                moved = self._move_definition(value, target) if before is None else before
                at = info.at(target)
                if info.scale.powers != target.powers:
                    known[moved] = at._replace(level=0)
                elif before is not None:  # the op was set before, at another level
                    known[moved] = at

    def doubt_inputs(self) -> None:
        """Says that the sizes of the program's inputs are about what they are said to be."""
        if not self.doubts:
            return
        for value, info in self._known.items():
            if isinstance(info, Scaled):
                drift = info.uncertainty.drift
                found = of_root(_INPUT, _IN_POWERS).drifting(drift)
                self._known[value] = info._replace(uncertainty=found)

    def observe(self, value: ir.Value, scale: Scale, op: ir.Operation) -> None:
        """Notes the data that a cast is of; not in regions, which nothing leaves by itself."""
        if self.observed is not None and not self.depth:
            location = op.location
            name = str(location.name_str) if isinstance(location, ir.NameLoc) else ""
            self.observed.append(Observation(value, scale, name))

    def outward(self, end: ir.Operation) -> None:
        """Rescales what leaves a region to scale 1 if its own scale was computed in there.

        Args:
            end: The op that ends the region, which is being worked on.
        """
        for index, info in enumerate(self.infos(list(end.operands))):
            if isinstance(info, Scaled) and self._computed_inside(info.scale):
                self.replace(end, index, self.rescale_to(end.operands[index], ONE, end))

    def _computed_inside(self, scale: Scale) -> bool:
        """Whether a run-time scale is not seen outside of the region that is worked on."""
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
        """Says that the only result of an op is scaled."""
        self.set(op.results[0], Scaled(scale, level, uncertainty))

    def size(self, info: ScaleInfo) -> float:
        """The expected log2 of the rms of a value; 0 where nothing is known of it."""
        if isinstance(info, Splat):
            return info.size if self.narrow else info.level
        if isinstance(info, Scaled) and info.scale.static:
            return info.level + info.scale.exponent
        return 0

    def remark(self, op: ir.Operation, message: str) -> Remark:
        """Tells the user something about an op."""
        remark = Remark(message, str(op.location), op.operation.name)
        self.notes.remarks.append(remark)
        return remark

    def read(self, op: ir.Operation, index: int) -> None:
        """Makes an operand unscaled: X_d * X_s."""
        value = op.operands[index]
        if isinstance(self._known.get(value), Scaled):
            self.notes.given_up[op.operation.name] += 1
            self.replace(op, index, self.rescale_to(value, ONE, op.operation))

    def read_all(self, op: ir.Operation) -> None:
        """Makes all operands unscaled."""
        for index in range(len(op.operands)):
            self.read(op, index)

    def as_values(self, op: ir.Operation, index: int) -> None:
        """Rescales an operand to scale 1 where data are values; see `keeps_values`."""
        value = op.operands[index]
        info = self._known.get(value)
        if isinstance(info, Scaled) and info.scale.static and self.keeps_values(value):
            self.replace(op, index, self.rescale_to(value, ONE, op.operation))

    def normalize(self, value: ir.Value, at: ir.Operation) -> ir.Value:
        """Pays the level of a value: its data near unit, the scale moved accordingly."""
        info = self._known.get(value)
        if not isinstance(info, Scaled) or not info.level:
            return value
        return self.rescale_to(value, info.normalized, at)

    def normalized_alike(self, op: ir.Operation, info: Scaled) -> Scale:
        """The scale of a cast: that of the last one like it, if that is near where it settles.

        Predicted sizes drift along a model. Layers whose casts have the same scales are the same
        kernels to XLA, which it compiles once. What that costs is range: 2 octaves of E4M3's 17
        or so, 3 of E5M2's 32.
        """
        normalized, result = info.normalized, op.results[0]
        format_ = self.format(result)
        if not normalized.static or format_ is None:
            return normalized
        readers = frozenset(use.owner.operation.results[0].type for use in result.uses)
        key = op.operands[0].type, result.type, readers
        exponents = self.settings.cast_exponents
        last = exponents.get(key, normalized.exponent)
        alike = abs(last - normalized.exponent) <= format_.exponent_bits - _NEEDED_BITS
        exponent = exponents[key] = last if alike else normalized.exponent
        return Scale(exponent)

    def unpaid(self, info: Scaled, scale: Scale) -> float:
        """The level of data that were rescaled to a scale, where sizes are predicted; else 0."""
        if not self.predicts or not scale.static or not info.scale.static:
            return info.unpaid
        return info.level + info.scale.exponent - scale.exponent

    def _move_definition(self, value: ir.Value, target: Scale) -> ir.Value:
        """Rescales a value to another scale right after the op that makes it, for all its uses.

        Returns:
            The data there.
        """
        uses = [(use.owner, use.operand_number) for use in value.uses]
        moved = self.rescale_to(value, target, self.next)
        share_sharding(value, moved)
        for owner, index in uses:
            owner.operands[index] = moved
        return moved
