"""Tables of values whose statistics are taken together, and private functions that take them.

Most of the time of compilation goes into kernels. XLA compiles equal kernels once, so that all
tables have one of few types. Functions that are not inlined keep the kernels equal: XLA fuses
nothing across their calls, and so neither a value into its statistics nor into its users.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from scalify_hlo._compat import func, ir
from scalify_hlo.algebra.limits import TABLE_BASE, TABLE_ROWS
from scalify_hlo.commands.stats.encodings import Encoding
from scalify_hlo.commands.stats.measures import Measures, histogram_stride, padded, parts_of
from scalify_hlo.commands.stats.packing import concatenated
from scalify_hlo.commands.stats.values import Watched
from scalify_hlo.ir import emit
from scalify_hlo.ir.functions import fresh_name, symbol_of
from scalify_hlo.ir.value_map import erase, redirect, uses_of

_OUTLINED: Final = "mhlo.frontend_attributes"


@dataclass(frozen=True, eq=False)
class Group:
    """Values whose statistics are taken together.

    Attributes:
        members: The values, of one element type and one size.
        rows: The number of rows of their table: one for each value, and then rows of zeros.
        size: The number of elements of a row: those of a value, and then zeros.
    """

    members: Sequence[Watched]
    rows: int
    size: int

    @property
    def encoding(self) -> Encoding:
        """The encoding of the elements."""
        return self.members[0].encoding

    def added_zeros(self, one: Watched) -> tuple[int, int]:
        """Returns the number of zeros after the elements of a value: of all, and in its sample."""
        stride = histogram_stride(self.size)
        return self.size - one.size, -(-self.size // stride) + (-one.size // stride)


def groups_of(values: Sequence[Watched], elements: int) -> list[Group]:
    """Divides values into groups of one element type and one size.

    Args:
        values: The values, in program order. None is empty.
        elements: The most elements of a table of more than one row.
    """
    alike: dict[tuple[str, int], list[Watched]] = {}
    for one in values:
        alike.setdefault((one.dtype, one.size), []).append(one)
    most: dict[tuple[str, int], int] = {}
    for (dtype, size), members in alike.items():
        key = dtype, _row_size(size, elements)
        most[key] = max(most.get(key, 0), len(members))
    found = []
    for (dtype, size), members in alike.items():
        row = _row_size(size, elements)
        rows = min(max(elements // row, 1), TABLE_ROWS, most[dtype, row])
        starts = range(0, len(members), rows)
        found += [Group(members[start : start + rows], rows, row) for start in starts]
    return found


def _row_size(size: int, elements: int) -> int:
    """Returns the size of the rows of tables of values of a size."""
    row = TABLE_BASE
    while row < size:
        row *= 4
    return row if row <= elements else size


class Outlined:
    """Calls of private functions that are not inlined, each of which is built once.

    Args:
        main: The function with the calls.
    """

    def __init__(self, main: ir.OpView) -> None:
        self._main = main
        self._taken = {symbol_of(op) for op in main.operation.block.operations}
        self._known: dict[tuple[object, ...], tuple[str, list[ir.Type]]] = {}

    def kept(self, value: ir.Value, at: ir.Operation) -> ir.Value:
        """Returns a value that all users take instead of another one, from before an op on."""
        uses = uses_of(value)
        same = self._call("keep", [value], lambda values, _: values, at)[0]
        redirect(uses, same)
        return same

    def statistics(self, group: Group, values: Sequence[ir.Value]) -> list[ir.Value]:
        """Returns the statistics of the values of a group; see `Measures.of`.

        Args:
            group: The group.
            values: Its values, as the program has them now.
        """
        at, encoding = group.members[-1].at, group.encoding

        def measured(tables: list[ir.Value], last: ir.Operation) -> list[ir.Value]:
            return Measures(encoding, last).of(tables[0])

        def joined(lines: list[ir.Value], last: ir.Operation) -> list[ir.Value]:
            table = padded(concatenated(lines, 0, last), [group.rows, group.size], last)
            return self._call(f"measure_{encoding.format.name}", [table], measured, last)

        measures = Measures(encoding, at)
        lines = [measures.line(parts_of(value, at)) for value in values]
        if len(lines) < group.rows:
            lines += [emit.integers(lines[0].type, 0, at)] * (group.rows - len(lines))
        name = f"measure_{group.rows}_{group.size}_{encoding.format.name}"
        return self._call(name, lines, joined, at)

    def _call(
        self,
        name: str,
        operands: Sequence[ir.Value],
        build: Callable[[list[ir.Value], ir.Operation], list[ir.Value]],
        at: ir.Operation,
    ) -> list[ir.Value]:
        """Calls a function of a name for operands of their types before an op.

        Args:
            name: The name.
            operands: The operands.
            build: Builds the results of the function from its arguments before its last op.
            at: The op.
        """
        key = (name, *(operand.type for operand in operands))
        if key not in self._known:
            self._known[key] = self._built(name, operands, build)
        symbol, types = self._known[key]
        call = func.CallOp(types, symbol, list(operands), **emit.before(at))
        no = ir.DictAttr.get({"inlineable": ir.StringAttr.get("false")})
        call.operation.attributes[_OUTLINED] = no
        return list(call.results)

    def _built(
        self,
        name: str,
        operands: Sequence[ir.Value],
        build: Callable[[list[ir.Value], ir.Operation], list[ir.Value]],
    ) -> tuple[str, list[ir.Type]]:
        """Builds a function; returns its symbol and the types of its results."""
        symbol = fresh_name(name, self._taken)
        self._taken.add(symbol)
        location, types = self._main.location, [operand.type for operand in operands]
        with location, ir.InsertionPoint(self._main):
            function = func.FuncOp(symbol, (types, []), visibility="private")
        block = function.add_entry_block()
        end = func.ReturnOp([], loc=location, ip=ir.InsertionPoint(block)).operation
        made = build(list(block.arguments), end)
        func.ReturnOp(made, loc=location, ip=ir.InsertionPoint(end))
        erase(end)
        results = [value.type for value in made]
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, results))
        return symbol, results
