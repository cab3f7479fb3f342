"""The table of rules: complete, and true about where things are."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from scalify_hlo._compat import chlo, sdy, stablehlo
from scalify_hlo.cli.rules import page
from scalify_hlo.ir.traits import OPS
from scalify_hlo.rules.table import RULES, Rule
from tests.py.programs.program import ABSENT

ROOT = Path(__file__).resolve().parents[3]
ENTRIES = pytest.mark.parametrize("entry", RULES.values(), ids=RULES)
NO_OPS = {"sdy.mesh", "sdy.return"}
"""A declaration, and a terminator: no value comes of them."""
FAMILIES = {
    "align",
    "call",
    "control",
    "degree 0",
    "expanded",
    "keep",
    "opaque",
    "power",
    "product",
    "quotient",
    "read",
    "refused",
    "reduce",
    "root",
    "source",
}


@ENTRIES
def test_has_a_lit_test(entry: Rule) -> None:
    file = ROOT / entry.lit_test
    assert file.is_file(), f"no {entry.lit_test}"
    name = entry.op.removeprefix("stablehlo.")
    assert name in file.read_text()


@ENTRIES
def test_says_its_algebra(entry: Rule) -> None:
    assert entry.formula
    assert entry.source
    assert entry.family in FAMILIES


@ENTRIES
def test_points_to_its_entry(entry: Rule) -> None:
    """The line of the entry is a call, and the file names the op, a trait of it or its kind."""
    text = (ROOT / entry.file).read_text()
    assert "rule(" in text.splitlines()[entry.line - 1]
    traits = vars(import_module(".".join(Path(entry.file).with_suffix("").parts))).values()
    trait = any(isinstance(each, frozenset | dict) and entry.op in each for each in traits)
    name = entry.op.removeprefix("stablehlo.").removeprefix("chlo.")
    assert name in text or trait or f'"{OPS[entry.op].kind}"' in text


def test_names_are_full() -> None:
    assert all(op == entry.op and "." in op for op, entry in RULES.items())


def test_no_lit_test_without_a_rule() -> None:
    files = {
        f.relative_to(ROOT).as_posix() for f in (ROOT / "tests" / "lit" / "rules").rglob("*.mlir")
    }
    assert files - {entry.lit_test for entry in RULES.values()} == set()


def test_rules_are_about_ops_that_exist() -> None:
    known = {getattr(value, "OPERATION_NAME", "") for value in vars(stablehlo).values()}
    ours = {op for op in RULES if op.startswith("stablehlo.")}
    assert ours - known == ABSENT


@pytest.mark.parametrize("dialect", [stablehlo, chlo, sdy], ids=["stablehlo", "chlo", "sdy"])
def test_every_op_has_an_entry(dialect: ModuleType) -> None:
    """An op that a newer jaxlib adds fails here until it has a rule, or a reason for none."""
    known = {getattr(value, "OPERATION_NAME", "") for value in vars(dialect).values()} - {""}
    assert known - set(RULES) - NO_OPS == set()


def test_docs_are_what_the_table_says() -> None:
    assert (ROOT / "docs" / "rules.md").read_text() == page(RULES), "run `make docs`"


def test_only_a_cubic_root_depends_on_the_scale() -> None:
    assert {op for op, entry in RULES.items() if not entry.exact} == {"stablehlo.cbrt"}
