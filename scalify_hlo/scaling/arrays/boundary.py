"""The arguments and results of `main` that have arrays of scales.

A pair with an array of scales S enters as a pair with a scale s, the power of two nearest to max S,
and with the factors F = S / s of its blocks. F is an argument of its own until scales are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.dataflow.carried import carried_arguments
from scalify_hlo.dataflow.frames import Frame
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.attributes import Attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import is_narrow
from scalify_hlo.ir.functions import is_block, terminator
from scalify_hlo.ir.value_map import ValueMap, erase_argument, redirect, uses_of
from scalify_hlo.rules.isolated import scale_element
from scalify_hlo.scaling.arrays.factors import Factors, Leaving, largest_of
from scalify_hlo.scaling.arrays.walk import Walk, is_rescaled


def split(main: ir.OpView, functions: Mapping[str, ir.Operation]) -> list[int]:
    """Adds an argument with factors for each pair with an array of scales, and moves the factors.

    Args:
        main: The entry function, with ``scalify.scale_shape`` on these arguments.
        functions: All functions by name.

    Returns:
        The numbers of the pairs whose factors wait behind no matmul.
    """
    block = main.regions[0].blocks[0]
    replaced = {number: result for result, number in _carried(main).items()}
    carried = {result: number for number, result in replaced.items()}
    factors = Factors(block.operations[0].operation)
    arrays = _enter(main, block, factors)
    state = {
        result: Leaving((arrays[number],), is_narrow(terminator(block).operands[result].type))
        for result, number in carried.items()
        if number in arrays
    }
    leaving = ValueMap(
        (value, each)
        for result, each in state.items()
        for value in _before_return(terminator(block).operands[result])
    )
    Walk(factors, leaving, functions).block(block, state)
    numbers = {result: carried[result] for result in state}
    _leave(main, block, factors, state, numbers)
    attributes.renew_function_type(main)
    return [number for number, array in arrays.items() if array not in factors.waiting]


def _before_return(value: ir.Value) -> Iterator[ir.Value]:
    """Yields a result and, before casts and rescalings of state, its value."""
    yield value
    owner = value.owner
    while not is_block(owner) and (attributes.CAST in owner.attributes or is_rescaled(owner)):
        number = ir.OpResult(value).result_number if is_rescaled(owner) else 0
        value = owner.operands[number]
        yield value
        owner = value.owner


def _carried(main: ir.OpView) -> dict[int, int]:
    """Returns the results that are state, with the argument that each replaces."""
    taken, given = attributes.argument_attributes(main), attributes.result_attributes(main)
    names = zip(attributes.argument_names(main), taken, strict=True)
    results = zip(attributes.result_names(given), given, strict=True)
    known = attributes.carried(given)
    frame = Frame.of(main)
    found = carried_arguments(
        main,
        [name if attributes.PAIR in mark else None for name, mark in names],
        [name if attributes.PAIR in mark else None for name, mark in results],
        known,
        frame,
    )
    frame.release()
    return known | found  # A marker sets the scale of some that are known.


def _enter(main: ir.OpView, block: ir.Block, factors: Factors) -> dict[int, ir.Value]:
    """Returns the added arguments by the numbers of the pairs to which they belong."""
    marks, names = attributes.argument_attributes(main), attributes.argument_names(main)
    added: dict[int, ir.Value] = {}
    new: list[Attributes] = []
    for number, mark in enumerate(marks):
        if attributes.SCALE_SHAPE not in mark:
            continue
        shape = list(ir.DenseI64ArrayAttr(mark.pop(attributes.SCALE_SHAPE)))
        value = block.arguments[number]
        type_ = ir.RankedTensorType.get(shape, scale_element(value.type))
        location = ir.Location.name(f"{names[number]}.scale", value.location)
        added[number] = block.add_argument(type_, location)
        mark[attributes.SCALE_ARRAY] = attributes.integer(number)
        new.append({attributes.SCALE_FACTORS: attributes.integer(number)})
        factors.set(block.arguments[number], (added[number],))
    attributes.renew_function_type(main)
    attributes.set_argument_attributes(main, [*marks, *new])
    return added


def _leave(
    main: ir.OpView,
    block: ir.Block,
    factors: Factors,
    state: Mapping[int, Leaving],
    numbers: Mapping[int, int],
) -> None:
    """Divides state by its factors, and marks it; measured factors become results."""
    returned, marks = terminator(block), attributes.result_attributes(main)
    values, added = list(returned.operands), list[Attributes]()
    for result, leaving in state.items():
        if not leaving.found or factors.of(values[result]) != leaving.found:
            values[result] = leaving.divide(values[result], factors, returned)
        marks[result][attributes.SCALE_ARRAY] = attributes.integer(numbers[result])
        marks[result][attributes.CARRIES] = attributes.integer(numbers[result])
        if leaving.found != leaving.own:
            values.append(leaving.found[0])
            added.append({attributes.SCALE_FACTORS: attributes.integer(numbers[result])})
    attributes.return_values(main, values)
    attributes.set_result_attributes(main, [*marks, *added])


# Arrays of scales as one argument or result again, once `scalify-propagate` made pairs.

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
    entered = {
        number: _joined_at(block, scales[number], place, top) for number, place in added.items()
    }
    _leave_joined(main, block, entered)
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


def _joined_at(block: ir.Block, scale: int, place: int, top: ir.Operation) -> list[ir.Value]:
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


def _leave_joined(main: ir.OpView, block: ir.Block, entered: dict[int, list[ir.Value]]) -> None:
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
