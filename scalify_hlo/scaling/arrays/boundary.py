"""The arguments and results of `main` that have arrays of scales.

A pair with an array of scales S enters as a pair with the scale s = max S, and with the factors
F = S / s of its blocks. F is an argument of its own until the scales are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scalify_hlo._compat import ir
from scalify_hlo.analysis.carried import carried_arguments
from scalify_hlo.analysis.frames import Frame
from scalify_hlo.dialect import attributes, markers
from scalify_hlo.dialect.attributes import Attributes
from scalify_hlo.dialect.functions import is_block, terminator
from scalify_hlo.rules.isolated import scale_element
from scalify_hlo.scaling.arrays.factors import Factors, divided
from scalify_hlo.scaling.arrays.walk import walk


def split(main: ir.OpView, functions: Mapping[str, ir.Operation]) -> list[int]:
    """Adds an argument with factors for each pair with an array of scales, and moves the factors.

    Args:
        main: The entry function, with ``scalify.scale_shape`` on these arguments.
        functions: All functions by name.

    Returns:
        The numbers of the pairs whose factors wait behind no matmul.
    """
    block = main.regions[0].blocks[0]
    carried = _carried(main)
    factors = Factors(block.operations[0].operation, functions)
    arrays = _enter(main, block, factors)
    kept = {result: number for result, number in carried.items() if number in arrays}
    for result, number in kept.items():
        for value in _before_return(terminator(block).operands[result]):
            factors.leaving[value] = (arrays[number],)
    walk(block, factors, kept)
    _leave(main, block, factors, arrays, kept)
    attributes.renew_function_type(main)
    return [number for number, array in arrays.items() if array not in factors.waiting]


def _before_return(value: ir.Value) -> Iterator[ir.Value]:
    """Yields a result and, before casts and rescalings of state, its value."""
    yield value
    owner = value.owner
    while not is_block(owner) and (attributes.CAST in owner.attributes or _is_rescaled(owner)):
        number = ir.OpResult(value).result_number if _is_rescaled(owner) else 0
        value = owner.operands[number]
        yield value
        owner = value.owner


def _is_rescaled(op: ir.Operation) -> bool:
    here = markers.MARKER in op.attributes
    return here and bool(op.attributes[markers.MARKER].value == markers.DYNAMIC_RESCALE)


def _carried(main: ir.OpView) -> dict[int, int]:
    """Returns the results that are state, with the argument that each replaces."""
    taken, given = attributes.argument_attributes(main), attributes.result_attributes(main)
    names = zip(attributes.argument_names(main), taken, strict=True)
    results = zip(attributes.result_names(given), given, strict=True)
    known = {
        i: ir.IntegerAttr(mark[attributes.CARRIES]).value
        for i, mark in enumerate(given)
        if attributes.CARRIES in mark
    }
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
        mark[attributes.SCALE_ARRAY] = _number(number)
        new.append({attributes.SCALE_FACTORS: _number(number)})
        factors.set(block.arguments[number], (added[number],))
    inputs = [argument.type for argument in block.arguments]
    attributes.set_function_type(main, inputs, list(attributes.function_type(main).results))
    attributes.set_argument_attributes(main, [*marks, *new])
    return added


def _leave(
    main: ir.OpView,
    block: ir.Block,
    factors: Factors,
    arrays: dict[int, ir.Value],
    kept: dict[int, int],
) -> None:
    """Divides state by the factors of the argument that it replaces, and marks it."""
    returned, marks = terminator(block), attributes.result_attributes(main)
    for result, number in kept.items():
        value, own = returned.operands[result], (arrays[number],)
        if factors.of(value) != own:
            value = divided(factors.value(value, returned), own, returned)
            returned.operands[result] = value
        marks[result][attributes.SCALE_ARRAY] = _number(number)
        marks[result][attributes.CARRIES] = _number(number)
    attributes.set_result_attributes(main, marks)


def _number(value: int) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
