"""Weights of inference that the caller passes in the format of the matmuls that read them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import scalify_hlo as jsa
from scalify_hlo.jax_api.scaled_array import is_scaled_array
from scalify_hlo.report.matmuls import STORED
from tests.py.shared.judge import assert_all_same_bits, interpreted, program_of, shaped
from tests.py.shared.stored_weights import (
    SETTINGS,
    SQUARE,
    batch,
    converts,
    dtypes,
    parameters,
    predict,
    rewritten,
)

KINDS = ("fp8", "unit", "fp8-current", "fp8-delayed")


@pytest.mark.parametrize("recipe", KINDS)
def test_matmuls_take_them_as_they_are(recipe: str) -> None:
    program, report = rewritten(predict, parameters(), batch(), recipe=recipe)
    f8 = "float8_e4m3fn"
    assert dtypes(program) == {"up": f8, "heads": f8, "down": f8, "bias": "float32"}
    for name in ("up", "heads", "down"):
        assert not converts(program, name)
    assert report.totals.matmuls.narrow == 3
    assert [m.scales[m.roles.index("weight")] for m in report.matmuls] == [(STORED, "", *REST)] * 3
    weights = sum(parameters()[name].size for name in ("up", "heads", "down"))
    assert report.state_bytes == (4 * weights, weights + 3 * 4)


REST = (None, None, "", "")


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16])
@pytest.mark.parametrize("recipe", ["fp8", "unit", "fp8-current"])
def test_results_are_those_of_casts_in_each_call(recipe: str, dtype: Any) -> None:
    """The program that casts gets the same data, widened, at the same scales: the same bits."""
    params, x = parameters(dtype), batch(dtype)
    program, _ = rewritten(predict, params, x, recipe=recipe)
    (state,) = jsa.scaled_state(program, (params,))
    casting = jsa.rewrite(program_of(predict, params, x), recipe=recipe, signature="scaled")
    wide = {
        name: jsa.ScaledArray(leaf.data.astype(dtype), leaf.scale) for name, leaf in state.items()
    }
    scaled = jsa.as_scaled_array(x)
    found = (interpreted(p, w, scaled) for p, w in ((program, state), (casting, wide)))
    assert_all_same_bits(*found)


def test_the_scale_of_a_weight_is_the_callers() -> None:
    """The last two layers are linear, and multiply their result by their scales."""
    program, _ = rewritten(predict, parameters(), batch())
    (state,), scaled = jsa.scaled_state(program, (parameters(),)), jsa.as_scaled_array(batch())
    before = jsa.asarray(program.call(state, scaled))
    factors = {"heads": 2.0**3, "down": 2.0**-5}
    moved = {k: replace(v, scale=v.scale * factors.get(k, 1.0)) for k, v in state.items()}
    np.testing.assert_array_equal(jsa.asarray(program.call(moved, scaled)), before / 4)


def test_a_weight_with_other_readers_keeps_its_format() -> None:
    def function(params: Any, x: jax.Array) -> Any:
        return predict(params, x) + params["down"].sum()

    program, report = rewritten(function, parameters(), batch())
    assert dtypes(program)["down"] == "float32"
    assert dtypes(program)["up"] == "float8_e4m3fn"
    (remark,) = [each for each in report.remarks if "besides matmuls" in each.message]
    assert remark.op == "stablehlo.reduce"
    assert "reads params['down'] besides matmuls" in remark.message


def test_a_weight_of_a_wide_matmul_keeps_its_format() -> None:
    program, _ = rewritten(
        predict, parameters(), batch(), settings={**SETTINGS, "matmul.exclude": ["*down*"]}
    )
    assert dtypes(program)["down"] == "float32"
    assert dtypes(program)["heads"] == "float8_e4m3fn"


def test_an_activation_is_not_stored() -> None:
    program, _ = rewritten(predict, parameters(), batch())
    (_, x), _ = jax.tree.unflatten(program.in_tree, program.in_avals)
    assert x.data.dtype == np.float32


def test_frozen_weights_of_training_are_stored() -> None:
    """Low-rank adapters: the forward and the backward pass read the frozen weight."""

    def loss(adapter: Any, params: Any, x: jax.Array) -> jax.Array:
        low = x @ adapter["a"] @ adapter["b"]
        return jnp.mean(jnp.tanh(jnp.tanh(x @ params["in"] + low) @ params["out"]) ** 2)

    def step(params: Any, adapter: Any, x: jax.Array) -> Any:
        gradients = jax.grad(loss)(adapter, params, x)
        return jax.tree.map(lambda w, g: w - 0.1 * g, adapter, gradients)

    params = {"in": jnp.ones((64, 64)), "out": jnp.ones((64, 64))}
    adapter = {"a": jnp.ones((64, 16)), "b": jnp.zeros((16, 64))}
    program, report = rewritten(step, params, adapter, batch())
    assert dtypes(program) == {"in": "float8_e4m3fn", "out": "float8_e4m3fn"}
    assert report.state_bytes is not None


def test_without_any_weight_a_remark_says_so() -> None:
    _, report = rewritten(lambda params, x: x * params["bias"].sum(), parameters(), batch())
    assert any("state.weight is f8E4M3FN" in each.message for each in report.remarks)


def test_strict_takes_a_program_whose_weights_are_stored() -> None:
    program = program_of(predict, parameters(), batch())
    how: Any = {"recipe": "fp8", "signature": "scaled", "settings": SETTINGS, "strict": True}
    assert dtypes(jsa.rewrite(program, **how))["up"] == "float8_e4m3fn"
    with pytest.raises(jsa.InputError, match=r"casts params\['up'\] in each call"):
        jsa.rewrite(program, input_scale={"params*": 1.0}, **how)  # These are no pairs.


def test_data_are_in_the_format() -> None:
    params = parameters()
    program, _ = rewritten(predict, params, batch())
    (state,) = jsa.scaled_state(program, (params,))
    up = state["up"]
    assert up.data.dtype == ml_dtypes.float8_e4m3fn
    expected = (np.asarray(params["up"]) / float(up.scale)).astype(ml_dtypes.float8_e4m3fn)
    np.testing.assert_array_equal(np.asarray(up.data), expected)


@pytest.mark.parametrize("recipe", ["fp8", "fp8-current"])
def test_a_device_with_a_cost_rule_gains_by_them(recipe: str) -> None:
    """For few rows, casting a weight costs more than FP8 gains; a stored one has no cast."""

    def function(params: Any, x: jax.Array) -> Any:
        return x @ params["w"]

    weight, x = shaped(4096, 4096, dtype=jnp.bfloat16), batch(jnp.bfloat16)
    program = jax.export.export(jax.jit(function), platforms=["cuda"])(
        {"w": weight}, shaped(16, 4096, dtype=x.dtype)
    )
    for settings, narrow in (({}, 0), (SETTINGS, 1)):
        _, report = jsa.rewrite(
            program,
            recipe=recipe,
            signature="scaled",
            settings=settings,
            target="h200",
            report=True,
        )
        assert report.totals.matmuls.narrow == narrow


def test_memory_that_is_given_to_a_result_keeps_its_format() -> None:
    donating = jax.jit(lambda p, x: (x @ p["w"], jnp.zeros_like(p["w"])), donate_argnums=0)
    program = jax.export.export(donating)({"w": SQUARE[0]}, batch())
    text = jsa.rewrite(program, recipe="fp8", signature="scaled", settings=SETTINGS).mlir_module()
    (main,) = [line for line in text.splitlines() if "@main" in line]
    assert "%arg0: tensor<64x64xf32> {tf.aliasing_output" in main


def test_declared_weights_are_stored_in_the_same_way() -> None:
    settings = {**SETTINGS, "inputs.weight": ["params*"]}
    program, report = rewritten(predict, parameters(), batch(), settings=settings)
    assert dtypes(program)["up"] == "float8_e4m3fn"
    assert dtypes(program)["bias"] == "float8_e4m3fn"  # It is declared, and read as numbers.
    assert not converts(program, "up")
    sizes = {name: each.size for name, each in parameters().items()}
    assert report.state_bytes == (4 * sum(sizes.values()), sum(sizes.values()) + 4 * len(sizes))


def test_weights_of_transposed_products_are_read_apart() -> None:
    def function(params: Any, x: jax.Array) -> Any:
        return [jnp.einsum("nk,mk->nm", params[name], x).T for name in ("one", "two")]

    params = {"one": SQUARE[0], "two": SQUARE[1]}
    settings = {**SETTINGS, "inputs.weight": ["params*"]}
    program, _ = rewritten(function, params, batch(), recipe="fp8-current", settings=settings)
    text = program.mlir_module()
    barriers = [line for line in text.splitlines() if "optimization_barrier" in line]
    assert any(":2 = " in line and "f8E4M3FN" in line for line in barriers)


def test_a_weight_in_another_format_of_8_bits_keeps_it() -> None:
    def function(params: Any, x: jax.Array) -> Any:
        return x @ params["w"].astype(jnp.float32)

    params = {"w": jnp.ones((64, 64), jnp.float8_e5m2)}
    program, report = rewritten(function, params, batch())
    assert dtypes(program)["w"] == "float8_e5m2"
    assert report.state_bytes is None


@pytest.mark.parametrize(
    ("recipe", "settings"),
    [("fp8-current", {"scaling.weight_scales": "channel"}), ("mxfp8", {})],
)
def test_weights_with_several_scales_are_not_stored(recipe: str, settings: Any) -> None:
    program, report = rewritten(
        predict, parameters(), batch(), recipe=recipe, settings={**SETTINGS, **settings}
    )
    assert set(dtypes(program).values()) == {"float32"}
    assert any("state.weight is f8E4M3FN" in each.message for each in report.remarks)


def test_delayed_scales_of_activations_settle_beside_them() -> None:
    params, x = parameters(), batch()
    exact = predict(params, x)
    program, _ = rewritten(predict, params, x, recipe="fp8-delayed")
    state, weights = jsa.init_scaling_state(program), jsa.scaled_state(program, (params,))
    for _ in range(3):
        found, state = program.call(*weights, jsa.as_scaled_array(x), state)
    assert np.linalg.norm(jsa.asarray(found) - exact) / np.linalg.norm(exact) < 0.1


def flax_model() -> tuple[Any, Any, Any]:
    """Convolutions, which are weights as well, a group normalization and a classifier."""
    from flax import linen as nn

    class Model(nn.Module):
        @nn.compact
        def __call__(self, x: jax.Array) -> Any:
            x = nn.relu(nn.Conv(32, (3, 3))(x))
            x = nn.relu(nn.GroupNorm(8)(nn.Conv(32, (3, 3), strides=2)(x)))
            return nn.Dense(16)(nn.tanh(nn.Dense(64)(x.mean((1, 2)))))

    images = jax.random.normal(jax.random.key(3), (32, 8, 8, 16))
    model = Model()
    return model.apply, model.init(jax.random.key(4), images), images


@pytest.mark.parametrize("recipe", ["fp8", "fp8-current"])
def test_a_flax_model(recipe: str) -> None:
    function, params, images = flax_model()
    settings = {**SETTINGS, "matmul.vocabulary": True}
    program, _ = rewritten(function, params, images, recipe=recipe, settings=settings)
    (state,) = jsa.scaled_state(program, (params,))
    kernels = {
        str(path): leaf
        for path, leaf in jax.tree_util.tree_leaves_with_path(state, is_leaf=is_scaled_array)
        if "kernel" in str(path)
    }
    assert len(kernels) == 4
    assert {leaf.data.dtype.name for leaf in kernels.values()} == {"float8_e4m3fn"}
    casting, _ = rewritten(
        function, params, images, recipe=recipe, settings={"matmul.vocabulary": True}
    )

    def widened(leaf: Any) -> Any:
        wide = leaf.data.astype(jnp.float32)
        return jsa.ScaledArray(wide, leaf.scale)

    wide = jax.tree.map(widened, state, is_leaf=is_scaled_array)
    scaled = jsa.as_scaled_array(images)
    one, other = (jsa.asarray(p.call(w, scaled)) for p, w in ((program, state), (casting, wide)))
    np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)


def test_a_program_from_a_file_says_how_weights_are_stored() -> None:
    program, _ = rewritten(predict, parameters(), batch())
    read = jsa.deserialize(jsa.serialize(program))
    plain, scaled = jsa.as_scaled_array(parameters()), jsa.as_scaled_array(batch())
    with pytest.raises(jsa.UsageError, match="keeps state in other formats than it is given in"):
        read.call(plain, scaled)
    found = read.call(*jsa.scaled_state(read, (parameters(),)), scaled)
    expected = program.call(*jsa.scaled_state(program, (parameters(),)), scaled)
    np.testing.assert_array_equal(jsa.asarray(found), jsa.asarray(expected))
