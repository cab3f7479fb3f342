"""The linear layers of a program, in program order, and the backward matmuls of each.

A linear layer is a weight with all matmuls that read it in a forward pass: those of other steps of
a recurrent network, of other parts of a batch, and those that are computed again for the backward
pass. In a loop that slices its weights out of a stack, each slice is a layer. The backward matmuls
of a layer are found by data flow: one reads the weight, and the other reads the same gradient. If
that leaves several layers, the one of the same scopes counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import MOVES
from scalify_hlo.dataflow.frames import Frame, Place
from scalify_hlo.dataflow.matmuls import Matmul
from scalify_hlo.dataflow.names import BACKWARD
from scalify_hlo.dataflow.origins import MOVING, Origin, moved_from
from scalify_hlo.dataflow.reach import size_of
from scalify_hlo.ir.functions import is_block
from scalify_hlo.ir.splats import is_constant
from scalify_hlo.ir.traits import CALLS, INSIDES, LOOP, WRITES
from scalify_hlo.ir.value_map import ValueMap

_SLICE: Final = "stablehlo.dynamic_slice"


class Linear(NamedTuple):
    """A forward matmul with a weight.

    Attributes:
        matmul: The matmul, in one call of its function.
        side: The number of the operand that is the weight.
    """

    matmul: Matmul
    side: int

    @property
    def weight(self) -> Origin:
        """The weight, up to data movement."""
        return self.matmul.origins[self.side]


@dataclass(eq=False, slots=True)
class _Layer:
    """A weight and its forward matmuls.

    Attributes:
        linear: The first of its matmuls.
        size: The number of elements of the weight.
        activations: The other operands of its matmuls.
        ops: The results of its matmuls.
        paths: Its first matmul of each path of scopes.
        stack: The loop whose turns are layers of their own, and the number of these turns; None if
            the weight is the same in all turns of the loops around it.
        copies: The number of linear layers, which is more than one in such a loop.
        first: The number of its first copy among all linear layers.
        last: The number of the last copy of it, or of another layer of the same loop.
        kept: Whether all of its copies are among those that stay wide.
    """

    linear: Linear
    size: int
    activations: set[Origin] = field(default_factory=set)
    ops: list[ir.Value] = field(default_factory=list)
    paths: dict[str, Matmul] = field(default_factory=dict)
    stack: tuple[Frame, int] | None = None
    copies: int = 1
    first: int = 0
    last: int = 0
    kept: bool = False


class Outer(NamedTuple):
    """The first or the last linear layers of a program.

    Attributes:
        matmuls: Their matmuls, forward and backward.
        total: The number of linear layers of the program.
        asked: The number of layers that were asked for.
        found: The number of layers that `matmuls` are of. It is less than `asked` if turns of a
            loop, or calls of a function, share a matmul with others that are not among them.
        shared: Such a matmul; None if there is none.
    """

    matmuls: list[ir.OpView]
    total: int
    asked: int
    found: int
    shared: ir.OpView | None


def outer_layers(
    matmuls: Sequence[Matmul], linear: Iterable[Linear], share: float, *, first: bool = False
) -> Outer:
    """Returns the first or the last linear layers of a program.

    Args:
        matmuls: All matmuls of the program, in execution order.
        linear: The forward matmuls with weights that count.
        share: The share of the layers, from 0 to 1. Their number is rounded down.
        first: Whether they are counted from the start.
    """
    layers = Layers(matmuls, linear)
    every = list(layers.by_weight.values())
    for layer in every:
        matmul, side = layer.linear
        stacks = list(_stacks(matmul.op.operands[side], matmul.frame))
        layer.stack = stacks[-1] if stacks else None
        layer.copies = math.prod(turns for _, turns in stacks)
    total = _number(every)
    # 0.29 * 100 is below 29 in floating point.
    asked = min(max(math.floor(round(share * total, 6)), 0), total)
    shared = layers.keep(range(asked) if first else range(total - asked, total))
    found = sum(layer.copies for layer in every if layer.kept)
    return Outer(layers.kept() if found else [], total, asked, found, shared)


class Layers:
    """The linear layers of a program by their weights, in the order of their first use.

    Args:
        matmuls: All matmuls of the program, in execution order.
        linear: The forward matmuls with weights that count.
    """

    def __init__(self, matmuls: Sequence[Matmul], linear: Iterable[Linear]) -> None:
        self._matmuls = matmuls
        self._by_op: ValueMap[list[_Layer | None]] = ValueMap()
        self._ops: ValueMap[ir.OpView] = ValueMap()
        self._by_gradient: dict[Place, list[_Layer]] = {}
        self._by_activation: dict[Origin, list[_Layer]] = {}
        self._by_path: dict[str, list[_Layer]] = {}
        self._taken: set[tuple[_Layer, Origin]] = set()
        self.by_weight: dict[Origin, _Layer] = {}
        sides = {each.matmul: each for each in linear}
        partners = {m.partner for m in matmuls if m.part == BACKWARD}
        backward = False
        for matmul in matmuls:
            found, backward = sides.get(matmul), backward or matmul.part == BACKWARD
            # An optimizer may multiply matrices after the backward pass, which are no layers.
            known = found is not None and found.weight in self.by_weight
            if found is not None and (known or not backward or matmul in partners):
                self._add(found)
        for matmul in matmuls:
            if matmul.part == BACKWARD and (read := self._read_by(matmul)) is not None:
                self._by_gradient.setdefault(_gradient(matmul), []).append(read)

    def _add(self, linear: Linear) -> None:
        matmul, side = linear
        layer = self.by_weight.get(linear.weight)
        if layer is None:
            layer = _Layer(linear, size_of(matmul.op.operands[side]))
            self.by_weight[linear.weight] = layer
        if (path := matmul.scopes.path) not in layer.paths:
            layer.paths[path] = matmul
            self._by_path.setdefault(path, []).append(layer)
        activation = matmul.origins[1 - side]
        if activation not in layer.activations:
            layer.activations.add(activation)
            self._by_activation.setdefault(activation, []).append(layer)
        self._note(matmul, layer)
        layer.ops.append(matmul.op.results[0])

    def _note(self, matmul: Matmul, layer: _Layer | None) -> None:
        result = matmul.op.results[0]
        self._ops[result] = matmul.op
        self._by_op.setdefault(result, []).append(layer)

    def keep(self, numbers: range) -> ir.OpView | None:
        """Finds the layers of some numbers that share no matmul with others.

        Returns:
            A matmul that such a layer shares; None if there is none.
        """
        shared = None
        every = list(self.by_weight.values())
        for layer in every:
            readers = filter(None, (other for op in layer.ops for other in self._by_op[op]))
            layer.kept = all(
                other.first >= numbers.start and other.last < numbers.stop for other in readers
            )
            if layer.last >= numbers.start and layer.first < numbers.stop and not layer.kept:
                shared = self._ops[layer.ops[0]]
        return shared

    def kept(self) -> list[ir.OpView]:
        """Returns the matmuls of which all calls belong to layers that are kept wide."""
        for matmul in self._matmuls:
            if matmul.part == BACKWARD:
                # A call without a layer is not kept wide, nor are others of the same matmul.
                self._note(matmul, self._read_by(matmul) or self._updated_by(matmul))
        return [
            self._ops[result]
            for result, layers in self._by_op.items()
            if all(layer is not None and layer.kept for layer in layers)
        ]

    def forward_of(self, matmul: Matmul) -> tuple[Matmul, bool]:
        """Returns the forward matmul of a layer, and whether a matmul is for its weight's gradient.

        Args:
            matmul: A matmul of the layer. This is called for each of the program, in order.

        Returns:
            A forward matmul of the same scopes, if the layer has one; the matmul itself if its
            layer is not known.
        """
        partner, path = matmul.partner, matmul.scopes.path
        if matmul.part != BACKWARD:
            return matmul, False
        read = self._read_by(matmul)
        layer = read or self._updated_by(matmul)
        alike = partner if partner is not None and partner.scopes.path == path else None
        if layer is None or (alike is not None and path not in layer.paths):
            return partner or matmul, matmul.is_of_weight
        return layer.paths.get(path) or layer.linear.matmul, read is None

    def _read_by(self, matmul: Matmul) -> _Layer | None:
        """Returns the layer whose weight a backward matmul reads."""
        return self.by_weight.get(matmul.origins[int(matmul.gradients[0])])

    def _updated_by(self, matmul: Matmul) -> _Layer | None:
        """Returns the layer whose weight gets its gradient from a matmul; None if it is not known.

        The matmuls of queries, keys and values read one activation, so that only their gradients
        tell the matmuls for the gradients of their weights apart.
        """
        other, path = matmul.origins[int(matmul.gradients[0])], matmul.scopes.path
        found = self._by_gradient.get(_gradient(matmul), [])
        size = size_of(matmul.op.results[0])
        # Backward matmuls are in reverse order, where only the order tells them apart.
        alike = self._by_activation.get(other, [])[::-1]
        alike = [each for each in alike if each.size == size and (each, other) not in self._taken]
        # If an activation was computed again, a forward matmul need not read it.
        candidates = [each for each in found if other in each.activations] + alike + found
        if not candidates and path and matmul.partner is None:
            candidates = [each for each in self._by_path.get(path, []) if each.size == size]
        chosen = min(candidates, key=lambda each: path not in each.paths, default=None)
        if chosen is not None:
            self._taken.add((chosen, other))
        return chosen


def _number(layers: Sequence[_Layer]) -> int:
    """Numbers layers by program order, and returns the number of all.

    The layers of one loop follow each other in each of its turns.
    """
    total = 0
    for _, group in groupby(layers, key=lambda layer: layer.stack and layer.stack[0]):
        inside = list(group)
        if inside[0].stack is None:
            for layer in inside:
                layer.first = layer.last = total
                total += 1
            continue
        turns = max(layer.stack[1] for layer in inside if layer.stack is not None)
        first, total = total, total + sum(layer.copies for layer in inside)
        for layer in inside:
            layer.first, layer.last = first, total - 1
            first += layer.copies // turns
    return total


def _gradient(matmul: Matmul) -> Place:
    """Returns the gradient that a backward matmul reads, before data movement."""
    value = matmul.op.operands[0 if matmul.gradients[0] else 1]
    for _ in range(MOVES):
        owner = value.owner
        if is_block(owner) or owner.name not in MOVING or owner.name in WRITES:
            break
        value = moved_from(value, owner)
    return matmul.frame.place(value)


def _stacks(weight: ir.Value, frame: Frame) -> Iterable[tuple[Frame, int]]:
    """Yields the loops that slice a weight out of a stack, with the number of slices.

    Args:
        weight: The operand of a matmul.
        frame: The frame of the matmul.
    """
    value = weight
    for _ in range(MOVES):
        owner = value.owner
        if is_block(owner):
            places = frame.source_of_argument(value)
        elif (name := owner.name) in MOVING and name not in WRITES:
            slices = _slices(owner) if name == _SLICE else 1
            if slices > 1 and (loop := _loop_around(owner, frame)) is not None:
                yield loop, slices
            places = [frame.place(moved_from(value, owner))]
        else:
            places = frame.sources(value, owner, name) if name in INSIDES else []
        if len(places) != 1 or places[0] == frame.place(value):
            return
        value, frame = places[0]


def _slices(op: ir.Operation) -> int:
    """Returns the number of slices of its size that a slice may be; 1 if its place is constant."""
    stack, *starts = op.operands
    if all(map(is_constant, starts)) or not stack.type.has_static_shape:
        return 1
    shapes: list[list[int]] = [list(value.type.shape) for value in (stack, op.results[0])]
    whole, part = map(math.prod, shapes)
    return whole // max(part, 1)


def _loop_around(op: ir.Operation, frame: Frame) -> Frame | None:
    """Returns the innermost loop around an op, in its function or around a call of it."""
    around, parent = [], op.parent
    while parent is not None and parent.operation.name != "func.func":
        around.append(parent.operation)
        parent = parent.operation.parent
    found: Frame | None = frame
    # A region may read values of outer blocks, so that a frame need not be around the op.
    while found is not None and found.op is not None and found.op.name not in CALLS:
        if found.op in around:
            break
        found = found.outer
    while found is not None and found.op is not None and found.op.name != LOOP:
        found = found.outer
    return None if found is None or found.op is None else found
