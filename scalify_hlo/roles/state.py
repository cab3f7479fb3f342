"""The state of a training step: master weights, an optimizer's moments, and gradients between them.

What a step carries to the next enters as an argument and leaves as a result of the same type that
elementwise ops make from it: ``m' = b1 * m + (1 - b1) * g``, in calls, loops and branches too. The
model computes with weights; moments have no use but updates. The gradient is what is added to a
state, constant factors aside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.roles.frames import INSIDES, RETURNS, Frame, Place, functions_in

_OPERANDS: Final = {
    **dict.fromkeys(
        (
            *("stablehlo.abs", "stablehlo.cbrt", "stablehlo.convert", "stablehlo.negate"),
            *("stablehlo.reduce_precision", "stablehlo.rsqrt", "stablehlo.sign"),
            *("stablehlo.sqrt", "stablehlo.tanh"),
        ),
        (0,),
    ),
    **dict.fromkeys(
        (
            *("stablehlo.add", "stablehlo.divide", "stablehlo.maximum", "stablehlo.minimum"),
            *("stablehlo.multiply", "stablehlo.power", "stablehlo.subtract"),
        ),
        (0, 1),
    ),
    "stablehlo.clamp": (1,),
    "stablehlo.select": (1, 2),
}
"""The ops of which updates are made, and their operands that are as large as their result."""

_BARRIER: Final = "stablehlo.optimization_barrier"
ELEMENTWISE: Final = frozenset({*_OPERANDS, _BARRIER})

_SUMS = frozenset({"stablehlo.add", "stablehlo.subtract"})
_ARITHMETIC = _SUMS | {"stablehlo.divide", "stablehlo.multiply"}
_COMMUTING = frozenset({"stablehlo.add", "stablehlo.multiply"})
_BROADCAST = "stablehlo.broadcast_in_dim"
_SPREADING = frozenset({_BROADCAST, "stablehlo.reshape"})
_UNIFORM = frozenset({_BROADCAST, "stablehlo.constant"})
_DEEP = 200
"""How long chains of elementwise ops are followed; longer ones are no updates."""
_MOST = 100
"""How many values are looked at to tell a gradient from an update made of moments."""


@dataclass(slots=True)
class State:
    """What is carried from step to step, by numbers of arguments of ``main``.

    Attributes:
        results: The result that each carried argument leaves as.
        weights: Those that the model computes with.
        first: Moments of degree 1 in the gradients.
        second: Moments of degree 2.
        gradients: For each weight, the values that reach the optimizer as its gradient.
    """

    results: dict[int, int] = field(default_factory=dict)
    weights: set[int] = field(default_factory=set)
    first: set[int] = field(default_factory=set)
    second: set[int] = field(default_factory=set)
    gradients: dict[int, ir.Value] = field(default_factory=dict)


def state_of(main: ir.OpView, is_float: Iterable[bool]) -> State:
    """Finds the state of a program.

    Args:
        main: The function that it starts at.
        is_float: Which of its arguments are float tensors.
    """
    module = main.operation.parent
    search = _Search(main, is_float, Frame(functions_in(module.regions[0].blocks[0].operations)))
    search.run()
    return search.state


class Reach:
    """Which of several values elementwise ops make others of.

    Args:
        known: The values asked about, each as a set of bits of its own.
    """

    def __init__(self, known: dict[Place, int]) -> None:
        self._known: dict[Place, _Seen] = {place: (bits, ("", [])) for place, bits in known.items()}

    def of(self, place: Place) -> int:
        """Those that a value is made of, all in its shape, as a set of bits."""
        return (self._known.get(place) or self._found(place, 0))[0]

    def _found(self, place: Place, depth: int) -> _Seen:
        made = _made(place)
        bits, known = 0, self._known
        for part in made[1] if depth < _DEEP else ():
            bits |= (known.get(part) or self._found(part, depth + 1))[0]
        found = known[place] = bits, made
        return found

    def made(self, place: Place) -> _Made:
        """What makes a value, and of which others in its shape."""
        known = self._known.get(place)
        return _made(place) if known is None else known[1]


_Made: TypeAlias = tuple[str, list[Place]]
"""The name of the op that makes a value, and the operands in its shape; outside it has no name."""

_Seen: TypeAlias = tuple[int, _Made]
"""The same, after those of the values asked about that it is made of."""


def _made(place: Place) -> _Made:
    value, frame = place
    owner = value.owner
    if isinstance(owner, ir.Block):
        return "", frame.source_of_argument(value)
    name = owner.name
    numbers = _OPERANDS.get(name)
    if numbers is not None:
        operands = owner.operands
        return name, [(operands[i], frame) for i in numbers]
    if name == _BARRIER:
        return name, [(owner.operands[ir.OpResult(value).result_number], frame)]
    name = owner.operation.name  # a view of a named computation has another one
    return name, frame.sources(value, owner, name) if name in INSIDES else []


class _Search:
    """The search for the state of one program.

    Attributes:
        state: What was found.
    """

    def __init__(self, main: ir.OpView, is_float: Iterable[bool], frame: Frame) -> None:
        block = main.regions[0].blocks[0]
        self._arguments: list[Place] = [(argument, frame) for argument in block.arguments]
        self._results: list[Place] = [(v, frame) for v in block.operations[-1].operands]
        bits = {
            place: int(float_) << i
            for i, (place, float_) in enumerate(zip(self._arguments, is_float, strict=True))
        }
        reach = Reach(bits)
        self._reach, self._made = reach.of, reach.made
        self._moments: set[Place] = set()
        self._added: dict[int, list[Place]] = {}
        self.state = State()

    def run(self) -> None:
        """Finds it."""
        self._match()
        state = self.state
        reached = {number: self._reach(self._results[i]) for number, i in state.results.items()}
        used = _in_several(reached)
        for number, bits in reached.items():
            alone = bits == 1 << number
            if self._is_weight(number, alone=alone, last=not used >> number & 1):
                state.weights.add(number)
        constants = self._constants()
        for number in reached.keys() - state.weights - constants:
            if self._is_second(number):
                state.second.add(number)
            elif self._news(number):
                state.first.add(number)
        state.weights -= constants
        self._moments = {self._arguments[n] for n in state.first | state.second}
        for number in state.weights:
            gradient = self._gradient_of(number, reached[number])
            if gradient is not None:
                state.gradients[number] = gradient

    def _match(self) -> None:
        """Tells which argument each result carries on, those that can be only one first.

        Of several the one that fewest results are made of: gradients go into all moments.
        """
        reached = {i: self._reach(place) for i, place in enumerate(self._results)}
        waiting = sorted((i for i in reached if reached[i]), key=lambda i: reached[i].bit_count())
        often = Counter(number for i in waiting for number in _numbers(reached[i]))
        taken = self.state.results
        for i in waiting:
            left = [n for n in _numbers(reached[i]) if n not in taken]
            if left:
                taken[min(left, key=often.__getitem__)] = i

    def _constants(self) -> set[int]:
        """Numbers that are handed on as they are, such as a learning rate: no state of a model."""
        return {
            number
            for number, i in self.state.results.items()
            if isinstance(self._results[i][0].owner, ir.Block)
            and self._results[i] == self._arguments[number]
            and not _rank(self._results[i][0])
        }

    def _is_weight(self, number: int, *, alone: bool, last: bool) -> bool:
        """Whether a state is a weight: the model uses it, or it is what updates end in."""
        return _used_elsewhere(self._arguments[number]) or (not alone and last)

    def _is_second(self, number: int) -> bool:
        """Whether squares are added to a moment, or it is the largest of one they are added to."""
        news = self._news(number)
        if any(self._square_of(place) is not None for place in news):
            return True
        name, made_of = self._made(self._settled(self._results[self.state.results[number]]))
        if name != "stablehlo.maximum":
            return False
        others = [part for part in made_of if not self._reach(part) >> number & 1]
        return any(self._square_of(new) for other in others for new in self._news_of(other))

    def _news(self, number: int) -> list[Place]:
        """What an update adds to a state, constant factors taken off."""
        known = self._added.get(number)
        if known is None:
            result = self._results[self.state.results[number]]
            known = self._added[number] = self._news_of(result, 1 << number)
        return known

    def _news_of(self, result: Place, bits: int = -1) -> list[Place]:
        """What is added on the way from any of some arguments to a value."""
        found: dict[Place, None] = {}
        seen = {result}
        waiting = [result]
        while waiting:
            name, made_of = self._made(waiting.pop())
            for part in [part for part in made_of if part not in seen]:
                if self._reach(part) & bits:
                    seen.add(part)
                    waiting.append(part)
                elif name in _SUMS:
                    found[self._without_constants(part)] = None
        return [place for place in found if not self._is_uniform(place)]

    def _gradient_of(self, number: int, reached: int) -> ir.Value | None:
        """The gradient of a weight: what is new in its moments, or in itself if it has none."""
        own = set(_numbers(reached))
        first, second = sorted(own & self.state.first), sorted(own & self.state.second)
        for moment in (*first, *second) or (number,):
            news = self._news(moment)
            if moment in second:
                news = [square for place in news if (square := self._square_of(place)) is not None]
            news = [place for place in news if not isinstance(place[0].owner, ir.Block)]
            if len(news) == 1 and not self._is_made_of_moments(news[0]):
                return news[0][0]
        return None

    def _is_made_of_moments(self, place: Place) -> bool:
        """Whether a value is an update already, of moments in shapes of their own."""
        moments = self._moments
        return bool(moments) and any(source in moments for source in self._sources(place))

    def _sources(self, place: Place) -> Iterator[Place]:
        """What elementwise ops and broadcasts make a value of, as far as is worth looking."""
        waiting, seen = [place], {place}
        while waiting and len(seen) < _MOST:
            here = waiting.pop()
            yield here
            name, made_of = self._made(here)
            if name in _SPREADING:
                made_of = [(here[0].owner.operands[0], here[1])]
            waiting += [part for part in made_of if part not in seen]
            seen.update(made_of)

    def _settled(self, place: Place) -> Place:
        """A value where an op makes it, in whatever call or loop."""
        while True:
            name, made_of = self._made(place)
            if name in ELEMENTWISE or len(made_of) != 1:
                return place
            place = made_of[0]

    def _without_constants(self, place: Place) -> Place:
        """What a value is made of by constant terms and factors."""
        while True:
            name, made_of = self._made(self._settled(place))
            if name not in _ARITHMETIC:
                return place
            lhs, rhs = made_of
            if self._is_uniform(rhs):
                place = lhs
            elif name in _COMMUTING and self._is_uniform(lhs):
                place = rhs
            else:
                return place

    def _is_uniform(self, place: Place) -> bool:
        return self._made(place)[0] in _UNIFORM and is_uniform(place[0])

    def _square_of(self, place: Place) -> Place | None:
        """What a value is the square of, or the mean of squares, if it is one."""
        value, frame = place = self._settled(place)
        name, made_of = self._made(place)
        if name == "stablehlo.reduce":
            return self._square_of(self._without_constants((value.owner.operands[0], frame)))
        if name == "stablehlo.power":
            return made_of[0]
        is_square = name == "stablehlo.multiply" and made_of[0] == made_of[1]
        return made_of[0] if is_square else None


def _in_several(reached: dict[int, int]) -> int:
    """Those that results other than their own are made of."""
    union = 0
    for number, bits in reached.items():
        union |= bits & ~(1 << number)
    return union


def _numbers(bits: int) -> Iterator[int]:
    """The numbers in a set of bits, the least first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _rank(value: ir.Value) -> int:
    type_ = value.type
    return type_.rank if isinstance(type_, ir.RankedTensorType) else -1


def _used_elsewhere(argument: Place) -> bool:
    """Whether the model computes with an argument, and not only its own update."""
    waiting, seen = [argument], {argument}
    while waiting:
        value, frame = waiting.pop()
        for use in value.uses:
            name = use.owner.name
            if name in _OPERANDS or name == _BARRIER or name in RETURNS:
                continue
            inside = frame.targets(use)
            if not inside:
                return True
            waiting += [place for place in inside if place not in seen]
            seen.update(inside)
    return False


def is_uniform(value: ir.Value) -> bool:
    """Whether all elements are one number: a constant, or a scalar that is broadcast."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return False
    name = owner.name
    return name in _UNIFORM and (name != _BROADCAST or _rank(owner.operands[0]) == 0)
