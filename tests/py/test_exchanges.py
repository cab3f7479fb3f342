"""Devices exchange f8 where only matmuls of f8 read what they exchange."""

from __future__ import annotations

import pytest

from tests.py import eight_devices

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("recipe", ["fp8", "unit", "fp8-current", "fp8-delayed"])
def test_casts_move_before_collectives(recipe: str) -> None:
    eight_devices.run("sharded_exchanges", recipe)
