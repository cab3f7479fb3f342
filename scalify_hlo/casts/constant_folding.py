"""Folds casts of constants into constants.

A constant that a recipe casts becomes a constant in the format of the cast, with a static scale.
The wide constant stays only if other ops read it. Between a constant and a cast there may be ops
that only move elements, loops that carry the constant, and functions that take it as an argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from scalify_hlo._compat import func, ir
from scalify_hlo.algebra.search import Search
from scalify_hlo.casts.casts import convert_after
from scalify_hlo.casts.encoding import RMS, Exponents, Scales, encode, has_elements, is_known
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.calls import Calls
from scalify_hlo.ir.formats import with_element
from scalify_hlo.ir.functions import callee_of, copied, is_private, symbol_of
from scalify_hlo.ir.splats import dense_of
from scalify_hlo.ir.traits import where
from scalify_hlo.ir.value_map import (
    OpSet,
    ValueCache,
    ValueSet,
    erase_unread,
    replace_op,
    run_native,
)
from scalify_hlo.transforms.carries import carried_by, carried_to, without_dead_carries

Step: TypeAlias = ir.Operation
"""An op between a constant and a cast: it moves elements, converts, or calls such ops."""

_MOVES = where(*("reshape", "transpose", "reverse", "broadcast", "slice"), dynamic=False)
CONVERT = "stablehlo.convert"


class ConstantOrigin(NamedTuple):
    """The constant from which a value is made.

    Attributes:
        constant: The constant.
        steps: The ops from the value back to the constant.
    """

    constant: ir.Operation
    steps: list[Step]


class Narrowed(NamedTuple):
    """A value that was folded into another format.

    Attributes:
        value: The data.
        constant: The constant from which the data are made.
        exponents: log2 of the scales.
    """

    value: ir.Value
    constant: ir.Operation
    exponents: Exponents


Key: TypeAlias = tuple[str, str, Scales]
"""The quantization of a constant: the formats on the way, the last format, and the scales."""


class Quantizer:
    """Replaces casts by narrow constants; equal constants are shared."""

    def __init__(self, module: ir.Operation, *, saturate: bool) -> None:
        self.functions = Functions(module)
        self._saturate = saturate
        self._encoded: dict[tuple[ir.Attribute, *Key], tuple[ir.Attribute, Exponents]] = {}
        self._constants: ValueCache[tuple[ir.Value, Exponents]] = ValueCache()
        self._moved: ValueCache[ir.Value] = ValueCache()
        self._passed = ValueSet()
        self._loops = OpSet()

    def cast(self, op: ir.Operation) -> None:
        """Replaces a cast if it is of a constant."""
        origin = self.origin(op.operands[0])
        if origin is None:
            return
        made = self.narrowed(origin, op.results[0].type.element_type, RMS)
        exponent = attributes.integer(int(made.exponents))
        made.constant.attributes[attributes.CONSTANT_SCALE] = exponent
        self._passed.add(op.operands[0])
        replace_op(op, [made.value])

    def narrowed(self, origin: ConstantOrigin, element: ir.Type, scales: Scales) -> Narrowed:
        """Returns a value that is made of a constant, in another format."""
        steps = origin.steps
        path = [s.results[0].type.element_type for s in steps if s.name == CONVERT]
        constant, exponents = self._constant(origin.constant, path[::-1], element, scales)
        narrow = constant
        for step in reversed(steps):
            narrow = self._move(step, narrow)
        return Narrowed(narrow, constant.owner, exponents)

    def pass_over(self, value: ir.Value) -> None:
        """Notes a value that may have no uses now."""
        self._passed.add(value)

    def clean(self) -> None:
        """Erases the ops that only casts used, and functions without calls."""
        self._erase_dead()
        loops = list(self._loops)
        number = 0
        while number < len(loops):
            left = without_dead_carries(loops[number])
            number += 1
            if left is not None:  # The loops around it may carry fewer values now.
                loops[number - 1] = left.loop
                self._passed.add_all(left.starts)
                self._erase_dead()
                number = 0
        self.functions.clean()

    def _erase_dead(self) -> None:
        while self._passed:
            erase_unread(self._passed.popitem()[0], self.functions.is_passed)

    def origin(self, value: ir.Value) -> ConstantOrigin | None:
        """Returns the dense constant that a value is made of; None for splats and other values."""
        steps: list[Step] = []
        loops: list[ir.Operation] = []
        while True:
            carried = carried_by(value)
            if carried is not None:
                loop, value = carried
                loops.append(loop)
                continue
            owner = value.owner
            if isinstance(owner, ir.Block):
                return None
            if owner.name == "stablehlo.constant":
                break
            index = self.functions.source(owner)
            if index is None:
                return None
            steps.append(owner)
            value = owner.operands[index]
        if not has_elements(owner):
            return None
        self._loops.add_all(loops)
        return ConstantOrigin(owner, steps)

    def _constant(
        self, wide: ir.Operation, path: Sequence[ir.Type], element: ir.Type, scales: Scales
    ) -> tuple[ir.Value, Exponents]:
        """Returns the constant in another format, right after the wide constant."""
        key = wide.results[0], " ".join(map(str, path)), str(element), scales
        if key not in self._constants:
            attribute = dense_of(wide.results[0])
            again = attribute, *key[1:]
            if again not in self._encoded:
                saturate = self._saturate
                self._encoded[again] = encode(attribute, path, element, scales, saturate=saturate)
            value, exponents = self._encoded[again]
            op = emit.op(wide, "stablehlo.constant", [value.type], [], {"value": value})
            self._constants[key] = op.result, exponents
            self._passed.add(wide.results[0])
        return self._constants[key]

    def _move(self, step: Step, narrow: ir.Value) -> ir.Value:
        """Applies a step to the narrow value; converts are folded already."""
        if step.name == CONVERT:
            return narrow
        key = step.results[0], narrow
        if key not in self._moved:
            if step.name == "func.call":
                self._moved[key] = self.functions.call_on(step, narrow)
            else:
                type_ = with_element(step.results[0].type, narrow.type.element_type)
                operands, given = [narrow, *list(step.operands)[1:]], attributes.all_of(step)
                self._moved[key] = emit.op(step, step.name, [type_], operands, given).result
        return self._moved[key]


def _between_floats(op: ir.Operation) -> bool:
    """Whether an op is a convert of the model between floats of more than 8 bits."""
    if op.name != CONVERT or attributes.CAST in op.attributes:
        return False
    known = is_known(op.operands[0].type) and is_known(op.results[0].type)
    return known and bool(op.results[0].type.element_type.width > 8)


class Functions:
    """The private functions of a module, through which constants reach casts."""

    def __init__(self, module: ir.Operation) -> None:
        self._calls = calls = Calls(module)
        self._copies: dict[tuple[str, ir.Type], str] = {}
        self._functions = {
            name: function
            for name, function in calls.functions.items()
            if name != "main" and is_private(function) and len(function.regions[0].blocks)
        }

    def source(self, op: ir.Operation) -> int | None:
        """Returns the operand whose elements an op moves or converts; None for other ops."""
        if op.name == "func.call":
            return self.moved_argument(op)
        return 0 if op.name in _MOVES or _between_floats(op) else None

    def is_passed(self, op: ir.Operation) -> bool:
        """Whether an op is a constant, or moves or converts elements."""
        return op.name == "stablehlo.constant" or self.source(op) is not None

    def moved_argument(self, call: ir.Operation) -> int | None:
        """Returns the operand whose elements a call moves; None if it does more."""
        chain = self._chain(callee_of(call))
        return None if chain is None else ir.BlockArgument(chain[-1]).arg_number

    def moves(self, steps: Iterable[Step]) -> Iterator[Step]:
        """Yields steps; a call is replaced by the steps of its function."""
        for step in steps:
            if step.name != "func.call":
                yield step
                continue
            for value in (self._chain(callee_of(step)) or ())[:-1]:
                yield value.owner

    def call_on(self, call: ir.Operation, narrow: ir.Value) -> ir.Value:
        """Calls a copy of a function that moves elements, for another element type."""
        name, element = callee_of(call), narrow.type.element_type
        if (name, element) not in self._copies:
            self._copies[name, element] = self._copy(name, element)
        index = self.moved_argument(call)
        operands = [narrow if i == index else v for i, v in enumerate(call.operands)]
        return func.CallOp(
            [with_element(call.results[0].type, element)],
            ir.FlatSymbolRefAttr.get(self._copies[name, element]),
            operands,
            **emit.before(call),
        ).results[0]

    def clean(self) -> None:
        """Erases the functions that were copied, and have no calls now."""
        if self._copies:
            run_native("builtin.module(symbol-dce)", self._calls.module)

    def _chain(self, name: str) -> list[ir.Value] | None:
        """Returns the values from the result of a function back to an argument, each used once."""
        if name not in self._functions:
            return None
        block = self._functions[name].regions[0].blocks[0]
        returned = list(block.operations[-1].operands)
        if len(returned) != 1:
            return None
        chain = returned
        while len(list(chain[-1].uses)) == 1:
            owner = chain[-1].owner
            if isinstance(owner, ir.Block):
                return chain
            if owner.name not in _MOVES:
                return None
            chain.append(owner.operands[0])
        return None

    def _copy(self, name: str, element: ir.Type) -> str:
        fresh = f"{name}_{element}"
        while fresh in self._functions:
            fresh += "_"
        copy = self._functions[fresh] = copied(self._functions[name], fresh)
        for value in self._chain(fresh) or ():
            value.set_type(with_element(value.type, element))
        attributes.renew_function_type(copy)
        return fresh

    def hoist_casts(self) -> bool:
        """Moves the casts of arguments to the callers, where these pass constants.

        Returns:
            Whether it moved any.
        """
        hoisted = False
        while any(map(self._hoist_from, reversed(list(self._functions)))):
            hoisted = True
        return hoisted

    def _hoist_from(self, name: str) -> bool:
        """Does the same for one function."""
        hoisted = False
        for index, argument in enumerate(self._functions[name].regions[0].blocks[0].arguments):
            if not self._may_be_constant(argument, frozenset()):
                continue
            reach = _reach(argument)
            if reach is not None:
                _hoist(reach, self._sites(name), index)
                attributes.renew_function_type(self._functions[name])
                hoisted = True
        return hoisted

    def _sites(self, name: str) -> list[ir.Operation]:
        """Returns the calls of a function to which only calls refer; none for others."""
        known = name in self._functions and self._calls.only(self._functions[name])
        return self._calls.sites.get(name, []) if known else []

    def _may_be_constant(self, value: ir.Value, seen: frozenset[str]) -> bool:
        """Whether a value is a dense constant, here or in the calls of the function."""
        while (carried := carried_by(value)) is not None:
            value = carried[1]
        owner = value.owner
        if isinstance(owner, ir.Block):
            op, index = owner.owner, ir.BlockArgument(value).arg_number
            name = symbol_of(op) if op.operation.name == "func.func" else ""
            outer = [call.operands[index] for call in self._sites(name) if name not in seen]
            return any(self._may_be_constant(v, seen | {name}) for v in outer)
        if owner.name == "stablehlo.constant":
            return has_elements(owner)
        source = self.source(owner)
        return source is not None and self._may_be_constant(owner.operands[source], seen)


class _Reach(NamedTuple):
    """The casts that all uses of a value reach, and the values in between, itself included."""

    values: list[ir.Value]
    casts: list[ir.Operation]


def _reach(argument: ir.Value) -> _Reach | None:
    """Returns the casts and values that an argument reaches; None if it reaches other ops."""

    def moved(value: ir.Value) -> Iterator[ir.Value]:
        return (each for use in value.uses for each in _moved_to(value, use) or ())

    values = list(Search([argument], moved, seen=ValueSet(), nearest=True))
    casts = list[ir.Operation]()
    for value in values:
        for use in value.uses:
            if is_cast(use.owner):
                casts.append(use.owner)
            elif _moved_to(value, use) is None:
                return None
    kinds = {(c.results[0].type.element_type, c.attributes[attributes.CAST]) for c in casts}
    return _Reach(values, casts) if len(kinds) == 1 else None


def _moved_to(value: ir.Value, use: ir.OpOperand) -> Sequence[ir.Value] | None:
    """Returns the values to which an op moves the elements of one, or a loop carries it."""
    owner, index = use.owner, use.operand_number
    if owner.name in _MOVES and index == 0:
        return [owner.results[0]]
    return carried_to(value, owner, index)


def _hoist(reach: _Reach, calls: Sequence[ir.Operation], index: int) -> None:
    """Changes the type of an argument to the format to which the function casts it."""
    cast = reach.casts[0]
    element = cast.results[0].type.element_type
    kind = cast.attributes[attributes.CAST].value
    for cast in reach.casts:
        replace_op(cast, [cast.operands[0]])
    for value in reach.values:
        value.set_type(with_element(value.type, element))
    for call in calls:
        value = call.operands[index]
        call.operands[index] = _cast_of(value, element) or convert_after(value, element, kind)


def _cast_of(value: ir.Value, element: ir.Type) -> ir.Value | None:
    """Returns the existing cast of a value, or None."""
    casts = (use.owner.results[0] for use in value.uses if is_cast(use.owner))
    return next((each for each in casts if each.type.element_type == element), None)


def is_cast(op: ir.Operation) -> bool:
    """Whether an op is a cast of a recipe, other than of second moments and of values."""
    if op.name != CONVERT or attributes.CAST not in op.attributes:
        return False
    return op.attributes[attributes.CAST].value not in (attributes.SECOND, attributes.VALUE)
