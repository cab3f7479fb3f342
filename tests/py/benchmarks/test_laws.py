"""Drawn programs with a meaning of their own, rewritten in all ways, keep the laws."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from random import Random

import pytest

from scalify_hlo._compat import ir
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import FloatFormat
from scalify_hlo.rules import rounding
from tests.py.laws.judge import FAULTS, WAYS, Finding, Way, findings, subject

PROGRAMS = (40, 21, 45, 35, 31, 50, 12, 8, 55, 5)
"""Small programs of seed 0, of each kind one or more."""
SHARE = 15
"""The number of ways in which each is rewritten: each way is that of six programs."""
PLANTED = 2
"""The number of faults for each rewrite."""


def sample() -> Iterator[tuple[int, Way, list[str]]]:
    """Yields programs, ways to rewrite them, and faults."""
    kinds = sorted(set(FAULTS))
    for i, number in enumerate(PROGRAMS):
        random = Random(number)
        for j in range(SHARE):
            way = WAYS[(i * SHARE + j) % len(WAYS)]
            yield number, way, random.sample(kinds, PLANTED)


def found_in(draws: Iterator[tuple[int, Way, list[str]]]) -> list[tuple[int, str, str, Finding]]:
    """Returns the findings of some draws, with their programs, ways and faults."""
    made: list[tuple[int, str, str, Finding]] = []
    last, drawn = -1, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, way, faults in draws:
            if number != last or drawn is None:
                last, drawn = number, subject(f"0:{number}")
            for fault in faults:
                broken = findings(drawn, way, fault, f"0:{number}")
                made += [(number, str(way), fault, each) for each in broken]
    return made


@pytest.mark.slow
def test_rewrites_keep_the_laws() -> None:
    assert sum(len(faults) for _, _, faults in sample()) == 300
    assert {way for _, way, _ in sample()} == set(WAYS)
    assert found_in(sample()) == []


def test_a_cast_that_makes_infinities_finite_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def clamped(
        value: ir.Value,
        _: FloatFormat,
        low: ir.Value,
        high: ir.Value,
        at: ir.Operation,
        **_more: object,
    ) -> ir.Value:
        return emit.clamp(low, value, high, at)

    draws = [(55, Way("fp8", declared=True), ["inf", "-inf"])]
    assert found_in(iter(draws)) == []
    monkeypatch.setattr(rounding, "saturated", clamped)
    assert {each.law for *_, each in found_in(iter(draws))} == {3}


def test_a_cast_of_the_program_that_rounds_otherwise_is_found() -> None:
    drawn, way = subject("0:40"), Way("fp8")
    assert not list(findings(drawn, way, "none", "0:40"))
    results = dict(drawn.run(way, drawn.step.args)[0])
    results["rounded"] = [rounded * 2 for rounded in results["rounded"]]
    drawn.run = lambda *_: (results, None)  # type: ignore[method-assign]
    assert {each.law for each in findings(drawn, way, "none", "0:40")} == {1}


def test_members_that_do_not_train_are_found() -> None:
    drawn, way = subject("0:8"), Way("fp8-current")
    assert not list(findings(drawn, way, "nan", "0:8"))
    results = dict(drawn.run(way, drawn.step.args)[0])
    results["new"] = [before * 1.001 for before in drawn.step.args[0]]
    drawn.run = lambda *_: (results, None)  # type: ignore[method-assign]
    assert {each.law for each in findings(drawn, way, "none", "0:8")} == {4}
