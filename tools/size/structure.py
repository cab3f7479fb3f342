"""Figures of the structure of the package, counted in the syntax tree; functions define them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

Sources = Mapping[str, ast.Module]
"""The files of the package, by their paths."""

_OP = re.compile(r"(stablehlo|chlo|sdy|mhlo|func|vhlo)\.\w+$")
_DIMENSIONS = re.compile(r"lhs_contracting_dimensions|DotDimensionNumbers")


def sources(package: Path) -> Sources:
    """Returns the syntax trees of the files of a package."""
    files = sorted(package.rglob("*.py"))
    return {str(file.relative_to(package)): ast.parse(file.read_text()) for file in files}


def _name(node: ast.expr) -> str:
    """Returns ``x`` or ``self.x`` as text; nothing for other expressions."""
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""


def _nodes(body: Iterable[ast.stmt]) -> list[ast.AST]:
    return [node for statement in body for node in ast.walk(statement)]


def _changed(body: Iterable[ast.stmt], methods: frozenset[str]) -> set[str]:
    """Returns the names of which a body calls one of some methods."""
    return {
        _name(node.func.value)
        for node in _nodes(body)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in methods
    } - {""}


def _assigned(body: Iterable[ast.stmt]) -> set[str]:
    targets: list[ast.expr] = []
    for node in _nodes(body):
        if isinstance(node, ast.Assign):
            targets += node.targets
        elif isinstance(node, ast.AugAssign):
            targets.append(node.target)
    each = [part for t in targets for part in (t.elts if isinstance(t, ast.Tuple) else [t])]
    return {_name(target) for target in each} - {""}


def _iterated(body: Iterable[ast.stmt]) -> set[str]:
    loops = [node for node in _nodes(body) if isinstance(node, (ast.For, ast.comprehension))]
    return {_name(node.iter) for node in loops} - {""}


_TAKEN, _GROWN = frozenset({"pop", "popleft"}), frozenset({"append", "extend"})


def work_lists(tree: ast.Module) -> int:
    """Loops that walk what they find.

    That is a ``while`` whose body pops from what it tests, or assigns it; a ``for`` over a list
    that its body extends; and a bounded ``for`` that pops from a list which it fills, or that
    iterates over a list and assigns it anew.
    """
    count = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.While):
            tested = {_name(x) for x in ast.walk(node.test) if isinstance(x, ast.expr)} - {""}
            popped = bool(tested & _changed(node.body, _TAKEN))
            count += popped or _name(node.test) in _assigned(node.body)
        elif isinstance(node, ast.For):
            grown = _changed(node.body, _GROWN)
            refilled = bool(_changed(node.body, _TAKEN) & grown)
            renewed = _name(node.target) == "_" and bool(
                _iterated(node.body) & _assigned(node.body)
            )
            bounded = isinstance(node.iter, ast.Call) and (refilled or renewed)
            count += _name(node.iter) in grown or bounded
    return count


def op_tables(tree: ast.Module) -> int:
    """Assignments of two or more names of ops, or of sets in capitals that are joined."""
    count = 0
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            inside = list(ast.walk(node.value))
            constants = [x.value for x in inside if isinstance(x, ast.Constant)]
            names = [text for text in constants if isinstance(text, str) and _OP.match(text)]
            joined = isinstance(node.value, ast.BinOp) and isinstance(
                node.value.op, (ast.BitOr, ast.BitAnd, ast.Sub)
            )
            sets = any(isinstance(x, ast.Name) and x.id.isupper() for x in inside)
            count += len(names) > 1 or (joined and sets)
    return count


def opens_dimensions(tree: ast.Module) -> int:
    """Whether a file reads the dimension numbers of a matmul."""
    return bool(_DIMENSIONS.search(ast.unparse(tree)))


def longest_function(tree: ast.Module) -> int:
    """The lines of the longest function."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return max(((f.end_lineno or 0) - f.lineno + 1 for f in functions), default=0)


def _files(count: Callable[[ast.Module], int], files: Sources) -> dict[str, int]:
    return {file: found for file, tree in files.items() if (found := count(tree))}


def figures(package: Path) -> dict[str, tuple[int, dict[str, int]]]:
    """Returns each figure by its name, with the files that it counts.

    Args:
        package: The folder of the package.
    """
    files = sources(package)
    tables = {
        file: count
        for file, count in _files(op_tables, files).items()
        if not file.endswith("traits.py") and not file.startswith("rules/")
    }
    work, dimensions = _files(work_lists, files), _files(opens_dimensions, files)
    casts = {str(Path(file).parent): 1 for file in files if "cast" in Path(file).name}
    return {
        "files with a work list of their own": (len(work), work),
        "tables of ops outside traits and rules": (sum(tables.values()), tables),
        "rooms with files named for casts": (len(casts), casts),
        "files that open a matmul's dimension numbers": (len(dimensions), dimensions),
        "JSON files": (len(list(package.rglob("*.json"))), {}),
        "files": (len(files), {}),
        "lines of the longest function": (max(map(longest_function, files.values())), {}),
    }
