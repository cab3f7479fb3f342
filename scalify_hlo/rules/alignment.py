"""Alignment: one scale for several operands, the meet of their scales."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TypeGuard

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import NEAR_UNIT
from scalify_hlo.algebra.runtime_size import alike, powers_of
from scalify_hlo.algebra.scale import (
    ANY,
    ONE,
    AnyScale,
    Scale,
    Scaled,
    ScaleInfo,
    Splat,
    levels_at,
    mean_uncertainty,
    meet,
    scale_of,
)
from scalify_hlo.algebra.scale_origins import ScaleOrigin
from scalify_hlo.algebra.uncertainty import CERTAIN, CONSTANT, Uncertainty
from scalify_hlo.ir.formats import is_wide
from scalify_hlo.rules.measured_sizes import MeasuredSizes
from scalify_hlo.rules.rescaler import Rescaler, broadcast_source
from scalify_hlo.rules.result_scales import ResultScales

READERS: set[str] = set()
"""The ops whose rule reads values at scale 1."""


def is_unit(info: ScaleInfo) -> TypeGuard[Splat]:
    """Whether a constant implies that a sum with it is of values near 1.

    Sums such as ``1 + x**2`` have the natural scale 1, at which their size is known. Narrow data
    have to be near unit, so rescaling to scale 1 is worth a multiplication.
    """
    return isinstance(info, Splat) and abs(info.level) <= NEAR_UNIT


def _epsilon(scaled: Sequence[Scaled], infos: Sequence[ScaleInfo]) -> float | None:
    """Returns the level of a constant below 1 that is larger than the other operands of a sum.

    An epsilon is, if the variance to which it is added is that of small inputs. Inputs that nobody
    declared are not expected to be small: each normalization would need a maximum at run time.
    """
    small = [f.level for f in infos if isinstance(f, Splat) and f.level < 0]
    if not small or not all(f.scale.passing for f in scaled):
        return None
    level = max(small)
    levels = levels_at(ONE, scaled)
    return level if level > max(map(float, levels)) or any(map(powers_of, levels)) else None


class Alignment:
    """Rescales operands to one scale.

    Args:
        rescaler: The rescaler of single operands.
        result_scales: The scales of results.
        sizes: The levels that depend on measured sizes.
        narrow: Whether data become narrow.
        tracks_uncertainty: Whether uncertainties are needed.
        anchored: Whether wide operands with unrelated run-time scales are rescaled to one of these.
    """

    def __init__(
        self,
        rescaler: Rescaler,
        result_scales: ResultScales,
        sizes: MeasuredSizes,
        *,
        narrow: bool,
        tracks_uncertainty: bool,
        anchored: bool,
    ) -> None:
        self._values, self._rescaler = rescaler.values, rescaler
        self._largest = sizes.largest
        self._result_scales = result_scales
        self._narrow, self._tracks_uncertainty, self._anchored = (
            narrow,
            tracks_uncertainty,
            anchored,
        )

    def align(
        self,
        op: ir.Operation,
        indices: Sequence[int],
        *,
        known: Sequence[ScaleInfo] | None = None,
        either: bool = False,
        result: int | None = 0,
        bounds: bool = False,
    ) -> Scaled | AnyScale | None:
        """Rescales operands to one scale, the meet of theirs.

        Args:
            op: The op.
            indices: The numbers of the operands.
            known: Their scale information, if it was looked up already.
            either: Whether the result is one of the operands, and not a mix of them. Its level is
                then the one nearest to unit, as selects often exclude extremes.
            result: The number of the result that has the scale, if any.
            bounds: Whether constants are only compared with the other operands, so that they may
                saturate at the scale of these.

        Returns:
            Scale and level of the result; ANY if each operand is; None if none is scaled.
        """
        operands = op.operands
        values = [operands[i] for i in indices]
        infos = self._values.infos(values) if known is None else known
        target = self._meet(values, infos, either, bounds=bounds)
        if not isinstance(target, Scaled):
            return target
        scale = target.scale
        moving = [scale_of(f) != scale for f in infos]
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
        self,
        values: Sequence[ir.Value],
        infos: Sequence[ScaleInfo],
        either: bool,
        *,
        bounds: bool = False,
    ) -> Scaled | AnyScale | None:
        """Returns the scale to which several values are rescaled, and the level at that scale."""
        scaled = [f for f in infos if isinstance(f, Scaled)]
        if not scaled:
            return ANY if all(f is ANY for f in infos) else None
        if self._narrow and len(scaled) < len(infos):
            constants = [f.level for f in infos if is_unit(f)]
            if constants:
                level = self._largest([*constants, *(f.level_at(ONE) for f in scaled)])
                return Scaled(ONE, level, self._mean(scaled, ONE))
            epsilon = None if either else _epsilon(scaled, infos)
            if epsilon is not None:
                # Half of it is that of a root: the size of a variance may leave f32.
                halves = [level / 2 for level in (epsilon, *levels_at(ONE, scaled))]
                return Scaled(ONE, self._largest(halves) * 2)
        if len(scaled) < len(infos) and not all(map(self._result_scales.is_wide, values)):
            infos = [f if bounds and isinstance(f, Splat) else _in_narrow(f) for f in infos]
            scaled = [f for f in infos if isinstance(f, Scaled)]
        scale = scaled[0].scale
        if [f for f in scaled if f.scale != scale]:
            if self._all_values(values, scaled):
                return self._mixed(ONE, scaled, self._mean(scaled), either)
            if self._fallback(values, scaled):
                origin = ScaleOrigin(tuple(dict.fromkeys(f.normalized for f in scaled)))
                met = Scale(0, ((self._rescaler.runtime_scales.derive(origin), 1),))
                return Scaled(met, 0, self._mean(scaled))
            pairs = zip(values, infos, strict=True)
            anchors = [broadcast_source(v) is None for v, f in pairs if isinstance(f, Scaled)]
            scale = meet(scaled, anchors)
        return self._mixed(scale, scaled, self._mean(scaled, scale), either)

    def _mean(self, infos: Sequence[ScaleInfo], scale: Scale | None = None) -> Uncertainty:
        return mean_uncertainty(infos, scale) if self._tracks_uncertainty else CERTAIN

    def _all_values(self, values: Sequence[ir.Value], scaled: Sequence[Scaled]) -> bool:
        """Whether values are aligned at scale 1, as all data are values."""
        return all(f.scale.passing for f in scaled) and all(
            map(self._result_scales.keeps_values, values)
        )

    def read_next(self, result: ir.Value | None) -> bool:
        """Whether a value is read at scale 1: by the caller, or by its only user.

        A value in a wide format that the caller reads may be at scale 1. Its level is still the
        expected distance from unit.
        """
        if result is None:
            return False
        uses = list(islice(result.uses, 2))
        if result in self._values.leaving:
            return len(uses) == 1 or is_wide(result.type)
        return len(uses) == 1 and uses[0].owner.name in READERS

    def _cheaper_unscaled(self, values: Sequence[ir.Value], target: Scaled) -> Scaled:
        """Returns scale 1 if it needs fewer multiplications than another scale and unscaling."""
        unscaled = self._cost(values, ONE)
        if unscaled and unscaled >= self._cost(values, target.scale) + 1:
            return target
        return target.at(ONE)

    def _cost(self, values: Sequence[ir.Value], target: Scale) -> int:
        """Returns the number of operands that have to be multiplied to have a scale."""
        return sum(self._rescaler.takes_factor(value, target) for value in values)

    def _fallback(self, values: Sequence[ir.Value], scaled: Sequence[Scaled]) -> bool:
        """Whether an anchor is not valid: for unrelated run-time scales and narrow data."""
        if self._anchored and all(map(self._result_scales.is_wide, values)):
            return False
        return any(f.scale.powers != scaled[0].scale.powers for f in scaled)

    def _mixed(
        self, scale: Scale, scaled: Sequence[Scaled], mean: Uncertainty, either: bool
    ) -> Scaled:
        """Returns a mix of values, or one of them; see `ScaleRewriter.align`.

        Which one is not known, and the level of one may be as wrong as the levels differ.
        """
        levels = levels_at(scale, scaled)
        if not (either and alike(levels)):
            return Scaled(scale, self._largest(levels), mean)
        level = min(levels, key=abs)
        return Scaled(scale, level, mean.with_bias(float(max(levels) - level)))


def _in_narrow(info: ScaleInfo) -> ScaleInfo:
    """Returns a constant or an unscaled value in a narrow format as a value with a scale.

    At the scale of its partner, it could become infinite, or lose the sum: the larger summand
    chooses (Scalify paper, algorithm 3). A constant above 1 is at scale 1, as in the program, so
    that a mask does not flush its partner.
    """
    if isinstance(info, Splat):
        return Scaled(Scale(min(info.level, 0)), 0, CONSTANT)
    return Scaled(ONE) if info is None else info
