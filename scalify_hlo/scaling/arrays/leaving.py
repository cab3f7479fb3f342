"""The factors with which state leaves a function.

State in a wide format keeps the factors of the argument that it replaces. State in f16 or f8 has
less range: a block that grows would push all others to zero, so the factors are measured.
"""

from __future__ import annotations

from dataclasses import dataclass

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import FACTOR_RANGE
from scalify_hlo.algebra.scale_shapes import split_shape
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.functions import is_block
from scalify_hlo.rules.emitter import UP, Emitter
from scalify_hlo.rules.statistics import reduced, statistic
from scalify_hlo.scaling.arrays.factors import Arrays, Factors, cast_as, divided


@dataclass
class Leaving:
    """The factors of one result.

    Attributes:
        own: Those of the argument that it replaces.
        measured: Whether they follow from the value.
        found: Those of the value that is returned, once it was built.
    """

    own: Arrays
    measured: bool
    found: Arrays = ()

    def divide(self, value: ir.Value, factors: Factors, at: ir.Operation) -> ir.Value:
        """Returns a value over its factors, before an op; that of a cast is divided before it."""
        if factors.of(value) == self.own:
            self.found = self.own
            return value
        owner = value.owner
        if not is_block(owner) and attributes.CAST in owner.attributes:
            return cast_as(owner, self.divide(owner.operands[0], factors, at), at)
        whole = factors.value(value, at)
        self.found = (_measured(whole, self.own[0], at),) if self.measured else self.own
        return divided(whole, self.found, at)


def _measured(value: ir.Value, like: ir.Value, at: ir.Operation) -> ir.Value:
    """Returns the power of two at or above the amax of each block, over the largest one.

    Args:
        value: The value.
        like: The factors of the argument, which have the shape.
        at: The op before which they are computed.
    """
    counts = list(like.type.shape)
    halves = split_shape(value.type.shape, counts)
    blocks = emit.reshaped(value, halves, at)
    kept = range(0, len(halves), 2)
    amax = statistic(blocks, "max", at, wide=False, devices=None, kept=kept)
    emitter = Emitter(at, wide=False, shape=counts)
    least = emitter.number(2.0**-FACTOR_RANGE)
    powers = emitter.power(amax, UP, least)
    largest = emit.broadcast_scalar(largest_of(powers, at), powers, at)
    found = emitter.clamped(emitter.divide(powers, largest), FACTOR_RANGE)
    return emit.convert(found, like.type.element_type, at)


def largest_of(array: ir.Value, at: ir.Operation) -> ir.Value:
    """Returns the largest number of an array of scales or factors, which are positive."""
    zero = emit.constant(emit.scalar_type(array.type.element_type), 0.0, at)
    return reduced(array, zero, "stablehlo.maximum", range(array.type.rank), at)
