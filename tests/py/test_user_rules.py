"""Rules that users register for ops and custom calls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import scalify_hlo
from scalify_hlo._compat import ir
from scalify_hlo.diagnostics import UsageError
from scalify_hlo.rules.families import keep
from scalify_hlo.rules.registry import CUSTOM_CALLS, RULES
from scalify_hlo.rules.split import READERS, Split
from tests.py.judge import rewritten

PROGRAM = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @mine(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
TANH = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    """Rules are of the process."""
    rules, calls, readers = dict(RULES), dict(CUSTOM_CALLS), set(READERS)
    yield
    RULES.update(rules)
    READERS.update(readers)
    CUSTOM_CALLS.clear()
    CUSTOM_CALLS.update(calls)


def scale(text: str) -> str:
    """The scale of a program's result."""
    _, report = rewritten(text, "scaled")
    return report.results[0].scale


def test_a_custom_call_has_the_rule_that_its_target_was_given() -> None:
    assert scale(PROGRAM) == "unscaled"
    scalify_hlo.register_rule("@mine", keep)
    assert scale(PROGRAM) == "s0"


def test_a_users_rule_outdoes_that_of_the_table() -> None:
    def clipped(op: ir.OpView, split: Split) -> None:
        """As near as it gets where data are small."""
        keep(op, split)

    assert scale(TANH) == "unscaled"
    scalify_hlo.register_rule("stablehlo.tanh", clipped, formula="Y_d = tanh(X_d); Y_s = X_s")
    assert scale(TANH) == "s0"
    entry = scalify_hlo.RULES["stablehlo.tanh"]
    assert (entry.family, entry.source) == ("custom", "the user's")
    assert entry.file == __file__


def test_an_op_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match=r"did you mean .*'stablehlo\.tanh'"):
        scalify_hlo.register_rule("stablehlo.tahn", keep)
