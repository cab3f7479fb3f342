"""Sizes of which a part is measured at run time."""

from __future__ import annotations

import pytest

from scalify_hlo.algebra.runtime_size import RuntimeSize, alike, powers_of, sized

A, B = RuntimeSize(1.0, {"a": 1}), RuntimeSize(2.0, {"b": 2})


def test_sums_and_multiples_keep_the_measured_part() -> None:
    for found, expected, powers in (
        (A + 3, 4.0, {"a": 1}),
        (3 + A, 4.0, {"a": 1}),
        (A + B, 3.0, {"a": 1, "b": 2}),
        (A - B, -1.0, {"a": 1, "b": -2}),
        (3 - A, 2.0, {"a": -1}),
        (-A, -1.0, {"a": -1}),
        (A * 2, 2.0, {"a": 2}),
        (B / 2, 1.0, {"b": 1}),
        (round(A + 0.2), 1.0, {"a": 1}),
        (sum([A, B]), 3.0, {"a": 1, "b": 2}),
    ):
        assert float(found) == pytest.approx(expected)
        assert powers_of(found) == powers


def test_what_cancels_is_a_number() -> None:
    assert type(A - A) is float
    assert type(A * 0) is float
    assert sized(2.0, {}) == 2.0
    assert bool(RuntimeSize(0.0, {"a": 1}))


def test_equal_numbers_with_other_measured_parts_differ() -> None:
    assert RuntimeSize(1.0, {"b": 1}) != A
    assert len({A, RuntimeSize(1.0, {"a": 1}), RuntimeSize(1.0, {"b": 1})}) == 2
    assert alike([A, A + 1])
    assert not alike([A, 1.0])
