"""Markers change where scales are, never what a program means."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from scalify_hlo.recipe import Recipe
from tests.py.judge import Array, assert_invariant, parse, rewritten, run_plain
from tests.py.marking import ACTING, randomly, with_markers
from tests.py.programs import PROGRAMS, Program
from tests.py.programs.program import draw
from tests.py.test_random_programs import ARGUMENTS, Step, in_range, program, steps


@pytest.mark.parametrize("marker", ACTING)
def test_a_marker_is_gone_after_the_rewrite(marker: str) -> None:
    text = with_markers(program([Step("multiply", 0, 1, 2, "1.0", "add")], [3]), lambda: marker)
    assert "scalify." in text
    for signature in ("same", "scaled"):
        module, report = rewritten(text, signature)
        assert "scalify" not in str(module)
        assert report.markers


@settings(max_examples=200)
@given(
    body=steps,
    seed=st.integers(0, 2**32 - 1),
    exponents=st.lists(st.integers(-6, 6), min_size=ARGUMENTS, max_size=ARGUMENTS),
    pairs=st.lists(st.sampled_from((True, True, False)), min_size=ARGUMENTS, max_size=ARGUMENTS),
    recipe=st.sampled_from((Recipe(), Recipe(meet="max"), Recipe(rounding="nearest"))),
)
def test_markers_anywhere_in_random_programs(
    body: list[Step], seed: int, exponents: list[int], pairs: list[bool], recipe: Recipe
) -> None:
    rng = np.random.default_rng(seed)
    arrays: list[Array] = [rng.standard_normal((3, 3), dtype=np.float32) for _ in range(ARGUMENTS)]
    count = ARGUMENTS + len(body)
    plain = program(body, list(range(count)))
    assume(in_range(run_plain(plain, arrays, exponents)))
    text = with_markers(program(body, [count - 1, count - 2]), randomly(seed))
    parse(text).operation.verify()
    assert_invariant(text, arrays, exponents, recipe=recipe, pairs=pairs)


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
