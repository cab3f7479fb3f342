"""Statistics of data: state that no gradient updates, such as means of observations and of batches.

A gradient is what the backward pass of a loss hands on. What a step adds to a weight or to a moment
is made of one; what it adds to a statistic is made in the forward pass. If the program has names of
a backward pass, they tell. If not, a gradient depends on some weight, and a statistic of data on
none. Neither counts scalars: losses and norms depend on everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from scalify_hlo.algebra.search import Search
from scalify_hlo.dataflow.degrees import operands_of
from scalify_hlo.dataflow.frames import Place
from scalify_hlo.dataflow.names import is_backward
from scalify_hlo.dataflow.reach import Made, rank_of
from scalify_hlo.ir.functions import is_block
from scalify_hlo.ir.traits import INSIDES


class Statistics:
    """Tells statistics from state that gradients update.

    Args:
        made: Returns the op that makes a value, and the operands in its shape.
        read: The arguments that the model reads as state, and their new values. The search for a
            gradient ends at a new value: another model may read it in the same step.

    Attributes:
        averages: The state that is made of other state, and to which no gradient is added.
    """

    def __init__(self, made: Callable[[Place], Made], read: Mapping[Place, Place]) -> None:
        self._made, self._read = made, read
        self._new = {new for old, new in read.items() if new != old}
        self._cold: dict[bool, set[Place]] = {True: set(), False: set()}
        self._by_names: bool | None = None
        self.averages: set[int] = set()

    def among(
        self,
        new: Mapping[int, Place],
        added: Mapping[int, Sequence[Place]],
        reached: Mapping[int, int],
        known: int = 0,
    ) -> set[int]:
        """Returns the state that no gradient updates; none if no gradient is found.

        Args:
            new: The new value of each state. Scalars, and what stays as it is, are no statistics.
            added: The values that are added to each; the new value, where none is known.
            reached: The arguments from which elementwise ops make each new value, as a set of bits.
                An average of weights is made of weights.
            known: The arguments that are weights for sure, as a set of bits.
        """
        if self._by_names is None:
            self._by_names = any(self._has_gradient(added[n], new[n], by_names=True) for n in new)
        by_names = self._by_names
        left = {n for n in new if not self._has_gradient(added[n], new[n], by_names=by_names)}
        if not known and len(left) == len(new):
            return set()
        known |= sum(1 << number for number in new if number not in left)
        left = {n for n in left if rank_of(new[n].value) > 0 and not is_block(new[n].value.owner)}
        while made_of := {n for n in left if reached[n] & known & ~(1 << n)}:
            left -= made_of
            self.averages |= made_of
            known |= sum(1 << number for number in made_of)
        return left

    def _has_gradient(self, added: Sequence[Place], own: Place, *, by_names: bool) -> bool:
        """Whether a gradient is among the values that some values are made of."""
        cold = self._cold[by_names]

        def made_of(place: Place) -> Iterable[Place]:
            if place in self._new and place != own:
                return ()
            name, parts = self._made(place)
            if name and not (name in INSIDES and parts):
                parts = operands_of(place)
            return (part for part in parts if part not in cold and rank_of(part.value) > 0)

        search = Search(added, made_of)
        is_gradient = is_backward if by_names else self._read.__contains__
        if any(map(is_gradient, search)):
            return True
        cold.update(search.found)
        return False
