"""Finds attributes of the rewriter that an input has with values of other types.

MLIR verifies no discardable attributes, so text and bytecode may have any. They are looked for only
after a pass has failed, as the rewriter itself writes none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import InputError
from scalify_hlo.ir.formats import FORMATS
from scalify_hlo.ir.locations import source_location
from scalify_hlo.ir.walk import ops_in

_Check = Callable[[ir.Attribute, ir.Operation], bool]
"""A check that an attribute of an op, or of its arguments or results, has its type."""


def _typed(kind: type[ir.Attribute]) -> _Check:
    return lambda attribute, _: isinstance(attribute, kind)


_INTEGER, _TEXT = _typed(ir.IntegerAttr), _typed(ir.StringAttr)


def _format(attribute: ir.Attribute, _: ir.Operation) -> bool:
    return isinstance(attribute, ir.StringAttr) and attribute.value in FORMATS


def _argument(attribute: ir.Attribute, function: ir.Operation) -> bool:
    count = len(attributes.function_type(function).inputs)
    return isinstance(attribute, ir.IntegerAttr) and 0 <= attribute.value < count


def _texts(attribute: ir.Attribute, _: ir.Operation) -> bool:
    if isinstance(attribute, ir.ArrayAttr):
        return all(isinstance(part, ir.StringAttr) for part in attribute)
    return isinstance(attribute, ir.StringAttr)


def _layer_inputs(attribute: ir.Attribute, op: ir.Operation) -> bool:
    if not isinstance(attribute, ir.ArrayAttr) or len(attribute) % 2:
        return False
    if not all(isinstance(part, ir.IntegerAttr) for part in attribute):
        return False
    return all(0 <= index.value < len(op.operands) for index in list(attribute)[1::2])


def _results(attribute: ir.Attribute, op: ir.Operation) -> bool:
    return isinstance(attribute, ir.ArrayAttr) and all(
        isinstance(part, ir.IntegerAttr) and 0 <= part.value < len(op.results) for part in attribute
    )


_OF_VALUES: Final[Mapping[str, _Check]] = {
    attributes.SCALE: _INTEGER,
    attributes.SIZE: _typed(ir.FloatAttr),
    attributes.ROLE: _TEXT,
    attributes.UPDATED: _TEXT,
    attributes.STORED: _format,
    attributes.PACKED: _format,
    attributes.CARRIES: _argument,
}
_OF_OPS: Final[Mapping[str, _Check]] = {
    attributes.STATE_GRADIENT: _results,
    attributes.LAYER: _texts,
    attributes.LAYER_GRADIENT: _texts,
    attributes.LAYER_NUMBER: _INTEGER,
    attributes.LAYER_INPUT: _layer_inputs,
    attributes.VALUE_NUMBER: _INTEGER,
    attributes.ROUNDED: _INTEGER,
}


def require_types(module: ir.Operation) -> None:
    """Refuses attributes of the rewriter that are not of their types.

    Args:
        module: A module on which a pass has failed.

    Raises:
        InputError: It has such an attribute.
    """
    for op in ops_in(module):
        for name, attribute, check in _checked(op):
            if not check(attribute, op):
                raise InputError(
                    f"the attribute {name} of the rewriter cannot be {attribute}",
                    location=source_location(op.location),
                    hint="leave it out, or see scalify_hlo/dialect/attributes.py for its meaning",
                )


def _checked(op: ir.Operation) -> Iterator[tuple[str, ir.Attribute, _Check]]:
    for name, check in _OF_OPS.items():
        if name in op.attributes:
            yield name, op.attributes[name], check
    for each in ("arg_attrs", "res_attrs") if op.name == "func.func" else ():
        for mark in ir.ArrayAttr(op.attributes[each]) if each in op.attributes else ():
            marks = ir.DictAttr(mark)
            yield from ((n, marks[n], check) for n, check in _OF_VALUES.items() if n in marks)
