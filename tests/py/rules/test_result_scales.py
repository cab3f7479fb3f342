"""The static scales at which narrow data are left, as far as their sizes are certain."""

from __future__ import annotations

from typing import Any, cast

import pytest

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.algebra.scale import ONE, RuntimeScale, Scale, Scaled
from scalify_hlo.algebra.uncertainty import of_root
from scalify_hlo.rules.result_scales import ResultScales

E4M3 = FORMATS["f8E4M3FN"]
VALUE = cast("ir.Value", None)


class Values:
    """Values that are all of one format."""

    def __init__(self, of: Any) -> None:
        self._format = of

    def format(self, _: object) -> Any:
        return self._format

    def is_wide(self, _: object) -> bool:
        return self._format is None or bool(self._format.wide)


SCALES = ResultScales(cast("Any", Values(E4M3)), narrow=True, own=False)
RUNTIME = Scale(0, ((RuntimeScale(0, "s0"), 1),))


@pytest.mark.parametrize(
    ("octaves", "exponent"),
    [(0.0, 9), (3.0, 9), (3.5, 5), (4.0, 4), (6.0, 0), (8.0, 0)],
)
def test_what_is_doubtful_is_left_to_the_data(octaves: float, exponent: int) -> None:
    """E4M3 holds three octaves; beyond them, two standard deviations less three are left."""
    info = Scaled(ONE, 9.0, of_root(octaves))
    assert SCALES.bounded(VALUE, info) == Scale(exponent)
    below = Scaled(ONE, -9.0, of_root(octaves))
    assert SCALES.bounded(VALUE, below) == Scale(-exponent)


def test_octaves_and_format_may_be_given() -> None:
    info = Scaled(ONE, 9.0, of_root(50.0))
    assert SCALES.bounded(VALUE, info, octaves=3.0) == Scale(9)
    assert SCALES.bounded(VALUE, info, FORMATS["f16"], 13.0) == Scale(9)


def test_a_run_time_scale_stays() -> None:
    info = Scaled(RUNTIME, 9.0, of_root(4.0))
    assert SCALES.bounded(VALUE, info) == RUNTIME.shift(4)
    hopeless = Scaled(RUNTIME, 9.0, of_root(1e6))
    assert SCALES.bounded(VALUE, hopeless) == RUNTIME
    assert SCALES.bounded(VALUE, Scaled(Scale(5), 9.0, of_root(1e6))) == ONE


def test_what_has_no_format_has_no_room() -> None:
    scales = ResultScales(cast("Any", Values(None)), narrow=True, own=False)
    assert scales.bounded(VALUE, Scaled(ONE, 9.0, of_root(0.5))) == Scale(8)


def test_formats() -> None:
    assert not SCALES.is_wide(VALUE)
    assert not SCALES.keeps_values(VALUE)
