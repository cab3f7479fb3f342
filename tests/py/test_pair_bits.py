"""Pairs keep every bit of an array, and every digit of a scale."""

from __future__ import annotations

from typing import Any, TypeAlias

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from benchmarks.pair_bits import FORMATS, draw, wrong_rows
from scalify_hlo import ScaledArray, as_scaled_array, asarray, dynamic_rescale, scaled_state
from scalify_hlo.jax_api.scaled_array import rebalance

Array: TypeAlias = np.ndarray[Any, Any]

pytestmark = pytest.mark.usefixtures("default_code")  # The older one rounds E5M2FNUZ wrongly.

SPLIT = [name for name in FORMATS if "e8m0" not in name]
NARROW = ("float8_e4m3fn", "float8_e5m2", "float16", "float4_e2m1fn")


def dtype_of(name: str) -> Any:
    return np.dtype(getattr(jnp, name))


def same(found: Any, wanted: Any) -> None:
    """Compares numbers; NumPy knows no NaN of 8 bits."""
    wide = np.complex128 if np.iscomplexobj(found) else np.float64
    first, second = (np.asarray(each).astype(wide) for each in (found, wanted))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", FORMATS)
def test_random_bits_are_the_same_once_split(name: str) -> None:
    random = np.random.default_rng(5)
    with jax.enable_x64(True):
        for length in (1, 7):
            rows = draw(random, 500, length, dtype_of(name))
            wrong = {what: int(which.sum()) for what, which in wrong_rows(rows).items()}
            assert not any(wrong.values()), wrong


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float32"])
def test_each_block_is_split_where_it_loses_no_bit(name: str) -> None:
    rows = draw(np.random.default_rng(6), 300, 6, dtype_of(name))
    blocks, each = as_scaled_array(rows, block=(1, 0)), jax.vmap(as_scaled_array)(rows)
    np.testing.assert_array_equal(blocks.scale[:, 0], each.scale)
    same(blocks.data, each.data)
    same(asarray(blocks), rows)


def test_the_gradient_of_a_split_is_the_value_of_the_cotangent() -> None:
    x = jnp.asarray([8.0, 24.0, 40.0])
    gradient = jax.grad(lambda x: jnp.sum(asarray(as_scaled_array(x)) ** 2))(x)
    np.testing.assert_array_equal(gradient, 2 * x)


@pytest.mark.parametrize("block", [None, (0, 1), (4, 4)])
@pytest.mark.parametrize("name", SPLIT)
def test_the_value_of_a_pair_is_data_times_any_scale(name: str, block: Any) -> None:
    random = np.random.default_rng(7)
    with jax.enable_x64(True):
        data = jnp.asarray(random.normal(size=(8, 8))).astype(dtype_of(name))
        like = as_scaled_array(jnp.ones((8, 8), data.dtype), block=block).scale
        scale = jnp.asarray(np.exp(random.normal(size=like.shape) * 4), like.dtype)
        pair = ScaledArray(data, scale).check()
        wide = jnp.promote_types(data.dtype, jnp.float32) if data.dtype.itemsize > 1 else "float32"
        exact = np.asarray(data).astype(wide)
        factors = np.asarray(scale)
        for d, count in enumerate(factors.shape):
            factors = np.repeat(factors, 8 // count, axis=d)
        np.testing.assert_array_equal(asarray(pair, wide), exact * factors)
        np.testing.assert_array_equal(np.asarray(pair, wide), exact * factors)
        same(asarray(pair), (exact * factors).astype(data.dtype))


def test_rescaling_keeps_the_digits_of_a_scale() -> None:
    data = jnp.asarray([192.0, 448.0, 160.0], jnp.float8_e4m3fn)
    pair = ScaledArray(data, jnp.float32(0.3))
    for moved in (dynamic_rescale(pair), rebalance(pair, 2)):
        assert float(moved.scale) != 0.3
        np.testing.assert_array_equal(np.asarray(moved, np.float32), np.asarray(pair, np.float32))
    whole = as_scaled_array(ScaledArray(jnp.asarray([3.0, 5.0]), jnp.float32(0.3)), scale=8)
    assert float(whole.scale) == 8
    np.testing.assert_array_equal(asarray(whole), np.asarray([3, 5], np.float32) * np.float32(0.3))


@pytest.mark.parametrize("name", NARROW)
def test_state_of_a_program_keeps_its_bits(name: str) -> None:
    random = np.random.default_rng(8)
    columns = np.repeat([100.0, 1e-3], 8)
    w = jnp.asarray(random.normal(size=(16, 16)) * columns).astype(dtype_of(name))
    x = jnp.asarray(random.normal(size=(4, 16)), jnp.float32)
    original = jax.export.export(jax.jit(lambda w, x: x @ w.astype(jnp.float32)))(w, x)
    for blocks in ([], ["w=0x1"], ["w=8x8"]):
        program = scalify_hlo.rewrite(
            original, recipe="propagate", signature="scaled", settings={"inputs.blocks": blocks}
        )
        (pair,) = scaled_state(program, (w,))
        np.testing.assert_array_equal(np.asarray(asarray(pair)), np.asarray(w))


def test_a_scale_that_is_not_positive_is_refused_for_state() -> None:
    w = jnp.ones((4, 4))
    original = jax.export.export(jax.jit(lambda w: w @ w))(w)
    program = scalify_hlo.rewrite(original, recipe="propagate", signature="scaled")
    for scale in (0.0, -1.5, np.inf, np.nan):
        with pytest.raises(scalify_hlo.UsageError, match="not a finite number above 0"):
            scaled_state(program, (ScaledArray(w, jnp.float32(scale)),))
