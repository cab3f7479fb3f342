"""Updates: the terms that a step adds to a state, up to constant factors."""

from __future__ import annotations

from typing import Final

from scalify_hlo.algebra.search import Search
from scalify_hlo.dataflow.frames import Place
from scalify_hlo.dataflow.names import is_backward
from scalify_hlo.dataflow.reach import ELEMENTWISE, OPERANDS, UNIFORM, Reach, is_uniform
from scalify_hlo.ir.traits import ARITHMETIC, COMMUTING, POWERS, SUMS

_CONVERT: Final = "stablehlo.convert"
_CHOICES: Final = frozenset({_CONVERT, "stablehlo.select"})


class Updates:
    """Reads the updates of a program's state.

    Args:
        reach: The arguments that values are made of.
    """

    def __init__(self, reach: Reach) -> None:
        self._reach, self._made = reach.of, reach.made

    def added(self, result: Place, bits: int = -1) -> list[Place]:
        """Returns the values that are added between some arguments and a value.

        Args:
            result: The value.
            bits: The arguments, as a set of bits.
        """
        found: dict[Place, None] = {}

        def made_of(place: Place) -> list[Place]:
            name, parts = self._made(place)
            others = [part for part in parts if not self._reach(part) & bits]
            if name in SUMS:
                found.update(dict.fromkeys(map(self.without_constants, others)))
            return [part for part in parts if part not in others]

        Search([result], made_of).to_end()
        return [place for place in found if not self.is_uniform(place)]

    def is_bent(self, result: Place, bits: int) -> bool:
        """Whether there is a root or a power between some arguments and a value.

        The terms that are added before it have another degree than the value.
        """

        def made_of(place: Place) -> list[Place]:
            return [part for part in self._made(place)[1] if self._reach(part) & bits]

        return any(self._made(place)[0] in POWERS for place in Search([result], made_of))

    def resolved(self, place: Place) -> Place:
        """Returns a value at the op that makes it, through calls and loops."""
        while True:
            name, made_of = self._made(place)
            if name in ELEMENTWISE or len(made_of) != 1:
                return place
            place = made_of[0]

    def without_constants(self, place: Place) -> Place:
        """Returns the value without constant terms and factors."""
        while True:
            name, made_of = self._made(self.resolved(place))
            if name not in ARITHMETIC:
                return place
            lhs, rhs = made_of
            if self.is_uniform(rhs):
                place = lhs
            elif name in COMMUTING and self.is_uniform(lhs):
                place = rhs
            else:
                return place

    def is_gradient(self, place: Place) -> bool:
        """Whether names say that a value is a sum in the backward pass, up to constant factors.

        The gradient of a weight with a penalty has the weight as a term, and is not the next
        weight.
        """
        place = self.without_constants(place)
        while self._made(place)[0] == _CONVERT:
            place = self.without_constants(self._made(place)[1][0])
        return self._made(place)[0] in SUMS and is_backward(place)

    def is_uniform(self, place: Place) -> bool:
        """Whether all elements of a value are one number."""
        return self._made(place)[0] in UNIFORM and is_uniform(place[0])

    def chosen(self, place: Place) -> list[Place]:
        """Returns the values among which a select or a branch chooses; else the value itself."""

        def among(here: Place) -> list[Place]:
            name, parts = self._made(here)
            return [] if name in OPERANDS and name not in _CHOICES else parts

        return [here for here in Search([place], among) if not among(here)]

    def is_replaced(self, argument: Place, result: Place) -> bool:
        """Whether a state is recomputed in some steps, and otherwise unchanged.

        An example are inverse roots of the statistics of an optimizer, every few steps.
        """
        name = self._made(result)[0]
        if name in OPERANDS and name not in _CHOICES:
            return False
        chosen = self.chosen(result)
        fresh = [place for place in chosen if place != argument and not is_uniform(place[0])]
        return argument in chosen and bool(fresh) and not any(map(self._reach, fresh))
