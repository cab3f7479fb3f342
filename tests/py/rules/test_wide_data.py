"""Wide data at static scales are nowhere much further from unit than the values are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks.models.run import RUNS
from benchmarks.wide_values import Original
from tests.py.shared.judge import parse, propagated

ROWS, WIDTH = 8, 256

Function = Callable[..., jax.Array]


def sum_of_squares(x: jax.Array) -> jax.Array:
    return jnp.sum(x * x)


def mean_square_after_matmuls(x: jax.Array, w: jax.Array) -> jax.Array:
    """A variance of values that have grown: their scale is that of the weights."""
    return jnp.mean(jnp.square(x @ w @ w), axis=-1)


def quotient_by_a_square(x: jax.Array) -> jax.Array:
    """The gradient of a reciprocal root."""
    variance = jnp.mean(x * x, axis=-1) + 0.5
    return jax.lax.rsqrt(variance) / variance


def quotient(x: jax.Array, y: jax.Array) -> jax.Array:
    return x / y


def fourth_power(x: jax.Array) -> jax.Array:
    square = jnp.square(x @ x.T)
    return square * square


def window_of_squares(x: jax.Array) -> jax.Array:
    return jax.lax.cumsum(x * x, axis=1)


def squares_of_large_values(x: jax.Array, w: jax.Array) -> jax.Array:
    """A variance over few values of a deep residual stream, which are larger than 1."""
    return jnp.mean(jnp.square((x @ w).reshape(-1, 64)), axis=-1)


def mean_and_variance(x: jax.Array, w: jax.Array) -> jax.Array:
    """A group normalization of gated activations, whose mean is not 0."""
    groups = jnp.abs((x @ w) * (x @ w.T)).reshape(-1, 128)
    return jnp.square(groups).sum(-1) - jnp.square(groups.sum(-1))


CASES: dict[str, tuple[Function, list[float], list[float]]] = {
    "sum-of-squares": (sum_of_squares, [1], [2**-4]),
    "variance": (mean_square_after_matmuls, [1 / 64, 1], [2**-3, 2**-3]),
    "reciprocal-root": (quotient_by_a_square, [1], [2**-6]),
    "quotient": (quotient, [2**4, 1], [2**-6, 2**6]),
    "fourth-power": (fourth_power, [0.5], [2**-3]),
    "large-squares": (squares_of_large_values, [4, 1 / 16], [2**-4, 1]),
    "mean-and-variance": (mean_and_variance, [2, 1 / 16], [2**-4, 1]),
    "cumsum": (window_of_squares, [1], [2**-4]),
}
"""A function, the rms of its arguments, and the scales at which they are declared."""

MATMULS = {"variance", "large-squares", "mean-and-variance"}
"""The cases whose second argument is a square matrix."""


def program(name: str) -> tuple[str, list[Any], dict[str, float]]:
    """The text, the arguments and the declared scales of a case."""
    function, sizes, scales = CASES[name]
    random = np.random.default_rng(5)
    shapes = [(ROWS, WIDTH), (WIDTH, WIDTH) if name in MATMULS else (ROWS, WIDTH)]
    arguments: list[Any] = [
        (size * random.standard_normal(shape)).astype(np.float32)
        for size, shape in zip(sizes, shapes, strict=False)
    ]
    text = jax.jit(function).lower(*arguments).as_text(debug_info=True)
    return text, arguments, {f"arg{i}": scale for i, scale in enumerate(scales)}


@pytest.mark.parametrize("name", list(CASES))
def test_no_value_is_much_further_from_unit_than_before(name: str) -> None:
    text, arguments, scales = program(name)
    original = Original(text, arguments, RUNS["interpreter"], exact=True)
    rewritten = propagated(original.text, signature="same", input_scale=scales)
    parse(rewritten)
    line = original.compare(rewritten)
    assert line.holds, line
