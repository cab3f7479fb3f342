"""Matmuls of which only a transpose is read, and casts in the type of the program."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo.casts import propagated
from scalify_hlo.passes import late
from tests.py.shared import own_scales
from tests.py.shared.fp8_numpy import quantized
from tests.py.shared.judge import (
    assert_all_equal,
    body_of,
    evaluate,
    parse,
    program_of,
    stablehlo_of,
)

SIZES = {"b": 2, "c": 16, "d": 32, "k": 48, "m": 4, "o": 1}
SMALL = {"matmul.smallest": 1}
OWN = ["fp8-current", "fp8-delayed", "fp8-calibrated"]


def samples(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_t(3, shape).astype(np.float32) for shape in shapes]


def turned(
    lhs: str, rhs: str, out: str, dtype: str = "bfloat16"
) -> tuple[jax.export.Exported, list[np.ndarray]]:
    """A transpose of a product, which stands in the program as such; each letter is a dimension."""
    batch = [d for d in lhs if d in rhs and d in out]
    summed = [d for d in lhs if d in rhs and d not in out]
    contracted = [lhs.index(d) for d in summed], [rhs.index(d) for d in summed]
    batched = [lhs.index(d) for d in batch], [rhs.index(d) for d in batch]
    made = batch + [d for d in lhs + rhs if d not in summed + batch]

    def fn(x: jax.Array, w: jax.Array) -> jax.Array:
        product = jax.lax.dot_general(x.astype(dtype), w.astype(dtype), (contracted, batched))
        return product.transpose([made.index(d) for d in out]).astype(jnp.float32)

    arrays = samples(*[tuple(SIZES[n] for n in name) for name in (lhs, rhs)])
    return program_of(fn, *arrays), arrays


def rewritten(program: jax.export.Exported, recipe: str, arrays: Any, **settings: Any) -> str:
    made = own_scales.rewritten(recipe, program, *arrays, **SMALL | settings)
    return str(made.mlir_module())


def state_for(text: str, count: int) -> list[np.ndarray]:
    """Inputs for the state of delayed scales, all scales 1/4."""
    module = parse(text)
    types = [argument.type for argument in body_of(module).arguments][count:]
    if not types:
        return []
    history, scale, _ = (np.zeros(list(type_.shape), np.float32) for type_ in types)
    return [history, scale + np.float32(0.25), np.zeros((), np.int32)]


@pytest.mark.parametrize("recipe", OWN)
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize(
    "spec",
    ["cd,dk->kc", "bcd,bck->bkd", "bcd,bdk->bkc", "cd,dbk->bkc", "dc,dk->kc"],
)
def test_a_transpose_is_a_matmul_of_swapped_operands(
    spec: str, dtype: str, recipe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lhs, rhs, out = re.split(",|->", spec)
    program, arrays = turned(lhs, rhs, out, dtype)
    new = rewritten(program, recipe, arrays)
    assert "stablehlo.transpose" not in new
    monkeypatch.setattr(propagated, "transpose_of", lambda _: None)
    old = rewritten(program, recipe, arrays)
    assert "stablehlo.transpose" in old
    inputs = [*arrays, *state_for(new, len(arrays))]
    assert_all_equal(evaluate(parse(new), inputs), evaluate(parse(old), inputs))


@pytest.mark.parametrize("recipe", ["fp8-current", "unit"])
@pytest.mark.parametrize("spec", ["bcd,bkod->bokc", "cd,kod->okc"])
def test_a_matmul_that_is_no_faster_has_the_order_of_its_reader(spec: str, recipe: str) -> None:
    """XLA finds no swap where dimensions of size 1 are in other places."""
    lhs, rhs, out = re.split(",|->", spec)
    program, arrays = turned(lhs, rhs, out, "float32")
    new = rewritten(program, recipe, arrays, target="h200", compute="keep")
    assert "f8E4M3FN" not in new
    result = "x".join(str(SIZES[dim]) for dim in out)
    assert re.search(rf"stablehlo\.dot_general .*-> tensor<{result}xf32>", new)
    (found,), (wanted,) = (
        evaluate(parse(text), arrays) for text in (new, str(program.mlir_module()))
    )
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("spec", ["bcd,bkmd->bmkc", "bcd,bkod->bcok"])
def test_another_transpose_stays(spec: str) -> None:
    """The first moves other dimensions as well, and the second swaps none."""
    program, arrays = turned(*re.split(",|->", spec))
    assert "stablehlo.transpose" in rewritten(program, "fp8-current", arrays, target="h200")


def product_of(x: jax.Array, w: jax.Array) -> jax.Array:
    return jax.lax.dot_general(x, w, (((1,), (0,)), ((), ())))


@pytest.mark.parametrize(
    "fn",
    [
        lambda x, w: (lambda y: (y, y.T))(product_of(x, w)),
        lambda x, w: product_of(x, w).reshape(2, 8, 48).transpose(1, 0, 2),
        lambda x, w: product_of(x, w).reshape(16, 6, 8).transpose(1, 2, 0),
    ],
)
def test_others_keep_their_transpose(fn: Callable[..., Any]) -> None:
    arrays = samples((16, 32), (32, 48))
    program = program_of(fn, *arrays)
    assert "stablehlo.transpose" in rewritten(program, "fp8-current", arrays)


def trained() -> tuple[jax.export.Exported, list[np.ndarray]]:
    """A step whose gradients are transposes of batched products, read by nothing but the update."""

    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        product = jnp.tanh(jnp.einsum("ecd,edf->ecf", x, w)).astype(jnp.float32)
        return jnp.sum(jnp.square(product))

    def step(w: jax.Array, x: jax.Array) -> jax.Array:
        gradient: jax.Array = jax.grad(loss)(w, x)
        return w - 2.0**-9 * gradient

    arrays = samples((2, 32, 48), (2, 16, 32))
    return jax.export.export(jax.jit(step, donate_argnums=0))(*arrays), arrays


@pytest.mark.parametrize("gradient", ["keep", "f8E5M2"])
def test_the_gradient_of_a_weight_is_a_matmul_of_swapped_operands(
    gradient: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transpose is marked as the gradient, and what replaces it is rounded as the gradient."""
    program, arrays = trained()
    settings = {"target": "h200", "matmul.slower": "narrow", "state.gradient": gradient}
    settings["compute"] = "keep"
    new = rewritten(program, "fp8-current", arrays, **settings)
    assert "stablehlo.transpose" not in new
    assert "scalify.state_gradient" not in new
    monkeypatch.setattr(propagated, "transpose_of", lambda _: None)
    monkeypatch.setattr(late, "order_dims", lambda *_, **__: 0)
    old = rewritten(program, "fp8-current", arrays, **settings)
    assert "stablehlo.transpose" in old
    assert new.count("-> tensor<2x32x48xf8E5M2>") == old.count("-> tensor<2x32x48xf8E5M2>")
    (one,), (other,) = (evaluate(parse(text), arrays) for text in (new, old))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("mark", ['mhlo.sharding = "{replicated}"', "mhlo.other = 1 : i32"])
def test_a_transpose_that_is_placed_on_devices_stays(mark: str) -> None:
    text = f"""func.func @main(%x: tensor<16x32xf32>, %w: tensor<32x48xf32>) -> tensor<48x16xf32> {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<16x32xf32>, tensor<32x48xf32>) -> tensor<16x48xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] {{{mark}}}
    : (tensor<16x48xf32>) -> tensor<48x16xf32>
  return %1 : tensor<48x16xf32>
}}"""
    new = scalify_hlo.rewrite(text, recipe="fp8-current", settings=SMALL)
    assert ("stablehlo.transpose" in new) == ("sharding" in mark)


def test_scales_of_channels_keep_the_transpose() -> None:
    """A scale for each column belongs to a dimension of the result."""
    program, arrays = turned("cd", "dk", "kc", "float32")
    settings = {"scaling.weight_scales": "channel", "inputs.weight": ["w"]}
    new = rewritten(program, "fp8-current", arrays, **settings)
    assert "stablehlo.transpose" in new
    (found,) = evaluate(parse(new), arrays)
    wanted = (arrays[0] @ arrays[1]).T
    assert np.abs(found - wanted).max() < 0.1 * np.abs(wanted).max()


class TestCasts:
    """Casts of bf16 values at powers of two are made in bf16, with the data of casts in f32."""

    @pytest.mark.parametrize("log2", [-130, -110, -60, -9, 0, 9, 60, 110])
    @pytest.mark.parametrize("wild", [None, np.inf, np.nan])
    def test_equal_to_casts_in_f32(self, log2: int, wild: float | None) -> None:
        rng = np.random.default_rng(log2 + 200)
        octaves = rng.uniform(-30, 0, 256)
        x = np.array(jnp.asarray(np.exp2(octaves + log2), jnp.bfloat16), np.float32)
        x[::3] = -x[::3]
        if wild is not None:
            x[5] = wild
        w = np.ones((1, 16), np.float32)

        def fn(x: jax.Array, w: jax.Array) -> jax.Array:
            narrow = x.astype(jnp.bfloat16)[:, None] @ w.astype(jnp.bfloat16)
            return narrow.astype(jnp.float32)

        text = stablehlo_of(fn, x, w)
        new = scalify_hlo.rewrite(text, recipe="fp8-current", settings=SMALL)
        casts = [x for x in new.splitlines() if "stablehlo.convert" in x and "xf8E4M3FN>" in x]
        assert any("(tensor<256x1xbf16>)" in cast for cast in casts)
        (found,) = evaluate(parse(new), [x, w])
        data, scale = quantized(x, "f8E4M3FN")
        ones, one = quantized(np.ones(1, np.float32), "f8E4M3FN")
        product = np.asarray(data, np.float32) * np.asarray(ones, np.float32)
        wanted = (product * np.float32(scale * one)).astype(jnp.bfloat16)
        np.testing.assert_array_equal(found[:, 0], np.asarray(wanted, np.float32))


def test_reports_list_operands_in_the_original_order() -> None:
    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.sum(jnp.tanh(x @ w).astype(jnp.float32) ** 2)

    args = jnp.zeros((64, 64), jnp.bfloat16), jnp.zeros((32, 64), jnp.bfloat16)
    step = program_of(jax.grad(loss, (0, 1)), *args)
    program, report = scalify_hlo.rewrite(step, recipe="fp8-current", settings=SMALL, report=True)
    found = {tuple(m.roles): m.formats[:2] for m in report.matmuls}
    assert found["gradient", "activation"] == ("f8E5M2", "f8E4M3FN")
    assert "scalify.swapped" not in program.mlir_module()
