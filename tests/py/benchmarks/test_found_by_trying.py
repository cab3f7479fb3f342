"""Defects that were found by trying the tool, checked as a user would."""

import pytest

from benchmarks.found_by_trying.__main__ import CHECKS, wrong

pytestmark = pytest.mark.slow

_TIMED = 15
"""Its test elsewhere counts instructions; tests assert on no time."""


@pytest.mark.parametrize("point", [point for point in CHECKS if point != _TIMED])
def test_points(point: int) -> None:
    assert [reason for check in CHECKS[point] if (reason := wrong(check))] == []
