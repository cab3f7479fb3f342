"""A model in NumPy's FP8: each matmul's operands rounded at the ideal scale of each tensor.

The model's own jaxpr is followed op by op; matmuls and convolutions see operands that were divided
by the scale that gives the least squared error for just these values, rounded to nearest even and
multiplied back. It is what a rewrite with scales of one tensor each could reach.
"""

from collections.abc import Callable
from typing import Any

import jax
import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

MATMULS = frozenset({"dot_general", "conv_general_dilated"})
LARGEST = 448.0
STEPS = 33
"""Scales that are tried: eight to the octave, from where nothing clips."""


def rounded(value: Array) -> Array:
    """A tensor in E4M3 at its ideal scale."""
    amax = float(np.abs(value).max())
    if amax == 0:
        return value
    scales = (amax / LARGEST) * 2.0 ** (-np.arange(STEPS) / 8)
    return min((_at(value, scale) for scale in scales), key=lambda v: np.square(v - value).sum())


def _at(value: Array, scale: float) -> Array:
    data = np.clip(value / np.float32(scale), -LARGEST, LARGEST)
    narrow: Array = data.astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
    return narrow * np.float32(scale)


def simulate(
    function: Callable[..., Any], *arguments: Any, takes: Callable[[Any], bool]
) -> list[Array]:
    """Runs a function with its matmuls in FP8.

    Args:
        function: What JAX can trace.
        arguments: Of it.
        takes: Whether an equation that is a matmul takes part.
    """
    closed = jax.make_jaxpr(function)(*arguments)
    return [np.asarray(v) for v in _run(closed, jax.tree.leaves(arguments), takes)]


def _run(closed: Any, arguments: Any, takes: Callable[[Any], bool]) -> list[Any]:
    jaxpr = closed.jaxpr
    known = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    known |= dict(zip(jaxpr.invars, arguments, strict=True))
    for equation in jaxpr.eqns:
        values = [v.val if hasattr(v, "val") else known[v] for v in equation.invars]
        known |= dict(zip(equation.outvars, _evaluated(equation, values, takes), strict=True))
    return [v.val if hasattr(v, "val") else known[v] for v in jaxpr.outvars]


def _evaluated(equation: Any, values: list[Any], takes: Callable[[Any], bool]) -> list[Any]:
    inner = equation.params.get("jaxpr") or equation.params.get("call_jaxpr")
    if inner is not None:
        return _run(inner, values, takes)
    name = equation.primitive.name
    if name in MATMULS and takes(equation):
        values = [rounded(np.asarray(value)) for value in values]
    result = equation.primitive.bind(*values, **equation.params)
    return list(result) if equation.primitive.multiple_results else [result]
