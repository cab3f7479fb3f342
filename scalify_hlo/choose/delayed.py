"""The first state of delayed scales for a comparison, in which no past steps are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.io.tensors import Array
from scalify_hlo.quantize.delayed import LEAVES, Described, described

COUNT: Final = len(LEAVES)
"""The number of arrays of the state, the last arguments and results of a program."""

_RUNS: Final = 8
"""The most runs after which scales are taken as they are."""


def tensors_of(module: ir.Module) -> Described | None:
    """Returns the description of the state of delayed scales; None if a program has none."""
    with module.context:
        return described(module.operation)


def first_state(
    about: Described, length: int, run: Callable[[Sequence[Array]], Sequence[Array]]
) -> list[Array]:
    """Returns the state after enough steps on the same inputs that its scales do not change.

    Args:
        about: The description of the state.
        length: The length of the history, in steps.
        run: Runs a step with a state, and returns its new state.
    """
    history = np.zeros((length, len(about.names)), np.float32)
    state: list[Array] = [history, about.first_scales(), np.asarray(0, np.int32)]
    for _ in range(_RUNS):
        after = run(state)
        amax, scale = np.asarray(after[0][0]), state[1]
        history = np.zeros_like(history)
        history[0] = amax
        state = [history, np.where(amax > 0, about.scales(amax), scale), state[2]]
        if np.array_equal(state[1], scale):
            break
    return state
