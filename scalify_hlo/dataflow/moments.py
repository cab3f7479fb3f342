"""The roles of an optimizer's state, by its degree in the gradients.

A first moment has degree 1: the elements of an average of gradients have the distribution of the
gradients, up to a factor. A second moment has degree 2. State of other degrees has neither role:
averages of updates (degree 0), factors of Kronecker optimizers, which are matrix products of a
gradient with itself, and values that are computed from these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import SQUARE_DEPTH, WEIGHT_VALUES
from scalify_hlo.algebra.search import Search
from scalify_hlo.dataflow.degrees import Degrees, operands_of
from scalify_hlo.dataflow.frames import Place
from scalify_hlo.dataflow.monomials import NUMBER, Monomial, degree_of
from scalify_hlo.dataflow.reach import Reach, numbers_in, rank_of, size_of
from scalify_hlo.dataflow.statistics import Statistics
from scalify_hlo.dataflow.updates import Updates
from scalify_hlo.ir.functions import is_block
from scalify_hlo.ir.traits import SUMS

_CONVERT: Final = "stablehlo.convert"
_DIFFERENCE: Final = "stablehlo.subtract"


class MomentKind(Enum):
    """The kinds of state that the model does not compute with."""

    AVERAGE = "average of weights"
    FIRST = "first moment"
    SECOND = "second moment"
    NEITHER = "state of an optimizer that is neither"
    OTHER = "no state of an optimizer"


class Moments:
    """The kinds of the state of a program, other than weights.

    Args:
        reach: The arguments that values are made of.
        updates: The updates of state.
        arguments: The arguments of ``main``.
        results: The results that are state, by numbers of arguments.
        weights: The arguments that are weights.
        statistics: Tells statistics of data, which are no state of the optimizer.

    Attributes:
        flow: For each value, the state from which it is computed, as a set of bits. Only state is
            included that other state depends on, or weights by more than elementwise ops.
    """

    def __init__(
        self,
        reach: Reach,
        updates: Updates,
        arguments: Sequence[Place],
        results: Mapping[int, Place],
        weights: AbstractSet[int],
        statistics: Statistics,
    ) -> None:
        self._reach, self._updates = reach, updates
        self._arguments, self._results, self._weights = arguments, results, weights
        self._open: set[int] = set()
        self._added: dict[int, list[Place]] = {}
        self._linked = self._weight_bits = 0
        for number in weights:
            self._linked |= reach.of(results[number])
            self._weight_bits |= 1 << number
        apart = {number for number in results if self._is_apart(number)}
        self._statistics = statistics.among(
            {number: results[number] for number in apart},
            {number: self.added(number) or [results[number]] for number in apart},
            {number: reach.of(results[number]) for number in apart},
            self._weight_bits,
        )
        apart -= self._statistics
        read = {*apart, *self._read()} - self._statistics
        starts = [number for number in read if rank_of(arguments[number][0])]
        self.flow = flow_of({arguments[number]: 1 << number for number in starts})
        self._into_weights = 0
        for number in weights:
            self._into_weights |= self.flow.get(results[number], 0)
        self._degrees = Degrees(reach, self._of_argument, self.flow)
        self._knows_weights = False
        self._gradients: set[Place] = set()
        if apart:
            self._find_gradients()

    def release(self) -> None:
        """Deletes the degrees, whose reference to this object would be a cycle."""
        del self._degrees

    def kind(self, number: int) -> MomentKind:
        """Returns the kind of state of an argument."""
        if number in self._statistics:
            return MomentKind.OTHER
        monomial = self._monomial(number)
        if self._averages_weights(number, monomial):
            return MomentKind.AVERAGE
        if not self._is_linked(number) and not self._gets_into_weights(number, monomial):
            return MomentKind.OTHER
        if not self.added(number) and self._is_replaced(number):
            return MomentKind.NEITHER
        degree = degree_of(monomial)
        if degree == 1:
            return MomentKind.FIRST
        outer = self._degrees.sums.outer
        is_outer = monomial is not None and any(tensor in outer for tensor, _ in monomial)
        return MomentKind.SECOND if degree == 2 and not is_outer else MomentKind.NEITHER

    def added(self, number: int) -> list[Place]:
        """Returns the values that an update adds to a state, without constant factors."""
        known = self._added.get(number)
        if known is None:
            known = self._updates.added(self._results[number], 1 << number)
            self._added[number] = known
        return known

    def _parts(self, place: Place) -> Sequence[Place]:
        """Returns the values that a value is made of, or the operands of its op."""
        parts = self._degrees.made(place)[1]
        return parts or ([] if is_block(place[0].owner) else operands_of(place))

    def gradient_in(self, place: Place) -> Place | None:
        """Returns the gradient from which a value of degree 1 or 2 is made."""
        for _ in range(SQUARE_DEPTH):
            place = self._updates.without_constants(place)
            degree = self._degrees.degree(place)
            if degree == 1:
                return place
            with_gradient = [
                part for part in self._parts(place) if self._degrees.degree(part) in (1, degree)
            ]
            if degree is None or not with_gradient:
                return None
            place = with_gradient[0]
        return None

    def sources_of(self, number: int) -> list[int]:
        """Returns the state on which a weight's update depends by more than elementwise ops."""
        bits, shape = self.flow.get(self._results[number], 0), size_of(self._arguments[number][0])
        return [
            other
            for other in self._results
            if bits >> other & 1 and size_of(self._arguments[other][0]) == shape
        ]

    def _is_linked(self, number: int) -> bool:
        """Whether elementwise ops make a weight from a state, or no weight is known."""
        return not self._weights or bool(self._linked >> number & 1)

    def _is_apart(self, number: int) -> bool:
        return number not in self._weights and not self._is_linked(number)

    def _read(self) -> Iterable[int]:
        """Returns the state on which updates of other state depend."""
        bits = 0
        for number, result in self._results.items():
            if number not in self._weights:
                for place in self.added(number) or [result]:
                    bits |= self._reach.of(place) & ~(1 << number)
        return numbers_in(bits & ~self._weight_bits)

    def _know_weights(self) -> None:
        """Sets the monomials of new weights from which other state is computed."""
        self._knows_weights = True
        for number in self._weights:
            for place in self._updates.chosen(self._results[number]):
                self._degrees.know(place, NUMBER)

    def _find_gradients(self) -> None:
        """Finds the gradients with which weights, and state in their shapes, are updated."""
        self._know_weights()
        for number in self._weights:
            self._degrees.own = self._arguments[number][0].type
            for place in self.added(number):
                self._note_gradients(self._degrees.of(place))
        for number in self._results:
            if number not in self._weights and self._is_linked(number):
                self._note_gradients(self._monomial(number))

    def _note_gradients(self, monomial: Monomial | None) -> None:
        self._gradients.update(self._degrees.sums.tensors_in(monomial or NUMBER))

    def _monomial(self, number: int) -> Monomial | None:
        """Returns the monomial of a state: that of the values that are added to it."""
        argument, result = self._arguments[number], self._results[number]
        if not self._knows_weights and self._reach.of(result) & self._weight_bits:
            self._know_weights()
        degrees, missed = self._degrees, self._degrees.missed
        before, own = len(missed), degrees.own
        degrees.own = argument[0].type if self._is_linked(number) else None
        self._open.add(number)
        bent = self._updates.is_bent(result, 1 << number)
        found = degrees.sum_of((not bent and self.added(number)) or [result])
        self._open.discard(number)
        degrees.own = own
        missed[before:] = [other for other in missed[before:] if other != number]
        if found is not None and len(missed) == before:
            degrees.know(argument, found)
        return found

    def _of_argument(self, value: ir.Value) -> Monomial | None:
        number = ir.BlockArgument(value).arg_number
        place = self._arguments[number]
        if number in self._weights or (rank_of(value) < 1 and number not in self._results):
            return NUMBER
        if number not in self._results:
            return self._degrees.sums.tensor(place)
        if self._results[number] == place:
            return NUMBER
        if number in self._open:
            self._degrees.missed.append(number)
            return None
        return self._monomial(number)

    def _is_replaced(self, number: int) -> bool:
        return self._updates.is_replaced(self._arguments[number], self._results[number])

    def _averages_weights(self, number: int, monomial: Monomial | None) -> bool:
        """Whether weights, old or new, are added to a state."""
        if not self._reach.of(self._results[number]) & self._weight_bits:
            return False
        of_weights = [p for p in self.added(number) if self._reach.of(p) & self._weight_bits]
        return bool(of_weights) and (monomial == NUMBER or any(map(self._is_stepped, of_weights)))

    def _is_stepped(self, place: Place) -> bool:
        """Whether a value is a whole weight plus a term; a gradient may contain a part of a weight.

        The difference of two values of a weight, which outer optimizers use, is a change of it.
        """
        name, parts = self._degrees.made(self._updates.resolved(place))
        weights = {self._arguments[number] for number in self._weights}
        if name == _DIFFERENCE and all(self._is_whole(part, weights) for part in parts):
            return False
        return name in SUMS and any(self._updates.resolved(part) in weights for part in parts)

    def values_of(self, weights: Iterable[int]) -> set[Place]:
        """Returns the old and the new values of weights."""
        numbers = list(weights)
        new = {self._updates.resolved(self._results[number]) for number in numbers}
        return new.union(self._arguments[number] for number in numbers)

    def is_weight(self, place: Place, weights: AbstractSet[Place]) -> bool:
        """Whether a value is one of `values_of` in any format, possibly plus other terms."""
        made, resolved = self._degrees.made, self._updates.resolved
        place = resolved(place)
        while made(place)[0] == _CONVERT:
            place = resolved(made(place)[1][0])
        return self._is_whole(place, weights)

    def _is_whole(self, place: Place, weights: AbstractSet[Place]) -> bool:
        """Whether a value is a weight, possibly plus other terms."""

        def terms(here: Place) -> Iterable[Place]:
            name, parts = self._degrees.made(here)
            return map(self._updates.resolved, parts) if name in SUMS else ()

        starts = [self._updates.resolved(place)]
        return any(here in weights for here in Search(starts, terms, limit=WEIGHT_VALUES))

    def _gets_into_weights(self, number: int, monomial: Monomial | None) -> bool:
        """Whether updates of weights depend on a state, or the state depends on such state.

        Neither holds for statistics of batches and of losses.
        """
        if self._into_weights >> number & 1:
            return True
        tensors = self._degrees.sums.tensors_in(monomial or NUMBER)
        return not self._gradients.isdisjoint(tensors)


# Flow: what a program computes from an argument.


def flow_of(starts: Mapping[Place, int]) -> dict[Place, int]:
    """Returns the tensors that are computed from several arguments.

    The search ends at scalars: a norm of all gradients, by which they are clipped, depends on each
    argument, and each result depends on the norm. The search also ends at the end of a loop's body,
    as the model of the next iteration depends on the results of the optimizer.

    Args:
        starts: A set of bits for each argument.

    Returns:
        For each value that depends on an argument, the arguments as a set of bits.
    """
    found: dict[Place, int] = {}
    for start, bits in starts.items():
        for place in Search([start], _computed_from):
            found[place] = found.get(place, 0) | bits
    return found


def _computed_from(place: Place) -> list[Place]:
    value, frame = place
    found: list[Place] = []
    for use in value.uses:
        moved = frame.passed_on(use)
        found += map(frame.place, use.owner.operation.results) if moved is None else moved
    return [part for part in found if rank_of(part[0]) > 0]
