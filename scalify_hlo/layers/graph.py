"""A program as a graph, in which each value is one node, however often it is computed.

Calls are inlined. Equal ops on equal operands are one node, so values that `jax.checkpoint`
recomputes are those of the first computation. Conversions between floats, barriers and other ops
that keep their operands have no nodes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.ir.traits import LAYOUT, short
from scalify_hlo.layers import numbers

CONSTANT: Final = "constant"
LEAF: Final = "leaf"

Dims = tuple[int, ...]


@dataclass(eq=False, slots=True)
class Trace:
    """A trace of the accesses of a search to a graph, and of the limits that it reached.

    Attributes:
        ended: The limits at which searches ended, as clauses.
        looks: The accessed nodes in order, with True for an access to users, and False for one to
            inputs; None while accesses are not traced.
    """

    ended: set[str] = field(default_factory=set)
    looks: dict[tuple[Node, bool], None] | None = None


@dataclass(eq=False, slots=True, repr=False)
class Node:
    """A value of the program.

    Attributes:
        index: The position in the graph; inputs have smaller ones.
        name: The name of the op without its dialect, ``reduce_add``, ``compare_GT`` ...
        made_of: The inputs.
        value: The first value of the program that it represents.
        type: The MLIR type.
        shape: The shape; negative for dynamic sizes.
        trace: The trace of accesses to inputs and users.
        dims: The dimensions of broadcasts, transposes and reductions.
        constant: The value of all elements of a splat constant; None for other nodes.
        used_by: The users.
        others: Further values that it represents.
        element: The element of a stack that a loop fills.
    """

    index: int
    name: str
    made_of: tuple[Node, ...]
    value: ir.Value
    type: ir.Type
    shape: Dims
    trace: Trace
    dims: Dims = ()
    constant: float | None = None
    used_by: list[Node] = field(default_factory=list)
    others: list[ir.Value] = field(default_factory=list)
    element: Node | None = None

    def __repr__(self) -> str:
        """Returns index and name, without the inputs."""
        return f"%{self.index} = {self.name}"

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The inputs."""
        if self.trace.looks is not None:
            self.trace.looks[self, False] = None
        return self.made_of

    @property
    def users(self) -> list[Node]:
        """The users."""
        if self.trace.looks is not None:
            self.trace.looks[self, True] = None
        return self.used_by

    @property
    def is_constant(self) -> bool:
        """Whether it is a splat constant."""
        return self.constant is not None

    @property
    def op(self) -> ir.Operation | None:
        """The op of the first value; None for an argument."""
        owner = self.value.owner
        return None if isinstance(owner, ir.Block) else owner.operation

    @property
    def values(self) -> list[ir.Value]:
        """The values of the program that it represents."""
        return [self.value, *self.others]

    @property
    def element_type(self) -> str:
        """The element type, as text."""
        return str(self.type.element_type)


class _Kind(NamedTuple):
    """A type of values: its number, a unique object, and its shape."""

    number: int
    type: ir.Type
    shape: Dims


class Graph:
    """The nodes of a program.

    Attributes:
        nodes: All nodes, inputs before users.
        passed: For nodes, the values that are equal to them: arguments and results of calls, and
            results of ops that keep their operand.
        trace: The trace of the nodes.
        ended: The limits at which reading the program, or a search, ended, as clauses.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.passed: dict[Node, list[ir.Value]] = {}
        self.trace = Trace()
        self.ended = self.trace.ended
        self._known: dict[Hashable, Node] = {}
        self._kinds: dict[ir.Type, _Kind] = {}
        self._dims: dict[ir.Attribute, Dims] = {}

    def shape(self, type_: ir.Type) -> Dims:
        """Returns the shape of a type; empty for types that are not ranked tensors."""
        return self._kind(type_).shape

    def _kind(self, type_: ir.Type) -> _Kind:
        kind = self._kinds.get(type_)
        if kind is None:
            known = isinstance(type_, ir.RankedTensorType)
            shape = tuple(type_.shape) if known else ()
            kind = self._kinds[type_] = _Kind(len(self._kinds), type_, shape)
        return kind

    def dims(self, attribute: ir.Attribute) -> Dims:
        """Returns the dimensions that an attribute lists."""
        dims = self._dims.get(attribute)
        if dims is None:
            dims = self._dims[attribute] = tuple(attribute)
        return dims

    def release(self) -> None:
        """Releases the nodes, whose reference cycles the garbage collector would have to find."""
        for node in self.nodes:
            node.used_by.clear()
        self.nodes.clear()

    def leaf(self, value: ir.Value, name: str = LEAF, inputs: Sequence[Node] = ()) -> Node:
        """Returns a node without semantics, for a value with given inputs."""
        return self._new(name, tuple(inputs), value, self._kind(value.type))

    def constant(self, value: ir.Value, number: float) -> Node:
        """Returns the node of a splat constant."""
        kind = self._kind(value.type)
        key = (CONSTANT, str(number), kind.number)
        node = self._known.get(key)
        if node is None:
            node = self._known[key] = self._new(CONSTANT, (), value, kind, constant=number)
        else:
            node.others.append(value)
        return node

    def hand_on(self, values: Sequence[ir.Value], nodes: Sequence[Node]) -> None:
        """Notes that values are equal to nodes of other ops."""
        for value, node in zip(values, nodes, strict=True):
            self.passed.setdefault(node, []).append(value)

    def make(
        self,
        name: str,
        inputs: Sequence[Node],
        value: ir.Value,
        dims: Dims = (),
        key: Hashable = None,
    ) -> Node:
        """Returns the simplified node of an op; the same one for the same op on the same inputs.

        Args:
            name: As in `Node`.
            inputs: The op's operands.
            value: Its result.
            dims: As in `Node`.
            key: A key that distinguishes it from other ops of the name.
        """
        kind = self._kind(value.type)
        if name in _SIMPLIFIED or (inputs and inputs[0].constant is not None):
            simpler = self._simplified(name, inputs, value, dims, kind.shape)
            if simpler is not None:
                return simpler
        ids = (name, dims, key, kind.number, *inputs)
        node = self._known.get(ids)
        if node is None:
            node = self._known[ids] = self._new(name, tuple(inputs), value, kind, dims)
        else:
            node.others.append(value)
        return node

    def _simplified(
        self, name: str, inputs: Sequence[Node], value: ir.Value, dims: Dims, shape: Dims
    ) -> Node | None:
        first = inputs[0].constant
        if first is None:
            unmoved = _unmasked if name == "bitcast_convert" else _origin
            return unmoved(inputs[0], shape)
        if name in MOVEMENT:
            return self.constant(value, first)
        if name == "select":
            chosen = inputs[1] if first else inputs[2]
            return chosen if chosen.shape == shape else None
        known = [node.constant for node in inputs]
        if None not in known and name in numbers.TABLE and not dims:
            return self.constant(value, float(numbers.evaluate(name, known)))
        return None

    def _new(
        self,
        name: str,
        inputs: tuple[Node, ...],
        value: ir.Value,
        kind: _Kind,
        dims: Dims = (),
        constant: float | None = None,
    ) -> Node:
        number = len(self.nodes)
        node = Node(number, name, inputs, value, kind.type, kind.shape, self.trace, dims, constant)
        self.nodes.append(node)
        apart = len(inputs) < 2 or (len(inputs) == 2 and inputs[0] is not inputs[1])
        for source in inputs if apart else {*inputs}:
            source.used_by.append(node)
        return node


_SIMPLIFIED: Final = frozenset({"bitcast_convert", "reshape"})
"""Ops that may keep their operand unchanged."""

MOVEMENT: Final = short(LAYOUT)
"""Ops whose result has the elements of their only operand."""


def _origin(node: Node, shape: Dims) -> Node | None:
    """Returns the value that reshapes start from, if they return to its shape."""
    while node.shape != shape:
        if node.name != "reshape":
            return None
        node = node.inputs[0]
    return node


def _unmasked(node: Node, shape: Dims) -> Node | None:
    """Returns the floats whose lower bits are cleared, to which a value is equal up to rounding."""
    free = [source for source in node.inputs if not source.is_constant]
    if node.name != "and" or len(free) != 1 or free[0].name != "bitcast_convert":
        return None
    source = free[0].inputs[0]
    return source if source.shape == shape else None
