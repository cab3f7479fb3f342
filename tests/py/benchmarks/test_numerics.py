"""The benchmark of signal to noise: it measures what it says, and sees a cast without a scale."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import ml_dtypes
import numpy as np
import pytest

from benchmarks import numerics
from benchmarks.numerics import INPUTS, SITES, Figures, best, curves, figures, rounded, snr
from benchmarks.plot import HEIGHT, Curve, draw

EXPONENTS = (-20, 0, 20)
E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
RANDOM = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"M": 32, "K": 64, "N": 16, "EXPONENTS": EXPONENTS}.items():
        monkeypatch.setattr(numerics, name, value)


def verdicts(found: Figures) -> dict[str, bool]:
    return {row.what: row.holds for row in found.rows("site") if row.bound is not None}


def test_an_error_of_a_hundredth_is_40_db() -> None:
    exact = RANDOM.standard_normal((8, 8))
    assert snr(1.01 * exact, exact) == pytest.approx(40)
    assert snr(exact, exact) == np.inf


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_result_that_is_not_finite_is_all_noise(wrong: float) -> None:
    assert snr(np.array([1.0, wrong]), np.array([1.0, 2.0])) == -np.inf


@pytest.mark.parametrize(("format_", "largest"), [(E4M3, 448), (E5M2, 57344), (np.float16, 65504)])
def test_rounding_saturates_at_the_scale_it_is_done_at(format_: Any, largest: float) -> None:
    values = np.array([-1e9, 1.0, 1e9])
    assert rounded(values, format_).tolist() == [-largest, 1, largest]
    assert rounded(values, format_, 2).tolist() == [-4 * largest, 1, 4 * largest]


@pytest.mark.parametrize("exponent", [-12, 0, 12])
def test_the_best_is_found_wherever_the_inputs_are(exponent: int) -> None:
    x, w = RANDOM.standard_normal((16, 64)), RANDOM.standard_normal((64, 16))
    unit = snr(rounded(x, E5M2) @ rounded(w, E4M3), x @ w)
    found = best(np.ldexp(x, exponent), w, (E5M2, E4M3))
    assert unit <= found + 1e-9
    assert found == pytest.approx(unit, abs=1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("site", SITES)
def test_rewritten_matmuls_are_as_good_as_their_formats_at_every_scale(
    site: str, kind: str
) -> None:
    found = figures(SITES[site], INPUTS[kind])
    assert all(verdicts(found).values())
    assert found.best - 1 > min(found.plain)


def test_every_site_takes_the_formats_it_is_compared_with() -> None:
    worse = {site: figures(SITES[site], INPUTS["normal"]).measured["scaled"][0] for site in SITES}
    assert worse["fp8 backward"] + 2 < worse["fp8"] < worse["fp16"] - 30


def test_a_rewriting_that_is_not_told_the_scale_misses_the_bounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rewritten = numerics.rewritten
    near_unit = {"input_scale": {"*": 1.0}}
    monkeypatch.setattr(numerics, "rewritten", lambda site, **_: rewritten(site, **near_unit))
    found = figures(SITES["fp8"], INPUTS["normal"], ["same"])
    assert not any(verdicts(found).values())


def test_the_plot_has_a_line_for_each_curve_inside_its_frame() -> None:
    found = {"fp8": Figures(30.0, [-np.inf, 30.0, 0.0], {"scaled": [30.0, 30.0, 30.0]})}
    picture = ElementTree.fromstring(draw({"a < b": list(curves(found))}, ("x", "y")))
    lines = [node.attrib["points"].split() for node in picture.iter() if "points" in node.attrib]
    assert [len(points) for points in lines] == [3, 3]
    measured, plain = ([float(p.split(",")[1]) for p in points] for points in lines)
    assert len(set(measured)) == 1
    assert plain[1] == measured[0] < plain[0] == plain[2] < HEIGHT
    assert "a < b" in [node.text for node in picture.iter()]


def test_curves_of_any_range_of_x_fill_the_plot() -> None:
    picture = draw({"": [Curve("", [-3, 5], [1.0, 2.0], 0)]}, ("", ""))
    (line,) = (node for node in ElementTree.fromstring(picture).iter() if "points" in node.attrib)
    assert [p.split(",")[0] for p in line.attrib["points"].split()] == ["56.0", "408.0"]
