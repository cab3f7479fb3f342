"""Reach: the values from which elementwise ops make others, through calls, loops and branches.

In loops, slices of a stack count as the stack: a loop over the layers of stacked state reads a
slice of it, computes the next one, and writes that into a stack.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import FLOW_VALUES, MOVES
from scalify_hlo.dataflow.frames import Frame, Place
from scalify_hlo.ir import traits
from scalify_hlo.ir.functions import is_block
from scalify_hlo.ir.locations import described
from scalify_hlo.ir.monoid import TAKES, monoid
from scalify_hlo.ir.splats import filled_with
from scalify_hlo.ir.traits import INSIDES, LOOP

OPERANDS: Final = traits.data_of(
    traits.BINARY
    | traits.CHOICES
    | traits.MAGNITUDES
    | traits.POWERS
    | traits.ROUNDS
    | {"stablehlo.sign", "stablehlo.tanh"}
)
"""The ops of updates, with the operands that have the shape of the result."""

ELEMENTWISE: Final = traits.COPIES.union(OPERANDS)
BROADCAST: Final = "stablehlo.broadcast_in_dim"
UNIFORM: Final = frozenset({BROADCAST, "stablehlo.constant"})

_ADD = "stablehlo.add"
_SCATTER = "stablehlo.scatter"
_WRITTEN = {name: operands[1] for name, operands in traits.data_of(traits.WRITES).items()}
"""The ops that write into a stack, with the number of the operand that they write."""
SLICING: Final = traits.TAKES | traits.SAME_ORDER | traits.WRITES
"""The ops that read and write slices of a stack in a loop."""

_SAME_NUMBER = traits.SAME_ORDER | {"stablehlo.convert"}

Made: TypeAlias = tuple[str, list[Place]]
"""The name of the op that makes a value, empty for arguments, and the operands in its shape."""

_Seen: TypeAlias = tuple[int, Made]
"""The same, after the known values that it is made of."""

_Waiting: TypeAlias = tuple[Place, Made, bool]
"""A value, its op and operands, and whether all operands are known."""


class Reach:
    """The values from which elementwise ops make others.

    Args:
        known: The values that are searched for, with a set of bits for each.
        stacks: Whether slices of a stack count as the stack in loops.
    """

    def __init__(self, known: dict[Place, int], *, stacks: bool = False) -> None:
        self._known: dict[Place, _Seen] = {place: (bits, ("", [])) for place, bits in known.items()}
        self._stacks = stacks

    def of(self, place: Place) -> int:
        """Returns the known values, in its shape, that a value is made of, as a set of bits.

        The set is empty if the search reaches its limit.
        """
        known = self._known.get(place)
        if known is None:
            self._find(place)
            known = self._known.get(place)
        return 0 if known is None else known[0]

    def made(self, place: Place) -> Made:
        """Returns the op that makes a value, and its operands in the shape of the value."""
        known = self._known.get(place)
        return self._made(place) if known is None else known[1]

    def _find(self, place: Place) -> None:
        """Finds the values that a value is made of; chains may be long, and calls nested.

        Only complete results are cached, so the order of queries does not matter.
        """
        known, most = self._known, len(self._known) + FLOW_VALUES
        waiting: list[_Waiting] = [(place, self._made(place), False)]
        while waiting and len(known) < most:
            here, made, ready = waiting.pop()
            if here in known:
                continue
            if not ready:
                missing = self._missing(made[1])
                if missing:
                    waiting.append((here, made, True))
                    waiting += missing
                    continue
            bits = 0
            for part in made[1]:
                bits |= known[part][0]
            known[here] = bits, made
        if waiting:
            place[1].ended.add(f"more than {FLOW_VALUES} values lead to one")

    def _missing(self, parts: Sequence[Place]) -> list[_Waiting]:
        """Returns the values that have operands and are not known; marks the others as known."""
        known = self._known
        missing: list[_Waiting] = []
        for part in parts:
            if part not in known:
                made = self._made(part)
                if made[1]:
                    missing.append((part, made, False))
                else:
                    known[part] = 0, made
        return missing

    def _made(self, place: Place) -> Made:
        made = made_by(place, OPERANDS)
        value, frame = place
        if frame.op is not None and self._stacks and made[0] in SLICING and in_loop(frame):
            return _sliced(value.owner, made[0], frame)
        return made


def made_by(place: Place, numbers: Mapping[str, Sequence[int]]) -> Made:
    """Returns the op that makes a value, and the operands that it is made of.

    Args:
        place: The value.
        numbers: The numbers of these operands, by op. Copies, and ops that run others, have others
            in any case.
    """
    value, frame = place
    owner = value.owner
    if is_block(owner):
        return "", frame.source_of_argument(value)
    name = owner.operation.name  # The view of a named computation has another name.
    if name in numbers:
        operands = owner.operands
        return name, [frame.place(operands[i]) for i in numbers[name]]
    if name in traits.COPIES:
        return name, [frame.place(owner.operands[ir.OpResult(value).result_number])]
    return name, frame.sources(value, owner, name) if name in INSIDES else []


def in_loop(frame: Frame) -> bool:
    """Whether a frame is inside of a loop, or of a call in a loop."""
    around: Frame | None = frame
    while around is not None and around.op is not None:
        if around.op.name == LOOP:
            return True
        around = around.outer
    return False


def is_of_stack(op: ir.OpView, name: str) -> bool:
    """Whether an op reads or writes one slice of a stack, or changes its rank."""
    if name == _SCATTER and len(op.operands) != 3:
        return False
    one = op.operands[0].type
    other = (op.operands[_WRITTEN[name]] if name in _WRITTEN else op.results[0]).type
    if not (one.has_static_shape and other.has_static_shape):
        return False
    times = 1 if name in traits.SAME_ORDER else next(iter(one.shape), 0)
    return bool(times * math.prod(other.shape) == math.prod(one.shape))


def _sliced(owner: ir.OpView, name: str, frame: Frame) -> Made:
    """Returns the slices that an op of a loop over a stack reads; other operands are indices."""
    if not is_of_stack(owner, name):
        return name, []
    operands = owner.operands
    combine = monoid(owner.regions[0]) if name == _SCATTER else None
    if combine == _ADD:
        return _ADD, [frame.place(operands[0]), frame.place(operands[2])]
    if name == _SCATTER and combine != TAKES:
        return name, []
    return name, [frame.place(operands[_WRITTEN.get(name, 0)])]


def numbers_in(bits: int) -> Iterator[int]:
    """Yields the numbers in a set of bits, the least first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def rank_of(value: ir.Value) -> int:
    """Returns the number of dimensions; -1 for values that are not ranked tensors."""
    type_ = value.type
    return type_.rank if isinstance(type_, ir.RankedTensorType) else -1


def size_of(value: ir.Value) -> int:
    """Returns the number of elements of a tensor; -1 if it is not static."""
    type_ = value.type
    return math.prod(type_.shape) if type_.has_static_shape else -1


def is_uniform(value: ir.Value) -> bool:
    """Whether all elements are one number: a splat, or a broadcast scalar."""
    owner = value.owner
    if is_block(owner):
        return False
    name = owner.name
    return name in UNIFORM and (name != BROADCAST or rank_of(owner.operands[0]) == 0)


def number_in(place: Place, made: Callable[[Place], Made]) -> float | None:
    """Returns the number that all elements of a splat constant are, or None."""
    first = place.value
    for _ in range(MOVES):
        value, frame = place
        name, parts = made(place)
        if name == "stablehlo.constant":
            return filled_with(value)
        if name in _SAME_NUMBER:
            place = frame.place(value.owner.operands[0])
        elif len(parts) == 1 and name not in ELEMENTWISE:
            place = parts[0]
        else:
            return None
    place.frame.ended.add(f"more than {MOVES} ops move the constant of {described(first)}")
    return None
