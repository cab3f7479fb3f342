"""The scales of results, and of casts of predicted size."""

from __future__ import annotations

import math

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import DRIFT, GIVEN_BOUND, HOPELESS, NORMAL, TRUSTED_LEVEL
from scalify_hlo.algebra.scale import ONE, Scale, Scaled
from scalify_hlo.ir.contraction import DOT_GENERAL
from scalify_hlo.ir.formats import FloatFormat, is_f64
from scalify_hlo.ir.functions import maker
from scalify_hlo.ir.traits import where
from scalify_hlo.rules.values import Values

_CARRYING = {DOT_GENERAL, "stablehlo.convert", "stablehlo.optimization_barrier"} | where(
    *("reshape", "transpose", "reverse", "broadcast", "slice", "lookup", "pad", "join"),
    "convolution",
    dynamic=False,
)
"""Ops whose result may keep a static scale, as a cast or a product uses it at no cost."""


class ResultScales:
    """Chooses the scales of results.

    Args:
        values: The scale information of the function's values.
        narrow: Whether data become narrow.
        own: Whether the program may have narrow formats of its own.

    Attributes:
        is_wide: Whether the level of a value need not be folded: it is wide, or not a float.
    """

    def __init__(self, values: Values, *, narrow: bool, own: bool) -> None:
        self._format, self.is_wide = values.format, values.is_wide
        self._narrow, self._own = narrow, own

    def of(self, value: ir.Value, info: Scaled) -> Scale:
        """Returns the scale of the result of an op.

        In narrow formats, the level is folded into the scale at once, except in formats of 8 bits:
        a product with a power of two would flush them. What the program computes in a narrow format
        stays at scale 1, unless somebody has the right to round data. In wide formats, scale and
        data may diverge over many layers. A static scale far from 1 is then replaced by 1, at which
        data are the values of the original program. So is a run-time scale with a high level:
        levels are estimates, and folding a wrong one would flush the data. A high level alone is no
        reason, as values may be large. If `keeps_values` holds, static scales are always 1.
        """
        scale, level = info.scale, info.level
        if not self.is_wide(value):
            if self._own and not info.right:
                return ONE  # The program rounds such values.
            format_ = self._format(value)
            # In 8 bits, a power of two changes more than the scale.
            if (scale == ONE and not level) or (format_ is not None and format_.small):
                return scale
            if scale.powers and level > 0:
                return info.normalized  # Contractions raise levels: data would leave the format.
            return self.bounded(value, info)
        if scale.powers and not (self._narrow and scale.passing):
            if -TRUSTED_LEVEL < level < TRUSTED_LEVEL or scale.reach <= 2 * GIVEN_BOUND:
                return scale
            return ONE
        if self._narrow and scale != ONE and (op := maker(value)) and op.name not in _CARRYING:
            return ONE
        if self._narrow and not self._holds(value, info):
            return scale
        return ONE if strays(scale) else scale

    def _holds(self, value: ir.Value, info: Scaled) -> bool:
        """Whether the format of data has the values too.

        The f32 result of a matmul may stand for one in f64.
        """
        return is_f64(value.type) or (
            not info.scale.wide and abs(info.level + info.scale.exponent) <= NORMAL
        )

    def bounded(
        self,
        value: ir.Value,
        info: Scaled,
        format_: FloatFormat | None = None,
        octaves: float | None = None,
    ) -> Scale:
        """Returns the scale at which narrow data are near unit, by the certain part of their size.

        Folding a wrong size in full would flush or saturate data. The part of the size that is not
        certain to within the room of the format stays in the data. The static scale is then nearer
        to 1, at which data are the values of the original program.

        Args:
            value: The data.
            info: Their scale information.
            format_: The new format; that of the data if None.
            octaves: The uncertainty of the size, in octaves; that of `info` if None.
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
        margin = 2 * octaves - room  # two standard deviations
        if scale.static:
            return Scale(_certain(info.level + scale.exponent, margin))
        return scale.shift(_certain(info.level, margin))

    def keeps_values(self, value: ir.Value) -> bool:
        """Whether data are values, at scale 1, if the scale of a value is static.

        This holds for wide formats in programs with narrow ones: no scale is needed there, and ops
        do not change. A cast folds the level into the scale.
        """
        return self._narrow and self.is_wide(value)


def strays(scale: Scale) -> bool:
    """Whether wide data should be rescaled from a static scale to scale 1, as it is far from 1."""
    return abs(scale.exponent) > DRIFT


def _certain(octaves: float, margin: float) -> int:
    """Returns the part of a predicted size that is certain, as a whole number of octaves."""
    return int(math.copysign(max(0.0, abs(octaves) - margin), octaves))
