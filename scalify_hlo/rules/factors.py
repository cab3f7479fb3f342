"""Builds the run-time factors of scales, once each, straight from their generators.

A factor is a rank-0 f32 (f64 for f64 data) that data are multiplied with. All are built at the
top of the function, so that each stands before every use and is shared by them; XLA clones scalar
chains into the fusions that use them, so chains are kept as short as the algebra allows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import reduce
from operator import mul
from typing import TypeAlias

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.rules import emit
from scalify_hlo.scale import Generator, Scale

SAFE_REACH = {False: 126, True: 1022}
"""|log2| up to which a factor is one normal number, in f32 and in f64."""

_BIAS, _MANTISSA = 127, 23


@dataclass(frozen=True, slots=True)
class Root:
    """How a generator came about: a power of two near the n-th root of a scale."""

    scale: Scale
    n: int


@dataclass(frozen=True, slots=True)
class Maximum:
    """How a generator came about: the largest of several scales."""

    scales: tuple[Scale, ...]


Origin: TypeAlias = Root | Maximum


class Factors:
    """The generators of one function and the factors built from them.

    Args:
        top: The op before which everything is built, the first of the function.

    Attributes:
        location: Location of what is built next: that of the op that asks for it.
    """

    def __init__(self, top: ir.Operation) -> None:
        self._top = top
        self.location = top.location
        self._values: dict[Generator, ir.Value] = {}
        self._origins: dict[Generator, Origin] = {}
        self._derived: dict[Origin, Generator] = {}
        self._cache: dict[Hashable, ir.Value] = {}
        self._remainders: dict[Scale, ir.Value] = {}
        f32, self._i32 = ir.F32Type.get(), ir.IntegerType.get_signless(32)
        self._element = {False: f32, True: ir.F64Type.get()}

    def bind(self, value: ir.Value, *, state: bool, name: str | None = None) -> Generator:
        """Makes a rank-0 power-of-two value a generator."""
        index = len(self._values)
        generator = Generator(index, name or f"s{index}", state)
        self._values[generator] = value
        return generator

    def value(self, generator: Generator) -> ir.Value:
        """The rank-0 value that a generator stands for."""
        return self._values[generator]

    def factors(self, scale: Scale, *, wide: bool) -> list[ir.Value]:
        """The rank-0 values whose product is a dynamic scale; one, or two where one might overflow.

        Args:
            scale: A scale with generators.
            wide: Whether the result is f64 rather than f32.
        """
        if scale in self._remainders:
            return [self._converted(self._remainders[scale], wide)]
        if scale.reach <= SAFE_REACH[wide]:
            return [self._product(scale, wide)]
        if wide:
            half = Scale(0, tuple((g, k // 2) for g, k in scale.powers if k // 2))
            return [self._product(half, wide), self._product(scale / half, wide)]
        low = self._integer("shift_right_arithmetic", self._exponent(scale), 1)
        high = self._cached(("high", scale), lambda: self._op("subtract", self._exponent(scale), low))
        return [self._power(low), self._power(high)]

    def result(self, scale: Scale, *, wide: bool) -> tuple[ir.Value, list[ir.Value]]:
        """A scale as a program's result, and what is left of it for the data.

        Returns:
            The scale, clamped to the normal numbers, and the factors that the data still take.
        """
        if scale.static:
            bound = SAFE_REACH[wide]
            return self._number(2.0 ** max(-bound, min(bound, scale.exponent)), wide), []
        if scale.reach <= SAFE_REACH[wide] or wide:
            return self._product(scale, wide), []
        exponent = self._exponent(scale)
        kept = self._cached(("kept", scale), lambda: self._clamp(exponent))
        rest = self._cached(("rest", scale), lambda: self._op("subtract", exponent, kept))
        return self._power(kept), [self._power(rest)]

    def derive(self, origin: Origin) -> Generator:
        """The generator that a root or a maximum of scales gives; the same one each time."""
        if origin not in self._derived:
            build = self._maximum if isinstance(origin, Maximum) else self._root
            self._derived[origin] = generator = build(origin)  # type: ignore[arg-type]
            self._origins[generator] = origin
        return self._derived[origin]

    def translate(
        self, scale: Scale, source: Factors, names: dict[Generator, Generator]
    ) -> Scale:
        """A scale of another function, over the generators of this one.

        Args:
            scale: A scale whose generators are those of `source`.
            source: The factors of the other function.
            names: Its generators that have a counterpart here. Those derived from them are
                derived again, which gives the same values.
        """
        parts = [Scale(scale.exponent)]
        for generator, k in scale.powers:
            if generator not in names:
                names[generator] = self._rederive(source._origins[generator], source, names)
            parts.append(Scale(0, ((names[generator], k),)))
        return reduce(mul, parts)

    def _rederive(
        self, origin: Origin, source: Factors, names: dict[Generator, Generator]
    ) -> Generator:
        if isinstance(origin, Root):
            return self.derive(Root(self.translate(origin.scale, source, names), origin.n))
        scales = tuple(self.translate(s, source, names) for s in origin.scales)
        return self.derive(Maximum(scales))

    def _maximum(self, origin: Maximum) -> Generator:
        values = [self.result(scale, wide=False)[0] for scale in origin.scales]
        return self.bind(reduce(lambda a, b: self._op("maximum", a, b), values), state=False)

    def _root(self, origin: Root) -> Generator:
        """h = 2^round(log2(scale^(1/n))), and with it the remainder scale / h^n.

        For n = 2 this rounds down, as the paper found best: sqrt(2) is nearer to 1 than to 2.
        """
        product = self._product(origin.scale, wide=False)
        root = self._unary("sqrt" if origin.n == 2 else "cbrt", product)
        value = stablehlo.reduce_precision(root, 8, 0, loc=self.location, ip=self._ip)
        generator = self.bind(value, state=False)
        power = reduce(lambda a, b: self._op("multiply", a, b), [value] * origin.n)
        remainder = origin.scale / Scale(0, ((generator, origin.n),))
        self._remainders[remainder] = self._op("divide", product, power)
        return generator

    @property
    def _ip(self) -> ir.InsertionPoint:
        return ir.InsertionPoint(self._top)

    def _cached(self, key: Hashable, build: Callable[[], ir.Value]) -> ir.Value:
        if key not in self._cache:
            self._cache[key] = build()
        return self._cache[key]

    def _op(self, name: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        return self._cached((name, lhs, rhs), lambda: getattr(stablehlo, name)(lhs, rhs, loc=self.location, ip=self._ip))

    def _unary(self, name: str, operand: ir.Value) -> ir.Value:
        build = getattr(stablehlo, name)
        return self._cached((name, operand), lambda: build(operand, loc=self.location, ip=self._ip))

    def _number(self, value: float, wide: bool) -> ir.Value:
        type_ = emit.scalar_type(self._element[wide])
        return self._cached((value, wide), lambda: emit.constant(type_, value, self._top))

    def _converted(self, value: ir.Value, wide: bool) -> ir.Value:
        element = self._element[wide]
        return self._cached(
            ("convert", value, wide), lambda: emit.convert(value, element, self._top)
        )

    def _product(self, scale: Scale, wide: bool) -> ir.Value:
        """The monomial by multiplications and divisions, factors before divisors in turn."""
        above = [g for g, k in scale.powers for _ in range(k)]
        below = [g for g, k in scale.powers for _ in range(-k)]
        value = None if above else self._number(1.0, wide)
        while above or below:
            if above:
                factor = self._converted(self._values[above.pop(0)], wide)
                value = self._op("multiply", value, factor) if value is not None else factor
            if below:
                divisor = self._converted(self._values[below.pop(0)], wide)
                value = self._op("divide", value, divisor)
        if scale.exponent:
            value = self._op("multiply", value, self._number(2.0**scale.exponent, wide))
        return value

    def _exponent(self, scale: Scale) -> ir.Value:
        """log2 of a monomial as a rank-0 i32, right whatever its generators are."""
        total = self._bits(scale.exponent)
        for generator, k in scale.powers:
            term = self._log2(generator)
            if abs(k) != 1:
                term = self._op("multiply", term, self._bits(abs(k)))
            total = self._op("add" if k > 0 else "subtract", total, term)
        return total

    def _log2(self, generator: Generator) -> ir.Value:
        value = self._converted(self._values[generator], wide=False)
        type_ = emit.scalar_type(self._i32)
        bits = self._cached(
            ("bits", value),
            lambda: stablehlo.bitcast_convert(type_, value, loc=self.location, ip=self._ip),
        )
        biased = self._integer("shift_right_logical", bits, _MANTISSA)
        return self._integer("subtract", biased, _BIAS)

    def _power(self, exponent: ir.Value) -> ir.Value:
        """``2^exponent`` as f32, the exponent clamped to the normal numbers."""
        biased = self._integer("add", self._cached(("clamp", exponent), lambda: self._clamp(exponent)), _BIAS)
        bits = self._integer("shift_left", biased, _MANTISSA)
        type_ = emit.scalar_type(self._element[False])
        return self._cached(
            ("power", bits),
            lambda: stablehlo.bitcast_convert(type_, bits, loc=self.location, ip=self._ip),
        )

    def _clamp(self, exponent: ir.Value) -> ir.Value:
        low, high = self._bits(-SAFE_REACH[False]), self._bits(SAFE_REACH[False])
        return stablehlo.clamp(low, exponent, high, loc=self.location, ip=self._ip)

    def _integer(self, name: str, value: ir.Value, number: int) -> ir.Value:
        return self._op(name, value, self._bits(number))

    def _bits(self, number: int) -> ir.Value:
        type_ = emit.scalar_type(self._i32)
        return self._cached(
            ("i32", number), lambda: emit.constant(type_, number, self._top)
        )
