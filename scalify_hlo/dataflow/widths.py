"""The values of a model that become narrow if a recipe sets `compute`.

An op on narrow operands becomes a narrow op. Computations that cost nothing in f32 stay in f32:
sums over many terms, values that only such sums read, and statistics. So does the loss; see
`scalify_hlo.dataflow.last_matmuls`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from enum import IntEnum
from itertools import compress, islice, takewhile, zip_longest
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import WIDTH_DEPTH
from scalify_hlo.dataflow.matmuls import WEIGHT
from scalify_hlo.dataflow.names import BACKWARD, name_of
from scalify_hlo.dataflow.reach import rank_of
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import traits
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.formats import element_type, floats
from scalify_hlo.ir.functions import callee_of
from scalify_hlo.ir.splats import is_constant
from scalify_hlo.ir.traits import BODIES, BRANCHES, CALLS, LOOP, MATMULS, RETURNS, where
from scalify_hlo.ir.value_map import OpSet, ValueMap, ValueSet


class Width(IntEnum):
    """The width of a float value; an op has the largest width of its operands."""

    FREE = 0
    """Constants and scalars, which take the width of other operands."""
    WIDE = 1
    """The format of the program: statistics, positions, small arguments."""
    NARROW = 2
    """The format of the recipe."""
    LOSS = 3
    """The format of the program, up to the next matmul: what the last matmuls' results become."""
    GRADIENT = 4
    """The format of the program, for a value and all values computed from it: gradients, if the
    format has too little range for them."""


EACH: Final = traits.GATHERS_FROM_DEVICES | {"stablehlo.optimization_barrier"}
"""Ops whose results are their operands, by number."""

NARROWED: Final = traits.ELEMENTWISE | traits.MOVES
"""The ops that compute in the format of their operands."""

_ELEMENTWISE: Final = traits.ELEMENTWISE | traits.TAKES | where("pad", "join", "write")
"""Those that compute elements, or choose them."""

_SUM: Final = "stablehlo.reduce"
_ROUNDED: Final = where(
    *("factorization", "device_sum", "scatter", "reduction", "map", "sort"),
    *("special", "composite", "custom_call"),
)
"""The ops that are not changed; their results are rounded where narrow ops read them."""

_ADD = "stablehlo.add"
_CONVERT = "stablehlo.convert"
_CALL = "func.call"
_NARROW_BITS = 16


class Widths:
    """The first walk, which finds the narrow values.

    Args:
        main: The entry function.
        gradients: Whether gradients, results of backward matmuls, are narrow too.
        quantized: The matmuls that are quantized; None if that is not known. If it is, what the
            program computes from its inputs stays wide up to the first of these: an input may be a
            position, or far from zero. Weights of a training step are no inputs.
    """

    def __init__(
        self, main: ir.OpView, *, gradients: bool = True, quantized: OpSet | None = None
    ) -> None:
        self._main, self._gradients, self._quantized = main, gradients, quantized
        self.of: ValueMap[Width] = ValueMap()
        module = main.operation.parent
        self.functions = functions_in(module)
        self._returned: dict[Hashable, list[Width]] = {}
        self._for_sums: ValueMap[bool] = ValueMap()
        self._search = LastMatmuls(self.functions)
        self._last = ValueSet()

    def enter(self, block: ir.Block) -> None:
        """Sets the widths of arguments; ops that read those of rank 2 or more may be narrow."""
        weights = self._weights(block)
        for argument in block.arguments:
            type_ = argument.type
            large = is_f32(argument) and type_.rank > 1
            large &= self._quantized is None or argument in weights
            self.of[argument] = Width.NARROW if large else Width.WIDE

    def find_loss(self, ops: Sequence[ir.Operation]) -> None:
        """Notes the last matmuls among some ops, whose results the loss reads."""
        self._last.add_all(self._search.of(ops))

    def width(self, value: ir.Value) -> Width:
        """Returns the width of a value; values that no walk has reached keep their format."""
        known = self.of.get(value)
        if known is not None:
            return known
        return Width.FREE if is_constant(value) or rank_of(value) == 0 else Width.WIDE

    def walk(self, ops: Iterable[ir.Operation]) -> None:
        """Walks ops in order."""
        for op in ops:
            name = op.name
            if name == LOOP:
                self._loop(op)
            elif name in BRANCHES:
                self._branches(op)
            elif name in BODIES:
                self._bind(op.results, self.body(op.regions[0].blocks[0], self._of(op.operands)))
            elif name == _CALL:
                self._bind(op.results, self.called(op, self._of(op.operands)))
            else:
                self._op(op, name)

    def body(self, block: ir.Block, arguments: Sequence[Width]) -> list[Width]:
        """Returns the widths of the results of a block, given those of its arguments."""
        self._bind(block.arguments, arguments)
        ops = [op.operation for op in block.operations]
        if block.owner.operation.name != LOOP and self._search.has_both(ops):
            self.find_loss(ops)
        self.walk(ops[:-1])
        return self._of(ops[-1].operands)

    def called(self, op: ir.Operation, arguments: Sequence[Width]) -> list[Width]:
        """Returns the widths of the results of a call."""
        name = callee_of(op)
        block = body_of(self.functions.get(name))
        if block is None:
            return [Width.WIDE] * len(op.results)
        key = (name, *arguments)
        if key not in self._returned:
            self._returned[key] = self.body(block, arguments)
        return self._returned[key]

    def _loop(self, op: ir.Operation) -> None:
        widths, body = self._of(op.operands), op.regions[1].blocks[0]
        while True:
            yielded = self.body(body, widths)
            grown = [
                self._carried(argument, max(a, b))
                for argument, a, b in zip(body.arguments, widths, yielded, strict=True)
            ]
            if grown == widths:
                break
            widths = grown
        self.body(op.regions[0].blocks[0], widths)
        self._bind(op.results, widths)

    def _carried(self, argument: ir.Value, width: Width) -> Width:
        """Returns the width of a carry; a sum over the iterations of a loop stays wide."""
        adds = width <= Width.NARROW and accumulates(argument, self.functions)
        return Width.WIDE if adds else width

    def _branches(self, op: ir.Operation) -> None:
        ends = [self.body(region.blocks[0], ()) for region in op.regions]
        self._bind(op.results, [max(widths) for widths in zip(*ends, strict=True)])

    def _op(self, op: ir.Operation, name: str) -> None:
        results = op.results
        if name in EACH:
            self._bind(results, self._of(op.operands))
            return
        width = self._made(op, name)
        for i in range(len(results)):
            self.of[results[i]] = width

    def _made(self, op: ir.Operation, name: str) -> Width:
        """Returns the width of the results of an op without regions."""
        if name == "stablehlo.constant":
            return Width.FREE
        operands = op.operands
        if name == _CONVERT:
            return Width.LOSS if self._reads_last(operands) else self._converted(operands[0])
        widest = max(self._of(floats(operands)), default=Width.WIDE)
        if widest == Width.GRADIENT:
            return widest
        if name not in MATMULS and (widest == Width.LOSS or self._reads_last(operands)):
            return Width.LOSS
        if name in MATMULS:
            if self._quantized is not None and op not in self._quantized and self._is_wide(op):
                return Width.WIDE
            return Width.NARROW if self._gradients or not is_backward_matmul(op) else Width.GRADIENT
        if name in NARROWED:
            wide = self.for_sums(op) or (name == _ADD and any(map(self._is_total, operands)))
            return Width.WIDE if wide else widest
        return widest if name in _ROUNDED and name != _SUM else Width.WIDE

    def _weights(self, block: ir.Block) -> ValueSet:
        """Returns the arguments that are weights of a training step, if the block has any."""
        if self._quantized is None or block != self._main.regions[0].blocks[0]:
            return ValueSet()
        marks = attributes.argument_attributes(self._main)
        roles = [mark.get(attributes.ROLE) for mark in marks]
        weights = [role is not None and attributes.texts(role) == [WEIGHT] for role in roles]
        return ValueSet(compress(block.arguments, weights))

    def _is_wide(self, op: ir.Operation) -> bool:
        """Whether all operands of a matmul are wide, but for weights."""
        present = op.attributes
        roles = attributes.texts(present[attributes.ROLES]) if attributes.ROLES in present else []
        both = zip_longest(self._of(list(op.operands)[:2]), roles)
        return all(width < Width.NARROW for width, role in both if role != WEIGHT)

    def _reads_last(self, operands: Sequence[ir.Value]) -> bool:
        return bool(self._last) and any(value in self._last for value in operands)

    def _is_total(self, value: ir.Value) -> bool:
        """Whether a value is the wide argument of a block that only adds to it."""
        if not isinstance(value.owner, ir.Block) or self.of.get(value) != Width.WIDE:
            return False
        return _total(value, self.functions) is not None

    def _converted(self, value: ir.Value) -> Width:
        """Returns the width of a convert: from integers wide, and from 16 bits or fewer narrow."""
        element = element_type(value.type)
        if not isinstance(element, ir.FloatType):
            return Width.FREE if rank_of(value) == 0 else Width.WIDE
        return self.width(value) if element.width > _NARROW_BITS else Width.NARROW

    def for_sums(self, op: ir.Operation, depth: int = 0) -> bool:
        """Whether only sums read the result of an elementwise op, which is then not rounded."""
        key = op.results[0]
        if key not in self._for_sums:
            self._for_sums[key] = (
                depth < WIDTH_DEPTH
                and op.name in _ELEMENTWISE
                and _uses_are(op, lambda user: self._sums(user, depth))
            )
        return self._for_sums[key]

    def _sums(self, op: ir.Operation, depth: int) -> bool:
        return op.name == _SUM or (len(op.results) == 1 and self.for_sums(op, depth + 1))

    def _bind(self, values: Sequence[ir.Value], widths: Sequence[Width]) -> None:
        for value, width in zip(values, widths, strict=True) if widths else ():
            self.of[value] = width

    def _of(self, values: Sequence[ir.Value]) -> list[Width]:
        return [self.width(value) for value in values]


def accumulates(argument: ir.Value, functions: Mapping[str, ir.OpView]) -> bool:
    """Whether a loop only adds to a carry."""
    return bool(_total(argument, functions) == ir.BlockArgument(argument).arg_number)


def _total(argument: ir.Value, functions: Mapping[str, ir.OpView], depth: int = 0) -> int | None:
    """Returns the result of a block that is an argument plus terms; None if there is none.

    Some versions of jax write the bodies of loops as functions.
    """
    use = _only_use(argument) if is_f32(argument) and depth < WIDTH_DEPTH else None
    if use is None:
        return None
    op, number = use.owner.operation, 0
    if op.name == _CALL:
        block = body_of(functions.get(callee_of(op)))
        inner = _total(block.arguments[use.operand_number], functions, depth + 1) if block else None
        if inner is None:
            return None
        number = inner
    elif op.name != _ADD:
        return None
    end = _only_use(op.results[number])
    return end.operand_number if end is not None and end.owner.name in RETURNS else None


def is_f32(value: ir.Value) -> bool:
    """Whether a value is a tensor of f32; other values keep their types."""
    return isinstance(element_type(value.type), ir.F32Type)


def body_of(function: ir.OpView | None) -> ir.Block | None:
    """Returns the block of a function, if it has one."""
    if function is None or not function.regions[0].blocks:
        return None
    return function.regions[0].blocks[0]


def _only_use(value: ir.Value) -> ir.OpOperand | None:
    uses = list(islice(value.uses, 2))
    return uses[0] if len(uses) == 1 else None


def _uses_are(op: ir.Operation, kind: Callable[[ir.Operation], bool]) -> bool:
    """Whether the results of an op are used, and only by ops that satisfy a predicate."""
    users = [use.owner.operation for result in op.results for use in result.uses]
    return bool(users) and all(map(kind, users))


# The last matmuls of a forward pass, from whose results the loss is computed.
#
# A model in bf16 returns logits in bf16, and its loss is computed in f32: the sum of the
# exponentials of a row has to be exact, or every gradient is off by the same factor. The values
# from the last matmuls of the forward pass to the first matmuls of the backward pass are that loss
# and its gradient. A matmul is among the last if no other matmul of the forward pass depends on it.


_RECOMPUTED = "rematted_computation"
"""The part of a name stack that tells that `jax.checkpoint` computes an op again."""


class LastMatmuls:
    """Finds the last matmuls of forward passes.

    Args:
        functions: The functions of the module by name.
    """

    def __init__(self, functions: Mapping[str, ir.OpView]) -> None:
        self._functions = functions
        self._called: dict[str, frozenset[bool]] = {}

    def of(self, ops: Sequence[ir.Operation]) -> ValueSet:
        """Returns the results of the last forward matmuls, or of the calls and loops with them.

        Args:
            ops: The ops of a block, or some of them, in program order.
        """
        found, before = ValueSet(), ValueSet()
        kinds = [self._kinds(op) for op in ops]
        forward = list(takewhile(lambda pair: True not in pair[1], zip(ops, kinds, strict=True)))
        for op, inside in reversed(forward):
            results = op.results
            leads = any(results[i] in before for i in range(len(results)))
            if inside and not leads and _RECOMPUTED not in name_of(op):
                found.add_all(results)
            if inside or leads:
                before.add_operands(op)
        return found

    def has_both(self, ops: Sequence[ir.Operation]) -> bool:
        """Whether there are forward and backward matmuls among some ops, or inside of them."""
        return len(frozenset().union(*map(self._kinds, ops))) > 1

    def _kinds(self, op: ir.Operation) -> frozenset[bool]:
        """Returns whether the matmuls in an op are backward ones; both if there are both."""
        name = op.name
        if name in MATMULS:
            return frozenset((is_backward_matmul(op),))
        if name in CALLS:
            return self._in_function(callee_of(op))
        blocks = (block for region in op.regions for block in region.blocks)
        inner = (self._kinds(each.operation) for block in blocks for each in block.operations)
        return frozenset().union(*inner)

    def _in_function(self, name: str) -> frozenset[bool]:
        if name not in self._called:
            function = self._functions.get(name)
            kinds = frozenset[bool]() if function is None else self._kinds(function.operation)
            self._called[name] = kinds
        return self._called[name]


def is_backward_matmul(op: ir.Operation) -> bool:
    """Whether a matmul is marked as one of the backward pass."""
    if attributes.PART not in op.attributes:
        return False
    return bool(ir.StringAttr(op.attributes[attributes.PART]).value == BACKWARD)
