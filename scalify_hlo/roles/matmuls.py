"""The roles of matmuls and convolutions, and of their operands.

The backward pass of ``Y = A . B`` makes ``dA = dY . B`` and ``dB = dY . A``: a matmul of one tensor
that a forward matmul before it had as an operand, and of one as large as that one's result, giving
one as large as its other operand. The new one is the gradient; all that is computed from it is
gradient too. Where jax's name stacks are there, they say what is backward, ``transpose(jvp(...))``,
and what is computed again for it, ``rematted_computation``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.roles.origins import Origin, Scope, View

MATMULS: Final = frozenset(
    {"stablehlo.convolution", "stablehlo.dot", "stablehlo.dot_general", "stablehlo.dynamic_conv"}
)

ACTIVATION, WEIGHT, GRADIENT = "activation", "weight", "gradient"
FORWARD, BACKWARD, OTHER = "forward", "backward", "other"

_LOOP = "stablehlo.while"
_BRANCHES = frozenset({"stablehlo.case", "stablehlo.if"})
_CALLS = {"func.call": "callee", "stablehlo.composite": "decomposition"}
_DEPTH = 64
"""How deep calls may nest; deeper ones are recursion, which propagation refuses."""


@dataclass(eq=False, slots=True)
class Matmul:
    """One matmul or convolution, as one call of its function makes it.

    Attributes:
        op: The op.
        name: Its name stack, with those of the calls that led to it.
        views: The tensors that its operands are.
        part: ``forward``, ``backward``, or ``other`` where it is neither or both.
        certainty: By what that is known: ``names``, ``data flow``, or ``habit`` where jax's habit
            of writing gradients first decided which operand is one.
        gradients: Which operands are gradients.
        partner: For a backward one, the forward one that it belongs to, if it was found.
    """

    op: ir.OpView
    name: str
    views: tuple[View, View]
    part: str = FORWARD
    certainty: str = "data flow"
    gradients: tuple[bool, bool] = (False, False)
    partner: Matmul | None = None

    @property
    def origins(self) -> tuple[Origin, Origin]:
        """The tensors that its operands are, wherever moved."""
        return self.views[0].origin, self.views[1].origin


class Walk:
    """Goes through a program as it runs, and through functions as they are called.

    Args:
        functions: The functions of the module by name.

    Attributes:
        matmuls: What was found, in the order in which it runs.
    """

    def __init__(self, functions: Mapping[str, ir.OpView]) -> None:
        self.matmuls: list[Matmul] = []
        self._functions = functions
        self._forward: dict[Origin, list[Matmul]] = {}
        self._depth = 0

    def main(self, function: ir.OpView, gradients: Sequence[int] = ()) -> None:
        """Walks the function that the program starts at.

        Args:
            function: The function.
            gradients: Which of its arguments are gradients.
        """
        block, scope = function.regions[0].blocks[0], Scope()
        for i, argument in enumerate(block.arguments):
            scope.views[argument] = View(Origin(argument=i, gradient=i in gradients))
        self._block(block, scope)

    def _block(self, block: ir.Block, scope: Scope) -> None:
        for op, _ in pairwise(block.operations):
            operation = op.operation
            name = operation.name
            if name in MATMULS:
                self._matmul(op, scope)
            elif name in _CALLS:
                self._call(op, name, scope)
            elif name == _LOOP:
                self._loop(op, scope)
            elif name in _BRANCHES:
                self._branches(op, scope)
            else:
                scope.pass_through(name, operation)

    def _matmul(self, op: ir.OpView, scope: Scope) -> None:
        operands = list(op.operands)[:2]
        views = scope.of(operands[0]), scope.of(operands[1])
        matmul = Matmul(op, _joined(scope.names, _name(op)), views)
        self._classify(matmul)
        self.matmuls.append(matmul)
        for origin, is_gradient in zip(matmul.origins, matmul.gradients, strict=True):
            if is_gradient:
                origin.gradient = True
        if matmul.part == FORWARD:
            for origin in matmul.origins:
                self._forward.setdefault(origin, []).append(matmul)
        else:
            scope.views[op.results[0]] = View(Origin(gradient=True))

    def _classify(self, matmul: Matmul) -> None:
        """Says which part a matmul belongs to, and which of its operands are gradients."""
        known = tuple(origin.gradient for origin in matmul.origins)
        partner, side = self._partner(matmul)
        named = _by_name(matmul.name)
        if known == (True, True):
            matmul.part, matmul.gradients = OTHER, (True, True)
        elif named == BACKWARD or (named is None and (any(known) or partner is not None)):
            self._backward(matmul, known, partner, side)
        elif any(known):
            # What names call forward can't take gradients, unless it is a second derivative.
            matmul.part, matmul.gradients = OTHER, (known[0], known[1])
        if named is not None:
            matmul.certainty = "names" if matmul.certainty == "data flow" else matmul.certainty

    def _backward(
        self, matmul: Matmul, known: tuple[bool, ...], partner: Matmul | None, side: int
    ) -> None:
        matmul.partner = partner
        if any(known):
            gradient = known.index(True)
        elif partner is not None:
            gradient = 1 - side
        else:
            fresh = [not self._is_old(origin) for origin in matmul.origins]
            if not any(fresh):
                return  # computed again for the backward pass: of forward tensors alone
            gradient = fresh.index(True)
            matmul.certainty = "habit" if all(fresh) else matmul.certainty
        matmul.part = BACKWARD
        matmul.gradients = gradient == 0, gradient == 1

    def _is_old(self, origin: Origin) -> bool:
        """Whether a tensor was there before the backward pass."""
        return origin.argument is not None or origin.constant or origin in self._forward

    def _partner(self, matmul: Matmul) -> tuple[Matmul | None, int]:
        """The forward matmul that has an operand in common, and which operand that is here."""
        for side in (0, 1):
            for forward in reversed(self._forward.get(matmul.origins[side], ())):
                if _fits(matmul, side, forward):
                    return forward, side
        return None, 0

    def _call(self, op: ir.OpView, kind: str, scope: Scope) -> None:
        function = self._functions.get(op.attributes[_CALLS[kind]].value)
        if function is None or not function.regions[0].blocks or self._depth > _DEPTH:
            scope.pass_through(kind, op.operation)
            return
        block = function.regions[0].blocks[0]
        inner = Scope(_joined(scope.names, _name(op)))
        inner.bind(list(block.arguments), [scope.of(value) for value in op.operands])
        self._depth += 1
        self._block(block, inner)
        self._depth -= 1
        returned = list(block.operations[-1].operands)
        scope.bind(list(op.results), [inner.of(value) for value in returned])

    def _loop(self, op: ir.OpView, scope: Scope) -> None:
        """What a loop does not change is what it was; the rest are gradients if they start so."""
        body = op.regions[1].blocks[0]
        inits, arguments = list(op.operands), list(body.arguments)
        yielded = list(body.operations[-1].operands)
        for init, argument, end in zip(inits, arguments, yielded, strict=True):
            view = scope.of(init)
            scope.views[argument] = view if end == argument else _changed(view)
        self._block(body, scope)
        scope.bind(list(op.results), [scope.of(value) for value in yielded])

    def _branches(self, op: ir.OpView, scope: Scope) -> None:
        ends: list[list[View]] = []
        for region in op.regions:
            block = region.blocks[0]
            self._block(block, scope)
            ends.append([scope.of(value) for value in block.operations[-1].operands])
        for result, views in zip(op.results, zip(*ends, strict=True), strict=True):
            gradient = any(view.origin.gradient for view in views)
            same = len(set(views)) == 1
            scope.views[result] = views[0] if same else View(Origin(gradient=gradient))


def _changed(view: View) -> View:
    """What a loop makes of a value from turn to turn. A stack stays a stack."""
    return View(Origin(gradient=view.origin.gradient))


def _fits(matmul: Matmul, side: int, forward: Matmul) -> bool:
    """Whether a matmul is a backward one of `forward`, with which it has an operand in common."""
    shared = forward.origins.index(matmul.origins[side])
    if forward.origins[0] is forward.origins[1]:
        shared = side
    gradient, result = _size(matmul.op.operands[1 - side]), _size(matmul.op.results[0])
    if gradient != _size(forward.op.results[0]):
        return False
    if result != _size(forward.op.operands[1 - shared]):
        return False
    return not _contract_alike(matmul, side, forward, shared)


def _contract_alike(matmul: Matmul, side: int, other: Matmul, other_side: int) -> bool:
    """Whether two matmuls sum over the same dimensions of an operand that they share."""
    if {matmul.op.operation.name, other.op.operation.name} != {"stablehlo.dot_general"}:
        return False
    here = matmul.views[side].in_base(contracted(matmul.op)[side])
    there = other.views[other_side].in_base(contracted(other.op)[other_side])
    return here == there


def contracted(op: ir.OpView) -> tuple[list[int], list[int]]:
    """The dimensions of both operands that a dot_general sums over."""
    from scalify_hlo._compat import stablehlo

    numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    return list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)


def _size(value: ir.Value) -> int:
    type_ = value.type
    return math.prod(type_.shape) if type_.has_static_shape else -1


def _joined(outer: str, inner: str) -> str:
    return f"{outer}/{inner}" if outer and inner else outer or inner


def _name(op: ir.OpView) -> str:
    location = op.location
    return str(location.name_str) if isinstance(location, ir.NameLoc) else ""


def _by_name(name: str) -> str | None:
    """The part of the program that a name stack tells; None if it tells none."""
    if "transpose(" in name:
        return FORWARD if "rematted_computation" in name else BACKWARD
    return FORWARD if "jvp(" in name else None
