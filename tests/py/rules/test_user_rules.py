"""Rules that users register for ops and custom calls."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import pytest

import scalify_hlo
from scalify_hlo._compat import ir
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.rules.alignment import READERS
from scalify_hlo.rules.families import keep, on_data
from scalify_hlo.rules.registry import CUSTOM_CALLS, RULES
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from tests.py.recipes.test_recipe import assert_one_sentence
from tests.py.shared.commands import call
from tests.py.shared.judge import rewritten

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
    def clipped(op: ir.OpView, rewriter: ScaleRewriter) -> None:
        """As near as it gets where data are small."""
        keep(op, rewriter)

    assert scale(TANH) == "unscaled"
    scalify_hlo.register_rule("stablehlo.tanh", clipped, formula="Y_d = tanh(X_d); Y_s = X_s")
    assert scale(TANH) == "s0"
    entry = scalify_hlo.RULES["stablehlo.tanh"]
    assert (entry.family, entry.source) == ("custom", "the user's")
    assert entry.file == __file__


def test_a_rule_keeps_the_formula_unless_it_has_one() -> None:
    formula = RULES["stablehlo.negate"].formula
    scalify_hlo.register_rule("stablehlo.negate", keep)
    assert RULES["stablehlo.negate"].formula == formula
    scalify_hlo.register_rule("stablehlo.negate", keep, formula="Y = -X", source="arithmetic")
    entry = RULES["stablehlo.negate"]
    assert (entry.formula, entry.source) == ("Y = -X", "arithmetic")


def test_an_op_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match=r"did you mean .*'stablehlo\.tanh'"):
        scalify_hlo.register_rule("stablehlo.tahn", keep)


class TestMistakes:
    """Each names the op, the rule and the rule's place."""

    @pytest.mark.parametrize("op", ["stablehlo.tanh", "@mine"])
    @pytest.mark.parametrize("rule", [42, None, "keep"])
    def test_what_is_no_function(self, op: str, rule: object) -> None:
        before = dict(RULES), dict(CUSTOM_CALLS)
        with pytest.raises(UsageError, match=f"the rule for {op} is of type") as caught:
            scalify_hlo.register_rule(op, rule)  # type: ignore[arg-type]
        assert caught.value.hint
        assert before == (RULES, CUSTOM_CALLS)

    def test_what_is_no_name(self) -> None:
        with pytest.raises(UsageError, match="no op is named '42'"):
            scalify_hlo.register_rule(42, keep)  # type: ignore[arg-type]

    @pytest.mark.parametrize("rule", [lambda _: None, lambda _op, _rewriter, _more: None])
    def test_what_takes_other_arguments(self, rule: Any) -> None:
        with pytest.raises(UsageError, match=r"for stablehlo\.tanh takes other arguments"):
            scalify_hlo.register_rule("stablehlo.tanh", rule)

    @pytest.mark.parametrize(("op", "text"), [("stablehlo.tanh", TANH), ("@mine", PROGRAM)])
    def test_a_rule_that_raises(self, op: str, text: str) -> None:
        def careless(op: ir.OpView, rewriter: ScaleRewriter) -> None:
            raise ValueError(f"no\nlines {op} {rewriter}")

        scalify_hlo.register_rule(op, careless)
        with pytest.raises(UsageError, match=f"the rule careless for {op} raised") as caught:
            scale(text)
        assert caught.value.message.endswith("raised ValueError: no")
        line = careless.__code__.co_firstlineno
        assert caught.value.location == f"{__file__}:{line}"
        assert isinstance(caught.value.__cause__, ValueError)
        assert "the op is at" in str(caught.value.hint)

    def test_an_error_of_the_tool_stays_itself(self) -> None:
        def refusing(op: ir.OpView, rewriter: ScaleRewriter) -> None:
            raise InputError(f"not this one: {op.operation.name}, {rewriter.depth}")

        scalify_hlo.register_rule("stablehlo.tanh", refusing)
        with pytest.raises(InputError, match="not this one"):
            scale(TANH)

    @pytest.mark.parametrize(("op", "text"), [("stablehlo.tanh", TANH), ("@mine", PROGRAM)])
    def test_a_rule_that_does_nothing(self, op: str, text: str) -> None:
        """The op would take data for values."""
        scalify_hlo.register_rule(op, lambda *_: None)
        with pytest.raises(UsageError, match=f"for {op} sets no scale of a result") as caught:
            scale(text)
        assert "rewriter.result" in str(caught.value.hint)
        rewritten(text, "same")  # whose operands have no scale

    def test_a_rule_that_reads_one_of_two_operands(self) -> None:
        text = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.atan2 %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
        scalify_hlo.register_rule("stablehlo.atan2", lambda op, rewriter: rewriter.read(op, 0))
        with pytest.raises(UsageError, match="leaves an operand"):
            scale(text)
        scalify_hlo.register_rule("stablehlo.atan2", lambda op, rewriter: rewriter.read_all(op))
        assert scale(text) == "unscaled"

    def test_a_rule_that_gives_what_is_no_op(self) -> None:
        scalify_hlo.register_rule("stablehlo.tanh", lambda *_: 42)
        with pytest.raises(UsageError, match="returned a value of type int"):
            scale(TANH)

    def test_functions_of_the_data_alone(self) -> None:
        scalify_hlo.register_rule("stablehlo.sign", on_data)
        assert scale(TANH.replace("tanh", "sign")) == "unscaled"

    def test_comparisons_have_no_scale_to_speak_of(self) -> None:
        text = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  %0 = stablehlo.compare LT, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}"""

        def aligned(op: ir.OpView, rewriter: ScaleRewriter) -> None:
            rewriter.align(op, (0, 1), result=None)

        scalify_hlo.register_rule("stablehlo.compare", aligned)
        rewritten(text, "scaled")

    def test_rules_that_are_no_plain_functions(self) -> None:
        class Rule:
            def __call__(self, op: ir.OpView, rewriter: ScaleRewriter) -> None:
                keep(op, rewriter)

        for rule in (Rule(), functools.partial(keep), Rule().__call__):
            scalify_hlo.register_rule("stablehlo.tanh", rule)
            assert scale(TANH) == "s0"
            assert RULES["stablehlo.tanh"].line > 0

    def test_the_command_line_shows_one_sentence(self) -> None:
        def careless(op: ir.OpView, rewriter: ScaleRewriter) -> None:
            raise KeyError((op, rewriter))

        scalify_hlo.register_rule("stablehlo.tanh", careless)
        result = call("rewrite", "-", "--signature", "scaled", text=TANH, code=2)
        place = f"{__file__}:{careless.__code__.co_firstlineno}"
        assert_one_sentence(result, "the rule careless for stablehlo.tanh raised KeyError", place)
