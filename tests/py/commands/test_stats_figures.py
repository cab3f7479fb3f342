"""Figures of statistics: which values are drawn, and the picture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scalify_hlo.algebra.limits import FIGURE_ROWS
from scalify_hlo.commands.stats import figures
from scalify_hlo.commands.stats.record import StatsRecord
from tests.py.shared.stats_page import hostile, large, sample

PNG = b"\x89PNG\r\n\x1a\n"


def test_operands_of_matmuls_are_drawn() -> None:
    record = sample()
    found = {next(v.id for v in row if v is not None) for row in figures.chosen(record)}
    assert found == {operand.value for operand in record.operands}


def test_tensors_are_drawn_if_there_are_no_operands() -> None:
    record = replace(sample(), operands=())
    shapes = [next(v.shape for v in row if v is not None) for row in figures.chosen(record)]
    assert shapes
    assert () not in shapes


def test_some_of_many_values_are_drawn() -> None:
    found = [row[0] for row in figures.chosen(large(1000))]
    assert len(found) == FIGURE_ROWS
    assert [v.id for v in (found[0], found[-1]) if v is not None] == ["0.0", "999.0"]


def test_shares_of_octaves() -> None:
    """Those beyond the ends are drawn at the ends."""
    value = sample().variants[0].values[0]
    octaves = replace(value.histogram, first=-3, counts=(1, 0, 1, 1, 1))
    cells = figures._cells([replace(value, histogram=octaves), None], -2, 1)
    np.testing.assert_allclose(cells, np.array([[0.25, 0.25, 0.5], [0, 0, 0]]))


@pytest.mark.parametrize("record", [sample(), hostile(), large(3)], ids=["two", "hostile", "large"])
def test_a_figure_is_a_picture(record: StatsRecord) -> None:
    pytest.importorskip("matplotlib", reason="in the development group and in scalify-hlo[plot]")
    picture = figures.histograms(record)
    assert picture.startswith(PNG)
    assert len(picture) > 10_000
