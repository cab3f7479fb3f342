"""The activations that a forward pass keeps for its backward pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from scalify_hlo.recipes import effects
from scalify_hlo.recipes.fields import option
from scalify_hlo.recipes.state import DataRounding

Saved = Literal["keep", "bf16", "f8"]


@dataclass(frozen=True, slots=True)
class ActivationOptions:
    """The activations that a forward pass keeps for its backward pass, but operands of matmuls.

    Attributes:
        saved: The format in which values are kept that only elementwise ops read, such as inputs
            of normalizations and of activation functions, and inputs of checkpointed layers.
            ``keep`` keeps them as they are. ``f8`` is E4M3 with a power-of-two scale for each 128
            numbers along the last dimension, as in COAT (arXiv 2410.19313, section 5). What a
            softmax is computed of, and values of the loss, are not rounded.
        rounding: The rounding of values that are kept in f8: ``nearest``, or ``stochastic``,
            which rounds up or down at random.
    """

    saved: Saved = option("keep", needs=effects.CUT)
    rounding: DataRounding = option("nearest", needs=effects.SAVED)
