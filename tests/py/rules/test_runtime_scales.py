"""The uncertainty of the sizes of run-time scales."""

from __future__ import annotations

import math

import pytest

from scalify_hlo.algebra.limits import UNBOUNDED
from scalify_hlo.algebra.scale import ONE, RuntimeScale, Scale, Scaled
from scalify_hlo.algebra.uncertainty import of_root
from scalify_hlo.rules.runtime_scales import _all_below, _measured


def test_statistics_of_data_of_unknown_size() -> None:
    assert _measured(None).octaves == UNBOUNDED


def test_statistics_of_data_are_off_by_another_octave() -> None:
    known = Scaled(ONE, 0, of_root(2.0))
    assert _measured(known).octaves == pytest.approx(math.sqrt(2.0**2 + 1))


def test_the_scale_of_the_data_counts_by_itself() -> None:
    runtime = RuntimeScale(0, "s0", uncertainty=of_root(3.0))
    known = Scaled(Scale(0, ((runtime, 1),)), 0, of_root(2.0))
    found = _measured(known)
    assert found.octaves == pytest.approx(math.sqrt(3.0**2 + 2.0**2 + 1))
    assert found.degrees.keys() & runtime.uncertainty.degrees.keys()


def test_scales_below_one() -> None:
    a, b = RuntimeScale(0, "s0"), RuntimeScale(1, "s1")
    assert _all_below(Scale(0, ((a, -1), (b, -2))))
    assert not _all_below(Scale(0, ((a, -1), (b, 2))))
