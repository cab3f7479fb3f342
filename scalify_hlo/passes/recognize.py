"""scalify-recognize: marks the last ops of layers, and the gradients of their inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import LAYER_MARK_CONE
from scalify_hlo.algebra.search import Search
from scalify_hlo.dataflow.index import LISTING, ModuleIndex
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.functions import main_function
from scalify_hlo.ir.value_map import ValueMap, ValueSet
from scalify_hlo.layers.graph import Graph, Node
from scalify_hlo.layers.model import BACKWARD, FORWARD, Layer
from scalify_hlo.layers.recognition import graph_of, layers_of
from scalify_hlo.layers.states import mark_states
from scalify_hlo.passes.base import Pass, missed
from scalify_hlo.report.model import LayerReport, Report
from scalify_hlo.rules.unit_scaling import ACTIVATIONS

_MISSED = "may have layers that are not recognized, since {}"
_MARK = "sizes there are those of single ops; mark the layer in the model with custom_scale"


@dataclass(frozen=True)
class RecognizePass(Pass):
    """Finds layers by their values.

    Attributes:
        scales: Whether only layers that a rewrite needs are found; see `layers_of`.
        marked: Whether only programs with markers of an author are searched.
        inputs: Whether activations are distinguished, and the ops that read their inputs marked.
    """

    name: ClassVar[str] = "scalify-recognize"
    preserves: ClassVar[frozenset[str]] = frozenset({LISTING})
    scales: bool = False
    marked: bool = False
    inputs: bool = False

    def apply(self, module: ir.Operation, index: ModuleIndex, report: Report) -> None:
        """See `Pass.apply`."""
        if self.marked and not index.markers:
            return
        listing = index.listing
        graph = graph_of(module, listing)
        layers = layers_of(graph, scales=self.scales and not self.inputs)
        report.layers += [
            LayerReport(layer.name, layer.part, layer.where, _gradient(layer)) for layer in layers
        ]
        index.layers += len(layers)
        marks: ValueMap[_LayerMarks] = ValueMap()
        for layer in layers:
            kind = attributes.LAYER if layer.part == FORWARD else attributes.LAYER_GRADIENT
            for value in ValueSet(v for node in layer.outputs for v in _results(node)):
                marks.setdefault(value, _LayerMarks()).names.setdefault(kind, Counter())[
                    layer.name
                ] += 1
            if layer.epsilon is not None:
                for value in _results(layer.epsilon):
                    marks.setdefault(value, _LayerMarks()).epsilon = True
        for node in graph.nodes:
            for value in ValueSet(node.values) if node.others else (node.value,):
                if value in marks:
                    marks[value].calls += 1
        marked = [value.owner.operation for value in marks]
        for op, mark in zip(marked, marks.values(), strict=True):
            mark.write(op)
        if self.inputs:
            marked += [*mark_inputs(layers, graph), *mark_states(module)]
        index.marked = (index.marked or set()) | {op.name for op in marked}
        if listing is not None:
            listing.touch(marked)
        main = main_function(module)
        if main is not None:
            report.remarks += missed(main.operation, _MISSED, graph.ended, _MARK)
        graph.release()


@dataclass(slots=True)
class _LayerMarks:
    """The marks of one op.

    Attributes:
        names: The layers, by attribute.
        epsilon: Whether the op adds an epsilon.
        calls: The number of values that its result is, one for each call of its function.
    """

    names: dict[str, Counter[str]] = field(default_factory=dict)
    epsilon: bool = False
    calls: int = 0

    def write(self, op: ir.Operation) -> None:
        """Writes the marks that hold in all calls; several layers are written as an array."""
        for attribute, names in self.names.items():
            every = sorted(name for name, count in names.items() if count == self.calls)
            if not every:
                continue
            texts = [ir.StringAttr.get(name) for name in every]
            op.attributes[attribute] = texts[0] if len(texts) == 1 else ir.ArrayAttr.get(texts)
        if self.epsilon:
            op.attributes[attributes.EPSILON] = ir.UnitAttr.get()


def _results(node: Node) -> Iterable[ir.Value]:
    """Yields the results of ops that a node represents."""
    return [value for value in node.values if not isinstance(value.owner, ir.Block)]


def _gradient(layer: Layer) -> str:
    if layer.part == BACKWARD or layer.input_gradient is None:
        return ""
    return "alone" if layer.exact else "with others"


# Marks of layers and of the inputs of activations, from which sizes are predicted.


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
