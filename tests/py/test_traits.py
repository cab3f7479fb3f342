"""The traits of ops are sets of ops that exist, and other modules repeat none of them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from scalify_hlo.dialect import traits
from scalify_hlo.rules.table import RULES

PACKAGE = Path(__file__).resolve().parents[2] / "scalify_hlo"
TRAITS = {name: ops for name, ops in vars(traits).items() if isinstance(ops, frozenset)}
ALIASES = {"chlo.broadcast", "mhlo.copy"}
"""Names that programs have and the bindings do not."""

SHORT = {op.partition(".")[2] for op in RULES}
DISPATCHING = {
    "analysis/degrees.py": 1,
    "analysis/layers/numbers.py": 1,
    "analysis/layers/reading.py": 1,
    "rules/source_sizes.py": 1,
}
"""Tables that register a function for each op."""

REGISTERING = {"chlo", "contraction", "elementwise", "integer", "movement", "sharding"}
"""The files of rules that register several ops in one loop."""


@pytest.mark.parametrize("name", TRAITS)
def test_all_names_are_ops(name: str) -> None:
    assert TRAITS[name]
    assert TRAITS[name] <= RULES.keys() | ALIASES


def test_traits_that_exclude_each_other_share_no_op() -> None:
    moving = traits.COPIES | traits.RESHAPES | traits.REORDERS | traits.BROADCASTS | traits.SLICES
    assert moving.isdisjoint(traits.ELEMENTWISE)
    assert traits.ELEMENTWISE.isdisjoint(traits.CONTRACTIONS | traits.REDUCTIONS)
    assert traits.BOUNDED_FROM_ZERO.isdisjoint(traits.BOUNDED_THROUGH_ZERO)


def tables(file: Path) -> int:
    """How many literals of a file have three or more names of ops."""
    found: list[ast.expr] = []
    for node in ast.walk(ast.parse(file.read_text())):
        if not isinstance(node, ast.Tuple | ast.Set | ast.List | ast.Dict):
            continue
        if len(ops_in(node)) >= 3 and not any(node in ast.walk(outer) for outer in found):
            found.append(node)
    return len(found)


def ops_in(node: ast.expr) -> set[str]:
    """The ops that the elements of a literal name; of a dict, its keys."""
    elements = node.keys if isinstance(node, ast.Dict) else ast.walk(node)
    texts = [e.value for e in elements if isinstance(e, ast.Constant) and isinstance(e.value, str)]
    names = {text.removeprefix("stablehlo.").removeprefix("chlo.") for text in texts}
    return names & SHORT


def test_no_other_module_lists_ops() -> None:
    files = {file.relative_to(PACKAGE).as_posix(): file for file in sorted(PACKAGE.rglob("*.py"))}
    del files["dialect/traits.py"]
    for name in REGISTERING:
        del files[f"rules/{name}.py"]
    assert {name: count for name, file in files.items() if (count := tables(file))} == DISPATCHING
