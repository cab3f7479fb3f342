"""Reads a program into a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import CALL_DEPTH, GRAPH_NODES
from scalify_hlo.dataflow.frames import Named
from scalify_hlo.dataflow.listing import Listing
from scalify_hlo.dataflow.steps import without_steps
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.dispatch import Dispatch
from scalify_hlo.ir.formats import REDUCE_PRECISION, element_type
from scalify_hlo.ir.functions import callee_of, target_of
from scalify_hlo.ir.monoid import monoid
from scalify_hlo.ir.splats import dense_of, filled_with
from scalify_hlo.ir.traits import BODIES, BRANCHES, CALLS, COPIES, IMPURE, LOOP
from scalify_hlo.ir.value_map import ValueMap
from scalify_hlo.layers.graph import Dims, Graph, Node
from scalify_hlo.layers.numbers import REDUCTIONS, TABLE

_UPDATE, _SLICE = "dynamic_update_slice", "dynamic_slice"

_ELEMENTWISE: Final = {
    f"{dialect}.{short}": short for dialect in ("chlo", "stablehlo") for short in TABLE
}
"""The short names of elementwise ops, by their full names."""

_Names = ValueMap[Node]


def read(main: ir.OpView, listing: Listing | None = None) -> Graph:
    """The graph of a program.

    Args:
        main: The entry function; see `without_steps` for the ops that are left out if roles are
            marked.
        listing: Its ops, if they were listed.
    """
    functions = functions_in(main.operation.parent)
    reader = _NumberReader(functions)
    block = main.regions[0].blocks[0]
    names = ValueMap((argument, reader.graph.leaf(argument)) for argument in block.arguments)
    reader.ops(without_steps(main, listing), names)
    return reader.graph


class _NumberReader:
    def __init__(self, functions: Mapping[str, ir.OpView]) -> None:
        self.graph = Graph()
        self._functions = functions
        self._depth = 0

    def block(self, block: ir.Block, names: _Names) -> list[Node]:
        """Reads a block, and returns the nodes of its terminator's operands."""
        ops = [view.operation for view in block.operations]
        self.ops([(op.name, op) for op in ops[:-1]], names)
        return [names[operand] for operand in ops[-1].operands] if ops else []

    def ops(self, ops: Iterable[Named], names: _Names) -> None:
        """Reads ops."""
        for name, op in ops:
            self._op(op, name, names)

    def _op(self, op: ir.Operation, name: str, names: _Names) -> None:
        operands = op.operands
        inputs = [names[operands[i]] for i in range(len(operands))]
        short, reader = _ELEMENTWISE.get(name), _READERS.get(name)
        if reader is not None:
            names[op.result] = reader(self.graph, op, inputs)
        elif short is not None:
            result = op.result
            names[result] = self.graph.make(short, inputs, result)
        elif name in COPIES or name == REDUCE_PRECISION:
            names.update(zip(op.results, inputs, strict=True))
            self.graph.hand_on(op.results, inputs)
        elif name in CALLS:
            self._call(op, name, inputs, names)
        elif name == LOOP:
            self._loop(op, inputs, names)
        elif op.regions:
            self._regions(op, name, inputs, names)
        else:
            self._other(op, name, inputs, names)

    def _other(self, op: ir.Operation, name: str, inputs: list[Node], names: _Names) -> None:
        """Reads an op without semantics; equal ops on equal operands are one node."""
        short = name.partition(".")[2]
        for number, result in enumerate(op.results):
            if name in IMPURE:
                names[result] = self.graph.leaf(result, short, inputs)
                continue
            element = inputs[0].element if short == _SLICE else None
            if element is not None and element.shape == self.graph.shape(result.type):
                names[result] = element
                continue
            names[result] = self.graph.make(short, inputs, result, key=_Apart(op, number))

    def _call(self, op: ir.Operation, name: str, inputs: list[Node], names: _Names) -> None:
        if name == "stablehlo.composite":
            dialect, _, short = target_of(op).partition(".")
            if dialect == "chlo" and short in TABLE:
                names[op.results[0]] = self.graph.make(short, inputs, op.results[0])
                return
        function = self._functions.get(callee_of(op))
        regions = function.regions if function is not None else None
        if regions is None or not regions[0].blocks or self._is_full():
            self._leaves(op, inputs, names)
            return
        self._depth += 1
        body = regions[0].blocks[0]
        self.graph.hand_on(body.arguments, inputs)
        returned = self.block(body, ValueMap(zip(body.arguments, inputs, strict=True)))
        self._depth -= 1
        names.update(zip(op.results, returned, strict=True))
        self.graph.hand_on(op.results, returned)

    def _is_full(self) -> bool:
        """Whether further calls are not followed."""
        if self._depth > CALL_DEPTH:
            self.graph.ended.add(f"calls are nested more than {CALL_DEPTH} deep")
        elif len(self.graph.nodes) > GRAPH_NODES:
            self.graph.ended.add(f"calls have more than {GRAPH_NODES} values")
        else:
            return False
        return True

    def _loop(self, op: ir.Operation, inputs: list[Node], names: _Names) -> None:
        """Reads a loop; a carry that an iteration does not change is the value before the loop."""
        body = op.regions[1].blocks[0]
        yielded = body.operations[-1].operands
        inside = []
        for i, argument in enumerate(body.arguments):
            kept = yielded[i] == argument
            inside.append(inputs[i] if kept else self.graph.leaf(argument))
            names[argument] = inside[i]
        own = ValueMap([*names.items(), *_arguments(op.regions[0], inside)])
        self.block(op.regions[0].blocks[0], own)
        ends = self.block(body, names)
        for result, start, before, end in zip(op.results, inputs, inside, ends, strict=True):
            if before is end:
                names[result] = start
                continue
            node = names[result] = self.graph.leaf(result, "while", [start])
            if end.name == _UPDATE and end.inputs[0] is before:
                node.element = end.inputs[1]

    def _regions(self, op: ir.Operation, name: str, inputs: list[Node], names: _Names) -> None:
        """Reads an op with regions; a reduction is a node, other regions are read separately."""
        if name == "stablehlo.reduce":
            names.update(zip(op.results, self._reduction(op, inputs), strict=True))
            return
        if name in BODIES or name in BRANCHES:
            for region in op.regions:
                for block in region.blocks:
                    for argument in block.arguments:
                        names[argument] = self.graph.leaf(argument)
                    self.block(block, names)
        self._leaves(op, inputs, names)

    def _reduction(self, op: ir.Operation, inputs: list[Node]) -> list[Node]:
        kind = (monoid(op.regions[0]) or "").replace("stablehlo.", "reduce_")
        start = REDUCTIONS.get(kind)
        if start is None or len(inputs) != 2 or inputs[1].constant != start:
            return [self.graph.leaf(result, "reduce", inputs) for result in op.results]
        dims = self.graph.dims(op.attributes["dimensions"])
        return [self.graph.make(kind, inputs[:1], op.results[0], dims)]

    def _leaves(self, op: ir.Operation, inputs: list[Node], names: _Names) -> None:
        short = op.name.partition(".")[2]
        for result in op.results:
            names[result] = self.graph.leaf(result, short, inputs)


@dataclass(eq=False, slots=True)
class _Apart:
    """A key of the attributes of an op; they are read only if the rest of two keys is equal."""

    op: ir.Operation
    number: int

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Apart) or self.number != other.number:
            return False
        return _attributes(self.op) == _attributes(other.op)


def _attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    """Returns the inherent attributes of an op, without discardable ones."""
    attributes = op.attributes
    return {name: attributes[name] for name in attributes if "." not in name}


def _arguments(region: ir.Region, nodes: Sequence[Node]) -> list[tuple[ir.Value, Node]]:
    return list(zip(region.blocks[0].arguments, nodes, strict=True))


_READERS: Final[Dispatch[Callable[[Graph, ir.Operation, list[Node]], Node]]] = Dispatch()
"""Functions that make the node of the result of an op from the nodes of its operands."""


@_READERS.on("stablehlo.constant")
def _constant(graph: Graph, op: ir.Operation, _: list[Node]) -> Node:
    result = op.results[0]
    if (number := filled_with(result)) is not None:
        return graph.constant(result, float(number))
    elements = dense_of(result)
    if elements is None:
        return graph.leaf(result, "constant")
    return graph.make("array", (), result, key=elements)


@_READERS.on("stablehlo.convert")
def _convert(graph: Graph, op: ir.Operation, inputs: list[Node]) -> Node:
    """Reads a convert; between floats it has no node."""
    node, result = inputs[0], op.results[0]
    to_float, from_float = (
        isinstance(element_type(value.type), ir.FloatType) for value in (result, node.value)
    )
    if to_float and from_float:
        graph.hand_on([result], [node])
        return node
    return graph.make("convert" if to_float else "convert_to_integer", inputs, result)


@_READERS.on("stablehlo.broadcast_in_dim")
def _broadcast(graph: Graph, op: ir.Operation, inputs: list[Node]) -> Node:
    """Reads a broadcast; one that only adds dimensions of size 1 is a reshape."""
    result, number = op.results[0], inputs[0].constant
    if number is not None:
        return graph.constant(result, number)
    dims = graph.dims(op.attributes["broadcast_dimensions"])
    if _is_reshape(inputs[0].shape, graph.shape(result.type), dims):
        return _reshape(graph, op, inputs)
    return graph.make("broadcast_in_dim", inputs, result, dims)


@lru_cache(1000)
def _is_reshape(before: Dims, after: Dims, dims: Dims) -> bool:
    """Whether a broadcast only adds dimensions of size 1."""
    kept, made = ([size for size in shape if size != 1] for shape in (before, after))
    return kept == made and list(dims) == sorted(dims)


@_READERS.on("stablehlo.reshape")
def _reshape(graph: Graph, op: ir.Operation, inputs: list[Node]) -> Node:
    return graph.make("reshape", inputs, op.results[0])


@_READERS.on("stablehlo.transpose")
def _transpose(graph: Graph, op: ir.Operation, inputs: list[Node]) -> Node:
    dims = graph.dims(op.attributes["permutation"])
    return graph.make("transpose", inputs, op.results[0], dims)


@_READERS.on("stablehlo.compare")
def _compare(graph: Graph, op: ir.Operation, inputs: list[Node]) -> Node:
    direction = stablehlo.ComparisonDirectionAttr(op.attributes["comparison_direction"])
    return graph.make(f"compare_{direction.value}", inputs, op.results[0])
