"""Which matmuls make the logits of a softmax over a weight's axis: the vocabulary, or classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.roles.frames import CALLS, RETURNS, Frame, Place
from scalify_hlo.roles.matmuls import FORWARD, Matmul, contracted
from scalify_hlo.roles.state import ELEMENTWISE

_MOST = 60
"""How many values after a matmul are looked at."""

_THROUGH: Final = ELEMENTWISE | {"stablehlo.reshape", "stablehlo.transpose"}
_MASKED: Final = frozenset(
    f"stablehlo.{name}" for name in ("convert", "multiply", "reshape", "select", "transpose")
)
"""What stands between the exponentials of a softmax and their sum, at most.

Others make other functions of them, such as a sigmoid, whose results a normalisation may sum up.
"""
_EXPONENTIALS = frozenset({"stablehlo.exponential"})


_Use: TypeAlias = tuple[ir.OpOperand, ir.Operation, str]
"""A use of a value, the op that it is one of, and the name of that."""


class Logits:
    """Tells what makes logits; many matmuls are before the same ops, which are looked at once."""

    def __init__(self) -> None:
        self._uses: dict[ir.Value, list[_Use]] = {}

    def made_by(self, matmul: Matmul, weight: int) -> bool:
        """Whether what a forward matmul makes is summed, exponentiated, along its weight's axis.

        Args:
            matmul: The matmul.
            weight: Which of its operands is the weight.
        """
        if matmul.part != FORWARD:
            return False
        axes = _free_sizes(matmul.op, weight)
        users = self._users((matmul.op.results[0], matmul.frame))
        return any(
            name in _EXPONENTIALS and self._is_summed((user.results[0], frame), axes)
            for user, name, frame in users
        )

    def _is_summed(self, start: Place, axes: frozenset[int]) -> bool:
        """Whether a value is reduced along a dimension of one of several sizes."""
        return any(
            name == "stablehlo.reduce" and not axes.isdisjoint(_reduced_sizes(user))
            for user, name, _ in self._users(start, _MASKED)
        )

    def _users(
        self, start: Place, through: frozenset[str] = _THROUGH
    ) -> Iterator[tuple[ir.Operation, str, Frame]]:
        """The ops that use a value, or what some ops make of it, also in and after calls.

        Args:
            start: The value.
            through: The names of those ops, of whose results the uses count as well.

        Yields:
            An op, its name, and the frame that it is in.
        """
        waiting, seen = [start], {start}
        while waiting and len(seen) < _MOST:
            value, frame = waiting.pop()
            for use, user, name in self._uses_of(value):
                yield user, name, frame
                for place in _after(use, user, name, frame, through):
                    if place not in seen:
                        seen.add(place)
                        waiting.append(place)

    def _uses_of(self, value: ir.Value) -> list[_Use]:
        found = self._uses.get(value)
        if found is None:
            users = ((use, use.owner.operation) for use in value.uses)
            found = self._uses[value] = [(use, user, user.name) for use, user in users]
        return found


def _free_sizes(op: ir.OpView, weight: int) -> frozenset[int]:
    """The sizes of a weight in the dimensions that stay."""
    shape = list(op.operands[weight].type.shape)
    if op.operation.name != "stablehlo.dot_general":
        return frozenset(shape)
    gone = contracted(op)[weight]
    return frozenset(size for d, size in enumerate(shape) if d not in gone)


def _after(
    use: ir.OpOperand, user: ir.Operation, name: str, frame: Frame, through: frozenset[str]
) -> list[Place]:
    """What an op makes of an operand in the same shape."""
    if name in through:
        return [(user.results[0], frame)]
    if name in RETURNS:
        return frame.returned(use)
    return frame.targets(use) if name in CALLS else []


def _reduced_sizes(reduction: ir.Operation) -> list[int]:
    shape = list(reduction.operands[0].type.shape)
    return [shape[d] for d in reduction.attributes["dimensions"]]
