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
from scalify_hlo.jax_api.rescaling import rebalance
from tests.py.shared.judge import decibels, program_of

Array: TypeAlias = np.ndarray[Any, Any]

pytestmark = pytest.mark.usefixtures("default_code")

# XLA rounds to FNUZ formats wrongly if it compiles without optimizations; the benchmark has them.
CHECKED = [name for name in FORMATS if "fnuz" not in name]
SPLIT = [name for name in CHECKED if "e8m0" not in name]
NARROW = ("float8_e4m3fn", "float8_e5m2", "float16", "float4_e2m1fn")


def dtype_of(name: str) -> Any:
    return np.dtype(getattr(jnp, name))


def same(found: Any, wanted: Any) -> None:
    """Compares numbers; NumPy knows no NaN of 8 bits."""
    wide = np.complex128 if np.iscomplexobj(found) else np.float64
    first, second = (np.asarray(each).astype(wide) for each in (found, wanted))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", CHECKED)
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
    blocks = ScaledArray(jnp.asarray([3.0, 5.0]), jnp.asarray([0.3, 40.7], jnp.float32))
    one = as_scaled_array(blocks, scale=8)
    assert one.scale.shape == ()
    np.testing.assert_array_equal(np.asarray(one), np.asarray(blocks))
    whole = as_scaled_array(ScaledArray(jnp.asarray([3.0, 5.0]), jnp.float32(0.3)), scale=8)
    assert float(whole.scale) == 8
    np.testing.assert_array_equal(asarray(whole), np.asarray([3, 5], np.float32) * np.float32(0.3))


@pytest.mark.parametrize("name", NARROW)
def test_state_of_a_program_keeps_its_bits(name: str) -> None:
    random = np.random.default_rng(8)
    columns = np.repeat([100.0, 1e-3], 8)
    w = jnp.asarray(random.normal(size=(16, 16)) * columns).astype(dtype_of(name))
    x = jnp.asarray(random.normal(size=(4, 16)), jnp.float32)
    original = program_of(lambda w, x: x @ w.astype(jnp.float32), w, x)
    for blocks in ([], ["w=0x1"], ["w=8x8"]):
        program = scalify_hlo.rewrite(
            original, recipe="propagate", signature="scaled", settings={"inputs.blocks": blocks}
        )
        (pair,) = scaled_state(program, (w,))
        np.testing.assert_array_equal(np.asarray(asarray(pair)), np.asarray(w))


def test_a_scale_that_is_not_positive_is_refused_for_state() -> None:
    w = jnp.ones((4, 4))
    original = program_of(lambda w: w @ w, w)
    program = scalify_hlo.rewrite(original, recipe="propagate", signature="scaled")
    for scale in (0.0, -1.5, np.inf, np.nan):
        with pytest.raises(scalify_hlo.UsageError, match="not a finite number above 0"):
            scaled_state(program, (ScaledArray(w, jnp.float32(scale)),))


BLOCKS = {"tensor": (0, 0), "channel": (0, 1), "128 x 128": (128, 128)}


def quantized(weight: Array, block: tuple[int, int]) -> ScaledArray:
    """Returns a weight in E4M3 as checkpoints have it: the amax of each block is 448."""
    rows, columns = weight.shape
    sizes = block[0] or rows, block[1] or columns
    split = weight.reshape(rows // sizes[0], sizes[0], columns // sizes[1], sizes[1])
    scale = np.abs(split).max((1, 3), keepdims=True) / np.float32(448)
    data = jnp.asarray((split / scale).reshape(weight.shape)).astype(jnp.float8_e4m3fn)
    scales = scale[:, 0, :, 0]
    return ScaledArray(data, jnp.asarray(scales if any(block) else scales[0, 0])).check()


def with_weight(pair: ScaledArray, read: Any, recipe: str, block: Any) -> tuple[str, Array]:
    """Returns the text of a program that reads a weight and a row, and its result in f64."""
    x = np.random.default_rng(10).normal(size=(32, 256)).astype(np.float32)
    original = program_of(read, pair.data, x)
    settings = {"inputs.blocks": [f"w={block[0]}x{block[1]}"] if any(block) else []}
    program = scalify_hlo.rewrite(original, recipe=recipe, signature="scaled", settings=settings)
    result = program.call(*scaled_state(program, (pair, jnp.asarray(x))))
    return program.mlir_module(), np.asarray(asarray(result), np.float64)


@pytest.mark.parametrize("kind", BLOCKS)
def test_a_program_reads_data_times_any_scale_to_the_last_bit(kind: str) -> None:
    weight = np.random.default_rng(9).normal(size=(256, 256)).astype(np.float32)
    pair = quantized(weight * np.exp2(np.linspace(-3, 3, 256, dtype=np.float32)), BLOCKS[kind])
    wanted = np.asarray(pair, np.float32)
    for read in (lambda w, x: w.astype(x.dtype), lambda w, x: -jnp.abs(w.astype(x.dtype) * 2)):
        _, found = with_weight(pair, read, "propagate", BLOCKS[kind])
        expected = wanted if read(jnp.float32(1), jnp.float32(1)) > 0 else -2 * np.abs(wanted)
        np.testing.assert_array_equal(found.astype(np.float32), expected)


@pytest.mark.parametrize("recipe", ["propagate", "bf16", "fp8", "fp8-current", "unit"])
@pytest.mark.parametrize("kind", BLOCKS)
def test_weights_of_an_fp8_checkpoint_are_used_as_they_are(kind: str, recipe: str) -> None:
    weight = np.random.default_rng(9).normal(size=(256, 256)).astype(np.float32)
    pair = quantized(weight * np.exp2(np.linspace(-3, 3, 256, dtype=np.float32)), BLOCKS[kind])
    x = np.random.default_rng(10).normal(size=(32, 256))
    wanted = x.astype(np.float32).astype(np.float64) @ np.asarray(pair, np.float64)
    text, found = with_weight(pair, lambda w, x: x @ w.astype(x.dtype), recipe, BLOCKS[kind])
    assert decibels(wanted, found) > (110 if recipe == "propagate" else 25)
    if recipe.startswith("fp8") and kind != "128 x 128":
        assert text.count("-> tensor<256x256xf8E4M3FN>") == 0


def test_values_of_bf16_have_the_digits_of_their_scale() -> None:
    data = jnp.asarray(np.random.default_rng(11).normal(size=(64, 64))).astype(jnp.bfloat16)
    pair = ScaledArray(data, jnp.float32(1.2345678))

    def bits(w: Any) -> Any:
        return jax.lax.bitcast_convert_type(w, jnp.uint16)

    program = scalify_hlo.rewrite(program_of(bits, data), recipe="propagate", signature="scaled")
    wanted = (np.asarray(pair, np.float32)).astype(data.dtype).view(np.uint16)
    np.testing.assert_array_equal(program.call(pair), wanted)
