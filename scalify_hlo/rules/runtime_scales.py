"""The run-time factors of scales, built as early in a function as possible.

A factor is a rank-0 power of two by which data are multiplied. Each is built once, as a short chain
of scalar ops on run-time scales. Chains share their prefixes. XLA clones scalar chains into the
fusions that use them, so chains are short and regular. Chains on arguments are built at the top of
the function. Chains on a computed scale are built right after its definition.
"""

from __future__ import annotations

from collections.abc import Container
from functools import reduce
from itertools import islice, zip_longest
from operator import mul
from typing import NamedTuple

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import (
    COMPUTED_BOUND,
    ENCODED_BOUND,
    FAR_LEVEL,
    GIVEN_BOUND,
    INPUT_BOUND,
    NORMAL,
    SAFE_REACH,
    UNBOUNDED,
)
from scalify_hlo.algebra.runtime_size import powers_of
from scalify_hlo.algebra.scale import ONE, RuntimeScale, Scale, Scaled, ScaleInfo
from scalify_hlo.algebra.scale_origins import ScaleOrigin
from scalify_hlo.algebra.uncertainty import GIVEN, STATISTIC, Uncertainty, of_root
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import is_f64, is_scalar
from scalify_hlo.ir.value_map import Eraser, ValueMap
from scalify_hlo.rules.emitter import NEAREST, Emitter
from scalify_hlo.rules.exponents import Exponents
from scalify_hlo.rules.scalar_ops import BIAS, Home

_NEARLY_TWICE = 1.45
"""A root times this number rounds to the root if that is a power of two, else to the next one."""

_EXPONENT_BITS = {False: 8, True: 11}


class Awaited(NamedTuple):
    """An argument whose size is measured.

    Attributes:
        argument: The argument.
        far: log2 of a power of two by which it is divided first, as its squares would leave its
            format otherwise; 0 if it is expected to be nearer to unit.
    """

    argument: ir.Value
    far: int = 0


class RuntimeScales(Exponents):
    """The run-time scales of one function and the factors that it needs.

    Args:
        top: The op before which factors are built.
        tracks_uncertainty: Whether uncertainties of run-time scales are needed.

    Attributes:
        awaited: The arguments of which sizes are used, by the numbers that stand for these.
    """

    def __init__(self, top: ir.Operation, *, tracks_uncertainty: bool = False) -> None:
        super().__init__(top)
        self._tracks_uncertainty = tracks_uncertainty
        self._top = top
        self._values: dict[RuntimeScale, ir.Value] = {}
        self._origins: dict[RuntimeScale, ScaleOrigin] = {}
        self._derived: dict[ScaleOrigin, RuntimeScale] = {}
        self._products: dict[tuple[Scale, bool], ir.Value] = {}
        self._parts: dict[tuple[Scale, bool], list[ir.Value]] = {}
        self._converts: dict[tuple[RuntimeScale, bool], ir.Value] = {}
        self._count = 0
        self._computed: dict[RuntimeScale, Home] = {}
        self._measured: dict[RuntimeScale, Awaited] = {}
        self.awaited: ValueMap[Awaited] = ValueMap()

    def measure(self, value: ir.Value, expected: float) -> Scale:
        """Returns the size of an argument of the program, which is measured if it is used.

        What is measured is its quotient and the expected size, if the latter is far from unit.

        Args:
            value: The argument.
            expected: Expected log2 of its rms.
        """
        far = round(expected) if abs(expected) > FAR_LEVEL else 0
        runtime = self._new(False, INPUT_BOUND[is_f64(value.type)], 0)
        runtime.size, runtime.of_size, runtime.anchors = expected - far, True, False
        self._measured[runtime] = Awaited(value, far)
        return Scale(far, ((runtime, 1),))

    def of_argument(self, value: ir.Value, expected: float) -> float:
        """Returns the size of an argument: a statistic, or that of a scalar itself."""
        if is_scalar(value.type):
            return self.size_of_scalar(value, expected)
        return self.measure(value, expected).size

    def size_of_scalar(
        self, value: ir.Value, expected: float, at: ir.Operation | None = None, depth: int = 0
    ) -> float:
        """Returns the size that a scalar has at run time; it is built if it is used.

        Args:
            value: The scalar, of one element.
            expected: Expected log2 of its magnitude.
            at: The op before which the size is defined, and ops on it are built; the top of the
                function if None.
            depth: The number of nested regions around that op.
        """
        scale = self.measure(value, expected)
        ((runtime, _),) = scale.powers
        runtime.bound, runtime.depth = max(runtime.bound, ENCODED_BOUND), depth
        if at is not None:
            anchor = emit.constant(self._i32, 0, at).owner
            self._computed[runtime] = Home(runtime.index, anchor, ir.InsertionPoint(anchor))
        return scale.size

    def is_size_of(self, value: ir.Value, runtime: RuntimeScale) -> bool:
        """Whether a run-time scale is the size of a value, and of no other."""
        return runtime in self._measured and self._measured[runtime].argument == value

    def _built_size(self, scalar: Awaited, runtime: RuntimeScale) -> ir.Value:
        """Returns the power of two next to the magnitude of a scalar; see `size_of_scalar`."""
        home = self._computed.get(runtime)
        at = home.anchor if home else self._top
        emitter = Emitter(at, wide=is_f64(scalar.argument.type))
        data = emit.convert(scalar.argument, emitter.float.element_type, at)
        data = emit.reshape(data, emitter.float, at) if data.type.rank else data
        data = emit.times_power(data, -scalar.far, at) if scalar.far else data
        magnitude = stablehlo.abs(data, **emit.before(at))
        power = emitter.power(magnitude, NEAREST, emitter.number(1.0))
        power = emitter.computed(emitter.clamped(power, runtime.bound))
        if home:
            self._homes[power] = home
        return power

    def _awaited(self, awaited: Awaited) -> ir.Value:
        """Returns a number that stands for the size of an argument until all are measured."""
        value = emit.constant(self._floats[is_f64(awaited.argument.type)], 1.0, self._top)
        self.built[value] = None
        self.awaited[value] = awaited
        return value

    def define(
        self,
        value: ir.Value,
        *,
        depth: int,
        at: ir.Operation,
        known: Scaled | None = None,
        bound: int = COMPUTED_BOUND,
    ) -> RuntimeScale:
        """Returns the run-time scale for a rank-0 power of two that the program computes.

        Args:
            value: The power of two.
            depth: The number of nested regions around it.
            at: The op before which it is defined, and ops on it are built.
            known: The scale information of the data of which it is a statistic, or None.
            bound: It is within 2^±bound.
        """
        runtime = self._new(False, bound, depth)
        runtime.unsized = known is None or known.scale.unsized
        if known is not None:
            runtime.size = known.level + known.scale.size
        if self._tracks_uncertainty:
            runtime.uncertainty = _measured(known)
        anchor = emit.constant(self._i32, 0, at).owner
        home = Home(runtime.index, anchor, ir.InsertionPoint(anchor))
        self._values[runtime], self._homes[value], self._computed[runtime] = value, home, home
        return runtime

    def returned(
        self, value: ir.Value, inner: RuntimeScale, size: ScaleInfo, *, depth: int, at: ir.Operation
    ) -> RuntimeScale:
        """Returns the run-time scale for one that a function returns, of the same size.

        Args:
            value: The power of two.
            inner: The run-time scale in the function.
            size: The expected size of its value, with the uncertainty outside of the function.
            depth: The number of nested regions around the call.
            at: The op before which it is defined.
        """
        runtime = self.define(value, depth=depth, at=at, bound=inner.bound)
        if isinstance(size, Scaled):
            runtime.size, runtime.uncertainty = float(size.level), size.uncertainty
        return runtime

    def computed(self, scale: Scale) -> list[RuntimeScale]:
        """Returns the computed run-time scales from which a scale is made."""
        found: dict[RuntimeScale, None] = {}
        waiting = [scale]
        while waiting:
            for runtime, _ in waiting.pop().powers:
                if runtime in self._computed:
                    found[runtime] = None
                elif runtime in self._origins:
                    waiting += self._origins[runtime].scales
        return list(found)

    def forget(self, count: int) -> None:
        """Forgets the run-time scales of regions from number `count` on, which were erased."""
        for runtime in [each for each in self._computed if each.index >= count and each.depth]:
            del self._computed[runtime]

    @property
    def holds(self) -> bool:
        """Whether data may be at a run-time scale at which they have to stay."""
        return self._count > len(self._measured) + sum(g.of_size for g in self._origins)

    @property
    def count(self) -> int:
        """The number of run-time scales that were made."""
        return self._count

    def bind(
        self,
        value: ir.Value,
        *,
        state: bool,
        bound: int = GIVEN_BOUND,
        like: RuntimeScale | None = None,
    ) -> RuntimeScale:
        """Returns the run-time scale for a rank-0 argument.

        It may be any positive number: those of a caller's data need not be powers of two.

        Args:
            value: The argument.
            state: Whether it is the scale of an argument of the program.
            bound: The bound on ``|log2|`` of its value.
            like: The run-time scale outside of the function; None for arguments of the program.
        """
        runtime = self._new(state, bound, 0)
        runtime.of_size = like is not None and like.of_size
        runtime.size = like.size if like and not like.of_size else 0
        runtime.anchors = not runtime.of_size
        runtime.unsized = state or (like is not None and like.unsized)
        if self._tracks_uncertainty and not runtime.of_size:
            runtime.uncertainty = of_root(like.uncertainty.octaves if like else GIVEN)
        self._values[runtime] = value
        return runtime

    def _new(self, state: bool, bound: int, depth: int) -> RuntimeScale:
        self._count += 1
        number = self._count - 1
        return RuntimeScale(number, f"s{number}", state, bound, depth=depth)

    def derive(self, origin: ScaleOrigin) -> RuntimeScale:
        """Returns the run-time scale of a root or a maximum of scales; the same one each time."""
        if origin not in self._derived:
            self._derived[origin] = runtime = self._new(False, origin.bound, origin.depth)
            runtime.size, runtime.of_size = origin.size, origin.of_size
            runtime.factors, runtime.unsized = origin.factors, origin.unsized
            if self._tracks_uncertainty:
                runtime.uncertainty = origin.uncertainty
            if origin.of_size:
                runtime.bound, runtime.anchors = _bound_of_sizes(origin), False
            self._origins[runtime] = origin
        return self._derived[origin]

    def translate(
        self, scale: Scale, source: RuntimeScales, names: dict[RuntimeScale, RuntimeScale]
    ) -> Scale:
        """Returns a scale of another function with the run-time scales of this one.

        Args:
            scale: A scale with the run-time scales of `source`.
            source: The run-time scales of the other function.
            names: The run-time scales here, by those of the other function. Derived ones are
                derived again, with equal values.
        """
        parts = [Scale(scale.exponent)]
        for runtime, k in scale.powers:
            if runtime not in names:
                names[runtime] = self._rederive(source._origins[runtime], source, names)
            parts.append(Scale(0, ((names[runtime], k),)))
        return reduce(mul, parts)

    def is_made_of(self, scale: Scale, known: Container[RuntimeScale]) -> bool:
        """Whether a scale is made of some run-time scales, with roots and maxima of them."""
        for runtime, _ in scale.powers:
            origin = self._origins.get(runtime)
            if runtime not in known and (
                origin is None or not all(self.is_made_of(s, known) for s in origin.scales)
            ):
                return False
        return True

    def _rederive(
        self, origin: ScaleOrigin, source: RuntimeScales, names: dict[RuntimeScale, RuntimeScale]
    ) -> RuntimeScale:
        scales = tuple(self.translate(s, source, names) for s in origin.scales)
        return self.derive(ScaleOrigin(scales, origin.n, origin.up))

    def value(self, runtime: RuntimeScale) -> ir.Value:
        """Returns the rank-0 value of a run-time scale."""
        if runtime in self._measured and runtime not in self._values:
            measured = self._measured[runtime]
            single = is_scalar(measured.argument.type)
            size = self._built_size(measured, runtime) if single else self._awaited(measured)
            self._values[runtime] = size
        if runtime not in self._values:
            self._values[runtime] = self._made(self._origins[runtime])
        return self._values[runtime]

    def parts(self, scale: Scale, *, wide: bool) -> list[ir.Value]:
        """Returns one or two rank-0 values whose product is a run-time scale.

        The first is a normal number. If the scale may be out of range, the second is the rest.

        Args:
            scale: A scale with run-time scales.
            wide: Whether they are f64 rather than f32.
        """
        key = scale, wide
        parts = self._parts.get(key)
        if parts is None:
            parts = self._parts[key] = self._make_parts(scale, wide)
        return parts

    def _make_parts(self, scale: Scale, wide: bool) -> list[ir.Value]:
        kept = self.kept(scale, wide=wide)
        if scale.reach <= SAFE_REACH[wide] or scale.passing:
            return [kept]
        portions = _portions(scale, wide)
        if len(portions) == 2 or wide:
            first, *others = (self._product(portion, wide) for portion in portions)
            return [kept, reduce(self.times, others, self.elementwise("divide", first, kept))]
        biased = self.biased(scale)
        rest = self.elementwise("subtract", biased, self._clamp(biased))
        factor = self._power(self.elementwise("add", rest, self.integer(BIAS)))
        return [kept, self.times_mantissas(factor, scale)]

    def kept(self, scale: Scale, *, wide: bool) -> ir.Value:
        """Returns a run-time scale as one number, clamped to normal numbers if needed."""
        bound = SAFE_REACH[wide]
        if scale.reach <= bound:
            return self._product(scale, wide)
        if scale.passing:
            return self._of_sizes(scale, wide) if wide or not scale.wide else self._in_f32(scale)
        portions = _portions(scale, wide)
        if len(portions) > 2 and not wide:
            return self._power(self.biased(scale))
        value = reduce(self.times, (self._product(portion, wide) for portion in portions))
        low, high = (self.number(2.0**e, wide=wide) for e in (-bound, bound))
        return self.elementwise("clamp", low, value, high)

    def _in_f32(self, scale: Scale) -> ir.Value:
        """Returns a product of sizes of f64 arguments, which cancel in f64 first."""
        value = self._within(self._of_sizes(scale, True), NORMAL + 1, NORMAL, wide=True)
        return self.op("convert", self._floats[False], value)

    def _of_sizes(self, scale: Scale, wide: bool) -> ir.Value:
        """Returns a product of sizes, which is clamped where it may leave the normal numbers."""
        most, units = SAFE_REACH[wide], scale.units()
        above, below = ([unit for unit in units if unit[1] * sign > 0] for sign in (1, -1))
        value, reach = self.number(1.0, wide=wide), 0
        for runtime, k in (unit for pair in zip_longest(above, below) for unit in pair if unit):
            number = self._converted(runtime, wide)
            if k < 0 or reach:
                number = self.elementwise("multiply" if k > 0 else "divide", value, number)
            value = self._within(number, reach + runtime.bound, most, wide=wide)
            reach = min(reach + runtime.bound, most)
        if not scale.exponent:
            return value
        value = self.times(value, self.number(2.0**scale.exponent, wide=wide))
        return self._within(value, reach + abs(scale.exponent), most, wide=wide)

    def forget_built(self) -> None:
        """Forgets which values were built from which; no more are built."""
        self._built.clear()
        self._homes.clear()

    def erase_unused(self, eraser: Eraser) -> None:
        """Erases the factors without uses."""
        for value in list(reversed(self.built)):
            if next(iter(value.uses), None) is None:
                self.awaited.pop(value, None)
                eraser.erase_maker(value)
        for home in self._computed.values():
            eraser.erase_maker(home.anchor.result)
        self._computed.clear()

    def _made(self, origin: ScaleOrigin) -> ir.Value:
        """Returns the largest of scales, or the power of two nearest to its root.

        The mantissa of the root is cleared. For a square root this rounds down, which the paper
        found best: sqrt(2) is nearer to 1.
        """
        wide = origin.wide
        values = [self.kept(scale, wide=wide) for scale in origin.scales]
        value = reduce(lambda a, b: self.elementwise("maximum", a, b), values)
        if origin.n == 1:
            most = _bound_of_sizes(origin) if origin.of_size else origin.bound
            return self._within(value, origin.bound, most, wide=wide)
        root = self.elementwise("sqrt" if origin.n == 2 else "cbrt", value)
        if origin.up:
            root = self.times(root, self.number(_NEARLY_TWICE, wide=wide))
        return self.op("reduce_precision", root, _EXPONENT_BITS[wide], 0)

    def _product(self, scale: Scale, wide: bool) -> ir.Value:
        """Returns the monomial as one quotient of products, which share their prefixes."""
        key = scale, wide
        product = self._products.get(key)
        if product is None:
            product = self._products[key] = self._quotient(scale, wide)
        return product

    def times_number(self, number: float, scale: Scale, *, wide: bool) -> ir.Value:
        """Returns a number times a run-time scale."""
        if scale.reach <= SAFE_REACH[wide] and not scale.exponent and _all_below(scale):
            return self._quotient(scale, wide, number)
        value = self.number(number, wide=wide)
        return reduce(self.times, self.parts(scale, wide=wide), value)

    def _quotient(self, scale: Scale, wide: bool, number: float = 1.0) -> ir.Value:
        above: list[ir.Value] = []
        below: list[ir.Value] = []
        for runtime, k in scale.units():
            value = self._converted(runtime, wide)
            (above if k > 0 else below).append(value)
        if scale.exponent or not above:
            above.append(self.number(number * 2.0**scale.exponent, wide=wide))
        value = reduce(self.times, above)
        return self.elementwise("divide", value, reduce(self.times, below)) if below else value

    def number_of(self, runtime: RuntimeScale) -> ir.Value:
        """See `Exponents.number_of`."""
        return self._converted(runtime, wide=False)

    def _converted(self, runtime: RuntimeScale, wide: bool) -> ir.Value:
        key = runtime, wide
        if key not in self._converts:
            value, type_ = self.value(runtime), self._floats[wide]
            if runtime.wide and not wide:
                value = self._within(value, runtime.bound, SAFE_REACH[False], wide=True)
            built = value if value.type == type_ else self.op("convert", type_, value)
            self._converts[key] = built
        return self._converts[key]


def _measured(known: Scaled | None) -> Uncertainty:
    """Returns the uncertainty of the expected size of data against their measured statistic."""
    if known is None or powers_of(known.at(ONE).level):  # What is measured may have any size.
        return of_root(UNBOUNDED)
    return known.scale.uncertainty.and_of(known.uncertainty.with_root(STATISTIC))


def _portions(scale: Scale, wide: bool) -> list[Scale]:
    """Returns the factors of a scale that are within range, in f32 no more than three of them."""
    return list(islice(scale.portions(SAFE_REACH[wide]), None if wide else 3))


def _all_below(scale: Scale) -> bool:
    """Whether a scale is the reciprocal of run-time scales."""
    return all(k < 0 for _, k in scale.powers)


def _bound_of_sizes(origin: ScaleOrigin) -> int:
    """Returns the bound of what is derived from measured sizes: that of the largest of these."""
    each = max((runtime.bound for scale in origin.scales for runtime, _ in scale.powers), default=0)
    return min(origin.bound, max(INPUT_BOUND[origin.wide], each))
