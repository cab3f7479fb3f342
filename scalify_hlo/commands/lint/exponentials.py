"""Exponentials in f16 of values that nothing bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import LINT_DEPTH
from scalify_hlo.commands.lint.model import Place, Subject
from scalify_hlo.commands.lint.values import CARRIES, number_of
from scalify_hlo.ir import traits
from scalify_hlo.ir.dispatch import Dispatch
from scalify_hlo.ir.formats import format_of
from scalify_hlo.ir.functions import maker
from scalify_hlo.ir.monoid import is_sum, monoid
from scalify_hlo.ir.through import behind, readers
from scalify_hlo.ir.traits import EXPONENTIALS

_BOUNDS: Final[Dispatch[Callable[[ir.Operation, int], float]]] = Dispatch()
"""Functions that return an upper bound of the result of an op, from that many ops before it."""


def exponentials(subject: Subject) -> Iterator[Place]:
    """Yields exponentials in a narrow format whose operand may be above the log of the largest.

    An operand is bounded if a maximum is subtracted from it, as in a softmax, if it is clamped, or
    if it is the negative of something positive. A result that only becomes part of a divisor, as in
    1 / (1 + exp(-x)), may be infinite.
    """
    for op in subject.ops:
        if op.name not in EXPONENTIALS:
            continue
        format_ = format_of(op.operands[0].type)
        if format_ is None or format_.wide:
            continue
        most = math.log(format_.max_finite)
        if largest(op.operands[0]) > most and not _only_divides(op.results[0]):
            yield Place.at(
                op,
                f"leaves {format_.name} where its operand is above {most:.1f}, and "
                "nothing bounds the operand",
            )


def _only_divides(value: ir.Value) -> bool:
    """Whether a value is only added to numbers, and the sums are only divisors."""
    for user, place in readers(value, CARRIES):
        if user.name == "stablehlo.add" and number_of(user.operands[1 - place]) is not None:
            if not _only_divides(user.results[0]):
                return False
        elif user.name != "stablehlo.divide" or place != 1:
            return False
    return True


def largest(value: ir.Value, depth: int = LINT_DEPTH) -> float:
    """Returns an upper bound on the elements of a value; infinity if none is found."""
    value = behind(value, CARRIES)
    number = number_of(value)
    if number is not None:
        return number
    op = maker(value)
    if op is None or not depth or op.name not in _BOUNDS:
        return math.inf
    return _BOUNDS[op.name](op, depth - 1)


@_BOUNDS.on("stablehlo.negate")
def _negated(op: ir.Operation, depth: int) -> float:
    return 0.0 if is_positive(op.operands[0], depth) else math.inf


@_BOUNDS.on("stablehlo.subtract")
def _difference(op: ir.Operation, depth: int) -> float:
    """Bounds x minus the maximum of x, or minus a logsumexp, which is more than that."""
    return 0.0 if _has_maximum(op.operands[1], depth) else math.inf


def _has_maximum(value: ir.Value, depth: int) -> bool:
    """Whether a value is a maximum over elements, or a sum or a choice with one among its parts."""
    op = maker(behind(value, CARRIES))
    if op is None or not depth:
        return False
    if op.name == "stablehlo.reduce":
        return monoid(op.regions[0]) == "stablehlo.maximum"
    if op.name in _KEEPING_MAXIMUM:
        return any(_has_maximum(operand, depth - 1) for operand in op.operands)
    return False


@_BOUNDS.on("stablehlo.multiply")
def _product(op: ir.Operation, depth: int) -> float:
    """Bounds a number times a bounded value, or a positive value times a negative one."""
    lhs, rhs = op.operands
    for one, other in ((lhs, rhs), (rhs, lhs)):
        bound = largest(other, depth)
        number = number_of(one)
        if number is not None and number >= 0 and bound < math.inf:
            return max(number * bound, 0.0) if bound > 0 else 0.0
        if number is not None and number < 0 and is_positive(other, depth):
            return 0.0
        if bound <= 0 and is_positive(one, depth):
            return 0.0
    return math.inf


@_BOUNDS.on("stablehlo.divide")
def _quotient(op: ir.Operation, depth: int) -> float:
    divisor = number_of(op.operands[1])
    if divisor is None:
        above = largest(op.operands[0], depth) <= 0 and is_positive(op.operands[1], depth)
        return 0.0 if above else math.inf
    if divisor > 0:
        return largest(op.operands[0], depth) / divisor
    return 0.0 if divisor and is_positive(op.operands[0], depth) else math.inf


@_BOUNDS.on("stablehlo.select")
def _choice(op: ir.Operation, depth: int) -> float:
    """Returns the larger bound of two values, which the condition may bound too."""
    condition, *values = op.operands
    bounds = [largest(value, depth) for value in values]
    compared = maker(behind(condition, CARRIES))
    if compared is not None and compared.name == "stablehlo.compare":
        direction = stablehlo.ComparisonDirectionAttr(compared.attributes["comparison_direction"])
        number = number_of(compared.operands[1])
        chosen = _BELOW.get(direction.value)
        if number is not None and chosen is not None:
            same = behind(values[chosen], CARRIES) == behind(compared.operands[0], CARRIES)
            bounds[chosen] = min(bounds[chosen], number) if same else bounds[chosen]
    return max(bounds)


_BELOW: Final = {"GT": 1, "GE": 1, "LT": 0, "LE": 0}
"""By the direction of a comparison with a number: the choice that is made below the number."""


@_BOUNDS.on("stablehlo.clamp")
def _clamped(op: ir.Operation, depth: int) -> float:
    return largest(op.operands[2], depth)


@_BOUNDS.on("stablehlo.maximum")
def _larger(op: ir.Operation, depth: int) -> float:
    return max(largest(value, depth) for value in op.operands)


@_BOUNDS.on("stablehlo.minimum")
def _smaller(op: ir.Operation, depth: int) -> float:
    return min(largest(value, depth) for value in op.operands)


@_BOUNDS.on("stablehlo.cosine", "stablehlo.sine", *traits.SIGMOIDS)
def _one(_: ir.Operation, __: int) -> float:
    return 1.0


@_BOUNDS.on("stablehlo.log")
def _logarithm(_: ir.Operation, __: int) -> float:
    """Bounds a logarithm: exp(log(x)) is x again."""
    return 0.0


def is_positive(value: ir.Value, depth: int = LINT_DEPTH) -> bool:
    """Whether no element of a value is below 0."""
    value = behind(value, CARRIES)
    number = number_of(value)
    if number is not None:
        return number >= 0
    op = maker(value)
    if op is None or not depth:
        return False
    if op.name in traits.NOT_NEGATIVE:
        return True
    operands = list(op.operands)
    sources = [behind(operand, CARRIES) for operand in operands]
    if op.name == "stablehlo.multiply" and sources[0] == sources[1]:
        return True
    if op.name == "stablehlo.maximum":
        return any(is_positive(operand, depth - 1) for operand in operands)
    if op.name in traits.ARITHMETIC and op.name != "stablehlo.subtract":
        return all(is_positive(operand, depth - 1) for operand in operands)
    return is_sum(op) and is_positive(operands[0], depth - 1)


_KEEPING_MAXIMUM: Final = traits.HOMOGENEOUS.union({"stablehlo.select"}) - {"stablehlo.minimum"}
"""Ops whose result has the maximum that one of their operands has."""
