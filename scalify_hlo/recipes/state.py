"""The formats of state, which a recipe chooses by role, and by the names of arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal

from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.recipes import effects
from scalify_hlo.recipes.fields import option
from scalify_hlo.recipes.formats import (
    ANY,
    BY_NAME,
    KEEP,
    REST,
    SMALL,
    Formats,
    by_pattern,
    formats_in,
)

DataRounding = Literal["nearest", "stochastic"]
MomentScales = Literal["tensor", "block"]
OfGradients = Annotated[str, Formats.of(*ANY)]
Stored = Annotated[str, Formats.by_name(*ANY)]

_BY_NAME: Final = [key.partition(".")[2] for key in BY_NAME]


@dataclass(frozen=True, slots=True)
class StateOptions:
    """The formats of the state of a training step; for signature ``scaled``.

    A format of weights or moments may have others beside it for single tensors, by patterns of the
    names of arguments: ``f16, base/*=e4m3``. The last pattern that matches counts, and ``*`` stands
    for all tensors that no other pattern matches.

    Attributes:
        weight: The format of master weights between steps. An f8 format is for weights that a step
            only reads, unless `weight_rounding` is ``stochastic``: rounded to nearest, others would
            never move. Averages of weights keep their format for the same reason.
        gradient: The format of the gradients of weights that the optimizer reads. An f8 format
            applies to gradients of matrices only, and not to those of biases and gains.
        first_moment: The format of optimizer moments of degree 1 in the gradients.
        second_moment: The format of optimizer moments of degree 2 in the gradients.
        moment_scales: ``tensor`` gives a moment one scale. ``block`` gives moments in f8 a
            power-of-two scale for each 128 numbers along the last dimension, and second moments
            are stored as their square roots. They are rounded so that their averages do not drift.
            See `docs/state.md`.
        weight_rounding: The rounding of master weights to bf16, f16 or f8: ``nearest``, or
            ``stochastic``, which rounds up or down at random, so that the mean is right. Updates
            that are too small to change a stored weight then change it in some steps.
        frozen: The format of weights that a program only reads, such as those under LoRA; ``keep``
            takes that of `weight`.
    """

    weight: Stored = option(KEEP, pairs=True)
    gradient: OfGradients = KEEP
    first_moment: Stored = option(KEEP, pairs=True)
    second_moment: Stored = option(KEEP, pairs=True)
    moment_scales: MomentScales = option("tensor", needs=effects.MOMENTS, pairs=True)
    weight_rounding: DataRounding = option("nearest", needs=effects.WEIGHTS, pairs=True)
    frozen: Stored = option(KEEP, pairs=True)

    @property
    def narrow(self) -> bool:
        """Whether some state is kept in a format with less range than f32."""
        kept = {*formats_in(self.weight, self.frozen), *formats_in(*self._moments.values())}
        return not all(FORMATS[format_].wide for format_ in kept - {KEEP})

    @property
    def read_only(self) -> str:
        """The format of a weight that a program only reads, without patterns; see `of`."""
        return self.weight if self.frozen == KEEP else self.frozen

    @property
    def read_only_formats(self) -> set[str]:
        """The formats of weights that a program only reads, of all names."""
        return formats_in(self.weight, self.frozen)

    @property
    def rounded(self) -> bool:
        """Whether weights are rounded at random."""
        return self.weight_rounding == "stochastic"

    @property
    def marks_casts(self) -> bool:
        """Whether some casts are marked for `scalify-round-state`."""
        return self.rounded or formats_in(self.second_moment) != {KEEP}

    @property
    def blocked(self) -> frozenset[str]:
        """The roles of the moments that have a scale for each block."""
        if self.moment_scales == "tensor":
            return frozenset()
        small = {*SMALL}
        return frozenset(
            role for role, text in self._moments.items() if not small.isdisjoint(formats_in(text))
        )

    @property
    def _moments(self) -> dict[str, str]:
        return {"first_moment": self.first_moment, "second_moment": self.second_moment}

    @property
    def patterns(self) -> Iterator[tuple[str, str, str]]:
        """The options with patterns: names of options, patterns and formats."""
        for name in _BY_NAME:
            for pattern, format_ in by_pattern(getattr(self, name)).items():
                if pattern != REST:
                    yield name, pattern, format_

    def of(self, fits: Callable[[str], bool]) -> StateOptions:
        """Returns the options of one argument, without patterns.

        Args:
            fits: Whether a pattern matches the argument.
        """
        found: dict[str, Any] = {}
        for key in _BY_NAME:
            given = by_pattern(getattr(self, key))
            found[key] = given.pop(REST)
            for pattern, format_ in given.items():
                found[key] = format_ if fits(pattern) else found[key]
        return replace(self, **found)
