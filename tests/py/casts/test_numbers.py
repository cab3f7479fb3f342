"""Rewriting again, without the matmuls whose operands are not trusted."""

from __future__ import annotations

from dataclasses import replace

from scalify_hlo._compat import ir
from scalify_hlo.casts.numbers import Numbers, rewritten_wide
from scalify_hlo.recipes.loading import load_recipe
from tests.py.shared.judge import parse

PROGRAM = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }"


def rewrites(*untrusted: set[int]) -> tuple[list[frozenset[int]], str]:
    """Returns the matmuls that each rewrite keeps wide, and the module after the last rewrite."""
    module, told = parse(PROGRAM), list[frozenset[int]]()

    def rewrite(wide: frozenset[int]) -> set[int]:
        told.append(wide)
        name = ir.StringAttr.get(f"rewrite_{len(told)}", context=module.context)
        module.body.operations[0].attributes["sym_name"] = name
        return untrusted[len(told) - 1]

    with module.context, ir.Location.unknown():
        rewritten_wide(module, rewrite)
    return told, str(module)


def test_once_if_all_is_trusted() -> None:
    told, text = rewrites(set())
    assert told == [frozenset()]
    assert "@rewrite_1" in text


def test_from_the_original_until_nothing_is_new() -> None:
    told, text = rewrites({1}, {1, 3}, {3})
    assert told == [frozenset(), frozenset({1}), frozenset({1, 3})]
    assert "@rewrite_3" in text
    assert text.count("func.func") == 1


def test_numbers_count_what_is_narrowed() -> None:
    recipe = replace(load_recipe("fp8"), untrusted="wide")
    numbers = Numbers(recipe, {1})
    assert [numbers.narrow(None) for _ in range(3)] == [True, False, True]


def test_numbers_count_nothing_if_untrusted_operands_are_narrowed() -> None:
    numbers = Numbers(replace(load_recipe("fp8"), untrusted="bounded"), {0, 1})
    assert [numbers.narrow(None) for _ in range(2)] == [True, True]
