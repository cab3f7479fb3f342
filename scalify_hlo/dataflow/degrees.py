"""The degrees of values in the gradients that an optimizer reads.

The algebra of an optimizer starts with gradients: results of matmuls, of sums over a batch, or of
other last ops of the model. From there, products add degrees, and sums keep them, in calls, loops
and branches too. A scalar, such as a learning rate or a norm by which gradients are clipped,
changes the size of a tensor, but not the distribution of its elements. So it has no degree.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Final, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import DEGREE_DEPTH, DEGREE_VALUES
from scalify_hlo.dataflow.frames import Place
from scalify_hlo.dataflow.monomials import (
    FLAT,
    MIXED,
    NUMBER,
    Monomial,
    Sums,
    degree_of,
    power,
    product,
)
from scalify_hlo.dataflow.reach import BROADCAST, Made, Reach, in_loop, is_uniform, number_in
from scalify_hlo.ir import traits
from scalify_hlo.ir.contraction import DOT_GENERAL, contraction_of
from scalify_hlo.ir.dispatch import Dispatch
from scalify_hlo.ir.functions import target_of
from scalify_hlo.ir.monoid import monoid


class Degrees:
    """The degrees of values.

    Args:
        reach: The ops that make values.
        argument: Returns the monomial of an argument of ``main``; None while it is computed.
        later: Whether the optimizer computes a value from its own state, such as a preconditioned
            gradient. The algebra continues through matmuls of such values.

    Attributes:
        sums: The tensors from which values start.
        own: The type in whose shape a sum over a batch, or a slice of it in a loop, is a gradient;
            None if no sum is.
        missed: The arguments that were needed while they were computed; results without them are
            not cached.
    """

    def __init__(
        self,
        reach: Reach,
        argument: Callable[[ir.Value], Monomial | None],
        later: Container[Place] = (),
    ) -> None:
        self.sums = Sums()
        self.own: ir.Type | None = None
        self.missed: list[int] = []
        self.made = reach.made
        self._argument, self._later = argument, later
        self._known: dict[Place, Monomial] = {}
        self._depth = self._looked = self._cut = 0

    def know(self, place: Place, monomial: Monomial) -> None:
        """Sets the monomial of a value."""
        self._known[place] = monomial

    def of(self, place: Place) -> Monomial | None:
        """Returns the monomial of a value; None if all its parts are still being computed."""
        known = self._known.get(place)
        if known is not None:
            return known
        self._looked = self._looked + 1 if self._depth else 0
        if self._depth > DEGREE_DEPTH or self._looked > DEGREE_VALUES:
            self._cut += 1
            place[1].ended.add(
                f"more than {DEGREE_VALUES} values lead to a state, or more than {DEGREE_DEPTH} ops"
            )
            return MIXED
        self._depth += 1
        unsure = len(self.missed) + self._cut
        found = self._found(place)
        self._depth -= 1
        # A result of an incomplete search may be found later, from a nearer start.
        if found is not None and len(self.missed) + self._cut == unsure:
            self._known[place] = found
        return found

    def sum_of(self, places: Sequence[Place]) -> Monomial | None:
        """Returns the monomial of a sum of values."""
        found: Monomial | None = None
        for place in places:
            found = self.sums.of(found, self.of(place))
        return found

    def degree(self, place: Place) -> float | None:
        """Returns the degree of a value; None if it has none."""
        return degree_of(self.of(place))

    def is_opaque(self, place: Place) -> bool:
        """Whether an op outside of the algebra makes a gradient, and not an update."""
        return place not in self._later

    def _found(self, place: Place) -> Monomial | None:
        name, parts = self.made(place)
        rule = _RULES.get(name)
        if rule is not None:
            return rule(self, place, parts or operands_of(place))
        if parts:
            return largest(self, place, parts)
        if name:
            return start(self, place, parts)
        return self._argument(place[0]) if place[1].op is None else MIXED


def operands_of(place: Place) -> list[Place]:
    """Returns the operands of the op that makes a value."""
    value, frame = place
    return list(map(frame.place, value.owner.operands))


Rule: TypeAlias = Callable[[Degrees, Place, Sequence[Place]], "Monomial | None"]
"""Computes the monomial of a value from the operands of its op."""

_RULES: Final[Dispatch[Rule]] = Dispatch()
"""The rules for the monomials of results, by op; the results of other ops are gradients."""


def _named(*names: str) -> list[str]:
    return [f"stablehlo.{name}" for name in names]


_MOVES: Final = traits.LAYOUT | {"stablehlo.convert"}


def start(degrees: Degrees, place: Place, _: Sequence[Place]) -> Monomial:
    """An op outside of the algebra: its result is a gradient, or has no degree."""
    return degrees.sums.tensor(place) if degrees.is_opaque(place) else MIXED


@_RULES.on(*traits.SOURCES)
def number(_: Degrees, __: Place, ___: Sequence[Place]) -> Monomial:
    """A constant."""
    return NUMBER


@_RULES.on(*traits.COPIES, *traits.MAGNITUDES, *traits.REORDERS)
@_RULES.on(*_named("all_gather", "all_reduce", "collective_permute"))
@_RULES.on(*_named("clamp", "imag", "real", "reduce_precision", "reshape", "slice"))
def keep(degrees: Degrees, place: Place, parts: Sequence[Place]) -> Monomial | None:
    """Results correspond to operands by number."""
    return degrees.of(parts[ir.OpResult(place[0]).result_number if len(parts) > 1 else 0])


@_RULES.on("stablehlo.gather", *(traits.SLICES - {"stablehlo.slice"}))
def moved(degrees: Degrees, _: Place, parts: Sequence[Place]) -> Monomial | None:
    """The result has the degree of the first operand; others are indices."""
    return degrees.of(parts[0])


@_RULES.on(BROADCAST)
def spread(degrees: Degrees, place: Place, parts: Sequence[Place]) -> Monomial | None:
    """A broadcast of a scalar or of a tensor."""
    return NUMBER if is_uniform(place[0]) else degrees.of(parts[0])


@_RULES.on("stablehlo.convert")
def converted(degrees: Degrees, _: Place, parts: Sequence[Place]) -> Monomial | None:
    """Integers are counts and masks."""
    is_integer = isinstance(parts[0][0].type.element_type, ir.IntegerType)
    return NUMBER if is_integer else degrees.of(parts[0])


@_RULES.on("stablehlo.multiply")
def multiplied(degrees: Degrees, _: Place, parts: Sequence[Place]) -> Monomial | None:
    """Degrees add up."""
    return product(degrees.of(parts[0]), degrees.of(parts[1]))


@_RULES.on("stablehlo.divide")
def divided(degrees: Degrees, _: Place, parts: Sequence[Place]) -> Monomial | None:
    """Degrees are subtracted."""
    return product(degrees.of(parts[0]), power(degrees.of(parts[1]), -1.0))


def root(exponent: float) -> Rule:
    """The degree is multiplied by a fixed exponent."""

    def rule(degrees: Degrees, _: Place, parts: Sequence[Place]) -> Monomial | None:
        return power(degrees.of(parts[0]), exponent)

    return rule


_RULES.on("stablehlo.cbrt")(root(1 / 3))
_RULES.on("stablehlo.rsqrt")(root(-0.5))
_RULES.on("stablehlo.sqrt")(root(0.5))


@_RULES.on("stablehlo.power")
def raised(degrees: Degrees, _: Place, parts: Sequence[Place]) -> Monomial | None:
    """A power with a constant exponent; that of a scalar is a scalar."""
    base = degrees.of(parts[0])
    if base is None or base == NUMBER:
        return base
    exponent = number_in(parts[1], degrees.made)
    return MIXED if exponent is None else power(base, exponent)


@_RULES.on(*traits.SIGMOIDS, *_named("cosine", "sign", "sine"))
def bounded(degrees: Degrees, _: Place, parts: Sequence[Place]) -> Monomial:
    """A function whose result does not grow with its operand."""
    return NUMBER if degrees.of(parts[0]) == NUMBER else FLAT


@_RULES.on(*traits.SUMS, *_named("complex", "concatenate"))
def added(degrees: Degrees, _: Place, parts: Sequence[Place]) -> Monomial | None:
    """A sum of terms of one degree has that degree; constants, such as an epsilon, do not count."""
    return degrees.sum_of(parts)


@_RULES.on(*traits.EXTREMES)
def ended(degrees: Degrees, place: Place, parts: Sequence[Place]) -> Monomial | None:
    """A maximum or minimum; the reciprocal of a norm, clamped by a scalar, is a scalar."""
    monomials = [degrees.of(part) for part in parts]
    if NUMBER in monomials and any((degree_of(each) or 0) < 0 for each in monomials):
        return NUMBER
    return added(degrees, place, parts)


@_RULES.on("stablehlo.select")
def largest(degrees: Degrees, _: Place, parts: Sequence[Place]) -> Monomial | None:
    """A choice; of a gradient and the same divided by its norm, it is the gradient."""
    monomials = [found for part in parts if (found := degrees.of(part)) is not None]
    if MIXED in monomials:
        return MIXED
    counting = [monomial for monomial in monomials if monomial]
    if not counting:
        return monomials[0] if monomials else None
    return max(counting, key=lambda monomial: degree_of(monomial) or 0.0)


@_RULES.on(*_named("reduce", "reduce_window"))
def reduced(degrees: Degrees, place: Place, parts: Sequence[Place]) -> Monomial | None:
    """A sum, mean or maximum; in the shape of the state to which it is added, it is a gradient."""
    value, frame = place
    if degrees.own is not None and degrees.is_opaque(place):
        shape, own = list(value.type.shape), list(degrees.own.shape)
        if shape == own or (shape == own[1:] and in_loop(frame)):
            return start(degrees, place, parts)
    if monoid(value.owner.regions[0]) not in traits.HOMOGENEOUS:
        return start(degrees, place, parts)
    return degrees.of(parts[ir.OpResult(value).result_number])


@_RULES.on(*traits.CONTRACTED)
def contracted(degrees: Degrees, place: Place, parts: Sequence[Place]) -> Monomial | None:
    """A matmul of a model makes a gradient; one of an optimizer multiplies."""
    lhs, rhs = parts[0], parts[1]
    if degrees.is_opaque(place):
        for one, other in ((lhs, rhs), (rhs, lhs)):
            if is_uniform(other[0]):
                return degrees.of(one)
        if not _is_of_one(lhs, rhs, degrees.made):
            return start(degrees, place, parts)
    multiply = degrees.sums.outer_product if _is_outer(place[0].owner) else product
    return multiply(degrees.of(lhs), degrees.of(rhs))


@_RULES.on("stablehlo.custom_call")
def factored(degrees: Degrees, place: Place, parts: Sequence[Place]) -> Monomial | None:
    """Eigenvectors, singular vectors and Q keep no size; eigenvalues and singular values do."""
    value = place[0]
    target = target_of(value.owner).lower()
    result = ir.OpResult(value).result_number
    for name, orthogonal in _ORTHOGONAL.items():
        if name in target and result in orthogonal:
            return FLAT
        if name in target and result == _VALUES:
            return degrees.of(parts[0])
    return start(degrees, place, parts)


def is_square_of_one(place: Place, made: Callable[[Place], Made]) -> bool:
    """Whether a value is the product of a matrix and its own transpose."""
    if made(place)[0] not in traits.CONTRACTED:
        return False
    lhs, rhs = operands_of(place)
    return _is_outer(place[0].owner) and _is_of_one(lhs, rhs, made)


def _is_of_one(lhs: Place, rhs: Place, made: Callable[[Place], Made]) -> bool:
    """Whether both operands of a matmul are one tensor, moved."""
    if sorted(lhs[0].type.shape) != sorted(rhs[0].type.shape):
        return False
    return _moved_from(lhs, made) == _moved_from(rhs, made)


def _moved_from(place: Place, made: Callable[[Place], Made]) -> Place:
    """Returns the tensor of which a value is a moved or scaled copy."""
    while True:
        name, parts = made(place)
        if name in _MOVES:
            place = place.frame.place(place.value.owner.operands[0])
        elif name in traits.PRODUCTS and any(is_uniform(part[0]) for part in parts):
            place = parts[0] if is_uniform(parts[1][0]) else parts[1]
        elif len(parts) == 1 and name not in _RULES:
            place = parts[0]
        else:
            return place


def _is_outer(op: ir.OpView) -> bool:
    """Whether the result of a matmul has a dimension that is not in both operands."""
    batch = contraction_of(op).lhs.batch if op.operation.name == DOT_GENERAL else ()
    return len(op.results[0].type.shape) > len(batch)


_ORTHOGONAL: Final = {
    **dict.fromkeys(("eigh", "syevd", "orgqr", "householder"), frozenset({0})),
    **dict.fromkeys(("gesdd", "gesvd"), frozenset({2, 3})),
}
"""The numbers of orthogonal results of factorisations, by parts of their names in lower case."""

_VALUES: Final = 1
"""The number of the result that is eigenvalues or singular values."""
