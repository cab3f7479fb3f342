"""Scalar ops on scales, which are built once, and as early in a function as possible."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from operator import attrgetter
from typing import NamedTuple

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import SAFE_REACH
from scalify_hlo.ir import emit
from scalify_hlo.ir.value_map import ValueCache, ValueMap, ValueSet

BIAS, MANTISSA = 127, 23


class Home(NamedTuple):
    """The place where ops on a run-time scale are built, in the order of definition."""

    rank: int
    anchor: ir.Operation
    ip: ir.InsertionPoint


class ScalarOps:
    """A builder of scalar ops, each of which is built once.

    Args:
        top: The op before which they are built.

    Attributes:
        location: The location of the next ops: that of the op for which they are built.
        block: The block of the function.
        built: All values that were built, in order.
    """

    def __init__(self, top: ir.Operation) -> None:
        self.location, self.block = top.location, top.block
        self.built = ValueSet()
        self._ip = ir.InsertionPoint(top)
        self._built: ValueCache[ir.Value] = ValueCache()
        self._numbers: dict[tuple[float, bool], ir.Value] = {}
        self._i32 = emit.scalar_type(ir.IntegerType.get_signless(32))
        self._floats = {
            wide: emit.scalar_type(element)
            for wide, element in ((False, ir.F32Type.get()), (True, ir.F64Type.get()))
        }
        self._homes: ValueMap[Home] = ValueMap()

    def times(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """Returns the product of two rank-0 tensors; the same one each time."""
        return self.elementwise("multiply", lhs, rhs)

    def elementwise(self, name: str, *operands: ir.Value) -> ir.Value:
        """Returns an op on rank-0 tensors of one type; the same one each time."""
        key = name, *operands
        built = self._built.get(key)
        if built is None:
            ip = home.ip if (home := self._home(operands)) else self._ip
            built = emit.elementwise(f"stablehlo.{name}", *operands, loc=self.location, ip=ip)
            self._keep(key, built, home)
        return built

    def op(self, name: str, *arguments: object) -> ir.Value:
        """Returns an op of StableHLO by the name of its builder; the same one each time."""
        key = name, *arguments
        built = self._built.get(key)
        if built is None:
            build, home = getattr(stablehlo, name), self._home(arguments)
            built = build(*arguments, loc=self.location, ip=home.ip if home else self._ip)
            self._keep(key, built, home)
        return built

    def _home(self, operands: Sequence[object]) -> Home | None:
        """Returns the place where an op on operands is built: that of the last defined one."""
        if not self._homes:
            return None
        homes = [self._homes[o] for o in operands if isinstance(o, ir.Value) and o in self._homes]
        return max(homes, default=None, key=attrgetter("rank"))

    def _keep(self, key: Hashable, built: ir.Value, home: Home | None) -> None:
        self._built[key] = built
        self.built[built] = None
        if home is not None:
            self._homes[built] = home

    def number(self, number: float, *, wide: bool) -> ir.Value:
        """Returns a rank-0 constant."""
        key = number, wide
        built = self._numbers.get(key)
        if built is None:
            attribute = emit.splat_attribute(self._floats[wide], number)
            built = self._numbers[key] = self.op("constant", attribute)
        return built

    def integer(self, number: int) -> ir.Value:
        """Returns a rank-0 constant of i32."""
        return self.op("constant", emit.splat_attribute(self._i32, number))

    def _within(self, value: ir.Value, reach: int, bound: int, *, wide: bool = False) -> ir.Value:
        """Returns a power of two, clamped to 2^±bound if its reach is larger."""
        if reach <= bound:
            return value
        low, high = (self.number(2.0**e, wide=wide) for e in (-bound, bound))
        return self.elementwise("clamp", low, value, high)

    def _power(self, biased: ir.Value) -> ir.Value:
        """Returns ``2^(biased - 127)`` as f32, clamped to the normal numbers."""
        return self.as_float(
            self.elementwise("shift_left", self._clamp(biased), self.integer(MANTISSA))
        )

    def as_float(self, bits: ir.Value) -> ir.Value:
        """Returns the f32 number of some bits."""
        return self.op("bitcast_convert", self._floats[False], bits)

    def as_bits(self, number: ir.Value) -> ir.Value:
        """Returns the bits of an f32 number."""
        return self.op("bitcast_convert", self._i32, number)

    def _clamp(self, biased: ir.Value) -> ir.Value:
        """Clamps exponents with the bias of f32 to those of normal numbers."""
        low, high = (self.integer(BIAS + e * SAFE_REACH[False]) for e in (-1, 1))
        return self.elementwise("clamp", low, biased, high)
