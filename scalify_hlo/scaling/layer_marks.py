"""Marks of layers and of the inputs of activations, from which sizes are predicted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import LAYER_MARK_CONE
from scalify_hlo.algebra.search import Search
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.value_map import ValueMap, ValueSet
from scalify_hlo.layers.graph import Graph
from scalify_hlo.layers.model import Layer
from scalify_hlo.rules.unit_scaling import ACTIVATIONS


def mark_inputs(layers: Iterable[Layer], graph: Graph) -> list[ir.Operation]:
    """Numbers the ops that end activations and their backward parts, and marks the inputs.

    A mark is on the op that reads an input, as inputs may be arguments. If a function is called
    several times, a result may belong to several layers, and has one number.

    Args:
        layers: The layers that were found.
        graph: The graph in which they were found.

    Returns:
        The ops that got marks.
    """
    numbers: ValueMap[int] = ValueMap()
    marked: list[ir.Operation] = []
    for layer in layers:
        if layer.name not in ACTIVATIONS or not layer.exact:
            continue
        source = layer.inputs[0]
        inputs = ValueSet([*source.values, *graph.passed.get(source, ())])
        for value in [value for node in layer.outputs for value in node.values]:
            if value not in numbers and (place := _reader(value, inputs)) is not None:
                numbers[value] = number = len(numbers)
                maker = value.owner.operation
                maker.attributes[attributes.LAYER_NUMBER] = attributes.integer(number)
                _append(*place, number)
                marked += [maker, place[0]]
    return marked


def _reader(value: ir.Value, inputs: ValueSet) -> tuple[ir.Operation, int] | None:
    """Returns the op of a block between an input and a value, and the number of the operand."""

    def operands(value: ir.Value) -> Iterable[ir.Value]:
        return () if isinstance(value.owner, ir.Block) else value.owner.operands

    for each in islice(Search([value], operands, seen=ValueSet(), nearest=True), LAYER_MARK_CONE):
        for index, operand in enumerate(operands(each)):
            if operand in inputs:
                return each.owner.operation, index
    return None


def _append(op: ir.Operation, index: int, number: int) -> None:
    """Marks an operand of an op as the input of a layer."""
    known: Sequence[ir.Attribute] = ()
    if attributes.LAYER_INPUT in op.attributes:
        known = list(ir.ArrayAttr(op.attributes[attributes.LAYER_INPUT]))
    marks = [*known, attributes.integer(number), attributes.integer(index)]
    op.attributes[attributes.LAYER_INPUT] = ir.ArrayAttr.get(marks)
