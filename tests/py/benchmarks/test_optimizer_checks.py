"""The first losses of a training count as equal only where the rewrite is not what moves them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.optimizer_checks import FIRST, FIRST_LOSSES, Figure, _first_losses

SEED = 0


def losses(off: float = 0.0) -> Any:
    """First losses, one of which differs by a relative amount."""
    found = np.linspace(7.0, 6.0, FIRST)
    found[13] *= 1 + off
    return found


def figure(fused: float, unfused: float = 0.0, spread: float = 0.0) -> Figure:
    """The check of a training whose rewrite differs by `fused` and, without fusion, by `unfused`.

    Args:
        fused: Relative difference of a loss.
        unfused: The same where XLA fuses nothing.
        spread: How far the original's own loss moves when its parameters do.
    """
    original: Any = SimpleNamespace(
        losses=lambda _: losses(),
        first_losses=lambda _, nudge, __: losses(spread if nudge == 1 else 0.0),
        unfused_losses=lambda *_: losses(),
    )
    rewritten: Any = SimpleNamespace(unfused_losses=lambda *_: losses(unfused))
    trace: Any = SimpleNamespace(losses=losses(fused))
    return _first_losses(original, rewritten, {SEED: trace})


def test_losses_within_the_bound_hold() -> None:
    found = figure(0.5 * FIRST_LOSSES)
    assert found.holds
    assert found.bound == FIRST_LOSSES


def test_losses_within_the_spread_of_f32_hold_if_only_fusion_differs() -> None:
    found = figure(1.5 * FIRST_LOSSES, spread=2 * FIRST_LOSSES)
    assert found.holds
    assert found.bound == pytest.approx(2 * FIRST_LOSSES, rel=1e-6)


@pytest.mark.parametrize(
    "found",
    [
        figure(1.5 * FIRST_LOSSES),
        figure(3 * FIRST_LOSSES, spread=2 * FIRST_LOSSES),
        figure(1.5 * FIRST_LOSSES, unfused=1.5 * FIRST_LOSSES, spread=2 * FIRST_LOSSES),
        figure(np.nan, spread=np.inf),
    ],
    ids=["no spread", "beyond the spread", "without fusion too", "NaN"],
)
def test_losses_that_the_rewrite_moves_fail(found: Figure) -> None:
    assert not found.holds
