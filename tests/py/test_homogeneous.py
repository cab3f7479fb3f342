"""Scales really propagate: move the scales of the inputs, and only those of the results move.

A rewriter that multiplies data with their scales at entry means the same too, and fails here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalify_hlo.rules.families import opaque
from scalify_hlo.rules.table import RULES
from tests.py.judge import (
    Array,
    Pair,
    assert_same_bits,
    rewritten,
    run_scaled,
    shaped,
    stablehlo_of,
)
from tests.py.programs import PROGRAMS, Program
from tests.py.programs.program import ABSENT, SIZES, draw
from tests.py.test_rules import JUDGES

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


def test_unscaling_at_entry_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With rules that multiply data with their scales, each program whose results move fails."""
    for op, rule in RULES.items():
        if rule.family != "source":
            monkeypatch.setitem(RULES, op, replace(rule, apply=opaque))
    for program in MOVING:
        if any((program.moves or {}).values()) and program.judge == "interpreter":
            with pytest.raises(AssertionError):
                assert_moves(
                    program,
                    draw(program, SIZES, 0),
                    [1] * len(program.groups),
                    {"a": 1, "b": 2},
                )


def network(
    x: jax.Array, w1: jax.Array, w2: jax.Array, cotangent: jax.Array
) -> tuple[jax.Array, ...]:
    """A linear/ReLU network without biases, and its gradients."""

    def forward(x: jax.Array, w1: jax.Array, w2: jax.Array) -> jax.Array:
        return jax.nn.relu(x @ w1) @ w2

    y, backward = jax.vjp(forward, x, w1, w2)
    return (y, *backward(cotangent))


NETWORK_SHAPES = ((5, 12), (12, 40), (40, 3), (5, 3))
# Degrees of y, dx, dw1 and dw2 in x, w1, w2 and the cotangent.
NETWORK_DEGREES = ((1, 1, 1, 0), (0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1))


def network_text() -> str:
    types = [shaped(*shape) for shape in NETWORK_SHAPES]
    return stablehlo_of(network, *types)


def assert_network_moves(text: str, seed: int, exponents: list[int], moves: list[int]) -> None:
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal(shape, dtype=np.float32) for shape in NETWORK_SHAPES]
    before = run_scaled(text, arrays, exponents)
    after = run_scaled(text, arrays, [e + m for e, m in zip(exponents, moves, strict=True)])
    for degrees, first, second in zip(NETWORK_DEGREES, before, after, strict=True):
        expected = sum(d * m for d, m in zip(degrees, moves, strict=True))
        assert_moved(first, second, expected)


@settings(max_examples=5)
@given(
    seed=st.integers(0, 2**32 - 1),
    exponents=st.lists(st.integers(-6, 6), min_size=4, max_size=4),
    moves=st.lists(st.integers(-4, 4).map(lambda k: 2 * k), min_size=4, max_size=4),
)
def test_network_moves(seed: int, exponents: list[int], moves: list[int]) -> None:
    assert_network_moves(network_text(), seed, exponents, moves)


def test_network_has_no_factor() -> None:
    """Nothing in it but the products themselves: no data meet a scale before the end."""
    _, report = rewritten(network_text(), "scaled")
    assert not report.given_up
    assert all(result.scaled for result in report.results)


def test_unscaling_at_entry_is_noticed_in_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    for op, rule in RULES.items():
        if rule.family != "source":
            monkeypatch.setitem(RULES, op, replace(rule, apply=opaque))
    with pytest.raises(AssertionError):
        assert_network_moves(network_text(), 0, [1, 0, 2, 0], [2, 2, 2, 2])
