"""The arguments and results of `main` that have arrays of scales.

A pair with an array of scales S enters as a pair with a scale s, the power of two nearest to max S,
and with the factors F = S / s of its blocks. F is an argument of its own until scales are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.carried import carried_arguments
from scalify_hlo.dataflow.frames import Frame
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.attributes import Attributes
from scalify_hlo.ir.formats import is_narrow
from scalify_hlo.ir.functions import is_block, terminator
from scalify_hlo.ir.value_map import ValueMap
from scalify_hlo.rules.isolated import scale_element
from scalify_hlo.scaling.arrays.factors import Factors
from scalify_hlo.scaling.arrays.leaving import Leaving
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
