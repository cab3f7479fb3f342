"""The run-time factors of scales: asked for during the walk, built together at its end.

A factor is a rank-0 power of two that data are multiplied with. While a function is walked, each
factor asked for is a placeholder; in the end those still in use are built at the top of the
function, once each, as short chains of scalar ops straight from the generators. XLA clones scalar
chains into the fusions that use them, so chains are kept short and alike.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import mul
from typing import TypeAlias

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.rules import emit
from scalify_hlo.scale import GENERATOR_BOUND, Generator, Maximum, Origin, Root, Scale

SAFE_REACH = {False: 126, True: 1022}
"""|log2| up to which a factor is one normal number, in f32 and in f64."""

_BIAS, _MANTISSA = 127, 23

Key: TypeAlias = tuple[str, Scale, bool]
"""What is wanted of a scale: itself as one product, or what is kept or left over when it is
clamped to the normal numbers; the scale; and whether it is wanted in f64."""


class Factors:
    """The generators of one function and the factors that it needs.

    Args:
        top: The op before which placeholders are put, the first of the function.

    Attributes:
        location: Location of what is asked for next: that of the op that asks.
    """

    def __init__(self, top: ir.Operation) -> None:
        self.location = top.location
        self._top = top
        self._values: dict[Generator, ir.Value] = {}
        self._origins: dict[Generator, Origin] = {}
        self._derived: dict[Origin, Generator] = {}
        self._requests: dict[Key, ir.Value] = {}
        self._count = 0
        self._placeholders = {
            wide: emit.splat_attribute(emit.scalar_type(element), 1.0)
            for wide, element in ((False, ir.F32Type.get()), (True, ir.F64Type.get()))
        }

    def bind(self, value: ir.Value, *, state: bool, bound: int = GENERATOR_BOUND) -> Generator:
        """Makes a rank-0 power-of-two argument a generator."""
        generator = self._new(state, bound)
        self._values[generator] = value
        return generator

    def _new(self, state: bool, bound: int) -> Generator:
        self._count += 1
        return Generator(self._count - 1, f"s{self._count - 1}", state, bound)

    def value(self, generator: Generator) -> ir.Value:
        """The rank-0 value that a generator stands for."""
        if generator in self._values:
            return self._values[generator]
        return self.parts(Scale(0, ((generator, 1),)), wide=False)[0]

    def derive(self, origin: Origin) -> Generator:
        """The generator that a root or a maximum of scales gives; the same one each time."""
        if origin not in self._derived:
            self._derived[origin] = generator = self._new(False, origin.bound)
            self._origins[generator] = origin
        return self._derived[origin]

    def translate(self, scale: Scale, source: Factors, names: dict[Generator, Generator]) -> Scale:
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

    def parts(self, scale: Scale, *, wide: bool) -> list[ir.Value]:
        """Rank-0 values to multiply data with, one by one, whose product is a dynamic scale.

        A quotient of scales brings one operand of a meet to the scale of another. Where it leaves
        the normal numbers, one of them is beyond the other's reach: it saturates. A product can
        leave them with nothing amiss, since data may make up for it: it takes two multiplications.

        Args:
            scale: A scale with generators.
            wide: Whether they are f64 rather than f32.
        """
        values = self.kept_and_rest(scale, wide=wide)
        quotient = len({k > 0 for _, k in scale.powers}) == 2
        return values[:1] if quotient else values

    def kept_and_rest(self, scale: Scale, *, wide: bool) -> list[ir.Value]:
        """A dynamic scale as one normal number; and if it may be none, what is missing of it."""
        if scale.reach <= SAFE_REACH[wide]:
            return [self._part(scale, wide)]
        return [self._request((kind, scale, wide)) for kind in ("kept", "left over")]

    def _part(self, scale: Scale, wide: bool) -> ir.Value:
        (generator, k), *more = scale.powers
        if not more and k == 1 and not scale.exponent and generator in self._values:
            value = self._values[generator]
            if wide == isinstance(value.type.element_type, ir.F64Type):
                return value
        return self._request(("product", scale, wide))

    def _request(self, key: Key) -> ir.Value:
        if key not in self._requests:
            placeholder = self._placeholders[key[2]]
            where = {"loc": self.location, "ip": ir.InsertionPoint(self._top)}
            self._requests[key] = stablehlo.constant(placeholder, **where)
        return self._requests[key]

    def finish(self) -> None:
        """Puts the factors in their placeholders' place, built before all else."""
        first = self._top.block.operations[0].operation
        chains = Chains(self._values, self._origins, first)
        for key, placeholder in self._requests.items():
            if next(iter(placeholder.uses), None) is not None:
                chains.location = placeholder.owner.location
                placeholder.replace_all_uses_with(chains.build(key))
        for placeholder in self._requests.values():  # the first of them may be `first`
            placeholder.owner.erase()


@dataclass
class Chains:
    """Builds factors one by one as chains of scalar ops, each op once.

    Attributes:
        values: The generators that stand already; derived ones are added as they are built.
        origins: How the others come about.
        first: The op before which all is built.
    """

    values: dict[Generator, ir.Value]
    origins: dict[Generator, Origin]
    first: ir.Operation

    def __post_init__(self) -> None:
        self.location = self.first.location
        self._cache: dict[Hashable, ir.Value] = {}
        self._ip = ir.InsertionPoint(self.first)

    def build(self, key: Key) -> ir.Value:
        """What a placeholder stands for."""
        kind, scale, wide = key
        if kind == "product":
            return self._product(scale, wide=wide)
        portions = list(scale.portions(SAFE_REACH[wide]))
        if len(portions) == 2 or wide:
            return self._of_portions(portions, wide, kept=kind == "kept")
        exponent = self._exponent(scale)
        kept = self._clamp(exponent)
        return self._power(kept if kind == "kept" else self._op("subtract", exponent, kept))

    def _of_portions(self, portions: Sequence[Scale], wide: bool, *, kept: bool) -> ir.Value:
        """Portions are normal numbers; their product is, unless it is clamped."""
        values = [self._product(portion, wide=wide) for portion in portions]
        product = reduce(lambda a, b: self._op("multiply", a, b), values)
        bound = SAFE_REACH[wide]
        low, high = (self._number(2.0**e, wide=wide) for e in (-bound, bound))
        clamped = self._cached(
            ("clamp", product), lambda: stablehlo.clamp(low, product, high, **self._where)
        )
        if kept:
            return clamped
        values[0] = self._op("divide", values[0], clamped)
        return reduce(lambda a, b: self._op("multiply", a, b), values)

    def _generator(self, generator: Generator) -> ir.Value:
        if generator not in self.values:
            origin = self.origins[generator]
            build = self._root if isinstance(origin, Root) else self._maximum
            self.values[generator] = build(origin)  # type: ignore[arg-type]
        return self.values[generator]

    def _maximum(self, origin: Maximum) -> ir.Value:
        values = [
            self.build(("kept", s, False))
            if s.reach > SAFE_REACH[False]
            else self._product(s, wide=False)
            for s in origin.scales
        ]
        return reduce(lambda a, b: self._op("maximum", a, b), values)

    def _root(self, origin: Root) -> ir.Value:
        """The power of two nearest to the root, by rounding its mantissa away.

        For a square root that is rounding down, as the paper found best: sqrt(2) is nearer to 1.
        """
        product = self._product(origin.scale, wide=False)
        root = self._unary("sqrt" if origin.n == 2 else "cbrt", product)
        return self._cached(
            ("reduce_precision", root),
            lambda: stablehlo.reduce_precision(root, 8, 0, **self._where),
        )

    @property
    def _where(self) -> dict[str, object]:
        return {"loc": self.location, "ip": self._ip}

    def _cached(self, key: Hashable, build: Callable[[], ir.Value]) -> ir.Value:
        if key not in self._cache:
            self._cache[key] = build()
        return self._cache[key]

    def _op(self, name: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        key = name, lhs, rhs
        if key not in self._cache:
            self._cache[key] = getattr(stablehlo, name)(lhs, rhs, **self._where)
        return self._cache[key]

    def _unary(self, name: str, operand: ir.Value) -> ir.Value:
        build = getattr(stablehlo, name)
        return self._cached((name, operand), lambda: build(operand, **self._where))

    def _element(self, wide: bool) -> ir.Type:
        return ir.F64Type.get() if wide else ir.F32Type.get()

    def _number(self, value: float, *, wide: bool) -> ir.Value:
        type_ = emit.scalar_type(self._element(wide))
        return self._cached((value, wide), lambda: emit.constant(type_, value, self.first))

    def _converted(self, generator: Generator, wide: bool) -> ir.Value:
        key = generator, wide
        if key not in self._cache:
            value, element = self._generator(generator), self._element(wide)
            self._cache[key] = emit.convert(value, element, self.first)
        return self._cache[key]

    def _product(self, scale: Scale, *, wide: bool) -> ir.Value:
        """The monomial as one quotient of products, whose beginnings are shared."""
        above: list[ir.Value] = []
        below: list[ir.Value] = []
        for generator, k in scale.units():
            (above if k > 0 else below).append(self._converted(generator, wide))
        if scale.exponent or not above:
            above.append(self._number(2.0**scale.exponent, wide=wide))
        value = reduce(lambda a, b: self._op("multiply", a, b), above)
        if not below:
            return value
        return self._op("divide", value, reduce(lambda a, b: self._op("multiply", a, b), below))

    def _exponent(self, scale: Scale) -> ir.Value:
        """log2 of a monomial as a rank-0 i32, right whatever its generators are."""
        total = self._integer(scale.exponent)
        for generator, k in scale.powers:
            term = self._log2(generator)
            if abs(k) != 1:
                term = self._op("multiply", term, self._integer(abs(k)))
            total = self._op("add" if k > 0 else "subtract", total, term)
        return total

    def _log2(self, generator: Generator) -> ir.Value:
        value = self._converted(generator, wide=False)
        type_ = emit.scalar_type(ir.IntegerType.get_signless(32))
        bits = self._cached(
            ("bits", value), lambda: stablehlo.bitcast_convert(type_, value, **self._where)
        )
        biased = self._op("shift_right_logical", bits, self._integer(_MANTISSA))
        return self._op("subtract", biased, self._integer(_BIAS))

    def _power(self, exponent: ir.Value) -> ir.Value:
        """``2^exponent`` as f32, the exponent clamped to the normal numbers."""
        biased = self._op("add", self._clamp(exponent), self._integer(_BIAS))
        bits = self._op("shift_left", biased, self._integer(_MANTISSA))
        type_ = emit.scalar_type(self._element(wide=False))
        return self._cached(
            ("power", bits), lambda: stablehlo.bitcast_convert(type_, bits, **self._where)
        )

    def _clamp(self, exponent: ir.Value) -> ir.Value:
        bound = SAFE_REACH[False]
        low, high = self._integer(-bound), self._integer(bound)
        return self._cached(
            ("clamp", exponent), lambda: stablehlo.clamp(low, exponent, high, **self._where)
        )

    def _integer(self, number: int) -> ir.Value:
        type_ = emit.scalar_type(ir.IntegerType.get_signless(32))
        return self._cached(("i32", number), lambda: emit.constant(type_, number, self.first))
