"""Levels that depend on sizes which are measured at run time, and scales made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scalify_hlo.algebra.limits import SAFE_REACH
from scalify_hlo.algebra.runtime_size import alike, powers_of
from scalify_hlo.algebra.scale import RuntimeScale, Scale, Scaled
from scalify_hlo.algebra.scale_origins import ScaleOrigin
from scalify_hlo.rules.runtime_scales import RuntimeScales
from scalify_hlo.rules.unit_scaling import ActivationSize

_DEGREES: Final = (1, 2, 3, 4, 6)
"""The degrees of roots of which a measured size may be a power."""


class MeasuredSizes:
    """The levels and scales of one function that are made of measured sizes.

    Args:
        runtime_scales: The run-time scales of the function.
    """

    def __init__(self, runtime_scales: RuntimeScales) -> None:
        self._derive = runtime_scales.derive

    def largest(self, levels: Sequence[float]) -> float:
        """Returns the largest of several levels, at run time if that depends on measured sizes."""
        if alike(levels):
            return max(levels)
        most: dict[frozenset[tuple[RuntimeScale, float]], float] = {}
        for level in levels:
            key = frozenset(powers_of(level).items())
            most[key] = max(level, most.get(key, level))
        part = float(max(most.values())) % 1  # Only whole octaves are in a scale.
        scales = tuple(self._scale(level - part) for level in most.values())
        return self._derived(scales).size + part

    def least(self, levels: Sequence[float]) -> float:
        """Returns the least of several levels, as `largest` does."""
        return min(levels) if alike(levels) else -self.largest([-level for level in levels])

    def of_activation(self, activation: ActivationSize, size: float) -> float:
        """Returns log2 of the rms of the result of an activation, at run time if it depends on it.

        Args:
            activation: The activation.
            size: log2 of the rms of its input. A bounded result is small if its input is, unless
                it has a mean.
        """
        if not (activation.bounded and powers_of(size)):
            return activation.size(size)
        return activation.size() + (0 if activation.mean else self.least([size, 0]))

    def cast_scale(self, info: Scaled) -> Scale:
        """Returns the scale at which data are near unit, with one run-time scale at most.

        A scale of one factor is exact: it is clamped before data are divided by it. Sizes of
        results have few factors then, however many casts are behind one another.
        """
        scale = info.scale * self._scale(info.level)
        few = scale.degree <= 1 and scale.reach <= SAFE_REACH[False]
        return scale if few or not scale.passing else self._derived((scale,))

    def _scale(self, level: float) -> Scale:
        """Returns the scale next to a level."""
        powers = powers_of(level)
        n = next((n for n in _DEGREES if all((k * n) % 1 == 0 for k in powers.values())), 1)
        scale = Scale.of(0, ((g, round(k * n)) for g, k in powers.items()))
        if n > 1 and scale.powers:
            scale = Scale(0, ((self._derive(ScaleOrigin((scale,), n)), 1),))
        rest = float(level) - float(scale.size)
        most = SAFE_REACH[True]
        return scale.shift(round(max(-most, min(most, rest))))

    def _derived(self, scales: tuple[Scale, ...]) -> Scale:
        return Scale(0, ((self._derive(ScaleOrigin(scales)), 1),))
