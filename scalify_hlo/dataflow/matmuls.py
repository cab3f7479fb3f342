"""The roles of matmuls and convolutions, and of their operands.

The backward pass of ``Y = A . B`` has the matmuls ``dA = dY . B`` and ``dB = dY . A``. One operand
of such a matmul is an operand of an earlier forward matmul. The other operand, the gradient, has
the shape of the forward result, and the result has the shape of the other forward operand. Values
that are computed from a gradient are gradients too. If the program has the name stacks of jax, they
mark backward ops by ``transpose(jvp(...))``, and recomputed ones by ``rematted_computation``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scalify_hlo._compat import ir
from scalify_hlo.algebra.search import Search
from scalify_hlo.dataflow.frames import Frame, Named, Place, named
from scalify_hlo.dataflow.names import (
    BACKWARD,
    FORWARD,
    Scopes,
    joined,
    name_of,
    part_of,
    scopes_of,
)
from scalify_hlo.dataflow.origins import BY_NUMBER, MOVING, Origin, Scope, View, moved_from
from scalify_hlo.dataflow.reach import Reach, size_of
from scalify_hlo.dataflow.tables import Table, table_of
from scalify_hlo.ir.contraction import contraction_of
from scalify_hlo.ir.functions import callee_of, is_block, terminator
from scalify_hlo.ir.ragged import is_composite
from scalify_hlo.ir.scaled_dot import is_scaled_dot
from scalify_hlo.ir.traits import BODIES, BRANCHES, CALLS, INSIDES, LOOKUPS, LOOP, MATMULS
from scalify_hlo.ir.value_map import ValueSet

ACTIVATION, WEIGHT, GRADIENT = "activation", "weight", "gradient"
OTHER = "other"

_BROADCAST = "stablehlo.broadcast_in_dim"


@dataclass(eq=False, slots=True)
class Matmul:
    """One matmul or convolution, in one call of its function.

    Attributes:
        op: The op.
        name: Its name stack, with the name stacks of the calls around it.
        views: The views of its operands.
        frame: The calls and loops around it.
        part: ``forward``, ``backward``, or ``other`` if it is neither or both.
        certainty: The evidence for the part: ``names``, ``data flow``, or ``habit`` if only the
            habit of jax to write gradients first decides which operand is one.
        gradients: For each operand, whether it is a gradient.
        partner: The forward matmul of a backward one, if it was found.
    """

    op: ir.OpView
    name: str
    views: tuple[View, View]
    frame: Frame
    part: str = FORWARD
    certainty: str = "data flow"
    gradients: tuple[bool, bool] = (False, False)
    partner: Matmul | None = None

    @property
    def origins(self) -> tuple[Origin, Origin]:
        """The tensors of its operands, without data movement."""
        return self.views[0].origin, self.views[1].origin

    @property
    def scopes(self) -> Scopes:
        """The scopes of the user around it."""
        return scopes_of(self.name)

    @property
    def weight(self) -> int | None:
        """The number of the operand that is a weight: an input, or the second if both are."""
        given = [origin.argument is not None or origin.constant for origin in self.origins]
        return (1 if given[1] else 0) if any(given) else None

    @property
    def shared(self) -> int:
        """The operand of its partner that a backward matmul shares."""
        if self.partner is None:
            return 0
        kept = self.origins[1] if self.gradients[0] else self.origins[0]
        return int(kept is self.partner.origins[1])

    @property
    def is_of_weight(self) -> bool:
        """Whether the result is the gradient of a weight."""
        return self.partner is not None and self.partner.weight == 1 - self.shared


class Walk:
    """A walk over a program in execution order, into each call of its functions.

    If only data flow tells which matmuls are backward, the walk makes two readings. In the first,
    every matmul that looks backward is backward. In the second, only those of weights are that also
    get a gradient. A decoder with the transposed weights of the encoder looks backward, but has no
    gradients of weights. The second reading is chosen if no weight gets a gradient in the first, or
    if the first has more matmuls of two gradients. The evidence is ``habit`` where both differ.

    Args:
        functions: The functions of the module by name.

    Attributes:
        matmuls: The matmuls, in execution order.
        tables: The weights in which rows are looked up before the last matmul.
    """

    def __init__(self, functions: Mapping[str, ir.OpView]) -> None:
        self.matmuls: list[Matmul] = []
        self.tables: list[Table] = []
        self._main: Sequence[Named] = ()
        self._functions = functions
        self._with_matmuls: dict[str, bool] = {}
        self._strict = False

    @property
    def trains(self) -> bool:
        """Whether the program may be a training step.

        Inference has matmuls with weights, none of which is backward. An optimizer alone has no
        matmul with an argument as operand.
        """
        parts = {matmul.part for matmul in self.matmuls}
        of_model = any(m.weight is not None and m.op.results[0].type.rank for m in self.matmuls)
        return not of_model or parts != {FORWARD}

    @property
    def ended(self) -> set[str]:
        """The limits at which the walk ended, as clauses."""
        return self._frame.ended

    def release(self) -> None:
        """Drops the frames of the walk; matmuls are not followed any more."""
        self._frame.release()

    def main(
        self, function: ir.OpView, listing: Sequence[Named], gradients: Sequence[int] = ()
    ) -> None:
        """Walks the entry function.

        Args:
            function: The function.
            listing: Its ops, with their names.
            gradients: For each argument, whether it is a gradient.
        """
        self._main = listing
        first = self._read(function, gradients)
        self.matmuls = first
        if gradients or not _is_weak(first):
            return
        self._strict, tables = True, self.tables
        second = self._read(function, gradients)
        if not any(m.is_of_weight for m in first) or _conflicts(second) < _conflicts(first):
            self.matmuls, tables = second, self.tables
            for one, other in zip(first, second, strict=True):
                if one.part != other.part:
                    other.certainty = "habit"
        self.tables = tables

    def _read(self, function: ir.OpView, gradients: Sequence[int]) -> list[Matmul]:
        self._found: list[Matmul] = []
        self.tables = []
        self._forward: dict[Origin, dict[object, Matmul]] = {}
        self._frame = Frame(self._functions)
        self._any_gradient = bool(gradients)
        block, scope = function.regions[0].blocks[0], Scope()
        for i, argument in enumerate(block.arguments):
            scope.views[argument] = View(Origin(argument=i, gradient=i in gradients))
        self._ops(self._to_last_matmul(), scope)
        return self._found

    def _to_last_matmul(self) -> Sequence[Named]:
        """Yields ops up to the last matmul; the optimizer after it is as large as the model."""
        for number in range(len(self._main), 0, -1):
            name, op = self._main[number - 1]
            if self._is_matmul(name, op) or (name in INSIDES and self._has_matmuls(op)):
                return self._main[:number]
        return ()

    @staticmethod
    def _is_matmul(name: str, op: ir.Operation) -> bool:
        return name in MATMULS or is_scaled_dot(op, name)

    def _has_matmuls(self, op: ir.Operation) -> bool:
        """Whether an op is a matmul, or contains or calls one."""
        name = op.name
        if self._is_matmul(name, op):
            return True
        if name in CALLS:
            return not is_composite(op) and self._calls_matmuls(callee_of(op))
        return name in INSIDES and self._in_regions(op)

    def _in_regions(self, op: ir.Operation) -> bool:
        inner = (inner for region in op.regions for block in region.blocks for inner in block)
        return any(self._has_matmuls(op.operation) for op in inner)

    def _calls_matmuls(self, name: str) -> bool:
        if name not in self._with_matmuls:
            function = self._functions.get(name)
            found = function is not None and self._in_regions(function.operation)
            self._with_matmuls[name] = found
        return self._with_matmuls[name]

    def _block(self, block: ir.Block, scope: Scope) -> None:
        self._ops(named(block), scope)

    def _ops(self, ops: Sequence[Named], scope: Scope) -> None:
        for name, operation in ops:
            if name == _BROADCAST:
                scope.broadcast(name, operation)
            elif name in MOVING:
                scope.move(name, operation)
            elif self._is_matmul(name, operation):
                self._matmul(operation.opview, scope)
            elif name in CALLS:
                self._call(operation.opview, name, scope)
            elif name == LOOP:
                self._loop(operation.opview, scope)
            elif name in BRANCHES:
                self._branches(operation.opview, scope)
            elif name in BODIES:
                self._body(operation.opview, scope)
            else:
                self._other(name, operation, scope)

    def _other(self, name: str, op: ir.Operation, scope: Scope) -> None:
        if name in LOOKUPS:
            table = table_of(op, name, scope.of(op.operands[0]).origin)
            self.tables += [table] if table is not None else []
        if self._any_gradient:
            scope.pass_on(op)

    def _matmul(self, op: ir.OpView, scope: Scope) -> None:
        operands = op.operands
        views = scope.of(operands[0]), scope.of(operands[1])
        matmul = Matmul(op, joined(scope.names, name_of(op)), views, self._frame)
        self._classify(matmul, scope)
        self._found.append(matmul)
        for origin, is_gradient in zip(matmul.origins, matmul.gradients, strict=True):
            if is_gradient:
                origin.gradient = True
        if matmul.part == FORWARD:
            self._remember(matmul)
        else:
            self._any_gradient = True
            scope.views[op.results[0]] = scope.gradient

    def _remember(self, matmul: Matmul) -> None:
        """Notes a forward matmul by its operands; the last of those with equal keys."""
        op = matmul.op
        looks = op.operands[0].type, op.operands[1].type, op.results[0].type
        for side, origin in enumerate(matmul.origins):
            known = self._forward.setdefault(origin, {})
            known.pop((side, looks), None)
            known[side, looks] = matmul

    def _classify(self, matmul: Matmul, scope: Scope) -> None:
        """Sets the part of a matmul, and which of its operands are gradients."""
        known = tuple(origin.gradient for origin in matmul.origins)
        partner, side = self._partner(matmul)
        named = part_of(matmul.name)
        if self._strict and partner is not None and not any(known):
            confirmed = _is_confirmed(matmul, side, partner, scope)
            partner = partner if confirmed else None
        if known == (True, True):
            matmul.part, matmul.gradients = OTHER, (True, True)
        elif named == BACKWARD or (named is None and (any(known) or partner is not None)):
            self._backward(matmul, known, partner, side)
        elif any(known):
            # A forward matmul, by its name, has gradients as operands only in second derivatives.
            matmul.part, matmul.gradients = OTHER, (known[0], known[1])
        elif named is None and self._resembles(matmul):
            matmul.certainty = "habit"
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
                return  # It is recomputed for the backward pass, from forward tensors alone.
            gradient = fresh.index(True)
            matmul.certainty = "habit" if all(fresh) else matmul.certainty
        matmul.part = BACKWARD
        matmul.gradients = gradient == 0, gradient == 1

    def _is_old(self, origin: Origin) -> bool:
        """Whether a tensor was computed before the backward pass."""
        return origin.argument is not None or origin.constant or origin in self._forward

    def _partner(self, matmul: Matmul) -> tuple[Matmul | None, int]:
        """Returns the forward matmul that shares an operand, and the number of the operand here."""
        for side in (0, 1):
            for forward in reversed(self._forward.get(matmul.origins[side], {}).values()):
                if _fits(matmul, side, forward):
                    return forward, side
        return None, 0

    def _resembles(self, matmul: Matmul) -> bool:
        """Whether a matmul has the transposed weight of a forward matmul, as in a vjp."""
        return any(
            forward.weight == forward.origins.index(origin)
            and not _contract_alike(matmul, side, forward, forward.weight)
            for side, origin in enumerate(matmul.origins)
            for forward in self._forward.get(origin, {}).values()
        )

    def _call(self, op: ir.OpView, kind: str, scope: Scope) -> None:
        operation = op.operation
        block = None if is_composite(operation) else self._frame.body_of(operation, kind)
        if block is None:
            scope.pass_on(operation)
            return
        inner = Scope(joined(scope.names, name_of(op)), scope.gradient)
        inner.bind(list(block.arguments), [scope.of(value) for value in op.operands])
        self._inside(operation, block, inner)
        returned = terminator(block).operands
        scope.bind(list(op.results), [inner.of(value) for value in returned])

    def _inside(self, op: ir.Operation, block: ir.Block, scope: Scope) -> None:
        outer, self._frame = self._frame, self._frame.inside(op)
        self._block(block, scope)
        self._frame = outer

    def _body(self, op: ir.OpView, scope: Scope) -> None:
        block = op.regions[0].blocks[0]
        scope.bind(list(block.arguments), [scope.of(value) for value in op.operands])
        self._inside(op.operation, block, scope)
        returned = terminator(block).operands
        scope.bind(list(op.results), [scope.of(value) for value in returned])

    def _loop(self, op: ir.OpView, scope: Scope) -> None:
        """Visits a loop: carries that it keeps have their old roles; others may be gradients."""
        body = op.regions[1].blocks[0]
        arguments, yielded = list(body.arguments), list(terminator(body).operands)
        views = [scope.of(value) for value in op.operands]
        changing = [end != argument for argument, end in zip(arguments, yielded, strict=True)]
        updated = [False] * len(views)
        if any(view.origin.argument is not None for view in views):
            frame = self._frame.inside(op.operation)
            updated = _updated(list(map(frame.place, arguments)), list(map(frame.place, yielded)))
        for view, argument, changes, keeps in zip(views, arguments, changing, updated, strict=True):
            scope.views[argument] = _changed(view, updated=keeps) if changes else view
        self._inside(op.operation, body, scope)
        scope.bind(list(op.results), [scope.of(value) for value in yielded])

    def _branches(self, op: ir.OpView, scope: Scope) -> None:
        ends: list[list[View]] = []
        for region in op.regions:
            block = region.blocks[0]
            self._block(block, scope)
            ends.append([scope.of(value) for value in terminator(block).operands])
        for result, views in zip(op.results, zip(*ends, strict=True), strict=True):
            gradient = any(view.origin.gradient for view in views)
            same = len(set(views)) == 1
            scope.views[result] = views[0] if same else View(Origin(gradient=gradient))


def _is_weak(matmuls: Sequence[Matmul]) -> bool:
    """Whether the only evidence for backward matmuls is weak: their shapes."""
    backward = [matmul for matmul in matmuls if matmul.part != FORWARD]
    if not backward or any(matmul.certainty == "names" for matmul in backward):
        return False
    return not any(m.is_of_weight for m in backward) or bool(_conflicts(matmuls))


def _conflicts(matmuls: Sequence[Matmul]) -> int:
    """Returns the number of matmuls of two gradients, which is 0 in first derivatives."""
    return sum(matmul.gradients == (True, True) for matmul in matmuls)


def _is_confirmed(matmul: Matmul, side: int, forward: Matmul, scope: Scope) -> bool:
    """Whether the weight of a forward matmul gets a gradient if a matmul is its backward."""
    shared = int(forward.origins[1] is matmul.origins[side])
    if forward.weight != shared:
        return True
    wanted = forward.origins[1 - shared]
    gradient = matmul.op.operands[1 - side]
    return any(
        scope.of(operand).origin is wanted
        for user in _matmuls_of(gradient)
        for operand in (user.operands[0], user.operands[1])
    )


def _matmuls_of(value: ir.Value) -> list[ir.Operation]:
    """Yields the matmuls of a tensor, through data movement."""
    while not is_block(value.owner) and value.owner.name in MOVING:
        value = moved_from(value, value.owner)

    def moved(value: ir.Value) -> Iterator[ir.Value]:
        for use in value.uses:
            user, number = use.owner.operation, use.operand_number
            if user.name in BY_NUMBER or (user.name in MOVING and number == 0):
                yield user.results[number]

    users = (u.owner.operation for v in Search([value], moved, seen=ValueSet()) for u in v.uses)
    return [user for user in users if user.name in MATMULS]


def _updated(arguments: Sequence[Place], ends: Sequence[Place]) -> list[bool]:
    """Returns for each carry whether elementwise ops update it, as a step updates weights."""
    reach = Reach({place: 1 << i for i, place in enumerate(arguments)})
    return [bool(reach.of(place) >> i & 1) for i, place in enumerate(ends)]


def _changed(view: View, *, updated: bool) -> View:
    """Returns the view of a carry that a loop changes; a weight that it updates stays a weight."""
    origin = view.origin
    return View(Origin(origin.argument if updated else None, gradient=origin.gradient))


def _fits(matmul: Matmul, side: int, forward: Matmul) -> bool:
    """Whether a matmul is a backward one of `forward`, with which it shares an operand."""
    shared = forward.origins.index(matmul.origins[side])
    if forward.origins[0] is forward.origins[1]:
        shared = side
    gradient, result = size_of(matmul.op.operands[1 - side]), size_of(matmul.op.results[0])
    if gradient != size_of(forward.op.results[0]):
        return False
    other = size_of(forward.op.operands[1 - shared])
    if result != other and result != other * _batch(matmul.op):
        return False
    return not _contract_alike(matmul, side, forward, shared)


def _batch(op: ir.OpView) -> int:
    """Returns the number of per-example gradients of a weight that a matmul computes."""
    if op.operation.name != "stablehlo.dot_general":
        return 1
    shape = op.operands[0].type.shape
    return math.prod(shape[d] for d in contraction_of(op).lhs.batch)


def _contract_alike(matmul: Matmul, side: int, other: Matmul, other_side: int) -> bool:
    """Whether two matmuls contract the same dimensions of a shared operand."""
    if {matmul.op.operation.name, other.op.operation.name} != {"stablehlo.dot_general"}:
        return False
    here = matmul.views[side].in_base(contraction_of(matmul.op)[side].summed)
    there = other.views[other_side].in_base(contraction_of(other.op)[other_side].summed)
    return here == there
