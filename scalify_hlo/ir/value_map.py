"""Tables of values and ops, and the functions that erase ops and replace uses.

The bindings hash a value by its address and an op by its contents. An op that is erased leaves its
address to the next one, so that a table keyed by values finds the entry of another value; an op
that is edited is not found again. The tables here are keyed by values too, at the speed of a dict,
but hear of each erasure: `erase` drops the entries of an op's results and of all that is inside
of its regions, and `replace_uses` replaces values that were made of others. No other module keys
a table by values, ops or blocks, erases an op or replaces uses: `tests/py/ir/test_raw_tables.py`
checks it.

The tables that hear of an erasure are those of the context, held weakly. Functions see none of the
values of others, so the tables of a function hear only while that function is edited; see
`function_tables`. An erasure takes time in proportion to the values that are erased and to the
tables of one function and of the module, whatever the number of functions.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from scalify_hlo._compat import ir, passmanager
from scalify_hlo.ir.functions import is_block

T = TypeVar("T")
K = TypeVar("K")


class _Table(dict[K, T]):
    """A table that hears of erasures."""

    __slots__ = ("__weakref__",)
    __hash__ = object.__hash__  # type: ignore[assignment]


class ValueMap(_Table[ir.Value, T]):
    """A table keyed by values or blocks, without the entries of those that were erased.

    It is made while the context of its values is entered.

    Args:
        items: The first entries.
    """

    __slots__ = ()

    def __init__(self, items: Iterable[tuple[ir.Value, T]] = ()) -> None:
        super().__init__(items)
        _live(ir.Context.current).add(self)


class ValueSet(ValueMap[None]):
    """A set of values or blocks in order of insertion, without those that were erased.

    Args:
        values: The first elements.
    """

    __slots__ = ()

    def __init__(self, values: Iterable[ir.Value] = ()) -> None:
        super().__init__((value, None) for value in values)

    def add(self, value: ir.Value) -> None:
        """Adds a value."""
        self[value] = None

    def add_operands(self, op: ir.Operation) -> None:
        """Adds the operands of an op, whose list is slow to iterate over."""
        operands = op.operands
        for i in range(len(operands)):
            self[operands[i]] = None

    def add_all(self, values: Iterable[ir.Value]) -> None:
        """Adds several values."""
        self.update(dict.fromkeys(values))


class ValueCache(_Table[Any, T]):
    """A cache of what was made of values, such as a cast of one, without entries of erased ones.

    A key is a value or a tuple with values in it. An entry is dropped when a value of its key is
    erased, or when it is itself a value that is erased. If the uses of that are replaced, the
    entry is the value that they were replaced by.
    """

    __slots__ = ("_keys", "_new")

    def __init__(self) -> None:
        super().__init__()
        self._keys: dict[ir.Value, list[Any]] = {}  # by each value that has a part in an entry
        self._new: list[Any] = []  # keys that are not among those yet
        _live(ir.Context.current).add(self)

    def __setitem__(self, key: Any, made: T) -> None:
        dict.__setitem__(self, key, made)
        self._new.append(key)

    def update(self, items: Iterable[tuple[Any, T]]) -> None:  # type: ignore[override]
        """Adds several entries."""
        for key, made in items:
            self[key] = made

    def clear(self) -> None:
        """Drops all entries."""
        super().clear()
        self._keys.clear()
        self._new.clear()

    def erased(self, value: ir.Value) -> None:
        """Drops the entries that a value which is going to be erased has a part in."""
        if self._new:
            self._index()
        for key in self._keys.pop(value, ()):
            if value in self._parts(key):
                self.pop(key, None)

    def replaced(self, old: ir.Value, new: ir.Value) -> None:
        """Puts a value in the place of one whose uses were replaced by it."""
        if self._new:
            self._index()
        for key in self._keys.get(old, ()):
            made = self.get(key)
            if isinstance(made, ir.Value) and made == old:
                self[key] = new

    def _index(self) -> None:
        """Notes the keys of new entries by their values; most caches are never asked for them."""
        for key in self._new:
            for part in self._parts(key):
                self._keys.setdefault(part, []).append(key)
        self._new.clear()

    def _parts(self, key: Any) -> list[ir.Value]:
        """The values that have a part in an entry."""
        parts = (*key, self.get(key)) if isinstance(key, tuple) else (key, self.get(key))
        return [part for part in parts if isinstance(part, ir.Value)]


class OpMap(Generic[T]):
    """A table keyed by ops, which may be edited meanwhile, without those that were erased.

    An op is told from others by its first result, or by its first block if it has no results. The
    others, such as terminators, are compared with those in their block.

    Args:
        items: The first entries.
    """

    __slots__ = ("_beside", "_found")

    def __init__(self, items: Iterable[tuple[ir.Operation, T]] = ()) -> None:
        self._found: ValueMap[tuple[ir.Operation, T]] = ValueMap()
        self._beside: _Beside[T] = _Beside()
        for op, item in items:
            self[op] = item

    def __setitem__(self, op: ir.Operation, item: T) -> None:
        key = _handle(op)
        if key is not None:
            self._found[key] = op, item
            return
        others = self._beside.setdefault(op.block, [])
        others[:] = [*(other for other in others if other[0] != op), (op, item)]

    def get(self, op: ir.Operation, default: T | None = None) -> T | None:
        """The entry of an op; the default if there is none."""
        entry = self._entry(op)
        return default if entry is None else entry[1]

    def __getitem__(self, op: ir.Operation) -> T:
        entry = self._entry(op)
        if entry is None:
            raise KeyError(op.name)
        return entry[1]

    def __contains__(self, op: ir.Operation) -> bool:
        return self._entry(op) is not None

    def __len__(self) -> int:
        return len(self._found) + sum(map(len, self._beside.values()))

    def __iter__(self) -> Iterator[ir.Operation]:
        yield from (op for op, _ in self._found.values())
        yield from (op for others in self._beside.values() for op, _ in others)

    def values(self) -> list[T]:
        """The entries of all ops."""
        beside = (item for others in self._beside.values() for _, item in others)
        return [*(item for _, item in self._found.values()), *beside]

    def _entry(self, op: ir.Operation) -> tuple[ir.Operation, T] | None:
        key = _handle(op)
        if key is not None:
            return self._found.get(key)
        return next((entry for entry in self._beside.get(op.block, ()) if entry[0] == op), None)


class OpSet(OpMap[None]):
    """A set of ops, which may be edited meanwhile, without those that were erased.

    Args:
        ops: The first elements.
    """

    __slots__ = ()

    def __init__(self, ops: Iterable[ir.Operation] = ()) -> None:
        super().__init__((op, None) for op in ops)

    def add(self, op: ir.Operation) -> None:
        """Adds an op."""
        self[op] = None

    def add_all(self, ops: Iterable[ir.Operation]) -> None:
        """Adds several ops."""
        for op in ops:
            self[op] = None


class _Beside(ValueMap[list[tuple[ir.Operation, T]]]):
    """Ops without results and regions, with their entries, by the block that they are in."""

    __slots__ = ()

    def erased_op(self, op: ir.Operation) -> None:
        """Drops the entry of an op that is going to be erased."""
        others = self.get(op.block)
        if others is not None:
            others[:] = [entry for entry in others if entry[0] != op]


def _handle(op: ir.Operation) -> ir.Value | ir.Block | None:
    """The value or block by which an op is told from others; None if it has neither."""
    results = op.results
    if len(results):
        return results[0]
    regions = op.regions
    return regions[0].blocks[0] if len(regions) and len(regions[0].blocks) else None


class _References:
    """Weak references to tables, each as long as the table is there."""

    __slots__ = ("_gone", "_references")

    def __init__(self) -> None:
        self._references: dict[weakref.ref[_Table[Any, Any]], None] = {}
        self._gone = self._references.__delitem__

    def add(self, table: _Table[Any, Any]) -> None:
        self._references[weakref.ref(table, self._gone)] = None

    def filled(self) -> list[_Table[Any, Any]]:
        """The tables that have entries."""
        return [table for each in list(self._references) if (table := each())]


class _Live:
    """The tables of one context.

    Attributes:
        context: A weak reference to the context.
    """

    def __init__(self, context: ir.Context) -> None:
        self.context = weakref.ref(context)
        self._module = _References()
        self.functions: list[_References] = []

    def add(self, table: _Table[Any, Any]) -> None:
        """Makes a table hear of what is erased."""
        (self.functions[-1] if self.functions else self._module).add(table)

    def filled(self) -> list[_Table[Any, Any]]:
        """The tables that may have entries of the function that is edited."""
        found = self._module.filled()
        return found + self.functions[-1].filled() if self.functions else found

    def forget(self, values: Iterable[ir.Value]) -> None:
        """Drops the entries of values that are going to be erased."""
        tables = self.filled()
        for value in values if tables else ():
            _drop(value, tables)


def _drop(value: ir.Value, tables: Iterable[_Table[Any, Any]]) -> None:
    """Drops the entries of a value."""
    for table in tables:
        if type(table) is ValueCache:
            table.erased(value)
        else:
            table.pop(value, None)


_LIVE: weakref.WeakKeyDictionary[ir.Context, _Live] = weakref.WeakKeyDictionary()


def _live(context: ir.Context | None) -> _Live:
    """The tables of a context."""
    global _latest
    if context is None:
        raise RuntimeError("a table of values is made while the context of its values is entered")
    latest = _latest
    if latest is not None and latest.context() is context:
        return latest
    found = _LIVE.get(context)
    if found is None:
        found = _LIVE[context] = _Live(context)
    _latest = found
    return found


_latest: _Live | None = None


@contextmanager
def function_tables() -> Iterator[None]:
    """While one function is edited: tables that are made then are of values of that function.

    The tables of the functions around it do not hear of its erasures. When it is done, its tables
    are emptied.
    """
    live = _live(ir.Context.current)
    own = _References()
    live.functions.append(own)
    try:
        yield
    finally:
        live.functions.remove(own)
        for table in own.filled():
            table.clear()


def erase(op: ir.Operation | ir.OpView) -> None:
    """Erases an op, whose results nothing uses any more."""
    operation = op.operation
    live = _live(operation.context)
    results, regions = operation.results, operation.regions
    if len(regions):
        live.forget(_defined_in(operation))
    elif len(results):
        live.forget(results)
    else:
        for table in live.filled():
            if type(table) is _Beside:
                table.erased_op(operation)
    operation.erase()


def erase_unread(value: ir.Value, erasable: Callable[[ir.Operation], bool]) -> None:
    """Erases the op that makes a value if nothing reads it, and those that only this op read.

    Args:
        value: The value.
        erasable: Whether an op may be erased.
    """
    waiting = ValueSet([value])
    while waiting:
        owner = waiting.popitem()[0].owner
        if is_block(owner) or any(any(result.uses) for result in owner.results):
            continue
        if erasable(owner.operation):
            waiting.add_all(owner.operands)
            erase(owner)


class Eraser:
    """Erases many ops without regions, of one result each.

    While it is used no table is made, and those that were empty before stay empty.
    """

    def __init__(self) -> None:
        self._tables = _live(ir.Context.current).filled()

    def erase_maker(self, value: ir.Value) -> None:
        """Erases the op that makes a value, which nothing uses any more."""
        for table in self._tables:
            if type(table) is ValueCache:
                table.erased(value)
            else:
                table.pop(value, None)
        value.owner.erase()


def uses_of(value: ir.Value) -> list[tuple[ir.OpView, int]]:
    """Returns the ops that read a value, each with the number of the operand."""
    return [(use.owner, use.operand_number) for use in value.uses]


def redirect(uses: Iterable[tuple[ir.Operation | ir.OpView, int]], value: ir.Value) -> None:
    """Has ops read another value, in the places that `uses_of` returned."""
    for op, number in uses:
        op.operands[number] = value


def replace_uses(old: ir.Value, new: ir.Value) -> None:
    """Replaces all uses of a value by another."""
    old.replace_all_uses_with(new)
    for table in _live(old.context).filled():
        if type(table) is ValueCache:
            table.replaced(old, new)


def replace_op(op: ir.Operation | ir.OpView, values: Sequence[ir.Value]) -> None:
    """Replaces the results of an op by values, in order, and erases the op."""
    for old, new in zip(op.operation.results, values, strict=True):
        replace_uses(old, new)
    erase(op)


def replace_by_block(op: ir.Operation | ir.OpView, block: ir.Block) -> list[ir.Operation]:
    """Replaces an op by the ops of a block, and returns these.

    Args:
        op: The op, which is erased.
        block: The block, of which the terminator stays. Its arguments, if it has any, become the
            operands of the op.
    """
    *ops, last = (inner.operation for inner in block.operations)
    for argument, operand in zip(block.arguments, op.operation.operands, strict=False):
        replace_uses(argument, operand)
    for inner in ops:
        inner.move_before(op)
    replace_op(op, list(last.operands))
    return ops


def erase_argument(block: ir.Block, number: int) -> None:
    """Erases an argument of a block, which nothing uses any more."""
    _live(ir.Context.current).forget([block.arguments[number]])
    block.erase_argument(number)


def run_native(
    pipeline: str, module: ir.Operation, *, apart: bool = False, verify: bool = True
) -> None:
    """Runs passes of MLIR's own.

    They do not say what they erase, so all tables are emptied.

    Args:
        pipeline: The text of a pipeline.
        module: The module.
        apart: Whether it is a module of which no table has values.
        verify: Whether the module is verified after each pass.
    """
    manager = passmanager.PassManager.parse(pipeline)
    manager.enable_verifier(verify)
    manager.run(module)
    if not apart:
        for table in _live(module.context).filled():
            table.clear()


def _defined_in(op: ir.Operation) -> Iterator[ir.Value | ir.Block]:
    """The results of an op, and the blocks and values in its regions."""
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield block
            yield from block.arguments
            for inner in block.operations:
                yield from _defined_in(inner.operation)
