"""What is known of the values of a function, as it stands during the walk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.dialect.formats import FloatFormat, format_of
from scalify_hlo.scale import ONE, Form, Scale, Scaled


class _Scope(NamedTuple):
    """A region that is worked on: its loop if it is one's, and what was brought within it."""

    loop: ir.Operation | None
    moved: list[tuple[ir.Value, Scale]]


class Values:
    """The forms of a function's values, and which of them are others at another scale.

    Attributes:
        changed: Whether any op was added, or an operand replaced.
    """

    def __init__(self) -> None:
        self.changed = False
        self._forms: dict[ir.Value, Form] = {}
        self._formats: dict[ir.Type, FloatFormat | None] = {}
        self._moved: dict[tuple[ir.Value, Scale], ir.Value] = {}
        self._scopes: list[_Scope] = []
        self._replaced: dict[ir.Value, None] = {}
        self._at: ir.Operation | None = None

    def form(self, value: ir.Value) -> Form:
        """What is known of a value; None is unscaled."""
        return self._forms.get(value)

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
            self._replaced[old] = None

    def assume(self, value: ir.Value, form: Form) -> None:
        """Says what a value is that stays as it is, whatever its level: an argument, a cast."""
        if form is not None:
            self._forms[value] = form

    def forms(self, values: Sequence[ir.Value]) -> list[Form]:
        """The forms of several values."""
        return list(map(self._forms.get, values))

    def concerns(self, operation: ir.Operation) -> bool:
        """Whether something is known of an operand of an op."""
        forms = self._forms
        for operand in operation.operands:  # noqa: SIM110  (a generator costs twice as much)
            if operand in forms:
                return True
        return False

    def is_moved(self, operation: ir.Operation, numbers: Iterable[int]) -> bool:
        """Whether one of some operands of an op is data at another scale than 1."""
        get, operands = self._forms.get, operation.operands
        for i in numbers:
            form = get(operands[i])
            if isinstance(form, Scaled) and form.scale != ONE:
                return True
        return False

    def pass_on(self, operand: ir.Value, result: ir.Value) -> None:
        """Says that a result has the form of an operand of the same element type."""
        form = self._forms.get(operand)
        if form is not None:
            self._forms[result] = form

    def known(self, value: ir.Value, target: Scale, brought: ir.Value) -> None:
        """Remembers that `brought` is `value` at another scale."""
        self._moved[value, target] = brought
        if self._scopes:
            self._scopes[-1].moved.append((value, target))

    @contextmanager
    def region(self, loop: ir.Operation | None = None) -> Iterator[None]:
        """While a region is worked on: what is built in it is not seen outside of it.

        Args:
            loop: The op, if it runs its regions again and again: then what can be built before it
                is.
        """
        scope = _Scope(loop, [])
        self._scopes.append(scope)
        try:
            yield
        finally:
            self._scopes.pop()
            for key in scope.moved:
                self._moved.pop(key, None)

    def forget(self, op: ir.Operation) -> None:
        """Forgets what is known of an op's results and regions, before it is erased."""
        self._at = None
        for value in op.results:
            self._forget_value(value)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    self._forget_value(argument)
                for inner in block.operations:
                    self.forget(inner.operation)

    @property
    def depth(self) -> int:
        """How many regions of the function are being worked on, one in another."""
        return len(self._scopes)

    def _forget_value(self, value: ir.Value) -> None:
        self._forms.pop(value, None)
        self._replaced.pop(value, None)

    def discardable(self, value: ir.Value) -> None:
        """Says that a value the split made may turn out to be unused."""
        self._replaced[value] = None


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
