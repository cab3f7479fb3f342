"""Mutants: every place that an operator of cosmic-ray can change, and a sample of them."""

from __future__ import annotations

import ast
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import cosmic_ray.plugins
from cosmic_ray.commands import init
from cosmic_ray.config import load_config
from cosmic_ray.modules import filter_paths, find_modules
from cosmic_ray.mutating import mutate_code
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import MutationSpec, WorkItem

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CONFIGURATION = HERE / "cosmic-ray.toml"
BUILD = ROOT / "build" / "mutation"

Key = tuple[str, str, str, str]
"""File, function, original text and mutated text: names a mutant whatever its line number is."""


class Place(NamedTuple):
    """A place that operators can change.

    Attributes:
        name: The file, function, text and columns of the place.
        line: The number of its line.
    """

    name: str
    line: int


@dataclass(frozen=True)
class Mutant:
    """A module with one change.

    Attributes:
        file: The path of the module, relative to the repository.
        function: The innermost function or class around the change, or "" at the module's level.
        operator: The name of cosmic-ray's operator.
        lines: The first and the last line of the changed code.
        original: The changed lines, without indentation.
        mutated: The lines instead of these.
        source: The whole text of the changed module.
    """

    file: str
    function: str
    operator: str
    lines: tuple[int, int]
    original: str
    mutated: str
    source: str

    @property
    def key(self) -> Key:
        """The name of this mutant in data files."""
        return self.file, self.function, self.original, self.mutated

    @property
    def module(self) -> str:
        """The dotted name of the changed module."""
        return self.file.removesuffix(".py").replace("/", ".")


def configuration() -> Mapping[str, Any]:
    """Returns the table `cosmic-ray` of the configuration file."""
    table: Mapping[str, Any] = load_config(CONFIGURATION)
    return table


def work_items(database: WorkDB, settings: Mapping[str, Any]) -> list[WorkItem]:
    """Fills a database with all work items of the configured modules.

    Args:
        database: The database of cosmic-ray; its content is replaced.
        settings: The configuration.

    Returns:
        The items whose operator is not excluded, in the order of files, operators and places.
    """
    paths = [ROOT / path for path in settings["module-path"]]
    modules = filter_paths(find_modules(paths), settings["excluded-modules"])
    init(sorted(modules), database, {})
    excluded = settings["filters"]["operators-filter"]["exclude-operators"]
    pattern = re.compile("|".join(excluded))
    return [i for i in database.work_items if not pattern.match(i.mutations[0].operator_name)]


def sample(items: Iterable[WorkItem], seed: int, count: int) -> Iterator[tuple[WorkItem, Mutant]]:
    """Draws mutants: first a place, then one of the changes that can be made there.

    A binary operator can become eleven others, so to draw from all changes alike would leave few
    mutants of comparisons, conditions and numbers. What is drawn at a place depends on its function
    and line alone: most of a sample is the same after an edit of other lines.

    Args:
        items: The work items to draw from.
        seed: The seed of the draw.
        count: The number of mutants.

    Yields:
        Work items with their mutants, which differ from their module in more than annotations.
    """
    places = defaultdict(list)
    for item in items:
        places[_place(item.mutations[0])].append(item)
    draws = {place: random.Random(f"{seed} {place.name}") for place in places}
    order = sorted(places, key=lambda place: (draws[place].random(), place))
    for place in order:
        item = draws[place].choice(sorted(places[place], key=_name))
        mutant = mutant_of(item) if count else None
        if mutant is not None:
            count -= 1
            yield item, mutant


def mutant_of(item: WorkItem) -> Mutant | None:
    """Returns the mutant of a work item, or None if it is the same program."""
    spec: MutationSpec = item.mutations[0]
    path = Path(spec.module_path)
    code = _read(path)
    operator = cosmic_ray.plugins.get_operator(spec.operator_name)(**spec.operator_args)
    mutated = mutate_code(code, operator, spec.occurrence)
    if mutated is None or _meaning(mutated) == _meaning(code):
        return None
    return Mutant(
        path.relative_to(ROOT).as_posix(),
        function_at(code, spec.start_pos[0]),
        spec.operator_name,
        (spec.start_pos[0], spec.end_pos[0]),
        *_changed(code, mutated),
        mutated,
    )


@cache
def scopes(code: str) -> list[tuple[int, int, str]]:
    """Returns the first line, last line and dotted name of each function and class."""
    return list(_scopes(ast.parse(code), ""))


def function_at(code: str, line: int) -> str:
    """Returns the dotted name of the innermost function or class around a line, or ""."""
    around = [(first, name) for first, last, name in scopes(code) if first <= line <= last]
    return max(around, default=(0, ""))[1]


def _scopes(node: ast.AST, prefix: str) -> Iterator[tuple[int, int, str]]:
    """Yields the scopes below a node, each with its decorators."""
    for child in ast.iter_child_nodes(node):
        inner = prefix
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{prefix}.{child.name}".removeprefix(".")
            first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
            yield first, child.end_lineno or first, inner
        yield from _scopes(child, inner)


def _place(spec: MutationSpec) -> Place:
    """Returns the place of a change."""
    path = Path(spec.module_path)
    code = _read(path)
    (line, first), (_, last) = spec.start_pos, spec.end_pos
    text = code.splitlines()[line - 1].strip()
    file = path.relative_to(ROOT).as_posix()
    return Place(f"{file} {function_at(code, line)} {text} {first} {last}", line)


@cache
def _read(path: Path) -> str:
    """Returns the text of a module."""
    return path.read_text(encoding="utf-8")


def _name(item: WorkItem) -> tuple[str, int]:
    """Orders the work items of a place; their identifiers are random."""
    spec = item.mutations[0]
    return spec.operator_name, spec.occurrence


class _WithoutAnnotations(ast.NodeTransformer):
    """Drops annotations, which no module of this package evaluates."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Drops the annotation of a parameter."""
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Drops the annotation of a result."""
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Drops the annotation of a variable."""
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)


@cache
def _meaning(code: str) -> str:
    """Returns a text that is the same for programs that differ in annotations alone."""
    try:
        return ast.dump(_WithoutAnnotations().visit(ast.parse(code)))
    except SyntaxError:
        return code


def _changed(code: str, mutated: str) -> tuple[str, str]:
    """Returns the lines that were changed, and those instead of them."""
    before, after = code.splitlines(), mutated.splitlines()
    while before and after and before[-1] == after[-1]:
        del before[-1], after[-1]
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after)))  # noqa: B905
    original, changed = ("\n".join(map(str.strip, lines[same:])) for lines in (before, after))
    return original, changed
