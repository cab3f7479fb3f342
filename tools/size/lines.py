"""Lines of code and tokens of Python files, without blank lines, comments and docstrings.

Tokens are those of Python 3.11: later versions split f-strings into more of them. Other files count
in bytes, so that code which moves into templates, data or strings is seen.
"""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path
from typing import NamedTuple

_KEPT = frozenset({tokenize.NAME, tokenize.NUMBER, tokenize.OP, tokenize.STRING})
_DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)


class Size(NamedTuple):
    """The size of some files.

    Attributes:
        lines: The lines of code.
        tokens: Their tokens.
        files: The number of Python files.
        others: The bytes of files that are not Python.
    """

    lines: int
    tokens: int
    files: int = 0
    others: int = 0


def size_of(source: str) -> Size:
    """Returns the size of the source of one file."""
    documented: set[int] = set()
    first: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            text = node.body[0]
            documented.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
            first.add(text.lineno)
    lines = sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in documented
        for number, line in enumerate(source.split("\n"), 1)
    )
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return Size(
        lines,
        sum(
            token.type in _KEPT and not (token.type == tokenize.STRING and token.start[0] in first)
            for token in tokens
        ),
    )


def size_under(folder: Path) -> Size:
    """Returns the size of all files under a folder."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc"]
    python = [file for file in files if file.suffix == ".py"]
    sizes = [size_of(file.read_text()) for file in python]
    others = sum(file.stat().st_size for file in files if file.suffix != ".py")
    return Size(sum(s.lines for s in sizes), sum(s.tokens for s in sizes), len(python), others)
