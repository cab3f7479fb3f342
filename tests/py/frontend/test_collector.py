"""A rewrite leaves hardly anything to the garbage collector, which is paused meanwhile."""

from __future__ import annotations

import gc
from collections import Counter
from typing import Any

import jax
import numpy as np
import pytest

import scalify_hlo
from benchmarks.common import export_text
from examples import mlp

SETTINGS: dict[str, dict[str, Any]] = {
    "propagate": {"recipe": "propagate", "signature": "scaled"},
    "unit": {"recipe": "unit", "signature": "same"},
    "fp8": {"recipe": "fp8", "signature": "scaled"},
}


def step() -> str:
    """A training step, which calls functions."""
    params = mlp.init(jax.random.key(0))
    images, labels = np.zeros((32, 784), np.float32), np.zeros(32, np.int32)
    return export_text(mlp.adam_step, params, mlp.ADAM.init(params), images, labels)


def left_after(text: str, settings: dict[str, Any]) -> Counter[str]:
    """The objects in cycles that a rewrite leaves, by their types."""
    scalify_hlo.rewrite(text, **settings)  # loads what is loaded late
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        scalify_hlo.rewrite(text, **settings)
        gc.collect()
        return Counter(type(each).__name__ for each in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SETTINGS)
def test_what_a_walk_knows_of_values_is_in_no_cycle(name: str) -> None:
    """Frames and views know each other, one for each call and tensor; values are many more."""
    left = left_after(step(), SETTINGS[name])
    assert not {"Scaled", "Uncertainty", "Node", "ScaleRewriter", "Reach"} & left.keys(), left
