"""The carries of loops whose scales move, and what is known of them."""

from __future__ import annotations

import math

import pytest

from scalify_hlo.algebra.scale import RuntimeScale, Scale, Scaled, Splat
from scalify_hlo.algebra.uncertainty import CERTAIN, of_root
from scalify_hlo.rules.loops import _circular, _level, _of_carried, _with_values


@pytest.mark.parametrize(
    ("sources", "circular"),
    [
        ({0: [1], 1: [2], 2: []}, set()),
        ({0: [0], 1: []}, {0}),
        ({0: [1], 1: [0], 2: [0]}, {0, 1}),
        ({0: [1], 1: [2], 2: [0], 3: [4], 4: [3]}, {0, 1, 2, 3, 4}),
    ],
)
def test_carries_whose_scales_come_from_themselves(
    sources: dict[int, list[int]], circular: set[int]
) -> None:
    assert _circular(sources) == circular


def test_forms_of_carries_with_scales_of_their_own() -> None:
    """Those are as uncertain as their values are, and others stay."""
    runtime = RuntimeScale(0, "s0", uncertainty=of_root(2.0))
    info = Scaled(Scale(0, ((runtime, 1),)), 2.0, of_root(3.0))
    found = _with_values([info, None, info, Splat(1.0)], {1, 2, 3})
    assert found[:2] == [info, None]
    assert found[3] == Splat(1.0)
    moved = found[2]
    assert isinstance(moved, Scaled)
    assert moved.uncertainty.octaves == pytest.approx(math.hypot(2.0, 3.0))


def test_sizes_of_carries() -> None:
    assert _level(None) == 0
    assert _level(Splat(8.0)) == 0
    assert _level(Scaled(Scale(3), 2.0)) == 2.0


def test_a_carry_at_a_scale_of_its_own() -> None:
    runtime, known = RuntimeScale(0, "s0"), of_root(2.0)
    data = Scaled(Scale(3), 2.0)
    found = _of_carried(runtime, data, Scaled(Scale(3), 2.0, known), 5.0)
    assert found == Scaled(Scale(0, ((runtime, 1),)), 2.0)
    assert (runtime.size, runtime.uncertainty) == (3.0, known)
    nothing = RuntimeScale(1, "s1")
    _of_carried(nothing, data, None, 5.0)
    assert nothing.uncertainty is CERTAIN
