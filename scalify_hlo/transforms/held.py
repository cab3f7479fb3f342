"""Residuals in one block: fewer bytes from ops of the forward pass to those of the backward pass.

Layers that are not in a loop leave their values until the backward pass reads them. As in
`transforms.residuals`, the cheapest set of values is kept, and the backward pass computes the
others again, right before it reads them. What it computes them from it reads behind a barrier, so
that compilers do not take the values of the forward pass after all. All its reads of such a value
are behind one barrier, as XLA copies a tensor that is read around it.

Where the backward pass begins is told by name stacks of jax. What is computed from arguments alone,
such as casts of weights, stays as it is: arguments are there, but to read them again takes longer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scalify_hlo._compat import ir
from scalify_hlo.algebra.search import Search
from scalify_hlo.dataflow.crossing import Crossing
from scalify_hlo.dataflow.names import BACKWARD, FORWARD, joined, name_of, part_of
from scalify_hlo.dataflow.stacks import body_of
from scalify_hlo.ir import emit
from scalify_hlo.ir.calls import CALL, functions_in
from scalify_hlo.ir.formats import is_scalar
from scalify_hlo.ir.functions import callee_of, is_block, main_function
from scalify_hlo.ir.scaled_dot import is_matmul
from scalify_hlo.ir.splats import is_constant
from scalify_hlo.ir.traits import CHEAP, DOTS, LOOP
from scalify_hlo.ir.value_map import ValueMap, ValueSet, redirect
from scalify_hlo.ir.walk import ops_in, read_by
from scalify_hlo.transforms.residuals import (
    Form,
    Kept,
    Saved,
    computed_of,
    erase_unread_ops,
    inline_in,
    is_little,
)


def cut_held(module: ir.Operation, form: Form | None = None) -> list[Saved]:
    """Replaces what the backward pass in `main` reads of the forward pass by what costs least.

    Args:
        module: A ``builtin.module``, which is edited in place.
        form: The form in which tolerant values are kept; None for their own.

    Returns:
        What each block keeps in which something is changed.
    """
    main = main_function(module)
    if main is None:
        return []
    functions = {name: f.operation for name, f in functions_in(module).items()}
    backward = _backward(functions)
    found = []
    for block in [main.regions[0].blocks[0], *map(body_of, ops_in(main, [LOOP]))]:
        calls, start = [op for op in block.operations if op.operation.name == CALL], _start(block)
        if calls and (start or any(callee_of(call) in backward for call in calls)):
            inline_in(calls, functions)
            start = _start(block)
        if start:
            found += Held(block, start, form).apply()
    return found


def _backward(functions: Mapping[str, ir.Operation]) -> set[str]:
    """Returns the functions in which a backward pass begins."""
    others = (item for item in functions.items() if item[0] != "main")
    names = [name for name, f in others if any(map(_start, f.regions[0].blocks))]
    callers: dict[str, list[str]] = {}
    for name, function in functions.items():
        for call in ops_in(function, [CALL]):
            callers.setdefault(callee_of(call), []).append(name)
    return set(Search(names, lambda name: callers.get(name, ())).to_end().found)


def _start(block: ir.Block) -> int:
    """Returns the number of the first op of the backward pass; 0 if names tell of none.

    Ops of scalars do not count: scales of gradients may be computed first of all. In the body of a
    backward loop, the layer is computed again before, as by `jax.checkpoint`.
    """
    outer = name_of(block.owner) if block.owner.name == LOOP else ""
    again = part_of(outer) == BACKWARD
    found, waits = 0, again
    for number, op in enumerate(block.operations):
        part = part_of(joined(outer, name_of(op)))
        if again and part == FORWARD and is_matmul(op.operation):
            found, waits = 0, False
        elif part == BACKWARD and not (found or waits or _is_of_scalars(op)):
            found = number
        if found and not again:
            break
    return found


def _is_of_scalars(op: ir.OpView) -> bool:
    return not len(op.operands) or all(is_scalar(result.type) for result in op.results)


class Held:
    """The values of a block that its backward pass reads.

    Args:
        block: The block.
        start: The number of the first op of the backward pass.
        form: The form in which tolerant values are kept.
    """

    def __init__(self, block: ir.Block, start: int, form: Form | None = None) -> None:
        self._block, self._crossing = block, Crossing()
        self._form = Kept(self._crossing, form)
        crossing, ops = self._crossing, [op.operation for op in block.operations]
        first, second = ops[:start], ops[start:]
        self._end = second[0]
        self._constants: set[int] = set()
        for argument in block.arguments:
            crossing.given.add(crossing.number(argument))
        for op in first:
            crossing.first(op)
            if len(op.results) == 1 and is_constant(op.results[0]):
                self._constants.add(crossing.number(op.results[0]))
            types = (result.type for result in op.results)
            if all(isinstance(type_, ir.RankedTensorType) and not type_.rank for type_ in types):
                crossing.given.update(map(crossing.number, op.results))
        crossing.given |= self._constants
        self._before = ValueSet(result for op in first for result in op.results)
        self._ops = [(op, not self._second(op)) for op in second]  # and whether it is a reader
        reads = ValueSet(v for op in second for v in read_by(op) if v in self._before)
        crossing.given.update(crossing.number(v) for v in second[-1].operands if v in self._before)
        held = {crossing.number(value) for value in reads} - crossing.given
        self._now = held - self._of_arguments()
        crossing.given |= held - self._now
        self._form.allow(first, second)
        self._kept: set[int] = set()
        self._old: ValueMap[bool] = ValueMap()  # whether a value stays as it is
        self._changed: ValueMap[int] = ValueMap()
        self._bases: set[int] = set()
        self._made: dict[int, ir.Value] = {}
        self._tied: dict[int, ir.Value] = {}
        self._passed = ValueSet()  # results of ops of the backward pass that come before one

    def _second(self, op: ir.Operation) -> bool:
        """Numbers an op of the backward pass, if it comes before the matmuls there."""
        if op.name in DOTS:
            self._crossing.need(op)
            return False
        return self._crossing.second(op)

    def _of_arguments(self) -> set[int]:
        """The numbers of what is computed from arguments alone, and constants."""
        crossing = self._crossing
        given, found = set(crossing.given), set[int]()
        for number, each in enumerate(crossing.numbers.computed):
            if not each.operands or each.value.owner.name not in CHEAP:
                continue
            if self._constants.issuperset(each.operands):
                self._constants.add(number)
                given.add(number)
            elif given.issuperset(each.operands):
                found.add(number)
                given.add(number)
        return found

    def apply(self) -> list[Saved]:
        """Edits the block, if that makes what is kept smaller; returns what it keeps if so."""
        crossing = self._crossing
        self._kept = crossing.cheapest(self._now)
        before, after = (
            sum(of(number) or 0 for number in numbers if not self._is_stack(number))
            for of, numbers in ((crossing.bytes_of, self._now), (crossing.cost_of, self._kept))
        )
        if is_little(before, after):
            return []
        readers = [op for op, reads in self._ops if reads]
        for op in readers:
            for value in ValueSet(read_by(op)):
                if not self._stays(value):
                    self._changed[value] = crossing.number(value)
        reached = Search(self._changed.values(), self._operands).to_end().found
        self._bases = self._kept.intersection(reached)
        for op, reads in self._ops:
            if reads:
                self._edit(op)
            self._passed.add_all(op.results)
        made = [v.owner.operation for v in self._made.values() if not is_block(v.owner)]
        rounded = self._form.bound(
            self._kept, [*made, *(op for op, reads in self._ops if not reads)]
        )
        erase_unread_ops(self._block)
        return [Saved(before, after, rounded)]

    def _is_stack(self, number: int) -> bool:
        """Whether a value comes out of a loop, as what it keeps of each turn does."""
        owner = self._crossing.numbers.computed[number].value.owner
        return not is_block(owner) and owner.operation.name == LOOP

    def _edit(self, op: ir.Operation) -> None:
        """Has an op of the backward pass read what is kept, or is computed again of it."""
        read = {value: self._crossing.numbers.get(value) for value in ValueSet(read_by(op))}
        changed = [
            (value, number)
            for value, number in read.items()
            if number is not None and (value in self._changed or number in self._bases)
        ]
        if not changed:
            return
        self._tie(op, [number for _, number in changed])
        for value, number in changed:
            new = self._value(number, op)
            uses = [(u.owner, u.operand_number) for u in value.uses if _is_in(u.owner, op)]
            redirect(uses, new)

    def _stays(self, value: ir.Value) -> bool:
        """Whether an op may read a value as before."""
        known = self._old.get(value)
        if known is None:
            known = self._old[value] = self._is_left(value)
        return known

    def _is_left(self, value: ir.Value) -> bool:
        number = self._crossing.numbers.get(value)
        if number is None or number in self._crossing.given:
            return True
        if value in self._before:
            return number in self._kept and number not in self._crossing.rounded
        if number in self._kept:
            return number not in self._crossing.forward
        owner = value.owner
        return is_block(owner) or all(self._stays(operand) for operand in owner.operands)

    def _tie(self, op: ir.Operation, numbers: list[int]) -> None:
        """Puts what is kept for some values behind a barrier before an op."""
        untied = (n for n in numbers if n not in self._made)
        reached = Search(untied, self._operands).to_end().found
        wanted = [n for n in reached if n in self._kept and n not in self._tied]
        if not wanted:
            return
        parts = [self._form.parts(n, self._in_forward(n), self._end) for n in wanted]
        values = [value for some in parts for value in some]
        types = [value.type for value in values]
        tied = iter(emit.op(op, "stablehlo.optimization_barrier", types, values).results)
        for number, some in zip(wanted, parts, strict=True):
            self._tied[number] = self._form.whole(number, [next(tied) for _ in some], op)

    def _operands(self, number: int) -> Sequence[int]:
        """The numbers of what a value is computed from in the backward pass."""
        if number in self._kept or number in self._crossing.given:
            return ()
        return self._crossing.numbers.computed[number].operands or ()

    def _in_forward(self, number: int) -> ir.Value:
        """Returns the value of a number in the forward pass, which may have to compute it."""
        known = self._crossing.forward
        if number not in known:
            each = self._crossing.numbers.computed[number]
            operands = [self._in_forward(operand) for operand in each.operands or ()]
            known[number] = computed_of(each, operands, self._end)
        return known[number]

    def _value(self, number: int, at: ir.Operation) -> ir.Value:
        """Returns the value of a number in the backward pass."""
        tied = self._tied.get(number)
        if tied is not None:
            return tied
        if number in self._crossing.given:
            return self._in_forward(number)
        own = self._crossing.backward.get(number)
        if own is not None and own in self._passed and self._stays(own):
            return own
        if number not in self._made:
            each = self._crossing.numbers.computed[number]
            operands = [self._value(operand, at) for operand in each.operands or ()]
            self._made[number] = computed_of(each, operands, at)
        return self._made[number]


def _is_in(op: ir.OpView, outer: ir.Operation) -> bool:
    """Whether an op is another one, or in a region of it."""
    found = op.operation
    while found.block != outer.block:
        found = found.parent.operation
    return bool(found == outer)
