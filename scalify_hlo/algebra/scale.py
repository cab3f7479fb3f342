"""The scale algebra: scales are monomials, which are multiplied and compared without emitting IR.

A value X of the program is data X_d and a scale X_s with X = X_d * X_s. The scale is a monomial
``2^e * s1^k1 * s2^k2 ...``: a static exponent and integer powers of *run-time scales*. A run-time
scale is a scalar that the program takes or computes, such as the scale of a ScaledArray, or a
statistic. Products, quotients, powers and equality of scales are arithmetic on small tuples.

Besides its scale, a value has a *level*: the expected log2 of the rms of its data. A contraction
over K elements adds log2(sqrt(K)) to the level. The Scalify paper multiplies the result by
1/sqrt(K) at once (algorithm 3). Here the level is folded into the scale later: where the data are
multiplied by a factor anyway, at the results of the program, and before casts to low precision.

This module does not depend on MLIR.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Final, NamedTuple, TypeAlias

from scalify_hlo.algebra.limits import GIVEN_BOUND, NO_ROOM, SAFE_REACH, SMALL_TERM, TRUSTED_LEVEL
from scalify_hlo.algebra.runtime_size import RuntimeSize, powers_of, sized
from scalify_hlo.algebra.uncertainty import CERTAIN, Uncertainty, mean, most, of_product


@dataclass(eq=False, slots=True)
class RuntimeScale:
    """A scalar that is computed at run time; each is equal only to itself.

    Only the scales of arguments, which a caller chooses, may be other numbers than powers of two.

    Attributes:
        index: Order of creation within one function.
        name: The name in reports, such as ``s0``.
        state: Whether it is the scale of an argument, and not derived from other scales.
        bound: Bound on ``|log2|`` of its value.
        anchors: Whether operands with other scales are rescaled to it.
        depth: The number of nested regions around its definition, outside of which it is unknown.
        size: Expected log2 of its value.
        uncertainty: The uncertainty of `size`.
        of_size: Whether it is a measured size of values at scale 1, which adds no uncertainty.
        before: The scale of the values for which it was computed; None if that is not known.
        unsized: Whether `size` is unknown, as it is given or follows from given scales.
        factors: The number of given or computed scales of which it is made.
    """

    index: int
    name: str
    state: bool = True
    bound: int = GIVEN_BOUND
    anchors: bool = True
    depth: int = 0
    size: float = 0
    uncertainty: Uncertainty = CERTAIN
    of_size: bool = False
    before: Scale | None = None
    unsized: bool = False
    factors: int = 1

    def computed_for(self, scale: Scale | None) -> None:
        """Notes the scale of the values for which it was computed."""
        self.before = scale
        self.unsized = scale is None or scale.unsized

    @property
    def wide(self) -> bool:
        """Whether it may be beyond f32, as the measured sizes of f64 arguments are."""
        return self.of_size and self.bound > SAFE_REACH[False]


def _order(power: tuple[RuntimeScale, int]) -> int:
    return power[0].index


class Scale(NamedTuple):
    """The monomial ``2^exponent * prod(g ** k for g, k in powers)``.

    Attributes:
        exponent: log2 of the static factor.
        powers: Run-time scales with their non-zero integer powers, in order of definition.
    """

    exponent: int = 0
    powers: tuple[tuple[RuntimeScale, int], ...] = ()

    @classmethod
    def of(cls, exponent: int, powers: Iterable[tuple[RuntimeScale, int]]) -> Scale:
        """Returns the monomial of run-time scales in any order, each at most once."""
        kept = [power for power in powers if power[1]]
        if len(kept) > 1:
            kept.sort(key=_order)
        return cls(exponent, tuple(kept))

    @property
    def static(self) -> bool:
        """Whether the scale is known at rewrite time."""
        return not self.powers

    @property
    def passing(self) -> bool:
        """Whether data need not stay at the scale: it is static, or made of measured sizes."""
        return all(runtime.of_size for runtime, _ in self.powers)

    @property
    def wide(self) -> bool:
        """Whether it may be beyond f32, as it is made of measured sizes of f64 arguments."""
        return any(runtime.wide for runtime, _ in self.powers)

    @property
    def of_divisor(self) -> bool:
        """Whether it is the reciprocal of one measured size, by which data are divided."""
        powers = self.powers
        return not self.exponent and len(powers) == 1 and powers[0][1] == -1 and self.passing

    @property
    def degree(self) -> int:
        """Sum of the absolute powers of the run-time scales."""
        return sum([abs(k) for _, k in self.powers])

    @property
    def factors(self) -> int:
        """The number of given or computed scales of which it is made, with their powers."""
        return sum([abs(k) * runtime.factors for runtime, k in self.powers])

    @property
    def reach(self) -> int:
        """A bound on ``|log2|`` of the scale, from the bounds of its run-time scales."""
        return abs(self.exponent) + sum([runtime.bound * abs(k) for runtime, k in self.powers])

    @property
    def depth(self) -> int:
        """The largest number of nested regions in which one of its run-time scales is computed."""
        return max([runtime.depth for runtime, _ in self.powers], default=0)

    def outside(self, depth: int) -> Scale:
        """Returns the scale of values outside of regions, in which other scales are computed."""
        found = Scale(self.exponent)
        for runtime, k in self.powers:
            if runtime.depth <= depth:
                found *= Scale(0, ((runtime, k),))
            elif runtime.before is not None:
                found *= runtime.before.outside(depth) ** k
        return found

    @property
    def given(self) -> bool:
        """Whether scales of arguments are in it."""
        return any(runtime.state for runtime, _ in self.powers)

    @property
    def unsized(self) -> bool:
        """Whether its size is unknown, as scales of arguments are in it or in its statistics."""
        return any(runtime.unsized for runtime, _ in self.powers)

    @property
    def state(self) -> bool:
        """Whether this is exactly the run-time scale of an argument."""
        return (
            self.exponent == 0
            and len(self.powers) == 1
            and self.powers[0][1] == 1
            and self.powers[0][0].state
        )

    def __mul__(self, other: Scale) -> Scale:  # type: ignore[override]
        if not other.powers:
            return self.shift(other.exponent)
        if not self.powers:
            return other.shift(self.exponent)
        powers = dict(self.powers)
        for runtime, k in other.powers:
            powers[runtime] = powers.get(runtime, 0) + k
        return Scale.of(self.exponent + other.exponent, powers.items())

    def __truediv__(self, other: Scale) -> Scale:
        if self.powers == other.powers:
            return Scale(self.exponent - other.exponent)
        if not other.powers:
            return self.shift(-other.exponent)
        powers = dict(self.powers)
        for runtime, k in other.powers:
            powers[runtime] = powers.get(runtime, 0) - k
        return Scale.of(self.exponent - other.exponent, powers.items())

    def __pow__(self, n: int) -> Scale:
        if n == 0:
            return ONE
        return Scale(self.exponent * n, tuple((g, k * n) for g, k in self.powers))

    def shift(self, exponent: int) -> Scale:
        """Returns the scale times ``2^exponent``."""
        return Scale(self.exponent + exponent, self.powers) if exponent else self

    def portions(self, bound: int) -> Iterator[Scale]:
        """Splits the scale into factors, each within ``2^±bound`` by its `reach`.

        Two halves are used where they are within the bound: the halves of a square are equal.
        Otherwise the run-time scales are taken in turn, so that all factors are similar.

        Args:
            bound: The bound on ``|log2|`` of each factor, in octaves.

        Yields:
            Scales whose product is this one.
        """
        if self.reach <= bound:
            yield self
            return
        half = Scale(0, tuple((g, int(k / 2)) for g, k in self.powers if abs(k) > 1))
        if half.reach <= bound and (rest := self / half).reach <= bound:
            yield from (rest, half)
            return
        portion, reach = ONE, 0
        units = (Scale(0, (unit,)) for unit in self.units())
        for unit in chain(map(ONE.shift, steps(self.exponent, bound)), units):
            if reach + (more := unit.reach) > bound:
                yield portion
                portion, reach = ONE, 0
            portion, reach = portion * unit, reach + more
        yield portion

    def units(self) -> Sequence[tuple[RuntimeScale, int]]:
        """Returns each run-time scale with power 1 or -1, once per unit of its power, in turn."""
        turns = max([abs(k) for _, k in self.powers], default=0)
        if turns < 2:
            return self.powers
        return [
            (runtime, 1 if k > 0 else -1)
            for turn in range(turns)
            for runtime, k in self.powers
            if turn < abs(k)
        ]

    @property
    def size(self) -> float:
        """Expected log2 of the scale, with the measured sizes of which it is made."""
        if not self.powers:
            return self.exponent
        expected = self.exponent + sum([k * runtime.size for runtime, k in self.powers])
        return sized(expected, {runtime: k for runtime, k in self.powers if runtime.of_size})

    @property
    def uncertainty(self) -> Uncertainty:
        """The uncertainty of `size`."""
        parts = [(g.uncertainty, k) for g, k in self.powers if g.uncertainty is not CERTAIN]
        return of_product(parts) if parts else CERTAIN

    def divides(self, n: int) -> bool:
        """Whether the n-th root of the scale is a monomial."""
        return self.exponent % n == 0 and all(k % n == 0 for _, k in self.powers)

    def root(self, n: int) -> Scale:
        """Returns the n-th root of the scale.

        Raises:
            ValueError: The root is not a monomial; see `divides`.
        """
        if not self.divides(n):
            raise ValueError(f"{self} has no monomial root of degree {n}")
        return Scale(self.exponent // n, tuple((g, k // n) for g, k in self.powers))

    def __str__(self) -> str:
        factors = [f"2^{self.exponent}"] if self.exponent or not self.powers else []
        factors += [g.name if k == 1 else f"{g.name}^{k}" for g, k in self.powers]
        return "*".join(factors)


ONE: Final = Scale()


def steps(exponent: int, bound: int) -> Iterator[int]:
    """Yields whole numbers of at most some size whose sum is another one, the smallest last."""
    whole, rest = divmod(abs(exponent), bound)
    yield from repeat(bound if exponent > 0 else -bound, whole)
    if rest:
        yield rest if exponent > 0 else -rest


OF_CONSTANTS, VALUES, OF_CAST, OF_PAIRS, OF_AUTHOR = range(-1, 4)
"""The right to round data in place of their values, in formats with less range than f32:
* ``OF_CONSTANTS``: a value of constants alone, if the author asked for scales.
* ``VALUES``: nobody gave it. The program rounds such values, so that the data are the values.
* ``OF_CAST``: a cast of the recipe made the data.
* ``OF_PAIRS``: a recipe of low precision got pairs. Casts of the program to 8 bits round values.
* ``OF_AUTHOR``: the author asked for it, by pairs for the paper's transform, or by a marker.
"""


class Scaled(NamedTuple):
    """The scale, level and uncertainty of a scaled value: X = X_d * scale, rms(X_d) ≈ 2^level.

    Attributes:
        scale: The scale X_s.
        level: Expected log2 of the rms of the data X_d. It is a whole number unless sizes are
            predicted, as rounding errors would accumulate along a model.
        uncertainty: The uncertainty of `level`.
        right: The right to round the data in place of the value: `VALUES`, or a greater one.
    """

    scale: Scale
    level: float = 0
    uncertainty: Uncertainty = CERTAIN
    right: int = VALUES

    def at(self, target: Scale, factor: Scale | None = None) -> Scaled:
        """Returns the level and uncertainty of the value at another scale.

        Args:
            target: That scale.
            factor: The quotient of its scale and that one, if it was computed already.
        """
        if factor is None:
            factor = self.scale / target
        level = self.level + factor.size
        if factor.powers:
            return Scaled(target, level, self.uncertainty * factor.uncertainty, self.right)
        return Scaled(target, level, self.uncertainty, self.right)

    def level_at(self, target: Scale) -> float:
        """Returns the level of the value at another scale."""
        return self.level + (self.scale / target).size

    @property
    def normalized(self) -> Scale:
        """The scale at which the expected rms of the data is about 1.

        The level is an estimate. It is clamped to ±`TRUSTED_LEVEL`, as folding a wrong level into
        the scale could flush the data to zero, unless it is known how uncertain it is: inputs may
        have any size that is declared. Measured sizes are folded in whole powers.
        """
        scale, level = self.scale, self.level
        if isinstance(level, RuntimeSize):
            measured = Scale.of(0, ((g, round(k)) for g, k in level.powers.items()))
            scale, level = scale * measured, float(level - measured.size)
        if abs(level) > TRUSTED_LEVEL and not self.uncertainty.stated:
            level = math.copysign(TRUSTED_LEVEL, level)
        return scale.shift(round(level))

    @property
    def residual(self) -> float:
        """The fraction of the level that remains at scale `normalized`, between -0.5 and 0.5."""
        return self.level - round(self.level)

    @property
    def roughly(self) -> Scaled:
        """The value with its level rounded to a quarter, so that similar calls compare equal."""
        quarters = round(4 * float(self.level)) / 4
        return self._replace(level=sized(quarters, powers_of(self.level)))

    @property
    def decayed(self) -> bool:
        """Whether a value has the scale of an argument and a negative level.

        Such a result is probably state with decay, such as a moment. Its level is not folded into
        its scale: the small change of each step would accumulate and make the scale drift.
        """
        return self.scale.state and self.level < 0

    def __str__(self) -> str:
        return f"{self.scale} level {self.level:.6g}" if self.level else str(self.scale)


@dataclass(frozen=True, slots=True)
class Splat:
    """An unscaled constant whose elements all have one finite non-zero value.

    It takes the scale of the other operand.

    Attributes:
        value: The value.
    """

    value: float

    @property
    def level(self) -> int:
        """log2 of the magnitude, rounded to a whole number: 0 for 0.9."""
        return round(self.size)

    @property
    def size(self) -> float:
        """log2 of the magnitude."""
        return math.log2(abs(self.value))

    def __str__(self) -> str:
        return "unscaled"


@dataclass(frozen=True, slots=True)
class AnyScale:
    """A value of 0, ±inf and NaN only, which is correct at every scale (Scalify paper, §3.4)."""

    def __str__(self) -> str:
        return "any"


ANY: Final = AnyScale()

ScaleInfo: TypeAlias = Scaled | Splat | AnyScale | None
"""The scale information of a value; None if it is unscaled, which is the same as scale 1."""


def scale_of(info: ScaleInfo) -> Scale:
    """Returns the scale of a value; that of unscaled ones and constants is 1."""
    return info.scale if isinstance(info, Scaled) else ONE


def right_of(info: ScaleInfo) -> int:
    """Returns the right to round data in place of a value."""
    return info.right if isinstance(info, Scaled) else VALUES


def splat_info(value: float) -> Splat | AnyScale:
    """Returns the scale information of a constant all of whose elements are `value`."""
    return ANY if value == 0 or not math.isfinite(value) else Splat(value)


def meet(infos: Sequence[Scaled], anchors: Sequence[bool] = ()) -> Scale:
    """Chooses the scale to which all operands of an op are rescaled.

    Among static scales it is the scale of the operand with the largest `Scaled.normalized`:
    floor_pow2(sqrt(a^2 + b^2)) is the larger of two different powers of two. Among run-time scales,
    an argument's own scale (of the residual stream, of state) is preferred to a derived one, then
    the one with the fewest run-time scales, then the first.

    Args:
        infos: The scaled operands, at least one.
        anchors: For each operand, whether its scale may be chosen; False for example for a bias
            that is broadcast. If empty, or False for all operands, any scale may be chosen.

    Returns:
        The scale of one of the operands.
    """
    allowed = [f for f, a in zip(infos, anchors, strict=True) if a] if anchors else []
    candidates = allowed or infos
    if all(f.scale.static for f in infos):
        return max(candidates, key=lambda f: f.normalized.exponent).scale
    return min(candidates, key=_by_anchor).scale


def _by_anchor(info: Scaled) -> tuple[bool, bool, int]:
    """A sort key; the scale with the least key is the one to which others are rescaled."""
    powers = info.scale.powers
    if len(powers) != 1:
        return False, True, info.scale.degree
    runtime, k = powers[0]
    return not runtime.anchors, not info.scale.state, abs(k)


def mean_uncertainty(infos: Sequence[ScaleInfo], scale: Scale | None = None) -> Uncertainty:
    """Returns the mean uncertainty of several values, unscaled ones and constants excluded.

    If all scaled values are constants, they are not excluded. The size of a sum is that of its
    large terms, so that the result is no more certain than these are.

    Args:
        infos: The scale information of the values.
        scale: The scale to which the values are rescaled; None if they are not.
    """
    scaled = [info for info in infos if isinstance(info, Scaled)]
    varying = [info for info in scaled if not info.uncertainty.constant] or scaled
    parts = [
        info.uncertainty
        if scale is None or info.scale.powers == scale.powers
        else info.at(scale).uncertainty
        for info in varying
    ]
    if not parts:
        return CERTAIN
    if any(f.scale.powers != varying[0].scale.powers for f in varying):
        return mean(parts)
    sizes = [float(info.level) + info.scale.exponent for info in varying]
    largest = max(sizes)
    each = zip(parts, sizes, strict=True)
    found = mean(parts)
    if min(sizes) < largest - SMALL_TERM:
        found = most((found, mean([p for p, size in each if size >= largest - SMALL_TERM])))
    # A term that is an exponential may be larger than all of them are expected to be.
    above = [size - largest + part.widest for part, size in zip(parts, sizes, strict=True)]
    return parts[above.index(max(above))] if max(above) > NO_ROOM else found


def comparable(scale: Scale, infos: Sequence[Scaled]) -> list[Scaled]:
    """Returns the operands whose level is known after they are rescaled to a scale.

    It is not if the scales differ by a run-time factor.
    """
    return [f for f in infos if f.scale.powers == scale.powers or (f.scale / scale).passing]


def levels_at(scale: Scale, infos: Sequence[Scaled]) -> list[float]:
    """Returns the levels of comparable operands at a scale; one level of 0 if there is none."""
    return [f.level_at(scale) for f in comparable(scale, infos)] or [0]
