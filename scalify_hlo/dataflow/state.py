"""The state of a training step: master weights, optimizer moments, and gradients of weights.

State is an argument from which elementwise ops make a result of the same type, as in
``m' = b1 * m + (1 - b1) * g``, in calls, loops and branches too. The model computes with weights.
Moments are used only in updates, and their role follows from their degree in the gradients. The
gradient is the term that is added to a state, up to constant factors.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import UPDATE_VALUES
from scalify_hlo.algebra.search import Search
from scalify_hlo.dataflow.degrees import is_square_of_one
from scalify_hlo.dataflow.frames import Frame, Place
from scalify_hlo.dataflow.moments import MomentKind, Moments
from scalify_hlo.dataflow.reach import (
    BROADCAST,
    OPERANDS,
    SLICING,
    Reach,
    in_loop,
    is_of_stack,
    is_uniform,
    numbers_in,
    rank_of,
)
from scalify_hlo.dataflow.statistics import Statistics
from scalify_hlo.dataflow.updates import Updates
from scalify_hlo.ir import traits
from scalify_hlo.ir.functions import is_block, terminator
from scalify_hlo.ir.locations import described
from scalify_hlo.ir.traits import RETURNS

_SPREADING: Final = frozenset({BROADCAST, "stablehlo.reshape"})


@dataclass(slots=True)
class State:
    """The arguments of ``main`` that are state, by number.

    Attributes:
        results: The result that replaces each argument.
        weights: The weights, and averages of weights.
        averages: The averages of weights, whose updates are small.
        first: The moments of degree 1 in the gradients.
        second: The moments of degree 2 in the gradients.
        neither: Other tensors of an optimizer, such as factors of Kronecker optimizers and averages
            of updates.
        gradients: For each weight, the values that the optimizer reads as its gradient.
        ended: The limits at which searches ended, as clauses.
    """

    results: dict[int, int] = field(default_factory=dict)
    weights: set[int] = field(default_factory=set)
    averages: set[int] = field(default_factory=set)
    first: set[int] = field(default_factory=set)
    second: set[int] = field(default_factory=set)
    neither: set[int] = field(default_factory=set)
    gradients: dict[int, ir.Value] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)


def state_of(main: ir.OpView, is_float: Iterable[bool], *, trains: bool = True) -> State:
    """Finds the state of a program.

    Args:
        main: The entry function.
        is_float: For each argument, whether it is a float tensor.
        trains: Whether the program may be a training step. Inference has caches, batch statistics
            and recurrent state, which are neither weights nor moments.
    """
    frame = Frame.of(main)
    search = _StateSearch(main, is_float, frame)
    search.run(trains=trains)
    frame.release()
    return search.state


class _StateSearch:
    """The search for the state of one program.

    Attributes:
        state: The state that was found.
    """

    def __init__(self, main: ir.OpView, is_float: Iterable[bool], frame: Frame) -> None:
        block = main.regions[0].blocks[0]
        self._arguments: list[Place] = list(map(frame.place, block.arguments))
        self._results: list[Place] = list(map(frame.place, terminator(block).operands))
        bits = {
            place: int(float_) << i
            for i, (place, float_) in enumerate(zip(self._arguments, is_float, strict=True))
        }
        self._reach = Reach(bits, stacks=True)
        self._updates = Updates(self._reach)
        self._carried: dict[int, Place] = {}
        self._shapes: dict[ir.Type, list[int]] = {}
        self.state = State(ended=frame.ended)

    def run(self, *, trains: bool) -> None:
        """Finds it."""
        self._match()
        state = self.state
        self._carried = {number: self._results[i] for number, i in state.results.items()}
        reached = {number: self._reach.of(place) for number, place in self._carried.items()}
        constants = self._constants()
        weights = self._weights(reached, trains=trains) - constants
        statistics = Statistics(
            self._reach.made, {self._arguments[i]: self._carried[i] for i in weights}
        )
        if trains:
            new = {i: self._carried[i] for i in weights}
            added = {i: self._updates.added(new[i], 1 << i) or [new[i]] for i in weights}
            found = statistics.among(new, added, reached)
            weights -= {i for i in found if added[i] != [new[i]]}  # Zero is added to frozen ones.
        state.weights, state.averages = weights, weights & statistics.averages
        if not (trains or weights):
            return
        others = reached.keys() - weights - constants
        moments = Moments(
            self._reach,
            self._updates,
            self._arguments,
            self._carried,
            frozenset(weights),
            statistics,
        )
        for number in others:
            self._add(number, moments.kind(number))
        gradients = _Gradients(
            self._reach, moments, state, {self._arguments[number] for number in others}
        )
        for number in state.weights:
            gradient = gradients.of(number, reached[number])
            if gradient is not None:
                state.gradients[number] = gradient
        moments.release()

    def _match(self) -> None:
        """Matches results with arguments, first those with a single candidate.

        Of several candidates, that of the fewest results is chosen: all moments depend on
        gradients.
        """
        reached = {
            i: self._reach.of(place)
            for i, place in enumerate(self._results)
            if not self._updates.is_gradient(place)
        }
        waiting = sorted((i for i in reached if reached[i]), key=lambda i: reached[i].bit_count())
        often = Counter(number for i in waiting for number in numbers_in(reached[i]))
        unsure = [i for i in waiting if not self._take(i, reached[i], often)]
        for i in unsure:
            self._take(i, reached[i], often, guess=True)

    def _take(self, i: int, bits: int, often: Counter[int], *, guess: bool = False) -> bool:
        """Matches a result with one of the arguments that it is made of, unless two are equal."""
        taken = self.state.results
        shape = self._shape_of(self._results[i])
        left = [
            number
            for number in numbers_in(bits)
            if number not in taken and self._shape_of(self._arguments[number]) == shape
        ]
        least = min((often[number] for number in left), default=0)
        left = [number for number in left if often[number] == least]
        if len(left) > 1:
            left = self._nearest(self._results[i], left)
        if len(left) > 1 and not guess:
            return False
        if left:
            taken[left[0]] = i
        return True

    def _shape_of(self, place: Place) -> list[int]:
        """Returns the shape of a value; loops stack slices of values that enter them as a whole."""
        type_ = place[0].type
        shape = self._shapes.get(type_)
        if shape is None:
            shape = self._shapes[type_] = list(ir.ShapedType(type_).shape)
        return shape

    def _nearest(self, place: Place, numbers: Sequence[int]) -> list[int]:
        """Returns the arguments from which the fewest ops make a value."""
        wanted = {self._arguments[number]: number for number in numbers}
        ring, seen = [place], {place}
        while ring and not any(here in wanted for here in ring):
            parts = [part for here in ring for part in self._reach.made(here)[1]]
            ring = [part for part in dict.fromkeys(parts) if part not in seen]
            seen.update(ring)
        return [wanted[here] for here in ring if here in wanted] or list(numbers)

    def _constants(self) -> set[int]:
        """Removes scalars that are returned unchanged, such as a learning rate."""
        return {number for number in self._carried if self._is_constant(number)}

    def _is_constant(self, number: int) -> bool:
        argument = self._arguments[number]
        if self._carried[number] != argument:
            return False
        return not rank_of(argument[0]) or is_read_as_numbers(argument)

    def _weights(self, reached: dict[int, int], *, trains: bool) -> set[int]:
        """Returns the state that the model uses, and the results of updates."""
        used = {number for number in reached if trains and self._is_used(number)}
        in_several = 0  # The arguments that results other than their own are made of.
        for number, bits in reached.items():
            in_several |= bits & ~(1 << number)
        # In inference, values that are passed on depend on inputs, which are not state.
        made_of = -1 if trains else sum(1 << number for number in reached)
        ends = {
            number
            for number, bits in reached.items()
            if bits & made_of & ~(1 << number) and not in_several >> number & 1
        }
        if any(rank_of(self._arguments[number][0]) for number in used):
            # A scalar that is updated with tensors is, for example, a step size.
            ends = {number for number in ends if rank_of(self._arguments[number][0])}
        return used | ends

    def _is_used(self, number: int) -> bool:
        """Whether the model computes with a state, and not only the optimizer."""
        argument, result = self._arguments[number], self._carried[number]
        if not is_used_elsewhere(argument) or self._sums_outer_products(number):
            return False
        if not rank_of(argument[0]) and not self._updates.added(result, 1 << number):
            return False  # For example, a step size that only grows.
        return not self._updates.is_replaced(argument, result)

    def _sums_outer_products(self, number: int) -> bool:
        """Whether a state is a factor of a Kronecker optimizer: products of gradients."""
        shape = self._arguments[number][0].type.shape
        if len(shape) < 2 or shape[-1] != shape[-2]:
            return False
        added = self._updates.added(self._carried[number], 1 << number)
        return any(is_square_of_one(place, self._reach.made) for place in added)

    def _add(self, number: int, kind: MomentKind) -> None:
        state = self.state
        if kind is MomentKind.AVERAGE:
            state.weights.add(number)
            state.averages.add(number)
        elif kind is MomentKind.FIRST:
            state.first.add(number)
        elif kind is MomentKind.SECOND:
            state.second.add(number)
        elif kind is MomentKind.NEITHER and rank_of(self._arguments[number][0]):
            state.neither.add(number)


class _Gradients:
    """The gradients of weights.

    Args:
        reach: The arguments that values are made of.
        moments: The values that are added to state.
        state: The weights and moments.
        others: The arguments that are state other than weights.
    """

    def __init__(
        self, reach: Reach, moments: Moments, state: State, others: AbstractSet[Place]
    ) -> None:
        self._made, self._moments = reach.made, moments
        self._state, self._others = state, others
        self._weights = moments.values_of(state.weights)

    def of(self, number: int, reached: int) -> ir.Value | None:
        """Returns the gradient of a weight: the new term of its moments, or of the weight itself.

        Args:
            number: The number of the weight.
            reached: The arguments from which elementwise ops make it.
        """
        for moment in self._moments_of(number, reached) or (number,):
            news: Sequence[Place | None] = self._moments.added(moment)
            if moment in self._state.second:
                news = [self._moments.gradient_in(place) for place in news if place is not None]
            found = [each for each in news if each and not isinstance(each[0].owner, ir.Block)]
            if len(found) == 1 and not self._is_no_gradient(found[0]):
                return found[0][0]
        return None

    def _moments_of(self, number: int, reached: int) -> list[int]:
        own, state = set(numbers_in(reached)), self._state
        if own & (state.first | state.second):
            return [*sorted(own & state.first), *sorted(own & state.second)]
        apart = [moment for moment in self._moments.sources_of(number) if moment in state.first]
        return apart if len(apart) == 1 else []

    def _is_no_gradient(self, place: Place) -> bool:
        """Whether a value is a weight, of which state is the average, or an update from moments."""
        if place in self._moments.flow or self._moments.is_weight(place, self._weights):
            return True
        others = self._others
        return bool(others) and any(source in others for source in self._sources(place))

    def _sources(self, place: Place) -> Iterable[Place]:
        """Yields the values that elementwise ops and broadcasts make a value of, up to a limit."""

        def made_of(here: Place) -> list[Place]:
            name, parts = self._made(here)
            spread = name in _SPREADING
            return [here.frame.place(here.value.owner.operands[0])] if spread else parts

        search = Search([place], made_of, limit=UPDATE_VALUES)
        yield from search
        if search.ended:
            made = described(place.value)
            place.frame.ended.add(f"more than {UPDATE_VALUES} values lead to the update by {made}")


# The uses of a program's arguments: by the model, or by updates of its state alone.


_SLICE = "stablehlo.slice"
_QUANTIZING = traits.ROUNDS | traits.CASTING | traits.EXTREMES


def is_used_elsewhere(argument: Place) -> bool:
    """Whether the model computes with an argument, and not only its own update.

    A model that quantizes its weights, or computes in bf16, reads casts of them.
    """

    def after(node: _Read | None) -> Iterator[_Read | None]:
        if node is not None:
            (value, frame), part = node
            for use in value.uses:
                yield from _read(use, frame, part=part)

    return any(node is None for node in Search[_Read | None]([(argument, False)], after))


_Read: TypeAlias = tuple[Place, bool]
"""An argument in another place, and whether it is a part or a cast of it there."""


def _read(use: ir.OpOperand, frame: Frame, *, part: bool) -> Iterator[_Read | None]:
    """Yields what an argument becomes by a use; None if the model computes with it."""
    owner, name = use.owner, use.owner.name
    if name in OPERANDS:
        if name in _QUANTIZING and _quantizes(owner, use.operand_number):
            yield frame.place(owner.operation.results[0]), True
    elif frame.op is not None and name in SLICING and in_loop(frame) and is_of_stack(owner, name):
        yield frame.place(owner.operation.results[0]), True
    elif name not in RETURNS or part:
        places = frame.passed_on(use) or ()
        yield from ((place, part) for place in places)
        if not places and name not in RETURNS:
            yield None


def _quantizes(op: ir.OpView, number: int) -> bool:
    """Whether an op rounds a tensor, or bounds or scales it by scalars: a step of a cast.

    Scalars are scaled too, but by an optimizer.

    Args:
        op: The op.
        number: The number of the operand that is the tensor.
    """
    operands = op.operands
    if not operands[number].type.rank:
        return False
    return all(_is_one_number(operands[i]) for i in range(len(operands)) if i != number)


def _is_one_number(value: ir.Value) -> bool:
    owner = value.owner
    if not is_block(owner) and owner.name == BROADCAST:
        return bool(math.prod(owner.operands[0].type.shape) == 1)
    return is_uniform(value) or not value.type.rank


def is_read_as_numbers(argument: Place) -> bool:
    """Whether a program reads single elements of an argument, such as coefficients."""

    def inside(place: Place) -> list[Place]:
        return [each for use in place.value.uses for each in place.frame.targets(use)]

    return all(
        place.frame.targets(use)
        or use.owner.name in RETURNS
        or (use.owner.name == _SLICE and math.prod(use.owner.results[0].type.shape) == 1)
        for place in Search([argument], inside)
        for use in place.value.uses
    )
