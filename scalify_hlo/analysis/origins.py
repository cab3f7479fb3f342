"""Origins: which values are one tensor, moved about.

A tensor that is reshaped, transposed, sliced or stacked is still the same tensor as far as its role
goes. Each such family shares one `Origin`. That is what tells a backward matmul from a forward one:
it is made of what a forward one was made of, and of one tensor more, the gradient. A `View` is an
origin in one order of dimensions.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.dialect import traits
from scalify_hlo.dialect.value_map import ValueMap

_SAME = traits.COPIES | traits.ROUNDS
"""Each result is the operand of its number, dimensions and all."""

_MOVED = (
    (traits.BROADCASTS - {"stablehlo.dynamic_broadcast_in_dim"})
    | traits.EXCHANGES
    | traits.RESHAPES
    | {"stablehlo.pad", "stablehlo.reverse"}
)
"""The result is the operand, in other dimensions."""

_SLICES = traits.SLICES
"""The result is a part of the operand; the same part is the same tensor each time."""

_UPDATE = "stablehlo.dynamic_update_slice"
_TRANSPOSE = "stablehlo.transpose"
MOVING: Final = _SAME | _MOVED | _SLICES | {_UPDATE, _TRANSPOSE}
"""The ops that move tensors about."""


@dataclass(eq=False, slots=True)
class Origin:
    """A tensor, wherever it is moved.

    Attributes:
        argument: The number of the argument of ``main`` that it is, or is a part of.
        constant: Whether the program has it in itself.
        gradient: Whether it depends on a gradient.
        element: For a stack that a loop fills: what it puts in.
        parts: What was cut out of it, by where.
    """

    argument: int | None = None
    constant: bool = False
    gradient: bool = False
    element: View | None = None
    parts: dict[Hashable, View] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class View:
    """A tensor in one order of dimensions.

    Attributes:
        origin: The tensor.
        base: The view that it is a transposition of.
        order: Which dimension of the base each of its dimensions is; None if they are the same.
        moved: Views that were made of it, by how.
    """

    origin: Origin
    base: View | None = None
    order: tuple[int, ...] | None = None
    moved: dict[Hashable, View] = field(default_factory=dict)

    def transposed(self, order: Sequence[int]) -> View:
        """The view with other dimensions; the same one each time."""
        base = self.base or self
        composed = tuple(order if self.order is None else (self.order[d] for d in order))
        if composed == tuple(range(len(composed))):
            return base
        if composed not in base.moved:
            base.moved[composed] = View(self.origin, base, composed)
        return base.moved[composed]

    def reshaped(self, how: Hashable) -> View:
        """The view in other dimensions that have nothing to do with those it had."""
        if how not in self.moved:
            self.moved[how] = View(self.origin)
        return self.moved[how]

    def part(self, where: Hashable, *, fixed: bool) -> View:
        """The view of a part; the same one each time.

        Args:
            where: Which part, as far as the program says it.
            fixed: Whether it says it in full. What a loop takes from a stack, turn by turn, is
                what another put there.
        """
        origin = self.origin
        if not fixed and origin.element is not None:
            return origin.element
        if where not in origin.parts:
            part = Origin(origin.argument, origin.constant, origin.gradient)
            origin.parts[where] = View(part)
        return origin.parts[where]

    def in_base(self, dims: Sequence[int]) -> tuple[View, list[int]]:
        """Dimensions of the view as those of its base."""
        order = self.order
        return self.base or self, sorted(dims if order is None else (order[d] for d in dims))


@dataclass(slots=True)
class Scope:
    """The values of one function, as one call of it sees them.

    Attributes:
        names: The names of the calls that led here, from the outside in.
        gradient: What all gradients are that ordinary ops and backward matmuls make.
        views: What is known of values.
    """

    names: str = ""
    gradient: View = field(default_factory=lambda: View(Origin(gradient=True)))
    views: ValueMap[View] = field(default_factory=ValueMap)

    def of(self, value: ir.Value) -> View:
        """The view that a value is; one that is not there yet, but moved, is found."""
        view = self.views.get(value)
        if view is None:
            owner = value.owner
            name = "" if isinstance(owner, ir.Block) else owner.name
            if name in MOVING:
                self.move(name, owner)
                return self.views[value]
            view = self.views[value] = View(Origin(constant=name == "stablehlo.constant"))
        return view

    def bind(self, values: Sequence[ir.Value], views: Sequence[View]) -> None:
        """Says what several values are."""
        self.views.update(zip(values, views, strict=True))

    def pass_on(self, op: ir.Operation) -> None:
        """Says that what an ordinary op makes of gradients is one."""
        operands, views = op.operands, self.views
        for i in range(len(operands)):
            view = views.get(operands[i])
            if view is not None and view.origin.gradient:
                results = op.results
                for j in range(len(results)):
                    views[results[j]] = self.gradient
                return

    def move(self, name: str, op: ir.Operation) -> None:
        """Says what the results of one of `MOVING` are."""
        if name not in _SAME:
            self.views[op.results[0]] = self._moved(name, op)
            return
        operands, results = op.operands, op.results
        for i in range(len(operands)):
            self.views[results[i]] = self.of(operands[i])

    def broadcast(self, name: str, op: ir.Operation) -> None:
        """As `move`, of a broadcast; that of a constant is found when it is asked for."""
        source = op.operands[0]
        view = self.views.get(source)
        if view is None:
            if is_constant(source):
                return
            view = self.of(source)
        result = op.result
        self.views[result] = view.reshaped((name, result.type))

    def _moved(self, name: str, op: ir.Operation) -> View:
        operands = op.operands
        view = self.of(operands[0])
        if name == _TRANSPOSE:
            return view.transposed(list(op.attributes["permutation"]))
        if name == _UPDATE:
            element = self.of(operands[1])
            return View(Origin(gradient=element.origin.gradient, element=element))
        if name in _SLICES:
            starts = [_constant(operands[i]) for i in range(1, len(operands))]
            bounds = tuple(op.attributes[key] for key in _BOUNDS if key in op.attributes)
            return view.part((bounds, *starts), fixed=all(s is not None for s in starts))
        return view.reshaped((name, op.results[0].type))


_BOUNDS = ("start_indices", "limit_indices", "strides", "slice_sizes")


def is_constant(value: ir.Value) -> bool:
    """Whether the program has a value in itself."""
    owner = value.owner
    return not isinstance(owner, ir.Block) and owner.name == "stablehlo.constant"


def _constant(value: ir.Value) -> ir.Attribute | None:
    return value.owner.attributes["value"] if is_constant(value) else None
