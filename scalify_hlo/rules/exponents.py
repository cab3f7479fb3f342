"""Monomials of many run-time scales, whose product may be out of range: their exponents are added.

A chain of n layers has monomials of up to n scales, which differ by one scale from layer to layer.
Their sums and products are divided where a power of two divides the numbers of the scales, so that
each monomial shares all but about log2(n) ops with the others, wherever it begins and ends.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import groupby, zip_longest
from operator import attrgetter
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import RuntimeScale, Scale
from scalify_hlo.rules.scalar_ops import BIAS, MANTISSA, ScalarOps

_BLOCK_BITS: Final = 6
"""log2 of the most mantissas in one product, which is below 2^64 then."""


class Exponents(ScalarOps):
    """A builder of scalar ops, with the exponents and mantissas of monomials, in f32.

    Args:
        top: The op before which they are built.
    """

    def __init__(self, top: ir.Operation) -> None:
        super().__init__(top)
        self._joined: dict[tuple[str, tuple[RuntimeScale, ...]], ir.Value] = {}

    def number_of(self, runtime: RuntimeScale) -> ir.Value:
        """Returns the rank-0 f32 value of a run-time scale."""
        raise NotImplementedError

    def biased(self, scale: Scale) -> ir.Value:
        """Returns log2 of a monomial plus the bias of f32, as an i32, for any values of its scales.

        The constant is added last, so that monomials share the sums of their terms.
        """
        constant, total = scale.exponent + BIAS - BIAS * sum([k for _, k in scale.powers]), None
        for k, runtimes in _by_power(scale.powers):
            term = self._join("add", runtimes)
            if abs(k) != 1:
                term = self.times(term, self.integer(abs(k)))
            if total is None and k < 0:
                total, constant = self.integer(constant), 0
            add = "add" if k > 0 else "subtract"
            total = term if total is None else self.elementwise(add, total, term)
        return self.elementwise("add", total, self.integer(constant)) if constant else total

    def times_mantissas(self, value: ir.Value, scale: Scale) -> ir.Value:
        """Multiplies by the mantissas of a monomial; only scales of arguments may have some.

        Products of many of them are taken in turn with divisions by others, so that none is out of
        range where the result is not.
        """
        above: list[ir.Value] = []
        below: list[ir.Value] = []
        for k, runtimes in _by_power([power for power in scale.powers if power[0].state]):
            for _, block in groupby(runtimes, lambda runtime: runtime.index >> _BLOCK_BITS):
                product = self._join("multiply", tuple(block))
                (above if k > 0 else below).extend([product] * abs(k))
        for number, divisor in zip_longest(above, below):
            if number is not None:
                value = self.times(value, number)
            if divisor is not None:
                value = self.elementwise("divide", value, divisor)
        return value

    def _join(self, name: str, runtimes: tuple[RuntimeScale, ...]) -> ir.Value:
        """Returns the sum of exponents, or the product of mantissas, of scales in their order."""
        joined = self._joined.get((name, runtimes))
        if joined is None:
            if len(runtimes) == 1:
                joined = self._exponent(*runtimes) if name == "add" else self._mantissa(*runtimes)
            else:
                first, last = runtimes[0].index, runtimes[-1].index
                bits = (first ^ last).bit_length() - 1
                place = bisect_left(runtimes, last >> bits << bits, key=attrgetter("index"))
                parts = (runtimes[:place], runtimes[place:])
                joined = self.elementwise(name, *(self._join(name, part) for part in parts))
            self._joined[name, runtimes] = joined
        return joined

    def _exponent(self, runtime: RuntimeScale) -> ir.Value:
        """Returns the exponent of a scale with the bias of f32."""
        return self.elementwise("shift_right_logical", self._bits(runtime), self.integer(MANTISSA))

    def _mantissa(self, runtime: RuntimeScale) -> ir.Value:
        digits = self.elementwise("and", self._bits(runtime), self.integer((1 << MANTISSA) - 1))
        return self.as_float(self.elementwise("or", digits, self.integer(BIAS << MANTISSA)))

    def _bits(self, runtime: RuntimeScale) -> ir.Value:
        return self.as_bits(self.number_of(runtime))


def _by_power(
    powers: Sequence[tuple[RuntimeScale, int]],
) -> Iterable[tuple[int, tuple[RuntimeScale, ...]]]:
    """Returns the run-time scales of each power, in order; positive powers come first."""
    found: dict[int, list[RuntimeScale]] = {}
    for runtime, k in powers:
        found.setdefault(k, []).append(runtime)
    for k in sorted(found, key=lambda k: (k < 0, abs(k))):
        yield k, tuple(found[k])
