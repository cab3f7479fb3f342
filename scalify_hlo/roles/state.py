"""The state of a training step: master weights, an optimizer's moments, and gradients between them.

What a step carries to the next enters as an argument and leaves as a result of the same type that
elementwise ops make from it: ``m' = b1 * m + (1 - b1) * g``. Moments have no other use. The
gradient is what is added to a state, constant factors aside.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from scalify_hlo._compat import ir

ELEMENTWISE: Final = frozenset(
    f"stablehlo.{name}"
    for name in (
        *("abs", "add", "cbrt", "clamp", "convert", "divide", "maximum", "minimum", "multiply"),
        *("negate", "optimization_barrier", "power", "reduce_precision", "rsqrt", "select"),
        *("sign", "sqrt", "subtract", "tanh"),
    )
)
"""The ops of which updates are made."""

_SUMS = frozenset({"stablehlo.add", "stablehlo.subtract"})
_FACTORS = frozenset({"stablehlo.divide", "stablehlo.multiply"})
_COMMUTING = frozenset({"stablehlo.add", "stablehlo.multiply"})
_UPDATING = ELEMENTWISE | {"func.return"}
_DEEP = 200
"""How long chains of elementwise ops are followed; longer ones are no updates."""


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
    return _Search(main, is_float).state


class _Search:
    """The search for the state of one program.

    Attributes:
        state: What was found.
    """

    def __init__(self, main: ir.OpView, is_float: Iterable[bool]) -> None:
        block = main.regions[0].blocks[0]
        self._arguments = list(block.arguments)
        pairs = zip(self._arguments, is_float, strict=True)
        self._carried: dict[ir.Value, frozenset[int]] = {
            argument: frozenset({argument.arg_number}) for argument, float_ in pairs if float_
        }
        self._results = list(block.operations[-1].operands)
        self.state = State()
        self._match()
        for number in self.state.results:
            self._sort_in(number)
        for number in self.state.weights:
            gradient = self._gradient_of(number)
            if gradient is not None:
                self.state.gradients[number] = gradient

    def _reach(self, value: ir.Value, depth: int = 0) -> frozenset[int]:
        """The arguments that elementwise ops make a value of, all in its shape."""
        known = self._carried.get(value)
        if known is None:
            reached = [self._reach(v, depth + 1) for v in _parts(value)] if depth < _DEEP else []
            known = self._carried[value] = frozenset().union(*reached)
        return known

    def _match(self) -> None:
        """Tells which argument each result carries on, those that can be only one first."""
        reached = {i: self._reach(value) for i, value in enumerate(self._results)}
        waiting = sorted((i for i in reached if reached[i]), key=lambda i: (len(reached[i]), i))
        taken = self.state.results
        for i in waiting:
            left = sorted(reached[i] - taken.keys())
            if left:
                taken[left[0]] = i

    def _sort_in(self, number: int) -> None:
        """Tells a weight from a moment, and moments by their degree."""
        state, result = self.state, self._results[self.state.results[number]]
        if _used_elsewhere(self._arguments[number]) or len(self._reach(result)) > 1:
            state.weights.add(number)
        elif any(_square_of(value) is not None for value in self._news(number)):
            state.second.add(number)
        else:
            state.first.add(number)

    def _news(self, number: int) -> list[ir.Value]:
        """What an update adds to a state, constant factors taken off."""
        found: dict[ir.Value, None] = {}
        seen = {self._results[self.state.results[number]]}
        waiting = list(seen)
        while waiting:
            value = waiting.pop()
            parts = [v for v in _parts(value) if v not in seen]
            holds = [number in self._reach(v) for v in parts]
            is_sum = value.owner.name in _SUMS if parts else False
            for part, keeps in zip(parts, holds, strict=True):
                if keeps:
                    seen.add(part)
                    waiting.append(part)
                elif is_sum:
                    found[_without_constants(part)] = None
        return [value for value in found if not _is_uniform(value)]

    def _gradient_of(self, number: int) -> ir.Value | None:
        """The gradient of a weight: what is new in its moments, or in itself if it has none."""
        own = self._reach(self._results[self.state.results[number]])
        first, second = sorted(own & self.state.first), sorted(own & self.state.second)
        news = self._news((first or second or [number])[0])
        if not first and second:
            news = [square for value in news if (square := _square_of(value)) is not None]
        news = [value for value in news if not isinstance(value.owner, ir.Block)]
        return news[0] if len(news) == 1 else None


def _parts(value: ir.Value) -> list[ir.Value]:
    """What an elementwise op makes a value of, in its shape."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name not in ELEMENTWISE:
        return []
    shape = _shape(value)
    return [operand for operand in owner.operands if _shape(operand) == shape]


def _shape(value: ir.Value) -> tuple[int, ...] | None:
    type_ = value.type
    return tuple(type_.shape) if isinstance(type_, ir.RankedTensorType) else None


def _used_elsewhere(argument: ir.Value) -> bool:
    """Whether the model computes with an argument, and not only its own update."""
    return any(use.owner.name not in _UPDATING for use in argument.uses)


def _without_constants(value: ir.Value) -> ir.Value:
    while True:
        owner = value.owner
        if isinstance(owner, ir.Block) or owner.name not in _SUMS | _FACTORS:
            return value
        lhs, rhs = owner.operands
        if _is_uniform(rhs):
            value = lhs
        elif owner.name in _COMMUTING and _is_uniform(lhs):
            value = rhs
        else:
            return value


def _is_uniform(value: ir.Value) -> bool:
    """Whether all elements are one number: a constant, or a scalar that is broadcast."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return False
    if owner.name == "stablehlo.broadcast_in_dim":
        return not _shape(owner.operands[0])
    return bool(owner.name == "stablehlo.constant")


def _square_of(value: ir.Value) -> ir.Value | None:
    """What a value is the square of, if it is one."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    operands = list(owner.operands)
    is_square = owner.name == "stablehlo.multiply" and operands[0] == operands[1]
    return operands[0] if is_square or owner.name == "stablehlo.power" else None
