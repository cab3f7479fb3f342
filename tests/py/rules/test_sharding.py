"""Programs for several devices: rewritten, they mean what they mean on one."""

from __future__ import annotations

from typing import Any

import pytest

from scalify_hlo.rules.table import RULES
from tests.py.devices import eight_devices, sharded_runs
from tests.py.devices.sharded_layers import LAYERS
from tests.py.devices.sharded_steps import CASES

NAMES = [case.name for case in (*CASES, *LAYERS)]
CLOSE = 1e-6
KEEPING = {"collective", "sharding"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Any]:
    """Returns the results of each case on eight devices, in a process of its own."""
    found: dict[str, Any] = eight_devices.run(sharded_runs.main)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_step_equals_the_unsharded_one(outcomes: dict[str, Any], name: str) -> None:
    outcome = outcomes[name]
    assert outcome["spread"] <= CLOSE  # else the case itself is wrong
    assert outcome["same"] <= CLOSE
    assert outcome["scaled"] <= CLOSE


@pytest.mark.parametrize("name", NAMES)
def test_programs_are_for_eight_devices(outcomes: dict[str, Any], name: str) -> None:
    assert outcomes[name]["devices"] == [8, 8, 8]


@pytest.mark.parametrize("name", NAMES)
def test_results_are_placed_as_before(outcomes: dict[str, Any], name: str) -> None:
    assert all(outcomes[name]["placed"])


@pytest.mark.parametrize("name", NAMES)
def test_scales_are_equal_on_every_device(outcomes: dict[str, Any], name: str) -> None:
    """And they are not all 1, as they would be if no scale went through the body."""
    scales = outcomes[name]["scales"]
    assert all(len(each) == 8 and len(set(each)) == 1 for each in scales)
    assert any(each[0] != 1 for each in scales)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_given_up(outcomes: dict[str, Any], name: str) -> None:
    """Collectives and per-device bodies keep scales: none of them reads a value at scale 1."""
    given_up = set(outcomes[name]["given up"])
    assert not given_up & {op for op, rule in RULES.items() if rule.category in KEEPING}


def test_exchanges_move_no_bit(outcomes: dict[str, Any]) -> None:
    """If devices only exchange and compare values, results are those of the original program."""
    outcome = outcomes["exchange, shard_map"]
    assert outcome["same bits"]
    assert outcome["scaled bits"]
