"""Zeros, infinities, NaN and subnormals: the rewrite is finite wherever the program is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.py.shared.judge import (
    Array,
    Pair,
    assert_same_bits,
    parse,
    rewritten,
    run_plain,
    run_scaled,
    stablehlo_of,
)
from tests.py.shared.judge import evaluate as interpret

pytestmark = pytest.mark.slow

ROWS, COLUMNS = 4, 6
MATRIX = (ROWS, COLUMNS)
Function = Callable[[jax.Array, jax.Array], Any]


def masked_softmax(x: jax.Array, y: jax.Array) -> jax.Array:
    return jax.nn.softmax(jnp.where(y > 0, x, -jnp.inf), axis=-1)


def softmax_masked_by_minimum(x: jax.Array, y: jax.Array) -> jax.Array:
    return jax.nn.softmax(jnp.where(y > 0, x, jnp.finfo(x.dtype).min), axis=-1)


def softmax_with_added_mask(x: jax.Array, y: jax.Array) -> jax.Array:
    return jax.nn.softmax(x + jnp.where(y > 0, 0.0, -1e9), axis=-1)


def log_softmax(x: jax.Array, y: jax.Array) -> jax.Array:
    return jax.nn.log_softmax(x * y, axis=-1)


def cross_entropy(x: jax.Array, y: jax.Array) -> jax.Array:
    return -jnp.sum(jax.nn.log_softmax(x, axis=-1) * jax.nn.softmax(y, axis=-1))


def logsumexp(x: jax.Array, y: jax.Array) -> jax.Array:
    return jax.nn.logsumexp(jnp.where(y > 0, x, -jnp.inf), axis=-1)


def variance(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.var(x, axis=-1) + jnp.var(jnp.full_like(y, 3.0), axis=-1) * y[:, 0]


def layer_norm(x: jax.Array, y: jax.Array) -> jax.Array:
    centerd = x - x.mean(-1, keepdims=True)
    return centerd * jax.lax.rsqrt((centerd**2).mean(-1, keepdims=True) + 1e-5) + y


def safe_sqrt(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1.0)), 0.0) * y


def safe_quotient(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.where(y != 0, x / jnp.where(y != 0, y, 1.0), 0.0)


def safe_log(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.where(x > 0, jnp.log(jnp.maximum(x, 1e-30)), 0.0) + y


def cleaned(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.nan_to_num(x, posinf=1e4, neginf=-1e4) + jnp.where(jnp.isnan(y), 0.0, y)


def counts(x: jax.Array, y: jax.Array) -> tuple[jax.Array, ...]:
    return jnp.isfinite(x), jnp.isinf(y), jnp.isnan(x * y), jnp.sign(x), jnp.signbit(y)


def running_maximum(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.maximum(jnp.max(x, axis=-1, initial=-jnp.inf), jnp.min(y, axis=-1, initial=jnp.inf))


def relu_gradient(x: jax.Array, y: jax.Array) -> jax.Array:
    gradient: jax.Array = jax.grad(lambda x: jnp.sum(jax.nn.relu(x) * y))(x)
    return gradient


def clipped(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.clip(x, -6.0, 6.0) + jnp.clip(y, -jnp.inf, jnp.inf)


FUNCTIONS: tuple[Function, ...] = (
    masked_softmax,
    softmax_masked_by_minimum,
    softmax_with_added_mask,
    log_softmax,
    cross_entropy,
    logsumexp,
    variance,
    layer_norm,
    safe_sqrt,
    safe_quotient,
    safe_log,
    cleaned,
    counts,
    running_maximum,
    relu_gradient,
    clipped,
)
EVERY = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)


def export(function: Function, dtype: Any = jnp.float32) -> str:
    types = [jax.ShapeDtypeStruct(MATRIX, dtype)] * 2
    return stablehlo_of(function, *types)


def constant_rows(rng: np.random.Generator) -> Array:
    return np.broadcast_to(rng.standard_normal((ROWS, 1)), MATRIX)


def with_zeros(rng: np.random.Generator) -> Array:
    return np.asarray(rng.standard_normal(MATRIX) * rng.choice([0.0, -0.0, 1.0], MATRIX))


def with_specials(rng: np.random.Generator) -> Array:
    special = rng.choice([np.inf, -np.inf, np.nan, 0.0], MATRIX)
    return np.where(rng.random(MATRIX) < 0.3, special, rng.standard_normal(MATRIX))


def masked_rows(rng: np.random.Generator) -> Array:
    """A row all of whose elements are masked, one with none masked."""
    values = np.array(rng.standard_normal(MATRIX))
    values[0], values[1] = -1, 1
    return values


DRAWS = (masked_rows, with_zeros, constant_rows, with_specials)
_settings = settings(max_examples=12)
_cases = given(
    seed=st.integers(0, 2**32 - 1),
    draws=st.tuples(st.sampled_from(DRAWS), st.sampled_from(DRAWS)),
    exponents=st.tuples(st.integers(-12, 12), st.integers(-12, 12)),
)
Draw = Callable[[np.random.Generator], Array]


@EVERY
@_settings
@_cases
def test_same_bits(
    function: Function, seed: int, draws: tuple[Draw, Draw], exponents: tuple[int, int]
) -> None:
    """The original's bits, and so its zeros, infinities and NaNs."""
    rng = np.random.default_rng(seed)
    arrays = [draw(rng).astype(np.float32) for draw in draws]
    text = export(function)
    expected = run_plain(text, arrays, exponents)
    for actual, plain in zip(run_scaled(text, arrays, exponents), expected, strict=True):
        if isinstance(actual, Pair):
            assert_same_bits(np.asarray(actual.value.astype(plain.dtype)), plain)
        else:
            assert_same_bits(actual, plain)


@EVERY
@_settings
@_cases
def test_f16_is_finite_where_the_program_is(
    function: Function, seed: int, draws: tuple[Draw, Draw], exponents: tuple[int, int]
) -> None:
    """Data of f16 near unit, at small scales: what the program keeps finite stays so."""
    rng = np.random.default_rng(seed)
    arrays = [draw(rng).astype(np.float16) for draw in draws]
    small = [e // 4 for e in exponents]
    text = export(function, jnp.float16)
    expected = run_plain(text, arrays, small)
    for actual, plain in zip(run_scaled(text, arrays, small), expected, strict=True):
        if plain.dtype.kind == "f":
            value = actual.value if isinstance(actual, Pair) else actual
            assert np.isfinite(value[np.isfinite(plain)]).all()


SUBNORMAL = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.OP %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


@pytest.mark.parametrize("op", ["add", "subtract", "maximum", "minimum", "multiply"])
def test_subnormals_at_scale_1(op: str) -> None:
    """Data without a factor keep their bits, down to the last subnormal."""
    text = SUBNORMAL.replace("OP", op)
    x = np.array([2.0**-149, -(2.0**-140), 2.0**-126, 0.0], np.float32)
    module, _ = rewritten(text, "same", input_scale={"arg0": 1.0})
    (actual,) = interpret(module, [x, x])
    (expected,) = interpret(parse(text), [x, x])
    assert_same_bits(actual, expected)


@pytest.mark.parametrize("op", ["add", "subtract", "maximum", "minimum"])
def test_subnormal_values_of_normal_data(op: str) -> None:
    """Values that f32 could not hold exactly, kept by their scale."""
    data = np.array([1.0, -1.5, 3.0, 1.0 + 2.0**-23], np.float32)
    (pair,) = run_scaled(SUBNORMAL.replace("OP", op), [data, data], [-20, -20])
    assert isinstance(pair, Pair)
    reference = {"add": data + data, "subtract": data - data}.get(op, data)
    np.testing.assert_array_equal(pair.value, reference.astype(np.float64) * 2.0**-20)
