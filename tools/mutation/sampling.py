"""A sample of the mutants that the operators of cosmic-ray make."""

from __future__ import annotations

import ast
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
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

from tools.mutation.mutant import ROOT, Mutant, function_at

CONFIGURATION = Path(__file__).with_name("cosmic-ray.toml")


class Place(NamedTuple):
    """A place that operators can change.

    Attributes:
        name: The file, function, text and columns of the place.
        line: The number of its line.
    """

    name: str
    line: int


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
