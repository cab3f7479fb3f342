"""The scale information of a function's values during a rewrite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import ONE, Scale, Scaled, ScaleInfo
from scalify_hlo.ir.formats import FloatFormat, format_of
from scalify_hlo.ir.value_map import ValueMap, ValueSet


class _Scope(NamedTuple):
    """A region that is being rewritten: its loop, if any, and the values rescaled in it."""

    loop: ir.Operation | None
    moved: list[tuple[ir.Value, Scale]]


class Values:
    """The scale information of a function's values, and their data at other scales.

    Attributes:
        changed: Whether any op was added, or an operand replaced.
        known: The scale information of each scaled value.
        moved: The data of values at other scales, as far as they were built.
        scopes: The regions that are being rewritten, from the outside in.
        replaced: The values that were replaced as operands, and values that may have no uses.
        leaving: The values that the function returns at scale 1.
        wide: Whether all floats of the function are known to be in wide formats.
    """

    def __init__(self) -> None:
        self.changed = False
        self.leaving = ValueSet()
        self.wide = False
        self.known: ValueMap[ScaleInfo] = ValueMap()
        self.moved: ValueMap[dict[Scale, ir.Value]] = ValueMap()
        self.scopes: list[_Scope] = []
        self.replaced = ValueSet()
        self._formats: dict[ir.Type, FloatFormat | None] = {}

    def info(self, value: ir.Value) -> ScaleInfo:
        """Returns the scale information of a value; None for unscaled values."""
        return self.known.get(value)

    def format(self, value: ir.Value) -> FloatFormat | None:
        """Returns the float format of a value's elements; None if they are not floats."""
        type_ = value.type
        try:
            return self._formats[type_]
        except KeyError:
            found = self._formats[type_] = format_of(type_)
            return found

    def is_wide(self, value: ir.Value) -> bool:
        """Whether a value is in a wide format, or not a float."""
        if self.wide:
            return True
        format_ = self.format(value)
        return format_ is None or format_.wide

    def replace(self, op: ir.Operation, index: int, value: ir.Value) -> None:
        """Replaces an operand by another value."""
        operands = op.operands
        old = operands[index]
        if old != value:
            operands[index] = value
            self.replaced[old] = None

    def assume(self, value: ir.Value, info: ScaleInfo) -> None:
        """Sets the scale information of a value without folding its level: an argument, a cast."""
        if info is not None:
            self.known[value] = info

    def infos(self, values: Sequence[ir.Value]) -> list[ScaleInfo]:
        """Returns the scale information of several values."""
        return list(map(self.known.get, values))

    def concerns(self, operation: ir.Operation) -> bool:
        """Whether an op has an operand with scale information."""
        infos = self.known
        for operand in operation.operands:  # noqa: SIM110  (a generator costs twice as much)
            if operand in infos:
                return True
        return False

    def is_moved(self, operation: ir.Operation, numbers: Iterable[int]) -> bool:
        """Whether one of the given operands of an op is at a scale other than 1."""
        get, operands = self.known.get, operation.operands
        for i in numbers:
            info = get(operands[i])
            if isinstance(info, Scaled) and info.scale != ONE:
                return True
        return False

    def pass_on(self, operand: ir.Value, result: ir.Value) -> None:
        """Copies the scale information of an operand to a result of the same element type."""
        info = self.known.get(operand)
        if info is not None:
            self.known[result] = info

    def note_moved(self, value: ir.Value, target: Scale, rescaled: ir.Value) -> None:
        """Notes that `rescaled` is `value` at another scale."""
        found = self.moved.get(value)
        if found is None:
            self.moved[value] = {target: rescaled}
        else:
            found[target] = rescaled
        if self.scopes:
            self.scopes[-1].moved.append((value, target))

    @contextmanager
    def region(self, loop: ir.Operation | None = None) -> Iterator[None]:
        """Enters a region; values that are built in it are not visible outside.

        Args:
            loop: The op, if it runs its regions repeatedly. Values are then built before it if
                possible.
        """
        scope = _Scope(loop, [])
        self.scopes.append(scope)
        try:
            yield
        finally:
            self.scopes.pop()
            for value, target in scope.moved:
                self.moved.get(value, {}).pop(target, None)

    def forget(self) -> None:
        """Forgets what is known of all values."""
        self.known.clear()
        self.moved.clear()

    def at_scale(self, value: ir.Value, target: Scale) -> ir.Value | None:
        """Returns the data of a value at another scale; None if they were not built."""
        found = self.moved.get(value)
        return None if found is None else found.get(target)

    @property
    def depth(self) -> int:
        """The number of nested regions that are being rewritten."""
        return len(self.scopes)


def enclosing(value: ir.Value) -> list[ir.Operation]:
    """Yields the ops in whose regions a value is, from the inside out."""
    owner = value.owner
    op = owner.owner if isinstance(owner, ir.Block) else owner.parent
    chain = []
    while op is not None:
        operation = op.operation
        chain.append(operation)
        op = operation.parent
    return chain
