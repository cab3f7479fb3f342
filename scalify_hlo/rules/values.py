"""The scales of a function's values, as they stand during the walk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import ONE, Scale, Scaled, ScaleInfo
from scalify_hlo.dialect.formats import FloatFormat, format_of


class _Scope(NamedTuple):
    """A region that is worked on: its loop if it is one's, and what was rescaled within it."""

    loop: ir.Operation | None
    moved: list[tuple[ir.Value, Scale]]


class Values:
    """The scales of a function's values, and which values are others at another scale.

    Attributes:
        changed: Whether any op was added, or an operand replaced.
        known: What is known of each value; unscaled values are left out.
        moved: The data of a value at another scale, as far as they were built.
        scopes: The regions that are worked on, from the outside in.
        replaced: The values that an operand was replaced by another for, and those that may turn
            out to be unused.
        leaving: The values that the function returns at scale 1.
    """

    def __init__(self) -> None:
        self.changed = False
        self.leaving: frozenset[ir.Value] = frozenset()
        self.known: dict[ir.Value, ScaleInfo] = {}
        self.moved: dict[tuple[ir.Value, Scale], ir.Value] = {}
        self.scopes: list[_Scope] = []
        self.replaced: dict[ir.Value, None] = {}
        self._formats: dict[ir.Type, FloatFormat | None] = {}
        self._listeners: list[Callable[[ir.Operation], None]] = []

    def listen(self, listener: Callable[[ir.Operation], None]) -> None:
        """Calls a function with each op that `forget` is called for, and those in its regions."""
        self._listeners.append(listener)

    def release(self) -> None:
        """Lets go of the listeners, which know these values: else the collector looks for both."""
        self._listeners.clear()

    def info(self, value: ir.Value) -> ScaleInfo:
        """What is known of a value; None is unscaled."""
        return self.known.get(value)

    def format(self, value: ir.Value) -> FloatFormat | None:
        """The float format of a value's elements, None if they are no floats."""
        type_ = value.type
        try:
            return self._formats[type_]
        except KeyError:
            found = self._formats[type_] = format_of(type_)
            return found

    def replace(self, op: ir.Operation, index: int, value: ir.Value) -> None:
        """Puts another value in an operand's place."""
        operands = op.operands
        old = operands[index]
        if old != value:
            operands[index] = value
            self.replaced[old] = None

    def assume(self, value: ir.Value, info: ScaleInfo) -> None:
        """Says what a value is that stays as it is, whatever its level: an argument, a cast."""
        if info is not None:
            self.known[value] = info

    def infos(self, values: Sequence[ir.Value]) -> list[ScaleInfo]:
        """What is known of several values."""
        return list(map(self.known.get, values))

    def concerns(self, operation: ir.Operation) -> bool:
        """Whether something is known of an operand of an op."""
        infos = self.known
        for operand in operation.operands:  # noqa: SIM110  (a generator costs twice as much)
            if operand in infos:
                return True
        return False

    def is_moved(self, operation: ir.Operation, numbers: Iterable[int]) -> bool:
        """Whether one of some operands of an op is data at another scale than 1."""
        get, operands = self.known.get, operation.operands
        for i in numbers:
            info = get(operands[i])
            if isinstance(info, Scaled) and info.scale != ONE:
                return True
        return False

    def pass_on(self, operand: ir.Value, result: ir.Value) -> None:
        """Gives a result what is known of an operand of the same element type."""
        info = self.known.get(operand)
        if info is not None:
            self.known[result] = info

    def note_moved(self, value: ir.Value, target: Scale, rescaled: ir.Value) -> None:
        """Remembers that `rescaled` is `value` at another scale."""
        self.moved[value, target] = rescaled
        if self.scopes:
            self.scopes[-1].moved.append((value, target))

    @contextmanager
    def region(self, loop: ir.Operation | None = None) -> Iterator[None]:
        """While a region is worked on: what is built in it is not seen outside of it.

        Args:
            loop: The op, if it runs its regions again and again: then what can be built before it
                is.
        """
        scope = _Scope(loop, [])
        self.scopes.append(scope)
        try:
            yield
        finally:
            self.scopes.pop()
            for key in scope.moved:
                self.moved.pop(key, None)

    def forget(self, op: ir.Operation) -> None:
        """Forgets what is known of an op's results and regions, before it is erased."""
        for listener in self._listeners:
            listener(op)
        for value in defined_by(op):
            self.known.pop(value, None)
            self.replaced.pop(value, None)
        for region in op.regions:
            for block in region.blocks:
                for inner in block.operations:
                    self.forget(inner.operation)

    @property
    def depth(self) -> int:
        """How many regions of the function are being worked on, one in another."""
        return len(self.scopes)

    def discardable(self, value: ir.Value) -> None:
        """Says that a value which the rewriter made may turn out to be unused."""
        self.replaced[value] = None


def defined_by(op: ir.Operation) -> Iterator[ir.Value]:
    """The results of an op and the arguments of its blocks."""
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.arguments


def enclosing(value: ir.Value) -> list[ir.Operation]:
    """The ops in whose regions a value is, from the inside out."""
    owner = value.owner
    op = owner.owner if isinstance(owner, ir.Block) else owner.parent
    chain = []
    while op is not None:
        operation = op.operation
        chain.append(operation)
        op = operation.parent
    return chain
