"""No table of the sources is keyed by values or ops, and none has erased values in rewrites."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

import scalify_hlo
from benchmarks.common import gpt2_step
from examples import gpt2
from scalify_hlo._compat import ir
from scalify_hlo.ir import value_map
from scalify_hlo.ir.value_map import ValueCache
from tests.py.dialect.test_structure import LOOP
from tests.py.fuzzing import programs

PACKAGE = Path(scalify_hlo.__file__).parent
OWN = "ir/value_map.py"

EDITS = {"erase", "erase_argument", "replace_all_uses_with", "replace_all_uses_except"}
RUNNERS = {OWN, "passes/pipeline.py", "passes/text.py"}
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


@cache
def sources() -> dict[str, ast.Module]:
    files = {file.relative_to(PACKAGE).as_posix(): file for file in sorted(PACKAGE.rglob("*.py"))}
    return {name: ast.parse(file.read_text()) for name, file in files.items()}


@cache
def aliases() -> dict[str, ast.expr]:
    """The types that names of the package stand for."""
    return {
        node.target.id: node.value
        for tree in sources().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and node.value is not None
        and ast.unparse(node.annotation).endswith("TypeAlias")
    }


def is_handle(type_: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a type is a handle of the bindings, or has one that counts for its hash."""
    if isinstance(type_, ast.Attribute):
        return ast.unparse(type_.value) == "ir" and type_.attr in HANDLES
    if isinstance(type_, ast.Name) and type_.id in aliases() and type_.id not in seen:
        return is_handle(aliases()[type_.id], seen | {type_.id})
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
        others = {name: raw_tables(tree) for name, tree in sources().items() if name != OWN}
        assert {name: tables for name, tables in others.items() if tables} == {}

    def test_one_module_erases_ops_and_replaces_uses(self) -> None:
        others = {name: edits(tree) for name, tree in sources().items() if name != OWN}
        assert {name: calls for name, calls in others.items() if calls} == {}

    def test_native_passes_run_through_it(self) -> None:
        running = {name for name, tree in sources().items() if runs_passes(tree)}
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


def texts() -> Iterator[tuple[str, dict[str, Any]]]:
    """Programs and options that come to most tables."""
    step = gpt2_step(gpt2.Config(layers=1, width=32, heads=2, sequence=8, vocab=64, batch=2))
    for recipe in ("bf16", "fp16", "fp16-state", "fp8", "fp8-current", "fp8-delayed", "propagate"):
        yield step, {"recipe": recipe, "signature": "scaled"}
    yield LOOP, {"recipe": "propagate", "signature": "scaled"}


class TestRewrites:
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
