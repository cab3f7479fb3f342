"""The values that other values are made of by elementwise ops, in degree 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from scalify_hlo.algebra.limits import FLOW_VALUES, GRADIENT_VALUES, NEAR_ARGUMENTS, NEAR_OPS
from scalify_hlo.algebra.search import Search
from scalify_hlo.dataflow.frames import Place
from scalify_hlo.dataflow.names import is_backward
from scalify_hlo.dataflow.reach import Made, made_by
from scalify_hlo.ir import markers, traits
from scalify_hlo.ir.traits import INSIDES

_OPERANDS: Final = {
    **traits.data_of(traits.ROUNDS | traits.BINARY | traits.CHOICES | {"stablehlo.negate"}),
    **dict.fromkeys(traits.WRITES, (0,)),
}
"""The ops whose result may be the next value of an operand, with the numbers of such operands."""

_SUMS: Final = traits.SUMS | traits.WRITES
"""The ops that write a new part into a value."""

_PRODUCTS: Final = traits.PRODUCTS
_SEEN_THROUGH: Final = traits.COPIES | {"stablehlo.convert"}


class _Parts(NamedTuple):
    """The values that another value is made of.

    Attributes:
        all: The numbers of these values.
        summed: The numbers of the values to which others are added.
    """

    all: frozenset[int] = frozenset()
    summed: frozenset[int] = frozenset()


_NO_PARTS: Final = _Parts()


class Flow:
    """Finds the values in which other values are of degree 1.

    Args:
        values: The values in which degrees are asked for.
    """

    def __init__(self, values: Sequence[Place]) -> None:
        self._values = values
        self._known = {place: _Parts(frozenset((i,))) for i, place in enumerate(values)}
        self._most = len(values) + FLOW_VALUES

    def of(self, place: Place) -> Iterator[tuple[int, bool]]:
        """Yields the numbers of those that a value is made of, and whether others are added."""
        parts = self._parts(place)
        for i in sorted(parts.all):
            yield i, i in parts.summed

    def candidates(self, place: Place, numbers: Sequence[int]) -> Sequence[int]:
        """Returns the numbers whose values a value may be made of, as far as that is known.

        Of many it is found out now, since they are all asked for otherwise.
        """
        parts = self._parts(place) if len(numbers) > NEAR_ARGUMENTS else self._known.get(place)
        return numbers if parts is None else [i for i in numbers if i in parts.all]

    def holds(self, place: Place, number: int) -> bool:
        """Whether a value is made of that of a number.

        A few ops decide it for most state: the search for all values is only for the rest.
        """
        near = place not in self._known and self._is_near(place, number)
        return near or number in self._parts(place).all

    def _is_near(self, place: Place, number: int) -> bool:
        """Whether a few ops make a value of that of a number; False if more ops may do so."""
        waiting = [place]
        for _ in range(NEAR_OPS):
            if not waiting:
                return False
            here = waiting.pop()
            known = self._known.get(here)
            if known is not None:
                if number in known.all:
                    return True
                continue
            name, made_of = made_from(here)
            if name in _SUMS and is_backward(here):
                continue
            if name in _PRODUCTS:
                made_of = self._factor(name, *made_of)
            if self._values[number] in made_of:
                return True
            waiting += reversed(made_of)
        return False

    def _factor(self, name: str, first: Place, second: Place) -> list[Place]:
        """Returns the factor that decides what a product or a quotient is made of, if one does."""
        if not self._parts(second).all:
            return [first]
        return [second] if name == "stablehlo.multiply" and not self._parts(first).all else []

    def _parts(self, place: Place) -> _Parts:
        """Returns the values that a value is made of; none if the search reaches its limit.

        Chains may be long, and nested calls may multiply the number of values.
        """
        known = self._known
        waiting: list[tuple[Place, Made | None]] = [(place, None)]
        while waiting and len(known) < self._most:
            here, made = waiting.pop()
            if made is not None:
                name, made_of = made
                known[here] = _combined(name, [known.get(part, _NO_PARTS) for part in made_of])
            elif here not in known:
                name, made_of = made_from(here)
                if not made_of or (name in _SUMS and is_backward(here)):
                    known[here] = _NO_PARTS
                    continue
                waiting.append((here, (name, made_of)))
                waiting += [(part, None) for part in made_of if part not in known]
        if waiting:
            place[1].ended.add(f"more than {FLOW_VALUES} values lead to one")
        return known.get(place, _NO_PARTS)


def _combined(name: str, parts: Sequence[_Parts]) -> _Parts:
    """Returns the values that the result of an op is made of."""
    if name in _PRODUCTS:
        first, second = parts
        if not second.all:
            return first
        return second if name == "stablehlo.multiply" and not first.all else _NO_PARTS
    found = [part for part in parts if part.all]
    if not found:
        return _NO_PARTS
    one = (
        found[0]
        if len(found) == 1
        else _Parts(*(frozenset().union(*sets) for sets in zip(*found, strict=True)))
    )
    return _Parts(one.all, one.all) if name in _SUMS and one.all != one.summed else one


def made_from(place: Place) -> Made:
    """Returns the op that makes a value, and the operands whose next value it may be."""
    made = made_by(place, _OPERANDS)
    if made[0] in traits.COPIES and markers.MARKER in place.value.owner.attributes:
        return markers.MARKER, []
    return made


def is_marked(place: Place) -> bool:
    """Whether the last op that makes a value, except casts, is a marker."""
    while True:
        name, parts = made_from(place)
        if name == markers.MARKER:
            return True
        if len(parts) != 1 or not (name in _SEEN_THROUGH or name in INSIDES):
            return False
        place = parts[0]


def is_gradient(place: Place) -> bool:
    """Whether names say that a value is backward, up to elementwise ops and data movement."""

    def made_of(here: Place) -> list[Place]:
        name, parts = made_from(here)
        return [here.frame.place(here.value.owner.operands[0])] if name in traits.VIEWS else parts

    return any(map(is_backward, Search([place], made_of, limit=GRADIENT_VALUES)))
