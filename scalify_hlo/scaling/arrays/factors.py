"""The factors by which the blocks of values are still to be multiplied.

A value X with an array of scales is ``X = Y * F``: Y is the value that the program has in its
place, and F has a factor for each block of X: a power of two, at most 1, or a number of any digits,
below 1.5, if the caller's scales are none. Ops that move
or combine whole blocks are done on Y, and their results have factors too. For all other ops X is
built, which is *one scale* again: ``Y * F`` is one product, whose scale is that of Y.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.algebra.limits import FACTOR_RANGE
from scalify_hlo.algebra.scale_shapes import split_shape
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import format_of, is_small
from scalify_hlo.ir.functions import is_block
from scalify_hlo.ir.value_map import ValueMap, ValueSet
from scalify_hlo.rules.emitter import UP, Emitter
from scalify_hlo.rules.statistics import reduced, statistic

Arrays: TypeAlias = tuple[ir.Value, ...]
"""Arrays whose product F is, each of the rank of the value; see `scalify_hlo.algebra.scale_shapes`.
Factors of operands are not multiplied with each other, since the product could underflow."""

CASTS = frozenset({attributes.DATA, attributes.SECOND})
"""The kinds of casts whose data may be those of Y: their scales follow from the data."""

_COPIED = (attributes.CAST, attributes.NUMBER, attributes.READERS, attributes.ROUNDED)


class Factors:
    """The factors of the values of a function.

    Args:
        at: The first op that is visited.

    Attributes:
        next: The op before which the factors of results are built: the one after that which is
            visited.
        origins: The argument from which each array of factors was made.
        waiting: The arguments whose factors wait behind some matmul.
    """

    def __init__(self, at: ir.Operation) -> None:
        self.next = at
        self.origins: ValueMap[ir.Value] = ValueMap()
        self.waiting = ValueSet()
        self._arrays: ValueMap[Arrays] = ValueMap()
        self._built: ValueMap[list[ir.Value]] = ValueMap()

    def of(self, value: ir.Value) -> Arrays:
        """Returns the factors of a value; empty for most values."""
        return self._arrays.get(value, ())

    def set(self, value: ir.Value, arrays: Arrays) -> None:
        """Sets the factors of a value that has these still to be multiplied."""
        if arrays:
            self._arrays[value] = arrays

    def derived(
        self, value: ir.Value, arrays: Sequence[ir.Value | None], *, waits: bool = False
    ) -> Arrays:
        """Returns arrays that were made from those of a value, with the same origins.

        Args:
            value: The value.
            arrays: The new arrays.
            waits: Whether they wait behind a matmul.
        """
        made = tuple(array for array in arrays if array is not None)
        for old, new in zip(self.of(value), made, strict=True):
            origin = self.origins.get(old, old)
            self.origins[new] = origin
            if waits:
                self.waiting.add(origin)
        return made

    def held(self, op: ir.Operation) -> list[int]:
        """Returns the numbers of the operands of an op that have factors."""
        return [i for i, value in enumerate(op.operands) if value in self._arrays]

    def apply(self, op: ir.Operation, index: int) -> None:
        """Replaces an operand by its value, if it has factors."""
        if self.of(op.operands[index]):
            op.operands[index] = self.value(op.operands[index], op)

    def value(self, value: ir.Value, at: ir.Operation) -> ir.Value:
        """Returns ``Y * F``, built before an op that reads it, unless it was built in its block.

        The value of a cast is cast from the value of its operand, so that it has a scale of its
        own: a product of 8-bit numbers and factors has too few digits and too little range.

        Args:
            value: Y.
            at: The op.
        """
        arrays = self.of(value)
        if not arrays:
            return value
        known = self._built.setdefault(value, [])
        for built in known:
            if built.owner.operation.block == at.operation.block:
                return built
        known.append(self._build(value, arrays, at))
        return known[-1]

    def _build(self, value: ir.Value, arrays: Arrays, at: ir.Operation) -> ir.Value:
        owner = value.owner
        if not is_block(owner) and is_cast(owner):
            return cast_as(owner, self.value(owner.operands[0], at), at)
        if not is_small(value.type):
            return multiplied(value, arrays, at)
        wide = emit.convert(value, ir.F32Type.get(), at)
        kind = {attributes.CAST: ir.StringAttr.get(attributes.DATA)}
        return _converted(multiplied(wide, arrays, at), value.type, kind, at.location, at)


def is_cast(op: ir.Operation) -> bool:
    """Whether an op is a cast of a recipe whose scale follows from its data."""
    return attributes.CAST in op.attributes and op.attributes[attributes.CAST].value in CASTS


def cast_as(cast: ir.Operation, value: ir.Value, at: ir.Operation) -> ir.Value:
    """Casts a value as another cast does, before an op."""
    given = {key: cast.attributes[key] for key in _COPIED if key in cast.attributes}
    return _converted(value, cast.results[0].type, given, cast.location, at)


def _converted(
    value: ir.Value,
    type_: ir.Type,
    given: Mapping[str, ir.Attribute],
    location: ir.Location,
    at: ir.Operation,
) -> ir.Value:
    """Converts a value with attributes."""
    where = {"loc": location, "ip": ir.InsertionPoint(at)}
    return emit.made("stablehlo.convert", type_, [value], given, **where)


def multiplied(value: ir.Value, arrays: Arrays, at: ir.Operation) -> ir.Value:
    """Returns a value times the factors of its blocks, exact if the result is a normal number."""
    return _each("stablehlo.multiply", value, arrays, at)


def divided(value: ir.Value, arrays: Arrays, at: ir.Operation) -> ir.Value:
    """Returns a value over the factors of its blocks, as in `multiplied`."""
    return _each("stablehlo.divide", value, arrays, at)


def _each(name: str, value: ir.Value, arrays: Arrays, at: ir.Operation) -> ir.Value:
    """Applies an op to a value and each array, which may have more digits and range than f16."""
    element, where = value.type.element_type, emit.before(at)
    format_ = format_of(value.type)
    if format_ is None or format_.mantissa_bits < FORMATS["f32"].mantissa_bits:
        value = emit.convert(value, ir.F32Type.get(), at)
    for array in arrays:
        value = emit.elementwise(name, value, spread(array, value.type, at), **where)
    return emit.convert(value, element, at)


def spread(array: ir.Value, type_: ir.Type, at: ir.Operation) -> ir.Value:
    """Returns the number of the block of each element, in the element type of a tensor type."""
    counts, shape = list(array.type.shape), list(type_.shape)
    array = emit.convert(array, type_.element_type, at)
    if all(count in (1, size) for count, size in zip(counts, shape, strict=True)):
        return emit.spread(array, range(len(shape)), shape, at)
    halves, dims = split_shape(shape, counts), range(0, 2 * len(shape), 2)
    return emit.reshaped(emit.spread(array, dims, halves, at), shape, at)


def is_smaller(type_: ir.Type, other: ir.Type) -> bool:
    """Whether a tensor has fewer elements than another one; those of dynamic shape have not."""
    static = type_.has_static_shape and other.has_static_shape
    return bool(static) and math.prod(type_.shape) < math.prod(other.shape)


def keeps_range(source: ir.Type, result: ir.Type) -> bool:
    """Whether numbers that a format holds are in the range of another one, at any scale."""
    narrow, wide = format_of(source), format_of(result)
    if narrow is None or wide is None or not wide.wide:
        return False
    return narrow.max_exponent <= wide.max_exponent


# The factors with which state leaves a function.
#
# State in a wide format keeps the factors of the argument that it replaces. State in f16 or f8 has
# less range: a block that grows would push all others to zero, so the factors are measured.


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
