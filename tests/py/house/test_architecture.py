"""Imports run one way, jax is imported late, and private names stand in one place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from scalify_hlo.passes.base import Pass
from scalify_hlo.passes.text import PASSES

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "scalify_hlo"
FILES = sorted(PACKAGE.rglob("*.py"))
EVERY_FILE = pytest.mark.parametrize(
    "file", FILES, ids=lambda file: file.relative_to(PACKAGE).as_posix()
)

LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"_compat", "algebra", "deep", "errors", "results", "storage", "version"}),
    frozenset({"ir"}),
    frozenset({"dialect", "profile", "recipes", "targets"}),
    frozenset({"dataflow"}),
    frozenset({"layers"}),
    frozenset({"rules"}),
    frozenset({"report"}),
    frozenset({"transforms"}),
    frozenset({"casts", "scaling"}),
    frozenset({"passes"}),
    frozenset({"jax_api"}),
    frozenset({"program"}),
    frozenset({"run"}),
    frozenset({"commands.calibrate", "commands.lint", "commands.stats", "commands.explain"}),
    frozenset({"commands.nan"}),
    frozenset({"commands.check", "commands.choose"}),
    frozenset({"frontend"}),
    frozenset({"api"}),
    frozenset({"__init__", "__main__", "cli", "schemas"}),
)
"""From the lowest to the highest: a module may import its own layer and those before it."""

WITH_JAX = frozenset({"api", "frontend", "jax_api"})
"""The rooms that may import jax as they are imported."""

OF_EXPORTED = frozenset({"exported", "leaves", "state_leaves"})
"""The files of `program/` that may: they are imported for an Exported only."""

WITHOUT_MLIR = ("profile", "recipes", "results", "storage")
"""The rooms that say what is asked, as numbers and text."""

PRIVATE = ("jax._src", "jaxlib._src", "_mlir_libs", "_jax.")
COMPAT = "_compat"


@dataclass(frozen=True)
class Import:
    """One imported module, with the line that imports it."""

    module: str
    line: int
    top_level: bool
    typing_only: bool = False


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


@cache
def imports(file: Path) -> tuple[Import, ...]:
    """Everything that a file imports, also inside functions."""
    return tuple(_imports(file, tree_of(file)))


def _imports(file: Path, tree: ast.Module) -> Iterator[Import]:
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for node in ast.walk(function)
    }
    typing_only = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.unparse(branch.test)
        for node in ast.walk(branch)
    }
    for node in ast.walk(tree):
        late = id(node) in inside or id(node) in typing_only
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, not late, id(node) in typing_only)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file}:{node.lineno}: relative import"
            for alias in node.names:
                name, typing = f"{node.module}.{alias.name}", id(node) in typing_only
                yield Import(name, node.lineno, not late, typing)


def layer_name(file: Path) -> str:
    return room(".".join(file.relative_to(PACKAGE).with_suffix("").parts))


def room(module: str) -> str:
    """Returns the room of a module; each command has one of its own."""
    first, *rest = module.split(".")
    return f"{first}.{rest[0]}" if first == "commands" and rest[0] != "__init__" else first


def level(name: str) -> int:
    found = [i for i, layer in enumerate(LAYERS) if name in layer or f"{name}.lint" in layer]
    assert found, f"scalify_hlo/{name} is in no layer: name it in LAYERS"
    return found[0]


@EVERY_FILE
def test_imports_run_one_way(file: Path) -> None:
    own = level(layer_name(file))
    for imported in imports(file):
        package, _, rest = imported.module.partition(".")
        if package != "scalify_hlo":
            continue
        name = rest.split(".")[0]
        if (PACKAGE / f"{name}.py").exists() or (PACKAGE / name).is_dir():
            assert level(room(rest)) <= own, f"{file}:{imported.line} imports {imported.module}"


def test_modules_import_each_other_in_no_circle() -> None:
    names = {".".join(f.relative_to(ROOT).with_suffix("").parts): f for f in FILES}
    graph = {
        name: {
            target
            for imported in imports(file)
            if imported.top_level or imported.typing_only
            for target in (imported.module, imported.module.rpartition(".")[0])
            if target in names and target != name
        }
        for name, file in names.items()
    }
    assert list(TopologicalSorter(graph).static_order())


@EVERY_FILE
def test_jax_is_imported_late(file: Path) -> None:
    if layer_name(file) in WITH_JAX or (layer_name(file) == "program" and file.stem in OF_EXPORTED):
        return
    for imported in imports(file):
        if imported.top_level:
            assert imported.module.split(".")[0] != "jax", f"{file}:{imported.line}"


@EVERY_FILE
def test_private_names_stand_in_one_place(file: Path) -> None:
    if layer_name(file) == COMPAT:
        return
    for imported in imports(file):
        assert not any(p in imported.module for p in PRIVATE), f"{file}:{imported.line}"
        assert not imported.module.startswith("jaxlib"), f"{file}:{imported.line}"


def test_elements_of_constants_are_read_in_one_place() -> None:
    """The bindings cannot read all of them: `splats.dense_of` knows which."""
    found = {f.name for f in FILES if 'attributes["value"]' in f.read_text()}
    assert found == {"splats.py"}


def test_the_core_never_imports_jax() -> None:
    core = frozenset().union(*LAYERS[: LAYERS.index(frozenset({"jax_api"}))]) - {COMPAT}
    for file in FILES:
        if layer_name(file) in core:
            for imported in imports(file):
                assert imported.module.split(".")[0] != "jax", f"{file}:{imported.line}"


def test_algebra_knows_nothing_of_mlir() -> None:
    for file in sorted((PACKAGE / "algebra").glob("*.py")):
        for imported in imports(file):
            if not imported.module.startswith("scalify_hlo.algebra."):
                assert not imported.module.startswith(("scalify_hlo", "jax")), imported


@pytest.mark.parametrize("room", WITHOUT_MLIR)
def test_recipes_and_profiles_are_read_without_mlir(room: str) -> None:
    allowed = ("algebra", "errors", *WITHOUT_MLIR)
    for file in sorted((PACKAGE / room).glob("*.py")):
        for imported in imports(file):
            package, _, rest = imported.module.partition(".")
            assert package not in ("jax", "jaxlib"), imported
            assert package != "scalify_hlo" or rest.split(".")[0] in allowed, imported


def test_few_files_stand_at_the_top() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= 8


@EVERY_FILE
def test_nothing_is_imported_by_wildcard(file: Path) -> None:
    assert all(not imported.module.endswith(".*") for imported in imports(file))


def test_children_have_one_command_line() -> None:
    """It keeps them from importing files of the working folder."""
    starters = re.compile(r"sys\.executable|multiprocessing|ProcessPool|os\.(exec|spawn|system)")
    found = [file for file in FILES if starters.search(file.read_text())]
    assert found == [PACKAGE / "storage" / "children.py"]


@EVERY_FILE
def test_says_what_it_is_for(file: Path) -> None:
    assert ast.get_docstring(tree_of(file))


@EVERY_FILE
def test_has_no_assert(file: Path) -> None:
    """Errors of users are no assertions, which an option of Python switches off."""
    nodes = ast.walk(tree_of(file))
    assert not any(isinstance(node, ast.Assert) for node in nodes)


def test_every_room_has_its_line_in_the_document() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    rooms = [file.parent for file in sorted(PACKAGE.glob("*/__init__.py"))]
    assert len(rooms) > 10
    places = {}
    for room in rooms:
        docstring = ast.get_docstring(ast.parse((room / "__init__.py").read_text())) or ""
        line = f"| `{room.name}/` | {docstring.splitlines()[0]} |"
        assert line in text, f"ARCHITECTURE.md lacks: {line}"
        places[room.name] = text.index(line)
    levels = [level(name) for name in sorted(places, key=places.__getitem__)]
    assert levels == sorted(levels), "the rooms are not in the order of LAYERS"


@pytest.mark.parametrize("pass_", PASSES.values(), ids=PASSES)
def test_every_pass_has_its_line_in_the_document(pass_: type[Pass]) -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    file = pass_.__module__.removeprefix("scalify_hlo.").replace(".", "/")
    assert f"| `{pass_.name}` | `{file}.py` |" in text


def test_files_that_the_document_names_are_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    for name in re.findall(r"`([a-z_/]+\.(?:py|md))`", text):
        assert (PACKAGE / name).exists() or (ROOT / name).exists(), name


MEDIAN, NINETIETH, LONGEST, LONGEST_FILE = 7, 19, 44, 496
"""The most lines: of functions without their docstrings, and of files."""


def lines_of_functions() -> dict[str, int]:
    """The lines of each function of the package, its docstring left out."""
    found: dict[str, int] = {}
    for file in FILES:
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.FunctionDef):
                first, docstring = node.body[0], ast.get_docstring(node)
                left_out = (first.end_lineno or 0) - first.lineno + 1 if docstring else 0
                name = f"{file.relative_to(PACKAGE)}:{node.lineno} {node.name}"
                found[name] = (node.end_lineno or 0) - node.lineno + 1 - left_out
    return found


def test_functions_are_short() -> None:
    lines = lines_of_functions()
    ordered = sorted(lines.values())
    median, ninetieth = ordered[len(ordered) // 2], ordered[len(ordered) * 9 // 10]
    print(
        f"{len(ordered)} functions: median {median}, p90 {ninetieth}, longest {ordered[-1]} lines"
    )
    assert {name: count for name, count in lines.items() if count > LONGEST} == {}
    assert median <= MEDIAN
    assert ninetieth <= NINETIETH


def test_files_are_short() -> None:
    lines = {str(file.relative_to(PACKAGE)): len(file.read_text().splitlines()) for file in FILES}
    print("the longest files:", sorted(lines.items(), key=lambda line: -line[1])[:3])
    assert {name: count for name, count in lines.items() if count > LONGEST_FILE} == {}
