"""The split of a function into data and scale, as it stands during the walk.

The walk edits in place: a value of the program becomes the data of its pair, and what else is
known of it, its form, is kept here. An op whose rule is "the same op on data" is therefore not
touched at all, and keeps its location, its attributes and its sharding.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple, TypeAlias, TypeGuard

from scalify_hlo._compat import ir
from scalify_hlo.diagnostics import Remark
from scalify_hlo.dialect.formats import FloatFormat
from scalify_hlo.recipe import UNIT, Recipe
from scalify_hlo.rules.attended import Attention
from scalify_hlo.rules.mover import Mover, broadcast_source
from scalify_hlo.rules.placement import share_sharding
from scalify_hlo.rules.statistics import Devices
from scalify_hlo.scale import (
    ANY,
    GENERATOR_BOUND,
    ONE,
    TRUSTED_LEVEL,
    Any,
    Form,
    Maximum,
    Scale,
    Scaled,
    Splat,
    levels_at,
    mean_uncertainty,
    meet,
)
from scalify_hlo.uncertainty import CERTAIN, Uncertainty, of_root

READERS: set[str] = set()
"""The ops whose rule reads values at scale 1, as their rules say."""

_HOPELESS = 32
"""Octaves of uncertainty from which on a size says nothing: the whole range of f16."""

DRIFT = 12
"""|log2| from which a static scale returns to 1: a dozen octaves are far from any end of f32."""


_NEEDED_BITS = 2
"""Bits of exponent that casts need; each of the others lets a shared scale be an octave off."""

_INPUT = 0.5
"""Octaves by which the sizes of inputs differ from their scales: rounding, and their statistics."""

_IN_POWERS = 8.0
"""The same for each degree of a power of an input: its scale may have been said too roughly."""

_UNIT = 6
"""|log2| up to which a constant is of the size of what it is added to, and no guard or mask."""


def is_unit(form: Form) -> TypeGuard[Splat]:
    """Whether a constant says that what it is added to is about values near 1.

    Sums such as ``1 + x**2`` have a natural scale, 1, at which their size is known. Narrow data
    have to be near unit, so that is worth a factor.
    """
    return isinstance(form, Splat) and abs(form.level) <= _UNIT


_CARRYING = frozenset(
    f"stablehlo.{name}"
    for name in (
        *("broadcast_in_dim", "concatenate", "convert", "convolution", "dot_general"),
        *("dynamic_slice", "gather", "optimization_barrier", "pad", "reshape", "reverse", "slice"),
        "transpose",
    )
)
"""Ops after which a static scale may go on: a cast or a product takes it up at no cost."""

Walker: TypeAlias = "Callable[[ir.Block, Split], None]"
"""Applies the rules to the ops of a block, with a split."""


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


class Split(Mover):
    """What rules know of a function's values, and what they do to operands.

    Args:
        top: See `Mover`.
        recipe: The options of the rewrite.
        remarks: Takes what the user should know.
        given_up: Takes how often each op read a scaled operand at scale 1.
        walker: Walks the regions of ops.

    Attributes:
        next: The op after the one that the walk is at.
        trial: Whether the walk is on a copy that will be erased.
        narrow: Whether data are going to be narrow.
        cast_exponents: log2 of the scale of the last cast of each kind, where sizes are predicted.
        doubts: Whether it matters how far sizes are certain: data are narrow, or are going to be.
        predicts: Whether sizes are predicted by the factors of Unit Scaling.
        leaving: The values that the function returns at scale 1.
        observed: Takes what casts are of, where somebody wants to know.
        untrusted: Takes the casts of data whose size could not be trusted.
        devices: Those that have parts of its tensors, in a per-device computation.
        marked: The functions that have markers in them, or call one that has.
        casting: The functions that have casts of a recipe in them, or call one that has.
        writing: The functions that return a value after they have written into it.
        attention: The softmaxes that values were averaged with.
    """

    def __init__(
        self,
        top: ir.Operation,
        recipe: Recipe,
        remarks: list[Remark],
        given_up: Counter[str],
        walker: Walker,
    ) -> None:
        super().__init__(top)
        self.recipe = recipe
        self.predicts = recipe.predict == UNIT
        self.remarks = remarks
        self.given_up = given_up
        self.next = top
        self.trial = False
        self.narrow = self.doubts = False
        self.cast_exponents: dict[Hashable, int] = {}
        self._walker = walker
        self.devices: Devices | None = None
        self.observed: list[Observation] | None = None
        self.untrusted: list[Untrusted] = []
        self.leaving: frozenset[ir.Value] = frozenset()
        self.marked: Collection[str] = ()
        self.casting: Collection[str] = ()
        self.writing: Collection[str] = ()
        self.attention = Attention()

    def _forget_value(self, value: ir.Value) -> None:
        super()._forget_value(value)
        self.attention.forget(value)

    def expect(self, *, narrow: bool, doubts: bool) -> None:
        """Sets the attributes of these names."""
        self.narrow = narrow
        self.doubts = self.factors.doubts = doubts

    def walk(self, block: ir.Block) -> None:
        """Walks a block of a region of the op that the walk is at."""
        following = self.next
        self._walker(block, self)
        self.next = following

    def isolated(self, top: ir.Operation) -> Split:
        """A split for a region that sees no value of this one."""
        inner = Split(top, self.recipe, self.remarks, self.given_up, self._walker)
        inner.trial, inner.devices = self.trial, self.devices
        inner.expect(narrow=self.narrow, doubts=self.doubts)
        inner.marked, inner.cast_exponents = self.marked, self.cast_exponents
        inner.casting, inner.writing = self.casting, self.writing
        inner.untrusted = self.untrusted
        return inner

    @contextmanager
    def trying(self) -> Iterator[None]:
        """While a copy is walked that will be erased: what is said of it counts for nothing."""
        kept = self.remarks, self.given_up, self.changed, self.trial
        self.remarks, self.given_up, self.trial = [], Counter(), True
        untrusted, self.untrusted = self.untrusted, []
        generators = self.factors.count
        try:
            yield
        finally:
            self.remarks, self.given_up, self.changed, self.trial = kept
            self.untrusted = untrusted
            self.factors.forget(generators)

    def set(self, value: ir.Value, form: Form) -> None:
        """Says what a value is now; pays its level where the format is narrow."""
        if form is None:
            return
        self._forms[value] = form
        if isinstance(form, Scaled) and (form.scale != ONE or not self._wide(value)):
            target = self._resting(value, form)
            if target is not form.scale:
                known = self._moved.get((value, target))
                moved = self._move_definition(value, target) if known is None else known
                at = form.at(target)
                if form.scale.powers != target.powers:
                    self._forms[moved] = at._replace(level=0)
                elif known is not None:  # the op was set before, at another level
                    self._forms[moved] = at

    def _resting(self, value: ir.Value, form: Scaled) -> Scale:
        """The scale at which the result of an op is left.

        Narrow formats pay levels at once. In wide ones a scale may run away from 1, and data the
        other way, through many layers: static scales then return to 1, where data are the values
        of the original program, and so do dynamic ones of high level: levels are estimates, and
        one that is far off would flush the data if it were paid. A high level alone is no reason:
        values may be large. Where `keeps_values`, static scales are always 1.
        """
        scale, level = form.scale, form.level
        if not self._wide(value):
            return scale if scale == ONE and not level else self.bounded(value, form)
        if scale.powers:
            if -TRUSTED_LEVEL < level < TRUSTED_LEVEL or scale.reach <= 2 * GENERATOR_BOUND:
                return scale
            return ONE
        if self.narrow and scale.exponent and not _carries_on(value):
            return ONE
        return ONE if abs(scale.exponent) > DRIFT else scale

    def bounded(
        self,
        value: ir.Value,
        form: Scaled,
        format_: FloatFormat | None = None,
        octaves: float | None = None,
    ) -> Scale:
        """The scale at which narrow data are near unit, as far as their size is certain.

        A size that is far off would flush or saturate data if it were paid in full. What is not
        certain to within the room of the format is left to the data, whose static scale is then
        nearer to 1, where they are the values of the original program.

        Args:
            value: The data.
            form: What is known of them.
            format_: The format that they are going to have; theirs if None.
            octaves: By how many octaves the size may be off; as the form says if None.
        """
        format_ = format_ or self.format(value)
        room = format_.room if format_ else 0
        if octaves is None:
            octaves = form.uncertainty.octaves
        scale = form.scale
        if octaves <= room:
            return form.settled
        if octaves > _HOPELESS:
            return ONE if scale.static else scale
        doubt = 2 * octaves - room  # two standard deviations
        if scale.static:
            return Scale(_certain(form.level + scale.exponent, doubt))
        return scale.shift(_certain(form.level, doubt))

    def keeps_values(self, value: ir.Value) -> bool:
        """Whether data are values wherever a value's scale is static.

        So it is in wide formats of programs that have narrow ones too: no scale is needed there,
        and where there is none, ops stay as they were. A cast knows the level, and pays it.
        """
        return self.narrow and self._wide(value)

    def doubt_inputs(self) -> None:
        """Says that the sizes of the program's inputs are about what they are said to be."""
        if not self.doubts:
            return
        for value, form in self._forms.items():
            if isinstance(form, Scaled):
                self._forms[value] = form._replace(uncertainty=of_root(_INPUT, _IN_POWERS))

    def observe(self, value: ir.Value, scale: Scale, op: ir.Operation) -> None:
        """Notes the data that a cast is of; not in regions, which nothing leaves by itself."""
        if self.observed is not None and not self.depth:
            location = op.location
            name = str(location.name_str) if isinstance(location, ir.NameLoc) else ""
            self.observed.append(Observation(value, scale, name))

    def outward(self, end: ir.Operation) -> None:
        """Brings what leaves a region to scale 1 if its own scale was born in there.

        Args:
            end: The op that ends the region, which is being worked on.
        """
        for index, form in enumerate(self.forms(list(end.operands))):
            if isinstance(form, Scaled) and self._born_inside(form.scale):
                self.replace(end, index, self.bring(end.operands[index], ONE, end))

    def _born_inside(self, scale: Scale) -> bool:
        """Whether a generator of a scale is not seen outside of the region that is worked on."""
        if self.depth:
            return scale.depth >= self.depth
        return bool(self.factors.born(scale))

    def result(
        self,
        op: ir.Operation,
        scale: Scale,
        level: float = 0,
        uncertainty: Uncertainty = CERTAIN,
    ) -> None:
        """Says that the only result of an op is scaled."""
        self.set(op.results[0], Scaled(scale, level, uncertainty))

    def size(self, form: Form) -> float:
        """The expected log2 of the rms of a value; 0 where nothing is known of it."""
        if isinstance(form, Splat):
            return form.size if self.narrow else form.level
        if isinstance(form, Scaled) and form.scale.static:
            return form.level + form.scale.exponent
        return 0

    def remark(self, op: ir.Operation, message: str) -> Remark:
        """Tells the user something about an op."""
        remark = Remark(message, str(op.location), op.operation.name)
        self.remarks.append(remark)
        return remark

    def read(self, op: ir.Operation, index: int) -> None:
        """Makes an operand unscaled: X_d * X_s."""
        value = op.operands[index]
        if isinstance(self._forms.get(value), Scaled):
            self.given_up[op.operation.name] += 1
            self.replace(op, index, self.bring(value, ONE, op.operation))

    def read_all(self, op: ir.Operation) -> None:
        """Makes all operands unscaled."""
        for index in range(len(op.operands)):
            self.read(op, index)

    def as_values(self, op: ir.Operation, index: int) -> None:
        """Brings an operand to scale 1 where data are values; see `keeps_values`."""
        value = op.operands[index]
        form = self._forms.get(value)
        if isinstance(form, Scaled) and form.scale.static and self.keeps_values(value):
            self.replace(op, index, self.bring(value, ONE, op.operation))

    def align(
        self,
        op: ir.Operation,
        indices: Sequence[int],
        *,
        either: bool = False,
        result: int | None = 0,
    ) -> Scaled | Any | None:
        """Brings operands to one scale, the meet of theirs.

        Args:
            op: The op.
            indices: Which of its operands.
            either: Whether the result is one of the operands rather than a mix of them: then the
                level is the one nearest to unit, as extremes are what selects guard against.
            result: Which of its results has that scale, if any.

        Returns:
            Scale and level of the result; ANY if each operand is; None if none is scaled.
        """
        operands = op.operands
        values = [operands[i] for i in indices]
        forms = self.forms(values)
        target = self._meet(values, forms, either)
        if not isinstance(target, Scaled):
            return target
        scale = target.scale
        moving = [(f.scale if isinstance(f, Scaled) else ONE) != scale for f in forms]
        if scale != ONE and not self.narrow:
            end = None if result is None else op.results[result]
            if (True in moving or end in self.leaving) and self.read_next(end):
                target = self._cheaper_unscaled(values, target)
                moving = [True] * len(values)
        for i, value, moves in zip(indices, values, moving, strict=True):
            if moves:
                self.replace(op, i, self.bring(value, target.scale, op.operation))
        return target

    def meet(self, values: Sequence[ir.Value], *, either: bool = False) -> Scaled | Any | None:
        """What `align` would bring several values to."""
        return self._meet(values, self.forms(values), either)

    def _meet(
        self, values: Sequence[ir.Value], forms: Sequence[Form], either: bool
    ) -> Scaled | Any | None:
        """The scale to which several values are brought, and the level there."""
        scaled = [f for f in forms if isinstance(f, Scaled)]
        if not scaled:
            return ANY if all(f is ANY for f in forms) else None
        scale = scaled[0].scale
        if self.narrow and len(scaled) < len(forms):
            constants = [f.level for f in forms if is_unit(f)]
            if constants:
                level = max([*constants, *levels_at(ONE, scaled)])
                return Scaled(ONE, level, self._mean(scaled, ONE))
        if [f for f in scaled if f.scale != scale]:
            if self._all_values(values, scaled):
                level = _level(levels_at(ONE, scaled), either)
                return Scaled(ONE, level, self._mean(scaled))
            if self._fallback(values, scaled):
                origin = Maximum(tuple(dict.fromkeys(f.settled for f in scaled)))
                met = Scale(0, ((self.factors.derive(origin), 1),))
                return Scaled(met, 0, self._mean(scaled))
            pairs = zip(values, forms, strict=True)
            anchors = [broadcast_source(v) is None for v, f in pairs if isinstance(f, Scaled)]
            scale = meet(scaled, anchors)
        level = _level(levels_at(scale, scaled), either)
        return Scaled(scale, level, self._mean(scaled, scale))

    def _mean(self, forms: Sequence[Form], scale: Scale | None = None) -> Uncertainty:
        return mean_uncertainty(forms, scale) if self.doubts else CERTAIN

    def _all_values(self, values: Sequence[ir.Value], scaled: Sequence[Scaled]) -> bool:
        """Whether values meet at scale 1, as data are values."""
        return all(f.scale.static for f in scaled) and all(map(self.keeps_values, values))

    def read_next(self, result: ir.Value | None) -> bool:
        """Whether a value is read at scale 1: by the caller, or by its only user.

        What the caller reads in a wide format may be kept at scale 1 throughout: its level still
        tells how far from unit it is expected to be.
        """
        if result is None:
            return False
        uses = list(islice(result.uses, 2))
        if result in self.leaving:
            format_ = self.format(result)
            return len(uses) == 1 or (format_ is not None and format_.wide)
        return len(uses) == 1 and uses[0].owner.name in READERS

    def _cheaper_unscaled(self, values: Sequence[ir.Value], target: Scaled) -> Scaled:
        """Scale 1 if meeting there takes fewer factors than meeting elsewhere and unscaling."""
        if self._cost(values, ONE) >= self._cost(values, target.scale) + 1:
            return target
        return target.at(ONE)

    def _cost(self, values: Sequence[ir.Value], target: Scale) -> int:
        """How many operands take a factor to come to a scale."""
        return sum(self.takes_factor(value, target) for value in values)

    def _fallback(self, values: Sequence[ir.Value], scaled: Sequence[Scaled]) -> bool:
        """Whether an anchor can't be trusted: unrelated dynamic scales and narrow data."""
        if self.recipe.meet == "anchor" and all(map(self._wide, values)):
            return False
        return any(f.scale.powers != scaled[0].scale.powers for f in scaled)

    def _wide(self, value: ir.Value) -> bool:
        format_ = self.format(value)
        return format_ is None or format_.wide

    def settle(self, value: ir.Value, at: ir.Operation) -> ir.Value:
        """Pays the level of a value: its data near unit, the scale moved accordingly."""
        form = self._forms.get(value)
        if not isinstance(form, Scaled) or not form.level:
            return value
        return self.bring(value, form.settled, at)

    def settled_alike(self, op: ir.Operation, form: Scaled) -> Scale:
        """The scale of a cast: that of the last one like it, if that is near where it settles.

        Predicted sizes drift along a model. Layers whose casts have the same scales are the same
        kernels to XLA, which it compiles once. What that costs is range: 2 octaves of E4M3's 17
        or so, 3 of E5M2's 32.
        """
        settled, result = form.settled, op.results[0]
        format_ = self.format(result)
        if not settled.static or format_ is None:
            return settled
        readers = frozenset(use.owner.operation.results[0].type for use in result.uses)
        key = op.operands[0].type, result.type, readers
        last = self.cast_exponents.get(key, settled.exponent)
        alike = abs(last - settled.exponent) <= format_.exponent_bits - _NEEDED_BITS
        exponent = self.cast_exponents[key] = last if alike else settled.exponent
        return Scale(exponent)

    def unpaid(self, form: Scaled, scale: Scale) -> float:
        """The level of data that were brought to a scale, where sizes are predicted; else 0."""
        if not self.predicts or not scale.static or not form.scale.static:
            return form.unpaid
        return form.level + form.scale.exponent - scale.exponent

    def _move_definition(self, value: ir.Value, target: Scale) -> ir.Value:
        """Brings a value to another scale right after the op that makes it, for all its uses.

        Returns:
            The data there.
        """
        uses = [(use.owner, use.operand_number) for use in value.uses]
        moved = self.bring(value, target, self.next)
        share_sharding(value, moved)
        for owner, index in uses:
            owner.operands[index] = moved
        return moved


def _carries_on(value: ir.Value) -> bool:
    """Whether a static scale other than 1 may stay with a value for what comes next."""
    owner = value.owner
    return isinstance(owner, ir.Block) or owner.name in _CARRYING


def _certain(octaves: float, doubt: float) -> int:
    """What is certain of a predicted size, as a whole number of octaves."""
    return int(math.copysign(max(0.0, abs(octaves) - doubt), octaves))


def _level(levels: Sequence[float], either: bool) -> float:
    """The level of a mix of values, or of one of them; see `Split.align`."""
    return min(levels, key=abs) if either else max(levels)
