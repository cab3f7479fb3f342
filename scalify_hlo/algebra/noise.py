"""The numbers of the hash by which data are rounded up or down, for MLIR and for JAX alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

INDEX_FACTOR: Final = 0x9E3779B1
SALT_FACTOR: Final = 0x85EBCA77
"""Odd numbers whose multiples differ in many bits."""

MIXES: Final = ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1))
"""The shifts and factors of the hash, which is the finalizer of MurmurHash3."""

UNSURE: Final = 8
"""The last bits of a number that are not hashed: a sum in another order may change them."""

WORD: Final = 32
MANTISSA: Final = 23
BIAS: Final = 127
"""The bits of an f32, those of its fraction, and the bias of its exponent."""


def strides(shape: Sequence[int]) -> dict[int, int]:
    """Returns the stride of each dimension longer than 1, in elements, modulo 2^32."""
    return {
        d: math.prod(shape[d + 1 :]) % (1 << WORD) for d, length in enumerate(shape) if length > 1
    }
