"""The shapes of moments in blocks and of their scales, for MLIR and for JAX alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from scalify_hlo.algebra.limits import MOMENT_BLOCK

SCALE_FORMAT: Final = "f8E8M0FNU"
"""The format of the scales of blocks."""


def block_length(length: int) -> int:
    """Returns the number of elements in a block along a dimension of this length."""
    return min(MOMENT_BLOCK, length)


def scale_shape(shape: Sequence[int]) -> list[int]:
    """Returns the shape of the scales of a moment of rank 1 or more, without empty dimensions."""
    return [*shape[:-1], math.ceil(shape[-1] / block_length(shape[-1]))]
