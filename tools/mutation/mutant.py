"""A mutant: a module with one change."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "mutation"

Key = tuple[str, str, str, str]
"""File, function, original text and mutated text: names a mutant whatever its line number is."""


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
