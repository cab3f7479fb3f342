"""Tolerance: the values of a forward pass that its backward pass may read rounded.

Rounding changes each element by a share of it, or of the largest of its group. Flags of a value say
what that would harm, and go backward from what is computed of it to matmuls, which end them. A sum
turns a share of a term into more than that of the result. So scores are not rounded, since their
softmax would be another one, and probabilities are.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag

from scalify_hlo._compat import ir
from scalify_hlo.algebra.search import Search
from scalify_hlo.dataflow.crossing import Crossing
from scalify_hlo.ir import traits
from scalify_hlo.ir.formats import element_type
from scalify_hlo.ir.monoid import monoid
from scalify_hlo.ir.scaled_dot import is_matmul
from scalify_hlo.ir.splats import filled_with
from scalify_hlo.ir.through import behind
from scalify_hlo.ir.value_map import ValueMap, ValueSet
from scalify_hlo.ir.walk import ops_in, read_by


class Harm(IntFlag):
    """The harm that it would do to round a value."""

    JUMPS = 1
    """A small change of the value may change a result by much."""
    CANCELS = 2
    """A constant is added to the value, which may leave little of it."""
    SHARP = 4
    """A change counts by its size, and not as a share of the value."""
    READ = 8
    """A matmul, or an op that is not known, reads it as it is, or each element many times."""


_NONE = Harm(0)
_FAR = traits.where("trigonometric", "integral", "numeric", "kernel", "logical")
_STEEP = traits.EXPONENTIALS | traits.LOGARITHMS
_KEEPING = traits.MOVES | traits.where("bits")
_SHARES = traits.where("sum", "product", "extreme", "magnitude", "root", "power", "special")
_REDUCE = "stablehlo.reduce"


def harm_before(op: ir.Operation, number: int, after: Harm) -> Harm:
    """Returns the flags that an op gives to an operand.

    Args:
        op: The op.
        number: The number of the operand.
        after: The flags of the result.
    """
    name = op.name
    if name in traits.ROUNDS:
        return _before_convert(op, after)
    if name in traits.BROADCASTS:
        return after | Harm.READ
    if name in _KEEPING:
        return after
    if name in traits.CHOICES:
        return after if number or name == "stablehlo.clamp" else _NONE
    after &= ~Harm.READ
    if name in traits.SUMS and isinstance(element_type(op.results[0].type), ir.FloatType):
        other = filled_with(behind(op.operands[1 - number], traits.BROADCASTS))
        cancels = Harm.CANCELS if other else _NONE
        return cancels | (Harm.JUMPS if after & (Harm.SHARP | Harm.JUMPS) else after)
    if name in _SHARES:
        return after
    if name in traits.SIGMOIDS:
        return after & Harm.JUMPS
    if name in _STEEP:
        return after & Harm.JUMPS | Harm.SHARP
    if name == "stablehlo.compare":
        return _before_compare(op)
    if name == _REDUCE and None not in map(monoid, op.regions):
        return _NONE  # Statistics, and sums of many terms.
    return Harm.JUMPS if name in _FAR or name in traits.REDUCTIONS else Harm.READ


def _before_convert(op: ir.Operation, after: Harm) -> Harm:
    element = element_type(op.results[0].type)
    if not isinstance(element, ir.FloatType):
        return Harm.JUMPS
    return after & ~Harm.READ if element.width < 16 else after


def _before_compare(op: ir.Operation) -> Harm:
    equal = "EQ" in str(op.attributes["comparison_direction"])
    other = "NE" in str(op.attributes["comparison_direction"])
    same = op.operands[0] == op.operands[1]  # a test for NaN
    return Harm.JUMPS if (equal or other) and not same else _NONE


def tolerant(
    crossing: Crossing, first: Sequence[ir.Operation], second: Sequence[ir.Operation]
) -> set[int]:
    """Returns the numbers of the values that may be kept rounded.

    Values of the loss, which come after all matmuls of the forward pass, may not.

    Args:
        crossing: The values of both parts.
        first: The ops of the forward pass, in order.
        second: The ops of the backward pass, in order; the last one ends the block.
    """
    harms = _Harms(crossing, second)
    inside = _before_matmuls(first)
    return {
        number
        for number, value in crossing.forward.items()
        if not harms.of[number] & ~Harm.SHARP and number not in crossing.given and value in inside
    }


class _Harms:
    """The flags of values.

    Attributes:
        of: The flags by number.
    """

    def __init__(self, crossing: Crossing, second: Sequence[ir.Operation]) -> None:
        self._crossing = crossing
        self._forward = ValueSet()  # values of the second part that are made of no cotangent
        self._flags: ValueMap[Harm] = ValueMap()
        computed = crossing.numbers.computed
        self.of = [_NONE] * len(computed)
        for op in second:
            self._find_forward(op)
        for op in reversed(second):
            self._flag(op)
        for value, flags in self._flags.items():
            number = crossing.numbers.get(value)
            if number is not None:
                self.of[number] |= flags
        used = Search(crossing.needed, self._operands).to_end().found
        for number in sorted(used, reverse=True):
            each, after = computed[number], self.of[number]
            for i, operand in enumerate(self._operands(number)):
                op = each.value.owner
                self.of[operand] |= after if each.reshapes else harm_before(op, i, after)

    def _operands(self, number: int) -> Sequence[int]:
        crossing = self._crossing
        each = crossing.numbers.computed[number]
        return each.operands or () if crossing.is_again(number, each) else ()

    def _is_forward(self, value: ir.Value) -> bool:
        return value in self._forward or self._crossing.numbers.get(value) is not None

    def _find_forward(self, op: ir.Operation) -> None:
        known = [self._is_forward(operand) for operand in op.operands]
        if op.name in traits.COPIES:
            self._forward.add_all(r for r, is_ in zip(op.results, known, strict=True) if is_)
        elif known and all(known) and not is_matmul(op):
            self._forward.add_all(op.results)

    def _flag(self, op: ir.Operation) -> None:
        operands, results = list(op.operands), list(op.results)
        for i, operand in enumerate(operands):
            if self._is_forward(operand):
                self._add(operand, self._given_by(op, i, results))
        for value in read_by(op) if len(op.regions) else ():
            if value not in operands and self._is_forward(value):
                self._add(value, Harm.READ)

    def _given_by(self, op: ir.Operation, number: int, results: Sequence[ir.Value]) -> Harm:
        if op.name in traits.RETURNS:
            return Harm.JUMPS  # It is a result of the program.
        if not results:
            return Harm.READ
        result = results[number if op.name in traits.COPIES else 0]
        after = self._flags.get(result, _NONE) if self._is_forward(result) else _NONE
        return harm_before(op, number, after)

    def _add(self, value: ir.Value, flags: Harm) -> None:
        self._flags[value] = self._flags.get(value, _NONE) | flags


def _before_matmuls(ops: Sequence[ir.Operation]) -> ValueSet:
    """Returns the values of which a matmul of some ops is computed, or one of the next turn."""
    found, last = ValueSet(), ops[-1]
    turns = last.name in traits.RETURNS
    before = -1
    while len(found) > before:
        before = len(found)
        if turns:
            carried = zip(last.operands, last.block.arguments, strict=True)
            found.add_all(value for value, argument in carried if argument in found)
        for op in reversed(ops):
            if op.name not in traits.RETURNS and (_multiplies(op) or _any_in(op.results, found)):
                found.add_all(read_by(op))
        before = before if turns else len(found)
    return found


def _any_in(values: Sequence[ir.Value], found: ValueSet) -> bool:
    return any(value in found for value in values)


def _multiplies(op: ir.Operation) -> bool:
    return is_matmul(op) or bool(len(op.regions) and ops_in(op, where=is_matmul))
