"""f16 data whose values are far outside f16: results must be finite and right.

Every input is near unit with scale 2^20, so each value X = X_d * X_s is beyond f16's 65504. The
reference computes the same function in f64.
"""

import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.common import Row, export_text, report, rewritten
from examples.xla import Executable, flat

SCALE = 2.0**20
BOUND = 2.0**-8
"""Largest error over the largest result: f16 has 11 bits, and sums of 64 terms lose a few."""

Array = np.ndarray[Any, Any]
M, W = (32, 64), (64, 32)


def _normalize(x: Any, xp: Any) -> Any:
    centerd = x - x.mean(axis=-1, keepdims=True)
    return centerd / xp.sqrt((centerd * centerd).mean(axis=-1, keepdims=True))


CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "product": (lax.mul, np.multiply, (M, M)),
    "cube": (lambda x: x * x * x, lambda x: x**3, (M,)),
    "sum of two": (lax.add, np.add, (M, M)),
    "dot": (jnp.matmul, np.matmul, (M, W)),
    "chain of dots": (lambda x, y, z: x @ y @ z, lambda x, y, z: x @ y @ z, (M, W, M)),
    "reduction (add)": (lambda x: x.sum(axis=-1), lambda x: x.sum(axis=-1), (M,)),
    "reduction (maximum)": (lambda x: x.max(axis=-1), lambda x: x.max(axis=-1), (M,)),
    "mean": (lambda x: x.mean(axis=-1), lambda x: x.mean(axis=-1), (M,)),
    "variance": (lambda x: x.var(axis=-1), lambda x: x.var(axis=-1), (M,)),
    "l2 norm": (jnp.linalg.norm, np.linalg.norm, (M,)),
    "normalization": (lambda x: _normalize(x, jnp), lambda x: _normalize(x, np), (M,)),
}
"""Name -> the program, the same in numpy, the shapes of its arguments."""


def error(name: str) -> float:
    """Largest absolute error over the largest absolute result; NaN or inf if one is not finite."""
    function, reference, shapes = CASES[name]
    random = np.random.default_rng(0)
    data = [random.standard_normal(shape).astype(np.float16) for shape in shapes]
    text = export_text(function, *(jax.ShapeDtypeStruct(s, jnp.float16) for s in shapes))
    pairs = [part for array in data for part in (array, np.float32(SCALE))]
    result, scale = Executable(rewritten(text, "scaled"))(flat(pairs))
    exact = reference(*(array.astype(np.float64) * SCALE for array in data))
    measured = np.asarray(result).astype(np.float64) * float(scale)
    return float(np.max(np.abs(measured - exact)) / np.max(np.abs(exact)))


def main() -> int:
    """Prints the error of each program."""
    rows = [Row(name, error(name), BOUND, ".1e") for name in CASES]
    return report("f16 data with scale 2^20, error over the largest result, XLA CPU", rows)


if __name__ == "__main__":
    sys.exit(main())
