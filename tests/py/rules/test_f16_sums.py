"""Sums of f16 data and constants: the larger summand chooses (Scalify paper, algorithm 3).

Activations are made of such sums, and of powers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from tests.py.shared.judge import program_of

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "softplus": jax.nn.softplus,
    "hard_swish": jax.nn.hard_swish,
    "mish": jax.nn.mish,
    "horner": lambda x: ((x + 1) * x + 2) * x + 3,
    "large": lambda x: x + 1000,
    "small": lambda x: x + 2.0**-10,
    "select": lambda x: jnp.where(x > 0, x, 1.0),
    "mask": lambda x: jax.nn.softmax(jnp.where(x > 0, x, jnp.finfo(x.dtype).min)),
    "maximum": lambda x: jnp.maximum(x, 0.5),
    "pad": lambda x: jnp.pad(x, 1, constant_values=2.0),
    "unscaled": lambda x: x + jnp.cos(jnp.ones_like(x)),
}
X = np.linspace(-4, 4, 65).astype(np.float16)


def run(function: Callable[[Any], Any], exponent: int) -> tuple[Any, Any, Any]:
    """The result of data times a power of two: in f32, in f16, and on a pair."""
    value = X.astype(np.float64) * 2.0**exponent
    wide, plain = (np.asarray(function(value.astype(t)), np.float64) for t in ("f4", "f2"))
    pair = scalify_hlo.ScaledArray(jnp.asarray(X), jnp.float32(2.0**exponent))
    got = scalify_hlo.asarray(scalify_hlo.scalify(function, recipe="propagate")(pair))
    return wide, plain, np.asarray(got, np.float64)


@pytest.mark.parametrize("exponent", [-20, -6, 3])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_sums_are_as_good_as_in_plain_f16(name: str, exponent: int) -> None:
    """A constant at the scale of a partner of size 2^-20 was infinite, or saturated."""
    wide, plain, got = run(FUNCTIONS[name], exponent)
    bound = max(2 * np.abs(plain - wide).max(), 2e-3 * np.abs(wide).max())
    assert np.abs(got - wide).max() <= bound


def test_bounds_beyond_zero_saturate() -> None:
    """A clamp by 6 does not bring values of size 2^-20 to scale 1, where f16 has few bits."""
    x = np.random.default_rng(0).standard_normal(64).astype(np.float16)
    pair = scalify_hlo.ScaledArray(jnp.asarray(x), jnp.float32(2.0**-20))
    got = scalify_hlo.scalify(jax.nn.relu6, recipe="propagate")(pair)
    np.testing.assert_array_equal(got.data, np.maximum(x, 0))


@pytest.mark.parametrize("recipe", ["propagate", "fp16", "bf16"])
@pytest.mark.parametrize("activation", [jax.nn.gelu, jax.nn.mish, jax.nn.hard_silu])
def test_activations_do_not_leave_f16_after_many_layers(activation: Any, recipe: str) -> None:
    """Data of the weights are twice as large as predicted: cubes of GELU saturated."""

    def network(weights: Any, x: Any) -> Any:
        for w in weights:
            x = activation(x @ w)
        return x

    random = np.random.default_rng(0)
    weights = [(random.normal(size=(64, 64)) / 8.1).astype(np.float16) for _ in range(5)]
    x = random.normal(size=(32, 64)).astype(np.float16)
    pairs = jax.tree.map(scalify_hlo.as_scaled_array, (weights, x))
    got = scalify_hlo.asarray(scalify_hlo.scalify(network, recipe=recipe)(*pairs))
    bound = 0.02 if recipe == "bf16" else 1e-3
    wanted = np.asarray(jax.jit(network)(weights, x), np.float64)
    assert np.abs(np.asarray(got, np.float64) - wanted).max() < bound * np.abs(wanted).max()


def test_results_of_activations_move_once() -> None:
    """The size of a sigmoid was another than that of its last op: the program was not valid."""

    def loss(weights: Any, x: Any) -> Any:
        for w in weights[:-1]:
            x = jax.nn.sigmoid(x @ w)
        return jnp.mean(jnp.square((x @ weights[-1]).astype(jnp.float32)))

    weights, x = [np.ones((8, 8), np.float16)] * 3, np.ones((16, 8), np.float16)
    exported = program_of(jax.grad(loss), weights, x)
    scalify_hlo.rewrite(exported, recipe="unit", signature="scaled")


def test_a_matrix_times_itself_is_no_square_of_a_polynomial() -> None:
    """Its values are zero in f16, and its data are not."""

    def program(x: Any) -> Any:
        return jnp.tanh((x @ x) * np.float16(2.0**14) * np.float16(2.0**10))

    x = np.random.default_rng(0).standard_normal((16, 16)).astype(np.float16)
    pair = scalify_hlo.ScaledArray(jnp.asarray(x), jnp.float32(2.0**-14))
    got = scalify_hlo.asarray(scalify_hlo.scalify(program, recipe="propagate")(pair))
    wide = np.tanh(x.astype(np.float64) @ x.astype(np.float64) * 2.0**-4)
    assert np.abs(np.asarray(got, np.float64) - wide).max() < 1e-2
