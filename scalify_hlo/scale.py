"""The scale algebra: scales are monomials, and meeting is choosing.

A value X of the program is kept as data X_d and a scale X_s with X = X_d * X_s. The scale is a
monomial ``2^e * g1^k1 * g2^k2 ...``: a compile-time exponent and integer powers of *generators*,
power-of-two scalars that are born at run time (the scale of a ScaledArray input, a statistic).
Products, quotients, powers and equality of scales are arithmetic on small tuples and emit no IR.

Beside the scale, a value carries its *level*: the expected log2 of the rms of its data. A
contraction over K elements raises the level by log2(sqrt(K)) instead of multiplying the result by
1/sqrt(K) on the spot (Scalify paper, algorithm 3): the multiplication is owed, and is paid where
data meet a factor anyway, where a program ends, or where the dtype is narrow.

Nothing here knows of MLIR.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from scalify_hlo.uncertainty import CERTAIN, Uncertainty, mean, of_product

GENERATOR_BOUND: Final = 25
"""The scales that programs are given are taken to lie within 2^±25; see `Scale.reach`."""

BORN_BOUND: Final = 42
"""Scales that are born in a program are held within 2^±42: the product of three is a number."""

MEASURED_BOUND: Final = 100
"""The same for those of values whose sizes could not be predicted: they may be anywhere in f32."""

MOMENT_HEADROOM: Final = 4
"""log2 of how far above unit narrow second moments are kept: they reach further down than up."""

TRUSTED_LEVEL: Final = 48
"""The largest level that is ever paid, in absolute value."""


@dataclass(eq=False, slots=True)
class Generator:
    """A power-of-two scalar that is born at run time; each is equal only to itself.

    Attributes:
        index: Order of birth within one function.
        name: How reports show it, such as ``s0``.
        state: Whether it is the scale of an argument (and not derived from others).
        bound: Bound on ``|log2|`` of its value.
        anchors: Whether others are brought to it where scales meet.
        depth: In how many regions of its function it was born; outside of them it is not seen.
        size: Expected log2 of its value.
        uncertainty: How far that may be off.
    """

    index: int
    name: str
    state: bool = True
    bound: int = GENERATOR_BOUND
    anchors: bool = True
    depth: int = 0
    size: float = 0
    uncertainty: Uncertainty = CERTAIN


def _birth(power: tuple[Generator, int]) -> int:
    return power[0].index


class Scale(NamedTuple):
    """The monomial ``2^exponent * prod(g ** k for g, k in powers)``.

    Attributes:
        exponent: The static part.
        powers: Generators with their non-zero integer powers, in order of birth.
    """

    exponent: int = 0
    powers: tuple[tuple[Generator, int], ...] = ()

    @classmethod
    def of(cls, exponent: int, powers: Iterable[tuple[Generator, int]]) -> Scale:
        """The monomial of generators in any order, each at most once."""
        kept = [power for power in powers if power[1]]
        if len(kept) > 1:
            kept.sort(key=_birth)
        return cls(exponent, tuple(kept))

    @property
    def static(self) -> bool:
        """Whether the scale is known at rewrite time."""
        return not self.powers

    @property
    def degree(self) -> int:
        """Sum of the absolute powers of the generators."""
        return sum([abs(k) for _, k in self.powers])

    @property
    def reach(self) -> int:
        """A bound on ``|log2|`` of the scale, from the bounds of its generators."""
        return abs(self.exponent) + sum([generator.bound * abs(k) for generator, k in self.powers])

    @property
    def depth(self) -> int:
        """In how many regions the youngest of its generators was born."""
        return max([generator.depth for generator, _ in self.powers], default=0)

    @property
    def state(self) -> bool:
        """Whether this is just the scale that an argument came with."""
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
        for generator, k in other.powers:
            powers[generator] = powers.get(generator, 0) + k
        return Scale.of(self.exponent + other.exponent, powers.items())

    def __truediv__(self, other: Scale) -> Scale:
        if self.powers == other.powers:
            return Scale(self.exponent - other.exponent)
        if not other.powers:
            return self.shift(-other.exponent)
        powers = dict(self.powers)
        for generator, k in other.powers:
            powers[generator] = powers.get(generator, 0) - k
        return Scale.of(self.exponent - other.exponent, powers.items())

    def __pow__(self, n: int) -> Scale:
        if n == 0:
            return ONE
        return Scale(self.exponent * n, tuple((g, k * n) for g, k in self.powers))

    def shift(self, exponent: int) -> Scale:
        """The scale times ``2^exponent``."""
        return Scale(self.exponent + exponent, self.powers) if exponent else self

    def portions(self, bound: int) -> Iterator[Scale]:
        """Cuts the scale into a product of scales, each within ``2^±bound`` by its `reach`.

        Two halves where they are enough: for a square times something they have most in common.
        Else the generators are taken in turn, so that all portions have about the same mix.
        """
        if self.reach <= bound:
            yield self
            return
        half = Scale(0, tuple((g, int(k / 2)) for g, k in self.powers if abs(k) > 1))
        if half.reach <= bound and (rest := self / half).reach <= bound:
            yield from (rest, half)
            return
        portion = ONE
        units = (Scale(0, (unit,)) for unit in self.units())
        for unit in chain(map(ONE.shift, _steps(self.exponent, bound)), units):
            if portion.reach + unit.reach > bound:
                yield portion
                portion = ONE
            portion = portion * unit
        yield portion

    def units(self) -> Sequence[tuple[Generator, int]]:
        """The generators with power 1 or -1, once for each unit of their powers, in turn."""
        turns = max([abs(k) for _, k in self.powers], default=0)
        if turns < 2:
            return self.powers
        return [
            (generator, 1 if k > 0 else -1)
            for turn in range(turns)
            for generator, k in self.powers
            if turn < abs(k)
        ]

    @property
    def size(self) -> float:
        """Expected log2 of the scale."""
        return self.exponent + sum([k * generator.size for generator, k in self.powers])

    @property
    def uncertainty(self) -> Uncertainty:
        """How far the expected size may be off."""
        parts = [(g.uncertainty, k) for g, k in self.powers if g.uncertainty is not CERTAIN]
        return of_product(parts) if parts else CERTAIN

    def divides(self, n: int) -> bool:
        """Whether the n-th root is a monomial."""
        return self.exponent % n == 0 and all(k % n == 0 for _, k in self.powers)

    def root(self, n: int) -> Scale:
        """The n-th root of a scale for which `divides` holds."""
        if not self.divides(n):
            raise ValueError(f"{self} has no monomial root of degree {n}")
        return Scale(self.exponent // n, tuple((g, k // n) for g, k in self.powers))

    def __str__(self) -> str:
        factors = [f"2^{self.exponent}"] if self.exponent or not self.powers else []
        factors += [g.name if k == 1 else f"{g.name}^{k}" for g, k in self.powers]
        return "*".join(factors)


ONE: Final = Scale()


@dataclass(frozen=True, slots=True)
class Root:
    """How a generator comes about: a power of two near the n-th root of a scale.

    Attributes:
        scale: The scale.
        n: The degree of the root.
        up: Whether it is the one at or above the root, rather than the nearest, which for square
            roots is the one below.
    """

    scale: Scale
    n: int
    up: bool = False

    @property
    def bound(self) -> int:
        """Bound on ``|log2|`` of the generator."""
        return self.scale.reach // self.n + 1

    @property
    def depth(self) -> int:
        """In how many regions the generator is born."""
        return self.scale.depth

    @property
    def size(self) -> float:
        """Expected log2 of the generator."""
        return self.scale.size / self.n

    @property
    def uncertainty(self) -> Uncertainty:
        """How far that may be off."""
        return self.scale.uncertainty ** (1 / self.n)


@dataclass(frozen=True, slots=True)
class Maximum:
    """How a generator comes about: the largest of several scales."""

    scales: tuple[Scale, ...]

    @property
    def bound(self) -> int:
        """Bound on ``|log2|`` of the generator."""
        return max(scale.reach for scale in self.scales)

    @property
    def depth(self) -> int:
        """In how many regions the generator is born."""
        return max(scale.depth for scale in self.scales)

    @property
    def size(self) -> float:
        """Expected log2 of the generator."""
        return max(scale.size for scale in self.scales)

    @property
    def uncertainty(self) -> Uncertainty:
        """How far that may be off."""
        return mean([scale.uncertainty for scale in self.scales])


Origin: TypeAlias = Root | Maximum


def _steps(exponent: int, bound: int) -> Iterator[int]:
    while exponent:
        step = max(-bound, min(bound, exponent))
        yield step
        exponent -= step


class Scaled(NamedTuple):
    """What is known of a value that takes part: X = X_d * scale, rms(X_d) about 2^level.

    Attributes:
        scale: X_s.
        level: Expected log2 of the rms of the data; 0 where the inputs are near unit. Whole, but
            where sizes are predicted: there errors of rounding would add up along a model.
        uncertainty: How far the level may be off.
    """

    scale: Scale
    level: float = 0
    uncertainty: Uncertainty = CERTAIN

    def at(self, target: Scale) -> Scaled:
        """The same value at another scale; how far run-time scales are from 1 is uncertain."""
        factor = self.scale / target
        level = self.level + factor.size
        if factor.powers:
            return Scaled(target, level, self.uncertainty * factor.uncertainty)
        return Scaled(target, level, self.uncertainty)

    @property
    def settled(self) -> Scale:
        """The scale with which the data would be near unit, as far as levels are trusted.

        A level is an estimate. Where it is far off, paying it in full could flush data to zero.
        """
        return self.scale.shift(round(max(-TRUSTED_LEVEL, min(TRUSTED_LEVEL, self.level))))

    @property
    def unpaid(self) -> float:
        """What is left of the level at scale `settled`: the part that no power of two pays."""
        return self.level - round(self.level)

    @property
    def roughly(self) -> Scaled:
        """With the level to a quarter, so that calls of a function with such sizes are alike."""
        return Scaled(self.scale, round(4 * self.level) / 4, self.uncertainty)

    @property
    def decayed(self) -> bool:
        """Whether a value keeps the scale of an argument although its level went down.

        Such a result is taken for state, decayed: moments are. Paid at each step, small changes
        of its level would add up, and carry its scale away.
        """
        return self.scale.state and self.level < 0

    def __str__(self) -> str:
        return f"{self.scale} level {self.level:.6g}" if self.level else str(self.scale)


@dataclass(frozen=True, slots=True)
class Splat:
    """An unscaled constant with one finite non-zero value: it adopts its partner's scale."""

    value: float

    @property
    def level(self) -> int:
        """The nearest power of two in the logarithm, so that 0.9 counts as 1."""
        return round(self.size)

    @property
    def size(self) -> float:
        """log2 of the magnitude."""
        return math.log2(abs(self.value))

    def __str__(self) -> str:
        return "unscaled"


@dataclass(frozen=True, slots=True)
class Any:
    """All elements are 0, ±inf or NaN: right at every scale (Scalify paper, §3.4)."""

    def __str__(self) -> str:
        return "any"


ANY: Final = Any()

Form: TypeAlias = Scaled | Splat | Any | None
"""What is known of a value; None is unscaled, and reads as scale 1 wherever it meets a scale."""


def splat_form(value: float) -> Splat | Any:
    """The form of a constant all of whose elements are `value`."""
    return ANY if value == 0 or not math.isfinite(value) else Splat(value)


def meet(forms: Sequence[Scaled], anchors: Sequence[bool] = ()) -> Scale:
    """Chooses the operand whose scale the others are brought to (design of the meet).

    Static scales: the largest once levels are counted, as floor_pow2(sqrt(a^2 + b^2)) is the
    larger for powers of two. Dynamic ones: an argument's own scale (the residual stream's, the
    state's) before a derived one, then the one with the fewest generators, then the first.

    Args:
        forms: The operands that are scaled, at least one.
        anchors: False for operands that should not choose while another can, such as a bias
            that is broadcast; all may if none is given.

    Returns:
        The scale of one of the operands.
    """
    allowed = [f for f, a in zip(forms, anchors, strict=True) if a] if anchors else []
    candidates = allowed or forms
    if all(f.scale.static for f in forms):
        return max(candidates, key=lambda f: f.settled.exponent).scale
    return min(candidates, key=_by_anchor).scale


def _by_anchor(form: Scaled) -> tuple[bool, bool, int]:
    """How little a scale is one that others are brought to."""
    powers = form.scale.powers
    if len(powers) != 1:
        return False, True, form.scale.degree
    generator, k = powers[0]
    return not generator.anchors, not form.scale.state, abs(k)


def mean_uncertainty(forms: Sequence[Form], scale: Scale | None = None) -> Uncertainty:
    """The uncertainty of a mix of values; constants and unscaled values add none.

    Args:
        forms: What is known of the values.
        scale: The scale to which they are brought; None if they are not.
    """
    scaled = [form for form in forms if isinstance(form, Scaled)]
    varying = [form for form in scaled if not form.uncertainty.constant]
    parts = [
        form.uncertainty
        if scale is None or form.scale.powers == scale.powers
        else form.at(scale).uncertainty
        for form in varying or scaled
    ]
    return mean(parts) if parts else CERTAIN


def levels_at(scale: Scale, forms: Sequence[Scaled]) -> list[float]:
    """The levels that operands have once they are brought to a scale.

    Operands at a distance that is known at run time only are passed over; if all are, the level
    is taken to be 0.
    """
    known = [f for f in forms if f.scale.powers == scale.powers]
    return [f.level + f.scale.exponent - scale.exponent for f in known] or [0]
