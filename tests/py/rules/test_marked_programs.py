"""Markers change where scales are, never what a program means."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from scalify_hlo.recipes.model import Recipe
from tests.py.fuzzing import mlir_programs
from tests.py.fuzzing.programs import in_range
from tests.py.programs import PROGRAMS, Program
from tests.py.programs.program import draw
from tests.py.shared.judge import assert_invariant, floats, parse, rewritten, run_plain
from tests.py.shared.marking import ACTING, randomly, with_markers

pytestmark = pytest.mark.slow

PRODUCT = """
func.func @main(%x: tensor<3x3xf32>, %y: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}"""


@pytest.mark.parametrize("marker", ACTING)
def test_a_marker_is_gone_after_the_rewrite(marker: str) -> None:
    text = with_markers(PRODUCT, lambda: marker)
    assert "scalify." in text
    for signature in ("same", "scaled"):
        module, report = rewritten(text, signature)
        assert "scalify" not in str(module).replace(" {scalify.is_scale}", "")
        assert report.markers


COUNT = len(mlir_programs.ARGUMENTS)


@settings(max_examples=200)
@given(
    random=st.randoms(use_true_random=False),
    seed=st.integers(0, 2**32 - 1),
    exponents=st.lists(st.integers(-6, 6), min_size=COUNT, max_size=COUNT),
    pairs=st.lists(st.sampled_from((True, True, False)), min_size=COUNT, max_size=COUNT),
    recipe=st.sampled_from((Recipe(), Recipe(meet="max"), Recipe(rounding="nearest"))),
)
def test_markers_anywhere_in_random_programs(
    random: Random, seed: int, exponents: list[int], pairs: list[bool], recipe: Recipe
) -> None:
    steps, arrays = mlir_programs.draw(random), mlir_programs.arrays_of(seed, "f64")
    plain = mlir_programs.text_of(steps, seed, "f64", everything=True)
    assume(in_range(run_plain(plain, arrays, exponents), "f64"))
    text = with_markers(mlir_programs.text_of(steps, seed, "f64"), randomly(seed))
    parse(text).operation.verify()
    paired = [p and f for p, f in zip(pairs, floats(text), strict=True)]
    assert_invariant(text, arrays, exponents, recipe=recipe, pairs=paired)


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.judge == "interpreter"], ids=str)
@settings(max_examples=3)
@given(seed=st.integers(0, 2**32 - 1), data=st.data())
def test_markers_anywhere_in_programs_of_every_op(
    program: Program, seed: int, data: st.DataObject
) -> None:
    span = min(program.span, 6)
    count = len(program.data.split())
    exponents = data.draw(st.lists(st.integers(-span, span), min_size=count, max_size=count))
    arrays = draw(program, (2, 3, 4), seed, wild=data.draw(st.booleans()))
    text = with_markers(program.text((2, 3, 4)), randomly(seed))
    assert_invariant(text, arrays, exponents, ulps=program.ulps)
