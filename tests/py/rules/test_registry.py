"""The entries of users' rules in the list of rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scalify_hlo.rules.families import keep
from scalify_hlo.rules.registry import register_rule
from scalify_hlo.rules.table import RULES


@pytest.fixture(autouse=True)
def _restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules are of the process."""
    monkeypatch.setitem(RULES, "stablehlo.negate", RULES["stablehlo.negate"])


def test_a_rule_keeps_the_formula_unless_it_has_one() -> None:
    before = RULES["stablehlo.negate"]
    register_rule("stablehlo.negate", keep)
    after = RULES["stablehlo.negate"]
    assert (after.formula, after.source, after.family) == (before.formula, "the user's", "custom")
    register_rule("stablehlo.negate", keep, formula="Y = -X", source="arithmetic")
    assert replace(RULES["stablehlo.negate"], formula="", source="") == replace(
        RULES["stablehlo.negate"], formula="", source=""
    )
    assert RULES["stablehlo.negate"].formula == "Y = -X"
    assert RULES["stablehlo.negate"].source == "arithmetic"
