"""The scales at which results are left, and those of casts of predicted size."""

from __future__ import annotations

import math

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import (
    DRIFT,
    FREE_DRIFT,
    GIVEN_BOUND,
    GROWN,
    HOPELESS,
    TRUSTED_LEVEL,
)
from scalify_hlo.algebra.scale import ONE, Scale, Scaled
from scalify_hlo.dialect import traits
from scalify_hlo.dialect.formats import FloatFormat
from scalify_hlo.rules.values import Values

_CARRYING = (
    traits.LAYOUT
    | traits.REORDERS
    | (traits.SLICES - {"stablehlo.real_dynamic_slice"})
    | {"stablehlo.convolution", "stablehlo.dot_general"}
    | {"stablehlo.convert", "stablehlo.optimization_barrier"}
    | {"stablehlo.gather", "stablehlo.pad"}
    | {"stablehlo.concatenate"}
)
"""Ops after which a static scale may go on: a cast or a product takes it up at no cost."""


class ResultScales:
    """Chooses the scales of results.

    Args:
        values: The scales of the function's values.
        narrow: Whether data are going to be narrow.
    """

    def __init__(self, values: Values, *, narrow: bool) -> None:
        self._format = values.format
        self._narrow = narrow

    def of(self, value: ir.Value, info: Scaled) -> Scale:
        """The scale at which the result of an op is left.

        Narrow formats pay levels at once. In wide ones a scale may run away from 1, and data the
        other way, through many layers: static scales then return to 1, where data are the values
        of the original program, and so do dynamic ones of high level: levels are estimates, and
        one that is far off would flush the data if it were paid. A high level alone is no reason:
        values may be large. Where `keeps_values`, static scales are always 1.
        """
        scale, level = info.scale, info.level
        if not self.is_wide(value):
            return scale if scale == ONE and not level else self.bounded(value, info)
        if scale.powers:
            if -TRUSTED_LEVEL < level < TRUSTED_LEVEL or scale.reach <= 2 * GIVEN_BOUND:
                return scale
            return ONE
        if self._narrow and scale.exponent and not _carries_on(value):
            return ONE
        return ONE if strays(scale, level) else scale

    def bounded(
        self,
        value: ir.Value,
        info: Scaled,
        format_: FloatFormat | None = None,
        octaves: float | None = None,
    ) -> Scale:
        """The scale at which narrow data are near unit, as far as their size is certain.

        A size that is far off would flush or saturate data if it were paid in full. What is not
        certain to within the room of the format is left to the data, whose static scale is then
        nearer to 1, where they are the values of the original program.

        Args:
            value: The data.
            info: What is known of them.
            format_: The format that they are going to have; theirs if None.
            octaves: By how many octaves the size may be off; as `info` says if None.
        """
        format_ = format_ or self._format(value)
        room = format_.room if format_ else 0
        if octaves is None:
            octaves = info.uncertainty.octaves
        scale = info.scale
        if octaves <= room:
            return info.normalized
        if octaves > HOPELESS:
            return ONE if scale.static else scale
        doubt = 2 * octaves - room  # two standard deviations
        if scale.static:
            return Scale(_certain(info.level + scale.exponent, doubt))
        return scale.shift(_certain(info.level, doubt))

    def keeps_values(self, value: ir.Value) -> bool:
        """Whether data are values wherever a value's scale is static.

        So it is in wide formats of programs that have narrow ones too: no scale is needed there,
        and where there is none, ops stay as they were. A cast knows the level, and pays it.
        """
        return self._narrow and self.is_wide(value)

    def is_wide(self, value: ir.Value) -> bool:
        """Whether no level has to be paid for a value: its format is wide, or it is no float."""
        format_ = self._format(value)
        return format_ is None or format_.wide


def strays(scale: Scale, level: float) -> bool:
    """Whether wide data had better be values than be at a static scale.

    The scale is far from 1, or it takes the data far from unit: that of a sum of squares, say, is
    the scale of the squares, while the sum grows.

    Args:
        scale: A static scale.
        level: Expected log2 of the rms of data at that scale.
    """
    exponent = scale.exponent
    if abs(exponent) <= FREE_DRIFT:
        return False
    return abs(exponent) > DRIFT or (level if exponent < 0 else -level) > GROWN


def _carries_on(value: ir.Value) -> bool:
    """Whether a static scale other than 1 may stay with a value for what comes next."""
    owner = value.owner
    return isinstance(owner, ir.Block) or owner.name in _CARRYING


def _certain(octaves: float, doubt: float) -> int:
    """What is certain of a predicted size, as a whole number of octaves."""
    return int(math.copysign(max(0.0, abs(octaves) - doubt), octaves))
