"""One scale for several operands: the meet of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TypeGuard

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import NEAR_UNIT
from scalify_hlo.algebra.scale import (
    ANY,
    ONE,
    AnyScale,
    Scale,
    Scaled,
    ScaleInfo,
    ScaleMaximum,
    Splat,
    levels_at,
    mean_uncertainty,
    meet,
)
from scalify_hlo.algebra.uncertainty import CERTAIN, Uncertainty
from scalify_hlo.rules.rescaler import Rescaler, broadcast_source
from scalify_hlo.rules.result_scales import ResultScales

READERS: set[str] = set()
"""The ops whose rule reads values at scale 1, as their rules say."""


def is_unit(info: ScaleInfo) -> TypeGuard[Splat]:
    """Whether a constant says that what it is added to is about values near 1.

    Sums such as ``1 + x**2`` have a natural scale, 1, at which their size is known. Narrow data
    have to be near unit, so that is worth a factor.
    """
    return isinstance(info, Splat) and abs(info.level) <= NEAR_UNIT


class Alignment:
    """Rescales operands to one scale.

    Args:
        rescaler: Rescales single operands.
        result_scales: Knows which data are values.
        narrow: Whether data are going to be narrow.
        doubts: Whether it matters how far sizes are certain.
        anchored: Whether wide operands of unrelated run-time scales meet at one of these.
    """

    def __init__(
        self,
        rescaler: Rescaler,
        result_scales: ResultScales,
        *,
        narrow: bool,
        doubts: bool,
        anchored: bool,
    ) -> None:
        self._values, self._rescaler = rescaler.values, rescaler
        self._result_scales = result_scales
        self._narrow, self._doubts, self._anchored = narrow, doubts, anchored

    def align(
        self,
        op: ir.Operation,
        indices: Sequence[int],
        *,
        either: bool = False,
        result: int | None = 0,
    ) -> Scaled | AnyScale | None:
        """Rescales operands to one scale, the meet of theirs.

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
        infos = self._values.infos(values)
        target = self._meet(values, infos, either)
        if not isinstance(target, Scaled):
            return target
        scale = target.scale
        moving = [(f.scale if isinstance(f, Scaled) else ONE) != scale for f in infos]
        if scale != ONE and not self._narrow:
            end = None if result is None else op.results[result]
            if (True in moving or end in self._values.leaving) and self.read_next(end):
                target = self._cheaper_unscaled(values, target)
                moving = [True] * len(values)
        if True in moving and self._any_overflows(values, infos, target.scale):
            target = target.at(ONE)
            moving = [isinstance(f, Scaled) and f.scale != ONE for f in infos]
        for i, value, moves in zip(indices, values, moving, strict=True):
            if moves:
                self._values.replace(
                    op, i, self._rescaler.rescale_to(value, target.scale, op.operation)
                )
        return target

    def _any_overflows(
        self, values: Sequence[ir.Value], infos: Sequence[ScaleInfo], target: Scale
    ) -> bool:
        """Whether one of several values is a mask that has to stay at scale 1."""
        for value, info in zip(values, infos, strict=True):
            at_one = info.scale == ONE if isinstance(info, Scaled) else info is None
            if at_one and self._rescaler.overflows(value, target):
                return True
        return False

    def meet(self, values: Sequence[ir.Value], *, either: bool = False) -> Scaled | AnyScale | None:
        """Returns the scale to which `align` would rescale several values."""
        return self._meet(values, self._values.infos(values), either)

    def _meet(
        self, values: Sequence[ir.Value], infos: Sequence[ScaleInfo], either: bool
    ) -> Scaled | AnyScale | None:
        """The scale to which several values are rescaled, and the level there."""
        scaled = [f for f in infos if isinstance(f, Scaled)]
        if not scaled:
            return ANY if all(f is ANY for f in infos) else None
        scale = scaled[0].scale
        if self._narrow and len(scaled) < len(infos):
            constants = [f.level for f in infos if is_unit(f)]
            if constants:
                level = max([*constants, *levels_at(ONE, scaled)])
                return Scaled(ONE, level, self._mean(scaled, ONE))
        if [f for f in scaled if f.scale != scale]:
            if self._all_values(values, scaled):
                level = _level(levels_at(ONE, scaled), either)
                return Scaled(ONE, level, self._mean(scaled))
            if self._fallback(values, scaled):
                origin = ScaleMaximum(tuple(dict.fromkeys(f.normalized for f in scaled)))
                met = Scale(0, ((self._rescaler.runtime_scales.derive(origin), 1),))
                return Scaled(met, 0, self._mean(scaled))
            pairs = zip(values, infos, strict=True)
            anchors = [broadcast_source(v) is None for v, f in pairs if isinstance(f, Scaled)]
            scale = meet(scaled, anchors)
        level = _level(levels_at(scale, scaled), either)
        return Scaled(scale, level, self._mean(scaled, scale))

    def _mean(self, infos: Sequence[ScaleInfo], scale: Scale | None = None) -> Uncertainty:
        return mean_uncertainty(infos, scale) if self._doubts else CERTAIN

    def _all_values(self, values: Sequence[ir.Value], scaled: Sequence[Scaled]) -> bool:
        """Whether values meet at scale 1, as data are values."""
        return all(f.scale.static for f in scaled) and all(
            map(self._result_scales.keeps_values, values)
        )

    def read_next(self, result: ir.Value | None) -> bool:
        """Whether a value is read at scale 1: by the caller, or by its only user.

        What the caller reads in a wide format may be kept at scale 1 throughout: its level still
        tells how far from unit it is expected to be.
        """
        if result is None:
            return False
        uses = list(islice(result.uses, 2))
        if result in self._values.leaving:
            format_ = self._values.format(result)
            return len(uses) == 1 or (format_ is not None and format_.wide)
        return len(uses) == 1 and uses[0].owner.name in READERS

    def _cheaper_unscaled(self, values: Sequence[ir.Value], target: Scaled) -> Scaled:
        """Scale 1 if meeting there takes fewer factors than meeting elsewhere and unscaling."""
        if self._cost(values, ONE) >= self._cost(values, target.scale) + 1:
            return target
        return target.at(ONE)

    def _cost(self, values: Sequence[ir.Value], target: Scale) -> int:
        """How many operands take a factor to come to a scale."""
        return sum(self._rescaler.takes_factor(value, target) for value in values)

    def _fallback(self, values: Sequence[ir.Value], scaled: Sequence[Scaled]) -> bool:
        """Whether an anchor can't be trusted: unrelated dynamic scales and narrow data."""
        if self._anchored and all(map(self._result_scales.is_wide, values)):
            return False
        return any(f.scale.powers != scaled[0].scale.powers for f in scaled)


def _level(levels: Sequence[float], either: bool) -> float:
    """The level of a mix of values, or of one of them; see `ScaleRewriter.align`."""
    return min(levels, key=abs) if either else max(levels)
