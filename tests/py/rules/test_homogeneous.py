"""Scales really propagate: move the scales of the inputs, and only those of the results move.

A rewriter that multiplies data with their scales at entry means the same too, and fails here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalify_hlo.rules.table import RULES
from tests.py.programs import PROGRAMS, Program
from tests.py.programs.program import ABSENT, SIZES, draw
from tests.py.rules.test_rules import JUDGES
from tests.py.shared.judge import Array, Pair, assert_same_bits, run_scaled

MOVING = [p for p in PROGRAMS if p.moves is not None and p.judge != "report"]
STEP = 6
"""Moves are by powers of 2^6, of which square and cube roots are powers of two of even exponent."""


def assert_moves(
    program: Program, arrays: Sequence[Array], exponents: Sequence[int], steps: Mapping[str, int]
) -> None:
    """Data stay and scales move when the scales of the arguments of each group move together."""
    by_argument = [steps.get(group, 0) for group in program.groups]
    moved = [e + STEP * step for e, step in zip(exponents, by_argument, strict=True)]
    text, run = program.text(), JUDGES[program.judge]
    before = run_scaled(text, arrays, exponents, run=run)
    after = run_scaled(text, arrays, moved, run=run)
    moves = program.moves or {}
    expected = STEP * sum(degree * steps[group] for group, degree in moves.items())
    for first, second in zip(before, after, strict=True):
        assert_moved(first, second, round(expected))


def assert_moved(before: Pair | Array, after: Pair | Array, exponent: int) -> None:
    """The same data; a scale that is ``2^exponent`` times as large."""
    if isinstance(before, Pair) and isinstance(after, Pair):
        assert_same_bits(after.data, before.data)
        assert after.scale == before.scale * 2.0**exponent
    else:
        assert isinstance(before, np.ndarray)
        assert isinstance(after, np.ndarray)
        assert_same_bits(after, before)


@pytest.mark.slow
@pytest.mark.parametrize("program", MOVING, ids=str)
@settings(max_examples=2)
@given(
    seed=st.integers(0, 2**32 - 1),
    start=st.sampled_from((1, -2, 0, 3)),
    steps=st.tuples(st.sampled_from((1, -1, 2)), st.sampled_from((-1, 1, 0))),
)
def test_only_scales_move(program: Program, seed: int, start: int, steps: tuple[int, int]) -> None:
    arrays = draw(program, SIZES, seed)
    exponents = [start + 2 * i * (program.span > 2) for i in range(len(arrays))]
    assert_moves(program, arrays, exponents, dict(zip("ab", steps, strict=True)))


def test_every_rule_with_a_scaled_form_moves() -> None:
    """All rules but those that read values, or look into nothing."""
    without = {"read", "opaque", "source", "expanded", "refused"}
    scaled = {op for op, rule in RULES.items() if rule.family not in without}
    moving = {p.op for p in PROGRAMS if p.moves is not None}
    assert scaled - moving == ABSENT
