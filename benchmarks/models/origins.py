"""Which value of a program each value of its rewrite stands for.

A rewrite edits ops in place, so what was written on an op is still there. Ops that it adds are of
two kinds: those that bring data to another scale, and those that take the place of an op with a
constant, into which they fold a factor. The carries of a loop in its body are values too, because
data may be brought to another scale in each turn.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from benchmarks.models.probe import PREFIX, ops_in
from scalify_hlo._compat import ir
from scalify_hlo.ir.formats import is_real
from scalify_hlo.ir.traits import LOOP
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.program.program import read_text

NUMBER = f"{PREFIX}number"

_CARRIES = f"{PREFIX}carries"
"""The number of carries that a loop has in the original."""

_CONSTANTS = frozenset({"stablehlo.constant", "stablehlo.iota"})


class Origin(NamedTuple):
    """A value of the original, all calls inlined.

    Attributes:
        number: That of its op; -1 for an argument.
        turn: How many ops of that number come before, because a function is called more than once;
            for an argument, its own number.
        result: Which result of the op it is; -1 for the first carry of a loop in its body, -2 for
            the second and so on.
    """

    number: int
    turn: int
    result: int


def numbered(text: str) -> str:
    """A program in which each op has a number and, in its location, says its name too.

    CHLO is expanded, as the first pass of a rewrite does.
    """
    program = read_text(text)
    run_passes(program.module, [NormalizePass()])
    with program.module.context:
        i64 = ir.IntegerType.get_signless(64)
        for number, op in enumerate(ops_in(program.module.operation)):
            op.attributes[NUMBER] = ir.IntegerAttr.get(i64, number)
            if op.name == LOOP:
                op.attributes[_CARRIES] = ir.IntegerAttr.get(i64, len(op.operands))
            op.location = ir.Location.name(f"{number} {op.name}", op.location)
        asm: str = program.module.operation.get_asm(enable_debug_info=True)
    return asm


class Origins:
    """The origins of the values of a function, the ops of which are noted in order.

    Args:
        main: The function, all calls inlined.
    """

    def __init__(self, main: ir.OpView) -> None:
        arguments = main.regions[0].blocks[0].arguments
        self._known = {value: Origin(-1, i, 0) for i, value in enumerate(arguments)}
        self._constant: set[ir.Value] = set()
        self._counts: Counter[int] = Counter()
        self._kept = {_number(op) for op in ops_in(main.operation)}
        self._note_carries(op for op in ops_in(main.operation) if op.name == LOOP)

    def _note_carries(self, loops: Iterable[ir.Operation]) -> None:
        """The carries of loops that have as many as in the original."""
        turns: Counter[int] = Counter()
        for loop in loops:
            number, carries = _number(loop), _integer(loop, _CARRIES)
            if number is None:
                continue
            arguments = carried(loop)
            if len(arguments) == carries:
                origins = [Origin(number, turns[number], ~i) for i in range(carries)]
                self._known.update(zip(arguments, origins, strict=True))
            turns[number] += 1

    def note(self, op: ir.Operation) -> None:
        """Finds the origins of the results of the next op."""
        number = _number(op)
        if number is None:
            number = self._replaced(op)
        if number is not None:
            turn = self._counts[number]
            self._counts[number] += 1
            self._known.update({r: Origin(number, turn, i) for i, r in enumerate(op.results)})
        elif len(op.results) == 1:
            self._follow(op)
        if op.name in _CONSTANTS or (op.operands and self._constant.issuperset(op.operands)):
            self._constant.update(op.results)

    def _replaced(self, op: ir.Operation) -> int | None:
        """The number of the op in the place of which one stands that has none."""
        location = op.location
        name = str(location.name_str) if isinstance(location, ir.NameLoc) else ""
        number, _, before = name.partition(" ")
        if before != op.name or int(number) in self._kept:
            return None
        return int(number)

    def _follow(self, op: ir.Operation) -> None:
        """The result of an added op stands for the only operand that is real and no constant."""
        values = {v for v in op.operands if is_real(v.type) and v not in self._constant}
        if len(values) == 1 and (origin := self._known.get(values.pop())):
            self._known[op.results[0]] = origin

    def of(self, value: ir.Value) -> Origin | None:
        """What a value stands for; None if that is not known."""
        return self._known.get(value)

    def is_constant(self, value: ir.Value) -> bool:
        """Whether a value is made of constants only."""
        return value in self._constant


def carried(op: ir.Operation) -> Sequence[ir.Value]:
    """The values that the body of a loop begins with; none for other ops."""
    return list(op.regions[1].blocks[0].arguments) if op.name == LOOP else []


def _number(op: ir.Operation) -> int | None:
    return _integer(op, NUMBER)


def _integer(op: ir.Operation, name: str) -> int | None:
    attributes: Mapping[str, ir.Attribute] = op.attributes
    return ir.IntegerAttr(attributes[name]).value if name in attributes else None
