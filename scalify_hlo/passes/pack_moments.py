"""scalify-pack-moments: stores moments in 8 bits, with a scale for each block."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from scalify_hlo._compat import func, ir
from scalify_hlo.algebra.limits import SALT_ELEMENTS
from scalify_hlo.algebra.moments import SCALE_FORMAT, scale_shape
from scalify_hlo.analysis.index import ModuleIndex
from scalify_hlo.analysis.step_count import step_count
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.attributes import Attributes
from scalify_hlo.dialect.formats import element_of
from scalify_hlo.dialect.functions import main_function, terminator
from scalify_hlo.dialect.value_map import erase
from scalify_hlo.passes.base import Pass
from scalify_hlo.quantize.blocks.moments import Packed, packed, salt_of, unpacked
from scalify_hlo.report.model import Report
from scalify_hlo.rules import emit


@dataclass(frozen=True)
class PackMomentsPass(Pass):
    """Packs the pairs that `scalify-narrow-state` marked, after `scalify-propagate` split them.

    The data of such a pair have the scale 1 until here. They become f8 data, and the scale becomes
    an array with a scale for each block.
    """

    name: ClassVar[str] = "scalify-pack-moments"

    def apply(self, module: ir.Operation, _: ModuleIndex, __: Report) -> None:
        """See `Pass.apply`."""
        main = main_function(module)
        if main is None or not main.regions[0].blocks:
            return
        here = attributes.any_argument_has(main, attributes.PACKED)
        if here or attributes.any_result_has(main, attributes.PACKED):
            block = main.regions[0].blocks[0]
            _pack(main, block, _unpack(main, block))


def _unpack(main: ir.OpView, block: ir.Block) -> ir.Value:
    """Unpacks the arguments, and returns the salt for the rounding of the results."""
    top = block.operations[0].operation
    marks, found = attributes.argument_attributes(main), list[Packed]()
    for number, mark in enumerate(marks):
        if attributes.PACKED not in mark:
            continue
        format_, root = _popped(mark)
        data, scale = block.arguments[number], block.arguments[number + 1]
        uses = [(use.owner, use.operand_number) for use in data.uses]
        wide = data.type
        data.set_type(ir.RankedTensorType.get(wide.shape, element_of(format_), wide.encoding))
        blocks = ir.RankedTensorType.get(scale_shape(wide.shape), element_of(SCALE_FORMAT))
        scale.set_type(blocks)
        found.append(Packed(block.arguments[number], block.arguments[number + 1]))
        values = unpacked(found[-1], wide.element_type, top, root=root) if uses else None
        for owner, index in uses:
            owner.operands[index] = values
    attributes.set_argument_attributes(main, marks)
    outputs = list(attributes.function_type(main).results)
    attributes.set_function_type(main, [a.type for a in block.arguments], outputs)
    counted = step_count(main)  # It differs in each step, and does not depend on sums.
    if counted is not None:
        return emit.convert(counted, ir.IntegerType.get_unsigned(32), top)
    return _salt([moment.data for moment in found], top)


def _salt(moments: Sequence[ir.Value], top: ir.Operation) -> ir.Value:
    """Returns the salt: of the smallest moment that surely differs from step to step."""
    if not moments:
        ui32 = ir.IntegerType.get_unsigned(32)
        return emit.integers(emit.scalar_type(ui32), 0, top)
    sizes = [math.prod(moment.type.shape) for moment in moments]
    enough = [size for size in sizes if size >= SALT_ELEMENTS]
    return salt_of(moments[sizes.index(min(enough) if enough else max(sizes))], top)


def _pack(main: ir.OpView, block: ir.Block, salt: ir.Value) -> None:
    """Packs the results, which are rounded with a salt."""
    returned = terminator(block)
    values, marks = list(returned.operands), attributes.result_attributes(main)
    ones: list[ir.Value] = []
    for number, mark in enumerate(marks):
        if attributes.PACKED not in mark:
            continue
        format_, root = _popped(mark)
        ones.append(values[number + 1])
        moment = packed(values[number], format_, salt, returned.operation, root=root)
        values[number], values[number + 1] = moment
    func.return_(values, **emit.before(returned))
    erase(returned)
    for one in ones:
        if next(iter(one.uses), None) is None:
            erase(one.owner)
    attributes.set_result_attributes(main, marks)
    inputs = list(attributes.function_type(main).inputs)
    attributes.set_function_type(main, inputs, [value.type for value in values])


def _popped(mark: Attributes) -> tuple[str, bool]:
    """Removes the mark of a packed value, and returns its format, and whether it is a root.

    The mark of roots stays, as the types of data and scales do not show it.
    """
    return ir.StringAttr(mark.pop(attributes.PACKED)).value, attributes.ROOT in mark
