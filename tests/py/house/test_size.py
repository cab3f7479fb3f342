"""The budget of lines of code and tokens, and the definitions by which they are counted."""

from __future__ import annotations

import ast
import sys
import tomllib
from pathlib import Path

import pytest

from tools.size.lines import Size, size_of, size_under
from tools.size.structure import op_tables, work_lists

ROOT = Path(__file__).resolve().parents[3]
BUDGET = tomllib.loads((ROOT / "tools/size/budget.toml").read_text())


@pytest.mark.parametrize("tree", BUDGET)
def test_the_sources_keep_their_budget(tree: str) -> None:
    """Work that adds a capability raises it by what its note accounts for; all other lowers it."""
    size = size_under(ROOT / tree)
    assert size.lines <= BUDGET[tree]["lines"]
    if sys.version_info[:2] == (3, 11):
        assert size.tokens <= BUDGET[tree]["tokens"]


def test_docstrings_comments_and_blank_lines_are_no_code() -> None:
    source = '"""What."""\n\n# Why.\ndef f():\n    """Does.\n\n    More.\n    """\n    return 1\n'
    assert size_of(source) == Size(2, 7)


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("while left:\n    left.pop()", 1),
        ("while left:\n    left = left[1:]", 1),
        ("for x in found:\n    found.append(x)", 1),
        ("for _ in range(9):\n    x = left.pop()\n    left.extend(x)", 1),
        ("for _ in range(9):\n    for x in left:\n        left = x", 1),
        ("while there():\n    left.pop()", 0),
        ("for x in found:\n    other.append(x)", 0),
    ],
)
def test_work_lists(source: str, count: int) -> None:
    assert work_lists(ast.parse(source)) == count


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("OPS = {'stablehlo.add', 'stablehlo.sub'}", 1),
        ("OPS = MOVES | ROUNDS", 1),
        ("OP = 'stablehlo.add'", 0),
        ("number = one | other", 0),
    ],
)
def test_op_tables(source: str, count: int) -> None:
    assert op_tables(ast.parse(source)) == count
