"""Faults in a step that `jax.shard_map` divides among eight devices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.py.shared.planted import (
    Function,
    exponential,
    inputs,
    line,
    logarithm,
    matmul,
    origin,
    parted,
    sharded,
)


def found(layer: Function, row: int, value: float, mark: str) -> list[Any]:
    x, w = inputs()
    x[row, 4] = value
    op = origin(sharded(layer), x, w)
    return [] if op is None else [op.op, line(mark) in op.location, op.device]


def first(factor: float) -> list[Any]:
    x, w = inputs()
    values = parted(sharded(matmul), x * np.float32(factor), w)
    return [values[0].op, line("cast") in values[0].location] if values else []


def main() -> dict[str, Any]:
    """The op that is found for each fault."""
    return {
        "nan": found(logarithm, 20, -1.0, "NaN"),
        "overflow": found(exponential, 3, 2.0, "overflow"),
        "healthy": first(1.0),
        "flushed": first(1e-6),
        "clipped": first(1e6),
    }
