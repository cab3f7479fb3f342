"""Origins: values that are one tensor, up to data movement.

A tensor that is reshaped, transposed, sliced or stacked keeps its role. All such values share one
`Origin`. Origins distinguish backward matmuls from forward ones: a backward matmul has one operand
of a forward matmul, and another one, the gradient. A `View` is an origin in one order of
dimensions.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.ir import traits
from scalify_hlo.ir.functions import is_block
from scalify_hlo.ir.splats import dense_of, is_constant
from scalify_hlo.ir.traits import where
from scalify_hlo.ir.value_map import ValueMap

_SAME = where("copy", "round")
"""Ops whose results are their operands by number, with the same dimensions."""

_UPDATE = "stablehlo.dynamic_update_slice"
_TRANSPOSE = "stablehlo.transpose"
MOVING: Final = where(
    *("copy", "round", "reshape", "transpose", "reverse", "slice", "write"),
    *("gather", "exchange"),
) | where("broadcast", "pad", dynamic=False)
"""The ops that move tensors."""

BY_NUMBER: Final = where("copy", "gather", "exchange")
"""Those that have a result for each operand."""


def moved_from(value: ir.Value, owner: ir.Operation) -> ir.Value:
    """Returns the operand of an op of `MOVING` that a result is made of."""
    return owner.operands[ir.OpResult(value).result_number if owner.name in BY_NUMBER else 0]


@dataclass(eq=False, slots=True)
class Origin:
    """A tensor, up to data movement.

    Attributes:
        argument: The number of the argument of ``main`` that it is, or is a part of.
        constant: Whether it is a constant.
        gradient: Whether it depends on a gradient.
        element: The element of a stack that a loop fills.
        parts: The parts that were sliced out of it, by place.
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
        base: The view of which it is a transpose.
        order: The dimension of the base for each of its dimensions; None if they are equal.
        moved: The views that were made from it, by the op.
    """

    origin: Origin
    base: View | None = None
    order: tuple[int, ...] | None = None
    moved: dict[Hashable, View] = field(default_factory=dict)

    def transposed(self, order: Sequence[int]) -> View:
        """Returns the view with other dimensions; the same one each time."""
        base = self.base or self
        composed = tuple(order if self.order is None else (self.order[d] for d in order))
        if composed == tuple(range(len(composed))):
            return base
        if composed not in base.moved:
            base.moved[composed] = View(self.origin, base, composed)
        return base.moved[composed]

    def reshaped(self, how: Hashable) -> View:
        """Returns the view in new dimensions, which do not correspond to its own."""
        if how not in self.moved:
            self.moved[how] = View(self.origin)
        return self.moved[how]

    def part(self, where: Hashable, *, fixed: bool) -> View:
        """Returns the view of a part; the same one each time.

        Args:
            where: The place of the part, as far as it is static.
            fixed: Whether the place is static. A loop may read from a stack, in each iteration, the
                element that another loop wrote.
        """
        origin = self.origin
        if not fixed and origin.element is not None:
            return origin.element
        if where not in origin.parts:
            part = Origin(origin.argument, origin.constant, origin.gradient)
            origin.parts[where] = View(part)
        return origin.parts[where]

    def in_base(self, dims: Sequence[int]) -> tuple[View, list[int]]:
        """Returns dimensions of the view as dimensions of its base."""
        order = self.order
        return self.base or self, sorted(dims if order is None else (order[d] for d in dims))


@dataclass(slots=True)
class Scope:
    """The values of one function in one call.

    Attributes:
        names: The names of the calls around it, from the outside in.
        gradient: The view of all gradients that ordinary ops and backward matmuls make.
        views: The views of values.
    """

    names: str = ""
    gradient: View = field(default_factory=lambda: View(Origin(gradient=True)))
    views: ValueMap[View] = field(default_factory=ValueMap)

    def of(self, value: ir.Value) -> View:
        """Returns the view of a value, computed through data movement if needed."""
        view = self.views.get(value)
        if view is None:
            owner = value.owner
            name = "" if is_block(owner) else owner.name
            if name in MOVING:
                self.move(name, owner)
                return self.views[value]
            view = self.views[value] = View(Origin(constant=name == "stablehlo.constant"))
        return view

    def bind(self, values: Sequence[ir.Value], views: Sequence[View]) -> None:
        """Sets the views of several values."""
        self.views.update(zip(values, views, strict=True))

    def pass_on(self, op: ir.Operation) -> None:
        """Marks the result of an op on gradients as a gradient."""
        operands, views = op.operands, self.views
        for i in range(len(operands)):
            view = views.get(operands[i])
            if view is not None and view.origin.gradient:
                results = op.results
                for j in range(len(results)):
                    views[results[j]] = self.gradient
                return

    def move(self, name: str, op: ir.Operation) -> None:
        """Sets the views of the results of an op in `MOVING`."""
        if name not in _SAME:
            self.views[op.results[0]] = self._moved(name, op)
            return
        operands, results = op.operands, op.results
        for i in range(len(operands)):
            self.views[results[i]] = self.of(operands[i])

    def broadcast(self, name: str, op: ir.Operation) -> None:
        """Sets the view of a broadcast; that of a constant is computed when it is needed."""
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
        if name in traits.SLICES:
            starts = [dense_of(operands[i]) for i in range(1, len(operands))]
            bounds = tuple(op.attributes[key] for key in _BOUNDS if key in op.attributes)
            return view.part((bounds, *starts), fixed=all(s is not None for s in starts))
        return view.reshaped((name, op.results[0].type))


_BOUNDS = ("start_indices", "limit_indices", "strides", "slice_sizes")
