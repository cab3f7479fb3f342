"""Tables of values and ops hear of what is erased, and no other table is keyed by values or ops."""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any

import pytest

import scalify_hlo
from benchmarks.common import gpt2_step
from examples import gpt2
from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.analysis.frames import Frame, Place
from scalify_hlo.dialect import value_map
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.dialect.value_map import (
    OpMap,
    OpSet,
    ValueCache,
    ValueMap,
    ValueSet,
    erase,
    erase_argument,
    function_tables,
    replace_op,
    replace_uses,
    run_native,
)
from scalify_hlo.io.program import read_text
from scalify_hlo.rules.huge import largest_constant
from tests.py.fuzzing import programs
from tests.py.test_structure import LOOP

PACKAGE = Path(scalify_hlo.__file__).parent
ROOT = PACKAGE.parent
OWN = "dialect/value_map.py"

EDITS = {"erase", "erase_argument", "replace_all_uses_with", "replace_all_uses_except"}
RUNNERS = {OWN, "passes/pipeline.py"}
"""The files that may run passes of MLIR's own."""

KEYED = {
    "dict",
    "set",
    "frozenset",
    "defaultdict",
    "Counter",
    "OrderedDict",
    "WeakKeyDictionary",
} | {*("Mapping", "MutableMapping", "Set", "MutableSet", "AbstractSet", "Collection")}
HANDLES = {"Value", "OpResult", "BlockArgument", "Operation", "OpView", "Block", "Region"}
MAKERS = {"set", "frozenset", "dict", "Counter", "OrderedDict", "dict.fromkeys", "id", "hash"}
OF_HANDLES = {"operands", "results", "arguments", "result", "owner", "block"}
"""The attributes of ops, uses and blocks that are values, ops or blocks."""


def sources() -> dict[str, ast.Module]:
    files = {file.relative_to(PACKAGE).as_posix(): file for file in sorted(PACKAGE.rglob("*.py"))}
    return {name: ast.parse(file.read_text()) for name, file in files.items()}


SOURCES = sources()


def aliases() -> dict[str, ast.expr]:
    """The types that names of the package stand for."""
    return {
        node.target.id: node.value
        for tree in SOURCES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and node.value is not None
        and ast.unparse(node.annotation).endswith("TypeAlias")
    }


ALIASES = aliases()


def is_handle(type_: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a type is a handle of the bindings, or has one that counts for its hash."""
    if isinstance(type_, ast.Attribute):
        return ast.unparse(type_.value) == "ir" and type_.attr in HANDLES
    if isinstance(type_, ast.Name) and type_.id in ALIASES and type_.id not in seen:
        return is_handle(ALIASES[type_.id], seen | {type_.id})
    if isinstance(type_, ast.Constant) and isinstance(type_.value, str):
        return is_handle(ast.parse(type_.value, mode="eval").body, seen)
    if isinstance(type_, ast.BinOp):
        return is_handle(type_.left, seen) or is_handle(type_.right, seen)
    if isinstance(type_, ast.Subscript) and ast.unparse(type_.value) == "tuple":
        return is_handle(type_.slice, seen)
    if isinstance(type_, ast.Tuple):
        return any(is_handle(each, seen) for each in type_.elts)
    return isinstance(type_, ast.Starred) and is_handle(type_.value, seen)


def keyed_types(tree: ast.AST) -> Iterator[ast.Subscript]:
    """The types of tables keyed by handles that a module names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign | ast.arg) and isinstance(node.annotation, ast.Constant):
            yield from keyed_types(ast.parse(str(node.annotation.value), mode="eval"))
        if not isinstance(node, ast.Subscript):
            continue
        name = ast.unparse(node.value).rpartition(".")[2]
        first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
        if name in KEYED and is_handle(first):
            yield node


def has_handles(value: ast.expr, handles: set[str]) -> bool:
    """Whether an expression is a value, an op or a block, or several, as far as can be told."""
    if isinstance(value, ast.Name):
        return value.id in handles
    if isinstance(value, ast.Attribute):
        return value.attr in OF_HANDLES and not ast.unparse(value.value).endswith("type")
    if isinstance(value, ast.Subscript):
        return has_handles(value.value, handles)
    if isinstance(value, ast.Tuple | ast.List):
        return any(has_handles(each, handles) for each in value.elts)
    if isinstance(value, ast.Starred):
        return has_handles(value.value, handles)
    if isinstance(value, ast.Call) and ast.unparse(value.func) in {"list", "zip", "reversed"}:
        return bool(value.args) and has_handles(value.args[0], handles)
    if isinstance(value, ast.GeneratorExp | ast.ListComp):
        return has_handles(value.elt, handles | bound(value, handles))
    return False


def bound(node: ast.expr, handles: set[str]) -> set[str]:
    """The names that a comprehension binds to handles."""
    found: set[str] = set()
    for generator in getattr(node, "generators", ()):
        if isinstance(generator.target, ast.Name) and has_handles(generator.iter, handles | found):
            found.add(generator.target.id)
    return found


def names_of_handles(function: ast.AST) -> set[str]:
    """The names that annotations, or plain assignments, say are handles or lists of them."""
    found: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.arg) and node.annotation is not None:
            found |= {node.arg} if _is_of_handles(node.annotation) else set()
        if isinstance(node, ast.AnnAssign):
            found |= {ast.unparse(node.target)} if _is_of_handles(node.annotation) else set()
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = node.value
            plain = isinstance(value, ast.Subscript | ast.Attribute)
            if plain and has_handles(value, set()):
                found.add(node.targets[0].id)
    return found


def _is_of_handles(type_: ast.expr) -> bool:
    """Whether a type is a handle, or a list of them."""
    if isinstance(type_, ast.Subscript):
        listed = ast.unparse(type_.value) in {"list", "Sequence", "Iterable", "Iterator"}
        return listed and _is_of_handles(type_.slice)
    return not isinstance(type_, ast.Name) and is_handle(type_)


def keyed_literals(tree: ast.AST) -> Iterator[ast.expr]:
    """The displays, comprehensions and calls that make tables keyed by handles."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        handles = names_of_handles(function)
        for node in ast.walk(function):
            if isinstance(node, ast.SetComp | ast.DictComp):
                key = node.elt if isinstance(node, ast.SetComp) else node.key
                if has_handles(key, handles | bound(node, handles)):
                    yield node
            elif isinstance(node, ast.Set) and any(has_handles(e, handles) for e in node.elts):
                yield node
            elif isinstance(node, ast.Dict):
                if any(key is not None and has_handles(key, handles) for key in node.keys):
                    yield node
            elif isinstance(node, ast.Call) and node.args:
                made = ast.unparse(node.func) in MAKERS
                if made and has_handles(node.args[0], handles):
                    yield node


def cached(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    """The functions with a cache of functools that take handles."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        decorators = " ".join(map(ast.unparse, node.decorator_list)).replace("cached_property", "")
        types = [arg.annotation for arg in node.args.args if arg.annotation is not None]
        if "cache" in decorators and any(map(is_handle, types)):
            yield node


def raw_tables(tree: ast.AST) -> list[str]:
    found: list[ast.expr | ast.FunctionDef] = [
        *keyed_types(tree),
        *keyed_literals(tree),
        *cached(tree),
    ]
    return [f"{node.lineno}: {ast.unparse(node)[:80]}" for node in found]


def edits(tree: ast.AST) -> list[str]:
    return [
        f"{node.lineno}: {ast.unparse(node)[:80]}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in EDITS
    ]


def runs_passes(tree: ast.AST) -> bool:
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return "PassManager" in names


class TestSources:
    """Tables keyed by raw values or ops: 0."""

    def test_no_table_is_keyed_by_values_or_ops(self) -> None:
        others = {name: raw_tables(tree) for name, tree in SOURCES.items() if name != OWN}
        assert {name: tables for name, tables in others.items() if tables} == {}

    def test_one_module_erases_ops_and_replaces_uses(self) -> None:
        others = {name: edits(tree) for name, tree in SOURCES.items() if name != OWN}
        assert {name: calls for name, calls in others.items() if calls} == {}

    def test_native_passes_run_through_it(self) -> None:
        running = {name for name, tree in SOURCES.items() if runs_passes(tree)}
        assert running == RUNNERS

    @pytest.mark.parametrize(
        "text",
        [
            "x: dict[ir.Value, int] = {}",
            "x: dict[tuple[ir.Value, str], int] = {}",
            "x: 'set[ir.Operation]' = f()",
            "x = set[ir.Block]()",
            "def f(x: Mapping[ir.OpView, int]) -> None: ...",
            "x: defaultdict[ir.OpResult | None, int]",
            "@cache\ndef f(op: ir.Operation) -> int: ...",
            "def f(op): return {op.results[0]: 1}",
            "def f(op): return {value for value in op.operands}",
            "def f(op): return set(op.operands)",
            "def f(op): return dict.fromkeys(op.operands)",
            "def f(op): return dict(zip(op.results, range(3)))",
            "def f(values: Sequence[ir.Value]): return {v: 1 for v in values}",
            "def f(value: ir.Value): return id(value)",
            "def f(op):\n  value = op.operands[0]\n  return {value}",
        ],
    )
    def test_raw_tables_are_found(self, text: str) -> None:
        assert raw_tables(ast.parse(text))

    def test_edits_are_found(self) -> None:
        assert edits(ast.parse("op.operation.erase()"))
        assert edits(ast.parse("old.replace_all_uses_with(new)"))


PROGRAM = """func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %y : tensor<2xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<2xf32>
  %2 = stablehlo.add %1, %x : tensor<2xf32>
  return %x : tensor<2xf32>
}"""


@pytest.fixture
def block() -> Iterator[ir.Block]:
    program = read_text(PROGRAM)
    with program.module.context, ir.Location.unknown():
        main = main_function(program.module.operation)
        assert main is not None
        yield main.regions[0].blocks[0]


def added(block: ir.Block) -> ir.Operation:
    """A new op at the end of a block."""
    end = block.operations[-1].operation
    x = block.arguments[0]
    return stablehlo.add(x, x, ip=ir.InsertionPoint(end)).owner.operation


def renewed(block: ir.Block, *, raw: bool) -> Iterator[tuple[ir.Value, ir.Value]]:
    """An erased value and a new one at its address, if the allocator gives it out again."""
    for _ in range(100):
        old = added(block)
        value = old.results[0]
        yield value, value
        if raw:
            old.erase()
        else:
            erase(old)
        made = [added(block) for _ in range(3)]
        for op in made:
            if hash(op.results[0]) == hash(value):
                yield value, op.results[0]
        for op in made:
            erase(op)


class TestTables:
    def test_a_dict_finds_the_entry_of_another_value(self, block: ir.Block) -> None:
        """This is what the tables are for."""
        table: dict[Any, int] = {}
        stale = 0
        for old, new in renewed(block, raw=True):
            if new is old:
                table[old] = 1
            else:
                stale += new in table
        assert stale

    @pytest.mark.parametrize("kind", [ValueMap, ValueCache, OpMap])
    def test_a_stale_entry_is_never_found(self, kind: type[Any], block: ir.Block) -> None:
        table, met = kind(), 0
        for old, new in renewed(block, raw=False):
            key = new.owner if kind is OpMap else new
            if new is old:
                table[key] = 1
                assert table.get(key) == 1
            else:
                met += 1
                assert table.get(key) is None
        assert met, "no address was given out again"

    def test_what_is_inside_of_regions_is_forgotten(self) -> None:
        program = read_text(LOOP)
        with program.module.context:
            loop = next(
                op.operation
                for function in program.module.body.operations
                for op in function.regions[0].blocks[0].operations
                if op.operation.name == "stablehlo.while"
            )
            copy = loop.clone(ip=ir.InsertionPoint(loop)).operation
            body = copy.regions[1].blocks[0]
            inner = body.operations[0].operation
            values = ValueMap([(inner.results[0], 1), (body.arguments[0], 2), (body, 3)])
            ops = OpSet([inner, body.operations[-1].operation, loop])
            cache: ValueCache[int] = ValueCache()
            cache["made", inner.results[0]] = 1
            assert (len(values), len(ops), len(cache)) == (3, 3, 1)
            erase(copy)
            assert (len(values), len(cache), list(ops)) == (0, 0, [loop])

    def test_ops_are_found_when_they_were_edited(self, block: ir.Block) -> None:
        op, end = added(block), block.operations[-1].operation
        table = OpMap([(op, 1), (end, 2)])
        op.attributes["scalify.mark"] = ir.UnitAttr.get()
        op.operands[0] = block.arguments[1]
        assert table[block.operations[len(block.operations) - 2].operation] == 1
        assert table[block.operations[-1].operation] == 2
        assert end in table
        assert added(block) not in table
        with pytest.raises(KeyError):
            table[added(block)]

    def test_terminators_are_forgotten(self, block: ir.Block) -> None:
        end = block.operations[-1].operation
        table = OpMap([(end, 1)])
        again = end.clone(ip=ir.InsertionPoint(end)).operation
        assert again not in table
        erase(end)
        assert len(table) == 0
        assert again not in table

    def test_caches_follow_replaced_values(self, block: ir.Block) -> None:
        first, second = added(block), added(block)
        x = block.arguments[0]
        cache: ValueCache[ir.Value] = ValueCache()
        cache[x, "f16"] = first.results[0]
        cache[first.results[0], "f32"] = x
        replace_uses(first.results[0], second.results[0])
        assert cache[x, "f16"] == second.results[0]
        erase(first)
        assert list(cache) == [(x, "f16")]
        erase(second)
        assert not cache

    def test_replace_op_replaces_and_erases(self, block: ir.Block) -> None:
        op = block.operations[0].operation
        table = ValueMap([(op.results[0], 1)])
        replace_op(op, [block.arguments[0]])
        assert not table
        assert block.operations[0].operands[0] == block.arguments[0]

    def test_arguments_are_forgotten(self, block: ir.Block) -> None:
        new = block.add_argument(block.arguments[0].type, ir.Location.unknown())
        table = ValueMap([(new, 1), (block.arguments[0], 2)])
        erase_argument(block, 2)
        assert list(table.values()) == [2]

    def test_native_passes_leave_no_entry(self, block: ir.Block) -> None:
        table = ValueSet(block.arguments)
        module = block.owner.operation.parent
        run_native("builtin.module(symbol-dce)", module, apart=True)
        assert len(table) == 2
        run_native("builtin.module(symbol-dce)", module)
        assert not table

    def test_tables_of_a_function_end_with_it(self, block: ir.Block) -> None:
        outer = ValueMap([(block.arguments[0], 1)])
        with function_tables():
            around = ValueMap([(block.arguments[0], 1)])
            with function_tables():
                own = ValueMap([(added(block).results[0], 1)])
                (value,) = own
                outer[value] = around[value] = 2
                erase(value.owner)
                assert not own
                assert len(outer) == 1
                assert len(around) == 2  # which hears nothing meanwhile
                own[block.arguments[0]] = 1
            assert not own
            assert around
        assert not around
        assert outer

    def test_tables_go_when_nothing_has_them(self, block: ir.Block) -> None:
        live = value_map._live(ir.Context.current)
        before = len(live._module._references)
        tables = [ValueMap([(block.arguments[0], 1)]) for _ in range(100)]
        assert len(live._module._references) == before + 100
        del tables
        assert len(live._module._references) == before

    def test_contexts_go_when_nothing_has_them(self) -> None:
        gc.collect()
        before = len(value_map._LIVE)
        for _ in range(3):
            program = read_text(PROGRAM)
            with program.module.context:
                ValueMap()
            del program
        gc.collect()
        assert len(value_map._LIVE) <= before

    def test_no_table_is_made_outside_of_a_context(self) -> None:
        with pytest.raises(RuntimeError, match="context"):
            ValueMap()

    def test_places_are_values_in_frames(self, block: ir.Block) -> None:
        frame = Frame.of(block.owner)
        inside = frame.inside(block.operations[0].operation)
        op = added(block)
        place = frame.place(op.results[0])
        assert place is frame.place(op.results[0])
        assert inside.place(op.results[0]) is inside.place(op.results[0])
        assert inside.place(op.results[0]) != place
        assert Place(place.value, place.frame) != place
        erase(op)
        assert place.value not in frame.places


class Watch:
    """Looks for tables keyed by handles wherever one is hashed.

    It looks at what the functions can reach that are being run, when a place of the code hashes a
    handle for the second time and for the ninth: then the table has an entry.
    """

    def __init__(self) -> None:
        self.found: set[str] = set()
        self.sites: dict[tuple[CodeType, int], int] = {}

    def hashed(self, frame: FrameType | None) -> None:
        while frame is not None and "scalify_hlo" not in frame.f_code.co_filename:
            frame = frame.f_back
        if frame is None:
            return
        site = frame.f_code, frame.f_lasti
        count = self.sites[site] = self.sites.get(site, 0) + 1
        if count in (2, 9):
            self.look(frame)

    def look(self, frame: FrameType) -> None:
        where = Path(frame.f_code.co_filename)
        if where.name == "value_map.py" and frame.f_back is not None:
            self.look(frame.f_back)
            return
        for name, held in list(frame.f_locals.items()):
            self.reach(held, f"{where.name}:{frame.f_code.co_name}: {name}", 4, set())

    def reach(self, held: object, name: str, depth: int, seen: set[int]) -> None:
        if id(held) in seen or not depth:
            return
        seen.add(id(held))
        if isinstance(held, value_map._Table | OpMap):
            return
        if isinstance(held, dict | set | frozenset):
            if any(map(is_raw, list(held)[:5])):
                self.found.add(name)
            held = list(held.values())[:5] if isinstance(held, dict) else []
        if isinstance(held, list | tuple):
            for each in held[:5]:
                self.reach(each, f"{name}[...]", depth - 1, seen)
        elif type(held).__module__.startswith("scalify_hlo"):
            parts = dict(getattr(held, "__dict__", {}))
            for kind in type(held).__mro__:
                for slot in getattr(kind, "__slots__", ()):
                    parts[slot] = getattr(held, slot, None)
            for key, part in parts.items():
                self.reach(part, f"{name}.{key}", depth - 1, seen)


def is_raw(key: object) -> bool:
    """Whether the hash of a key is that of a handle, or made of it."""
    if type(key) is tuple or (isinstance(key, tuple) and not isinstance(key, Place)):
        return any(map(is_raw, key))
    return isinstance(key, ir.Value | ir.OpView | ir.Operation | ir.Block)


def hashing_classes() -> list[type]:
    waiting: list[type] = [ir.Value, ir.Operation, ir.OpView, ir.Block]
    found: dict[type, None] = {}
    while waiting:
        kind = waiting.pop()
        if kind not in found:
            found[kind] = None
            waiting += kind.__subclasses__()
    return [kind for kind in found if kind.__dict__.get("__hash__") is not None]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    made = Watch()
    for kind in hashing_classes():
        own = kind.__hash__

        def hashed(self: object, own: Any = own) -> int:
            made.hashed(sys._getframe(1))
            return int(own(self))

        monkeypatch.setattr(kind, "__hash__", hashed)
    return made


def texts() -> Iterator[tuple[str, dict[str, Any]]]:
    """Programs and options that come to most tables."""
    step = gpt2_step(gpt2.Config(layers=1, width=32, heads=2, sequence=8, vocab=64, batch=2))
    for recipe in ("bf16", "fp16", "fp16-state", "fp8", "fp8-current", "fp8-delayed", "propagate"):
        yield step, {"recipe": recipe, "signature": "scaled"}
    yield LOOP, {"recipe": "propagate", "signature": "scaled"}


class TestRewrites:
    def test_the_watch_sees_raw_tables(self, watch: Watch, block: ir.Block) -> None:
        code = compile(
            "def f(op, t):\n  for v in (*op.operands, op.results[0]): t[v] = 1", "x", "exec"
        )
        space: dict[str, Any] = {}
        exec(code.replace(co_filename="scalify_hlo/x.py"), space)
        f = space["f"]
        f.__code__ = f.__code__.replace(co_filename="scalify_hlo/x.py")
        f(block.operations[0].operation, ValueMap())
        assert not watch.found
        f(block.operations[0].operation, {})
        f(block.operations[0].operation, {})
        assert watch.found

    def test_no_table_is_keyed_by_values_or_ops(self, watch: Watch) -> None:
        for text, options in texts():
            scalify_hlo.rewrite(text, **options)
        assert len(watch.sites) > 50
        assert watch.found == set()

    @pytest.mark.slow
    def test_no_table_has_an_erased_value(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Also those of functions around the one that is edited, which do not hear of it."""
        count = 0
        for kind in (ir.Operation, ir.OpView):
            own = kind.erase

            def checked(self: Any, own: Any = own) -> None:
                nonlocal count
                live = value_map._live(self.operation.context)
                every = [live._module, *live.functions]
                tables = [table for some in every for table in some.filled()]
                for value in value_map._defined_in(self.operation):
                    count += 1
                    for table in tables:
                        assert not any(_has(key, value) for key in _keys_near(table, value))
                own(self)

            monkeypatch.setattr(kind, "erase", checked)
        for text, options in (*texts(), *fuzzed(40)):
            try:
                scalify_hlo.rewrite(text, **options)
            except scalify_hlo.ScalifyError:
                continue
        assert count > 1000


def _keys_near(table: Any, value: Any) -> list[Any]:
    """The keys of a table that may be a value or have it."""
    if isinstance(table, ValueCache):
        table._index()
        return list(table._keys.get(value, ()))
    return [value] if value in table else []


def _has(key: Any, value: Any) -> bool:
    return value in key if isinstance(key, tuple) else bool(key == value)


def fuzzed(count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    for number in range(count):
        try:
            text = programs.draw(Random(f"tables {number}")).text()
        except (NotImplementedError, TypeError, ValueError):
            continue
        yield text, {"recipe": ("fp8", "propagate", "fp16")[number % 3], "signature": "scaled"}


def test_a_search_for_masks_leaves_no_table() -> None:
    # Its frames hold themselves, and the tables of a frame hear of each erasure while it is there.
    module = read_text(
        """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %m = stablehlo.constant dense<-3.0e38> : tensor<4xf32>
          %0 = stablehlo.add %x, %m : tensor<4xf32>
          return %0 : tensor<4xf32>
        }"""
    ).module
    mask = module.body.operations[0].regions[0].blocks[0].operations[0].results[0]
    gc.disable()
    try:
        with module.context:
            before = len(value_map._live(module.context).filled())
            assert largest_constant(mask) > 120
            assert len(value_map._live(module.context).filled()) == before
    finally:
        gc.enable()
