"""Arrays of scales as one argument or result again, once `scalify-propagate` made pairs."""

from __future__ import annotations

from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.attributes import Attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.functions import terminator
from scalify_hlo.ir.value_map import erase_argument, redirect, uses_of
from scalify_hlo.scaling.arrays.leaving import largest_of

_EXPONENT_BITS: Final = {
    wide: FORMATS[name].exponent_bits for wide, name in enumerate(("f32", "f64"))
}

_MARKS: Final = (attributes.SCALE_ARRAY, attributes.SCALE_FACTORS)


def join(main: ir.OpView) -> None:
    """Makes the scale of each marked pair an array, and erases factors.

    Args:
        main: The entry function, whose pairs are data and scale, side by side.
    """
    block, marks = main.regions[0].blocks[0], attributes.argument_attributes(main)
    scales = {_number(m, attributes.SCALE_ARRAY): i + 1 for i, m in enumerate(marks) if _is(m, 0)}
    added = {_number(m, attributes.SCALE_FACTORS): i for i, m in enumerate(marks) if _is(m, 1)}
    top = block.operations[0].operation
    entered = {number: _enter(block, scales[number], place, top) for number, place in added.items()}
    _leave(main, block, entered)
    for place in sorted(added.values(), reverse=True):
        erase_argument(block, place)
        del marks[place]
    for mark in marks:
        mark.pop(attributes.SCALE_ARRAY, None)
    attributes.renew_function_type(main)
    attributes.set_argument_attributes(main, marks)


def _is(mark: Attributes, index: int) -> bool:
    return _MARKS[index] in mark


def _number(mark: Attributes, key: str) -> int:
    return int(ir.IntegerAttr(mark[key]).value)


def _enter(block: ir.Block, scale: int, place: int, top: ir.Operation) -> list[ir.Value]:
    """Computes ``s``, the power of two nearest to ``max S``, and ``F = S / s`` at the top.

    The quotient is exact, so that s and F have all digits of scales that are not powers of two.

    Returns:
        S, s and F.
    """
    array, factors = block.arguments[scale], block.arguments[place]
    uses = [uses_of(value) for value in (array, factors)]
    array.set_type(factors.type)
    array = block.arguments[scale]
    where = emit.before(top)
    wide = isinstance(array.type.element_type, ir.F64Type)
    one = stablehlo.reduce_precision(largest_of(array, top), _EXPONENT_BITS[wide], 0, **where)
    parts = emit.elementwise("stablehlo.divide", array, spread_scalar(one, array, top), **where)
    for readers, value in zip(uses, (one, parts), strict=True):
        redirect(readers, value)
    return [array, one, parts]


def spread_scalar(scalar: ir.Value, like: ir.Value, at: ir.Operation) -> ir.Value:
    """Broadcasts a scale to the shape of an array of scales."""
    type_ = like.type
    return emit.broadcast_scalar(emit.convert(scalar, type_.element_type, at), like, at)


def _leave(main: ir.OpView, block: ir.Block, entered: dict[int, list[ir.Value]]) -> None:
    """Returns arrays of scales: ``s * F``, or S itself if s is the scale of the argument."""
    returned, marks = terminator(block), attributes.result_attributes(main)
    values = list(returned.operands)
    measured = {_number(m, _MARKS[1]): values[i] for i, m in enumerate(marks) if _is(m, 1)}
    for result, mark in enumerate(marks):
        if not _is(mark, 0):
            continue
        number = _number(mark, _MARKS[0])
        array, one, parts = entered[number]
        scale, parts = values[result + 1], measured.get(number, parts)
        whole = scale == one and number not in measured
        if not whole:
            spread = spread_scalar(scale, parts, returned)
            array = emit.multiply(parts, spread, returned)
        values[result + 1] = array
        del mark[attributes.SCALE_ARRAY]
    kept = len(values) - len(measured)
    attributes.return_values(main, values[:kept])
    attributes.set_result_attributes(main, marks[:kept])
