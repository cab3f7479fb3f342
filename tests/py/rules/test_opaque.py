"""The ops of which nothing is known but that they take values."""

from __future__ import annotations

import pytest

from scalify_hlo.rules.table import RULES


@pytest.mark.parametrize("name", ["custom_call", "outfeed", "send"])
def test_they_have_entries(name: str) -> None:
    assert f"stablehlo.{name}" in RULES
    assert RULES[f"stablehlo.{name}"].formula
