"""Markers in programs for eight devices, which only a process of its own can have."""

from __future__ import annotations

from typing import Any

import pytest

from tests.py.devices import eight_devices, sharded_markers

NAMES = (
    "set_scaling",
    "rebalance_scale",
    "get_data_and_scale",
    "dynamic_rescale",
    "dynamic_rescale_grad",
    "stop_scaling",
    "custom_scale",
    "dynamic_rescale_loop",
)


@pytest.fixture(scope="module")
def outcomes() -> dict[tuple[str, str], Any]:
    found = eight_devices.run(sharded_markers.main)
    return {(outcome["kind"], outcome["name"]): outcome for outcome in found}


@pytest.fixture(scope="module")
def scales() -> dict[str, Any]:
    found: dict[str, Any] = eight_devices.run(sharded_markers.statistics)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["shard_map", "sharded"])
def test_programs_for_several_devices(
    outcomes: dict[tuple[str, str], Any], kind: str, name: str
) -> None:
    outcome = outcomes[kind, name]
    assert outcome["devices"] == 8
    assert outcome["direct"]
    assert outcome["loaded"]
    assert outcome["eager"]
    assert outcome["markers"] == [name.removesuffix("_grad").removesuffix("_loop")]
    assert outcome["rewritten"]


@pytest.mark.parametrize("statistic", ["max", "l1", "l2"])
def test_statistics_on_each_device_are_those_of_all(scales: dict[str, Any], statistic: str) -> None:
    found, expected = scales[statistic]
    assert found == [expected] * 8
