"""The scale of a loss, which baselines of the literature have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from scalify_hlo.recipes import effects
from scalify_hlo.recipes.fields import Count, PowerOfTwo, option

LossScaling = Literal["none", "constant", "automatic"]


@dataclass(frozen=True, slots=True)
class LossScale:
    """The scale of the loss of a training step: a baseline, which is one scale for all gradients.

    Attributes:
        kind: With ``constant``, all gradients of the backward pass are ``value`` times as large,
            and are divided by it where the optimizer reads them (Micikevicius et al. 2018, section
            3.2). With ``automatic``, the scale is state, which the program takes and returns as
            that of delayed scales. It doubles after ``period`` steps, and is halved if a gradient
            is infinite or NaN. Such a step returns the state that it was given. It does not combine
            with ``delayed`` scales.
        value: The scale, or the first one; a power of two.
        period: The number of steps with finite gradients after which an automatic scale doubles.
    """

    kind: LossScaling = "none"
    value: PowerOfTwo = option(65536.0, needs=effects.LOSS_SCALED)
    period: Count = option(2000, needs=effects.AUTOMATIC)
