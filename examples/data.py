"""Byte-level text that every Python installation has: the source of its own standard library."""

import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

VOCAB = 256
"""One token for each byte."""


@cache
def corpus() -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """All top-level modules of the standard library, in the order of their names."""
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    return np.frombuffer(b"".join(file.read_bytes() for file in files), dtype=np.uint8)


def batches(
    batch: int, sequence: int, steps: int, seed: int = 0
) -> Iterator[np.ndarray[tuple[int, int], np.dtype[np.int32]]]:
    """Yields `steps` arrays of tokens, int32 of shape (batch, sequence + 1), the same each time."""
    text, random = corpus(), np.random.default_rng(seed)
    window = np.arange(sequence + 1)
    for _ in range(steps):
        starts = random.integers(0, len(text) - sequence - 1, size=(batch, 1))
        yield text[starts + window].astype(np.int32)
