"""Devices exchange f8 where only matmuls of f8 read what they exchange, and add up parts once."""

from __future__ import annotations

import pytest

from tests.py.devices import eight_devices, sharded_exchanges, sharded_sums

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("recipe", ["fp8", "unit", "fp8-current", "fp8-delayed"])
def test_casts_move_before_collectives(recipe: str) -> None:
    eight_devices.run(sharded_exchanges.main, recipe)


@pytest.mark.parametrize("recipe", ["fp8-current", "fp8-delayed", "fp8-calibrated"])
def test_gradients_that_are_added_have_one_scale(recipe: str) -> None:
    eight_devices.run(sharded_sums.main, recipe)
