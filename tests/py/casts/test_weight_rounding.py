"""Weights that are stored in few bits, rounded up or down at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import optax
import pytest

import scalify_hlo as jsa
from scalify_hlo import InputError
from scalify_hlo.errors import ScalifyError
from scalify_hlo.passes.pipeline import Options, run_passes
from scalify_hlo.passes.state import RoundStatePass
from tests.py.casts.test_state8 import batches, losses, start, step_of
from tests.py.devices import eight_devices, sharded_weights
from tests.py.shared.block_numpy import random_words, rounded_at_random
from tests.py.shared.judge import parse, program_of, shaped, stablehlo_of

FIRST = 1 << 31
"""The number of the first result in the keys of weights."""

RANDOM: dict[str, Any] = {"state.weight": "bf16", "state.weight_rounding": "stochastic"}


def counting(w: jax.Array, count: jax.Array, change: jax.Array) -> tuple[jax.Array, jax.Array]:
    return w - change, count + 1


def plain(w: jax.Array, change: jax.Array) -> jax.Array:
    return w - change


def scalified(step: Callable[..., Any], format_: str = "bf16", how: str = "stochastic") -> Any:
    settings = {"state.weight": format_, "state.weight_rounding": how}
    if how == "nearest":
        del settings["state.weight_rounding"]
    return jsa.scalify(step, recipe="propagate", settings=settings)


def bits(array: Any) -> Any:
    """The stored bits of a ScaledArray."""
    data = np.asarray(array.data)
    return data.view(f"u{data.dtype.itemsize}")


@pytest.mark.parametrize(("format_", "dtype"), [("bf16", "bfloat16"), ("f16", "float16")])
def test_weights_are_rounded_as_by_numpy(format_: str, dtype: str) -> None:
    """The key is the count of steps, and the number of the result; the bits are Threefry's."""
    rng = np.random.default_rng(0)
    start_ = rng.normal(size=(6, 32)).astype(ml_dtypes.bfloat16).astype(np.float32)
    change = rng.normal(size=(6, 32)).astype(np.float32) / 64
    stored, _ = scalified(counting, format_)(jsa.as_scaled_array(start_), jnp.int32(41), change)
    exact = (start_ - change) / np.float32(stored.scale)
    expected = rounded_at_random(exact, format_, random_words(41, FIRST, exact.shape))
    data = np.asarray(stored.data)
    assert data.dtype == np.dtype(dtype if dtype == "float16" else ml_dtypes.bfloat16)
    np.testing.assert_array_equal(data.astype(np.float32), expected)


def test_each_step_has_other_bits_and_each_run_the_same() -> None:
    w, change = jsa.as_scaled_array(jnp.ones(512)), jnp.full(512, 0.0031)
    step = scalified(counting)
    first, again, next_ = (bits(step(w, jnp.int32(n), change)[0]) for n in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert 0.1 < np.mean(first != next_) < 0.9


def test_each_weight_has_other_bits() -> None:
    def two(params: Any, count: jax.Array, change: jax.Array) -> Any:
        return jax.tree.map(lambda w: w - change, params), count + 1

    params = jsa.as_scaled_array({"a": jnp.ones(512), "b": jnp.ones(512)})
    stored, _ = scalified(two)(params, jnp.int32(5), jnp.full(512, 0.0031))
    assert 0.1 < np.mean(bits(stored["a"]) != bits(stored["b"])) < 0.9


def test_without_a_count_other_updates_have_other_bits() -> None:
    w, step = jsa.as_scaled_array(jnp.ones(512)), scalified(plain)
    change = np.full(512, 0.0031, np.float32)
    first, again = (bits(step(w, jnp.asarray(change))) for _ in range(2))
    change[0] = 0.0032
    other = bits(step(w, jnp.asarray(change)))
    np.testing.assert_array_equal(first, again)
    assert 0.1 < np.mean(first[1:] != other[1:]) < 0.9


def test_only_weights_are_rounded_at_random() -> None:
    optimizer = optax.adamw(2e-3)
    state = start(), optimizer.init(start()), *batches(0, 1)[0]
    exported = program_of(step_of(optimizer), *state)
    formats = {"state.first_moment": "bf16", "state.second_moment": "bf16"}
    program = jsa.rewrite(
        exported, recipe="propagate", settings=RANDOM | formats, signature="scaled", strict=True
    )
    text = program.mlir_module()
    assert text.count("stablehlo.rng_bit_generator") == len(state[0])
    assert "algorithm = THREE_FRY" in text
    assert "scalify.rounded" not in text
    assert "ui32>) -> tensor<ui32>" not in text  # a hash of a tensor


@pytest.mark.slow
@pytest.mark.parametrize("how", ["nearest", "stochastic"])
def test_a_training_with_a_small_rate(how: str) -> None:
    """The rate of SGD is so small that weights in bf16 hardly change if rounded to nearest."""
    optimizer = optax.sgd(2e-3)
    state = start(), optimizer.init(start())
    _, wide = losses(jax.jit(step_of(optimizer)), state, scaled=False, steps=600)
    step = scalified(step_of(optimizer), how=how)
    _, narrow = losses(step, jsa.as_scaled_array(state), scaled=True, steps=600)
    gained = [found[:20].mean() - found[-20:].mean() for found in (wide, narrow)]
    assert gained[0] > 0.05
    if how == "stochastic":
        assert gained[1] == pytest.approx(gained[0], rel=0.05)
    else:
        assert gained[1] < 0.8 * gained[0]


@pytest.mark.slow
def test_weights_on_eight_devices_have_the_bits_of_one() -> None:
    told = eight_devices.run(sharded_weights.main)
    assert told["devices"] == 8
    assert told["equal"]
    assert told["random"]
    assert told["temporary"] < told["bytes"] / 4


def told(step: Callable[..., Any], *arguments: Any, **options: Any) -> list[str]:
    exported = program_of(step, *arguments)
    given: Any = {"recipe": "propagate", "settings": RANDOM, "signature": "scaled"} | options
    _, report = jsa.rewrite(exported, report=True, **given)
    return [remark.message for remark in report.remarks]


def test_a_program_without_weights_is_told() -> None:
    x = shaped(8, 8)
    found = told(lambda x: jnp.sum(x), x)
    message = "state.weight_rounding is stochastic, and the program rounds no weights that it"
    assert any(each.startswith(message) for each in found)
    with pytest.raises(ScalifyError, match=r"state\.weight"):
        told(lambda x: jnp.sum(x), x, strict=True)


def test_weights_that_have_the_format_are_told() -> None:
    """A model in bf16 has rounded them itself."""
    w, count = shaped(8, 8, dtype=jnp.bfloat16), shaped(dtype=jnp.int32)
    assert any("rounds no weights" in each for each in told(counting, w, count, w))
    wide = shaped(8, 8)
    assert not told(counting, wide, count, wide, strict=True)


@pytest.mark.parametrize("size", [*jax.export.symbolic_shape("n"), 0])
def test_weights_of_unknown_sizes_and_without_elements_are_told(size: Any) -> None:
    w = shaped(size)
    assert any("rounds no weights" in each for each in told(plain, w, w))


def test_a_mark_that_is_left_is_refused() -> None:
    """Without `scalify-round-state`, weights would be rounded to nearest."""
    w = shaped(8, 8)
    module = parse(stablehlo_of(plain, w, w))
    options = Options(jsa.load_recipe("propagate", RANDOM), signature="scaled")
    passes = [p for p in options.passes() if not isinstance(p, RoundStatePass)]
    with pytest.raises(InputError, match="is left as it was") as caught:
        run_passes(module, passes)
    assert "scalify-round-state" in (caught.value.hint or "")
