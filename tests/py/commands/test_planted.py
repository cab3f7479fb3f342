"""Planted overflows, flushed operands and NaN are found, and named with their source line."""

from __future__ import annotations

import numpy as np
import pytest

from tests.py.devices import eight_devices, sharded_planted
from tests.py.shared.planted import (
    PLACES,
    Function,
    exponential,
    inputs,
    line,
    logarithm,
    matmul,
    origin,
    parted,
)

EVERY_PLACE = pytest.mark.parametrize("place", PLACES)


@EVERY_PLACE
@pytest.mark.parametrize(
    ("layer", "planted", "kind", "op", "mark", "turn"),
    [
        (logarithm, -1.0, "nan", "stablehlo.log", "NaN", 0),
        # Times 50 it is 82.5 at first, 87.5 in turn 1, and 92.5 in turn 2.
        (exponential, 1.65, "infinity", "stablehlo.exponential", "overflow", 2),
    ],
)
def test_a_number_that_is_not_finite(
    layer: Function, planted: float, kind: str, op: str, mark: str, turn: int, place: str
) -> None:
    x, w = inputs()
    step = PLACES[place](layer)
    assert origin(step, x, w) is None
    x[3, 4] = planted
    found = origin(step, x + (0.2 if kind == "infinity" and place != "scan" else 0.0), w)
    assert found is not None
    assert (found.kind, found.op) == (kind, op)
    assert line(mark) in found.location
    assert [loop.turn for loop in found.loops] == ([turn] if place == "scan" else [])


@EVERY_PLACE
@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_operands_that_a_cast_flushes_or_clips(place: str, factor: float) -> None:
    """Inputs are declared to be near unit: E4M3 holds them at 1, and not at 1e-6 and 1e6."""
    x, w = inputs()
    step = PLACES[place](matmul)
    assert parted(step, x, w) == []
    if place == "scan" and factor < 1:
        x, w = x, w * np.float32(factor)  # the carry grows in each turn
    else:
        x = x * np.float32(factor)
    first = parted(step, x, w)[0]
    assert first.op == "stablehlo.dot_general"
    assert line("cast") in first.location


def test_a_sharded_step() -> None:
    assert eight_devices.run(sharded_planted.main) == {
        "nan": ["stablehlo.log", True, 4],
        "overflow": ["stablehlo.exponential", True, 0],
        "healthy": [],
        "flushed": ["stablehlo.dot_general", True],
        "clipped": ["stablehlo.dot_general", True],
    }
