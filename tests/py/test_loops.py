"""The carries of loops whose scales move, and what is known of them."""

from __future__ import annotations

import math

import pytest

from scalify_hlo.algebra.scale import RuntimeScale, Scale, Scaled, Splat
from scalify_hlo.algebra.uncertainty import of_root
from scalify_hlo.rules.loops import _circular, _with_values


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
