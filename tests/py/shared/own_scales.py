"""Programs under recipes whose operands have scales of their own: of a profile, or of a state."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import scalify_hlo


def rewritten(recipe: str, program: Any, *given: Any, **settings: object) -> Any:
    """A program under a recipe, with a profile of its arguments where the recipe needs one."""
    profile = scalify_hlo.calibrate(program, [given]) if recipe == "fp8-calibrated" else None
    return scalify_hlo.rewrite(program, recipe=recipe, profile=profile, settings=settings)


def called(new: Any, *given: Any, steps: int = 3) -> npt.NDArray[Any]:
    """The result of the last step, in which delayed scales are those of the arguments."""
    if new.in_tree.num_leaves == len(given):
        return np.asarray(new.call(*given))
    state = scalify_hlo.init_scaling_state(new, *given)
    for _ in range(steps):
        result, state = new.call(*given, state)
    return np.asarray(result)
