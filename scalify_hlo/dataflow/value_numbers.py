"""Value numbers: values of two blocks that are the same computation have one number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.formats import is_complex
from scalify_hlo.ir.monoid import monoid
from scalify_hlo.ir.splats import is_constant
from scalify_hlo.ir.traits import CHEAP, COMMUTING, COPIES, DOTS, RESHAPES
from scalify_hlo.ir.value_map import ValueMap

_RESHAPE: Final = "reshape"
_SPREAD: Final = "stablehlo.broadcast_in_dim"
PURE: Final = CHEAP | DOTS | {"stablehlo.reduce"}
"""Ops that are the same computation if their operands and attributes are the same."""


class Computed(NamedTuple):
    """A computation that has a number.

    Attributes:
        value: The value that was numbered first.
        operands: The numbers from which it is computed; None if it is not known how.
        reshapes: Whether it is its operand in another shape.
    """

    value: ir.Value
    operands: tuple[int, ...] | None
    reshapes: bool = False


class ValueNumbers:
    """The numbers of values.

    Attributes:
        computed: What each number stands for.
    """

    def __init__(self) -> None:
        self.computed: list[Computed] = []
        self._of: ValueMap[int] = ValueMap()
        self._known: dict[Any, int] = {}

    def get(self, value: ir.Value) -> int | None:
        """Returns the number of a value; None if it has none."""
        return self._of.get(value)

    def put(self, value: ir.Value, number: int | None = None) -> int:
        """Gives a value the number of another one, or one of its own."""
        if number is None:
            number = self._new(Computed(value, None))
        self._of[value] = number
        return number

    def outer(self, value: ir.Value) -> int:
        """Returns the number of a value around the blocks; equal constants have one number."""
        known = self._of.get(value)
        if known is not None:
            return known
        if is_constant(value) and self.number(value.owner.operation):
            return self._of[value]
        return self.put(value)

    def number(self, op: ir.Operation) -> bool:
        """Numbers the results of an op whose operands have numbers.

        Returns:
            Whether they have numbers now; not if the op may have effects, or takes a value that has
            no number.
        """
        numbers = [number for each in op.operands if (number := self._of.get(each)) is not None]
        if len(numbers) < len(op.operands):
            return False
        if op.name in COPIES:
            for result, number in zip(op.results, numbers, strict=True):
                self._of[result] = number
            return True
        if op.name not in PURE or len(op.results) != 1:
            return False
        key = self._key(op, numbers)
        if key is None:
            return False
        self._known_as(op.results[0], key, numbers)
        return True

    def _key(self, op: ir.Operation, numbers: list[int]) -> Any:
        """The key that is equal for equal computations; None if that is not known.

        It is not for regions of several ops, and for constants of complex numbers, which the
        bindings cannot read.
        """
        result, combined = op.results[0], [monoid(region) for region in op.regions]
        if None in combined or (is_constant(result) and is_complex(result.type)):
            return None
        if op.name in COMMUTING:
            numbers = sorted(numbers)
        if len(op.operands) == 1 and (op.name in RESHAPES or _only_reshapes(op)):
            known = self.computed[numbers[0]]
            whole = known.operands[0] if known.reshapes and known.operands else numbers[0]
            return _RESHAPE, whole, result.type
        given = tuple(each for each in attributes.all_of(op).items() if each[0] != attributes.FORMS)
        return op.name, *combined, given, tuple(numbers), result.type

    def _known_as(self, value: ir.Value, key: Any, numbers: Iterable[int]) -> int:
        found, reshapes = self._known.get(key), key[0] == _RESHAPE
        if found is None and reshapes and self.computed[key[1]].value.type == key[2]:
            found = key[1]
        if found is None:
            operands = (key[1],) if reshapes else tuple(numbers)
            found = self._known[key] = self._new(Computed(value, operands, reshapes))
        self._of[value] = found
        return found

    def _new(self, computed: Computed) -> int:
        self.computed.append(computed)
        return len(self.computed) - 1


def _only_reshapes(op: ir.Operation) -> bool:
    """Whether a broadcast only adds dimensions of size 1, in order."""
    before, after = op.operands[0].type, op.results[0].type
    if op.name != _SPREAD or not (before.has_static_shape and after.has_static_shape):
        return False
    dims = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
    kept = [after.shape[dim] for dim in dims]
    ones = all(size == 1 for dim, size in enumerate(after.shape) if dim not in dims)
    return dims == sorted(dims) and kept == list(before.shape) and ones
