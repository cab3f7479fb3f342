"""Which matmuls make the logits of a softmax over a weight's axis: the vocabulary, or classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.roles.frames import CALLS, INSIDES, RETURNS, Frame, Named, Place, named
from scalify_hlo.roles.matmuls import Matmul, contracted
from scalify_hlo.roles.names import FORWARD
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
_EXPONENTIAL = "stablehlo.exponential"
_REDUCE = "stablehlo.reduce"

_Use: TypeAlias = tuple[ir.OpOperand, ir.Operation, str]
"""A use of a value, the op that it is one of, and the name of that."""


class Logits:
    """Tells what makes logits; many matmuls are before the same ops, which are looked at once.

    Args:
        ops: The ops of the function that the program starts at, each after its name.
        functions: The functions of the module by name.
    """

    def __init__(self, ops: Iterable[Named], functions: Mapping[str, ir.OpView]) -> None:
        self._uses: dict[ir.Value, list[_Use]] = {}
        self._summed = _Exponentials(ops, functions).sizes_summed()

    def made_by(self, matmul: Matmul, weight: int) -> bool:
        """Whether what a forward matmul makes is summed, exponentiated, along its weight's axis.

        Args:
            matmul: The matmul.
            weight: Which of its operands is the weight.
        """
        if matmul.part != FORWARD:
            return False
        axes = _free_sizes(matmul.op, weight)
        if axes.isdisjoint(self._summed):
            return False
        users = self._users((matmul.op.results[0], matmul.frame))
        return any(
            name == _EXPONENTIAL and self._is_summed((user.results[0], frame), axes)
            for user, name, frame in users
        )

    def _is_summed(self, start: Place, axes: frozenset[int]) -> bool:
        """Whether a value is reduced along a dimension of one of several sizes."""
        return any(
            name == _REDUCE and not axes.isdisjoint(_reduced_sizes(user))
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


class _Exponentials:
    """The exponentials of a program, wherever they are, and what sums them.

    What reductions and their like do inside is not looked at: they do it to single elements.

    Args:
        ops: The ops of the function that the program starts at, each after its name.
        functions: The functions of the module by name.
    """

    def __init__(self, ops: Iterable[Named], functions: Mapping[str, ir.OpView]) -> None:
        self._functions = functions
        self._found: list[ir.Operation] = []
        self._calls: dict[str, list[ir.Operation]] = {}
        self._find(ops)

    def _find(self, ops: Iterable[Named]) -> None:
        for name, op in ops:
            if name == _EXPONENTIAL:
                self._found.append(op)
            elif name in INSIDES:
                for region in self._inside(op, name):
                    for block in region.blocks:
                        self._find(named(block))

    def _inside(self, op: ir.Operation, name: str) -> list[ir.Region]:
        """What an op runs; each function once."""
        if name not in CALLS:
            return list(op.regions)
        callee = op.attributes[CALLS[name]].value
        calls = self._calls.setdefault(callee, [])
        calls.append(op)
        function = self._functions.get(callee)
        return list(function.regions) if function is not None and len(calls) == 1 else []

    def sizes_summed(self) -> set[int]:
        """The sizes along which any of them may be summed, whichever call leads to that."""
        waiting = [op.results[0] for op in self._found]
        sizes, seen = set[int](), set(waiting)
        while waiting:
            for use in waiting.pop().uses:
                user = use.owner.operation
                name = user.name
                if name == _REDUCE:
                    sizes.update(_reduced_sizes(user))
                made = self._made(use, user, name)
                waiting += [value for value in made if value not in seen]
                seen.update(made)
        return sizes

    def _made(self, use: ir.OpOperand, user: ir.Operation, name: str) -> list[ir.Value]:
        """What an op makes of an operand in the same shape; in and after calls, of any of them."""
        if name in _MASKED:
            return [user.results[0]]
        if name in CALLS:
            function = self._functions.get(user.attributes[CALLS[name]].value)
            blocks = function.regions[0].blocks if function is not None else ()
            return [block.arguments[use.operand_number] for block in blocks]
        if name not in RETURNS:
            return []
        around, number = user.parent, use.operand_number
        if around.name != "func.func":
            return [around.results[number]]
        calls = self._calls.get(around.attributes["sym_name"].value, ())
        return [call.results[number] for call in calls]


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
