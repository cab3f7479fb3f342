"""Current scales: an amax for each operand of a matmul, compared with NumPy value by value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import scalify_hlo
from examples import gpt2
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.casts.encoding import dtype_of
from scalify_hlo.run.runner import compile_module
from tests.py.devices import eight_devices, sharded_current
from tests.py.shared.fp8_numpy import (
    E4M3,
    F32,
    OUTER,
    Array,
    flushed,
    outer,
    outer_quantized,
    quantized,
    sample,
)
from tests.py.shared.judge import evaluate, normals, parse, program_of, shaped, stablehlo_of
from tests.py.shared.own_scales import called, rewritten


def run(fn: Callable[..., Any], *arguments: Any, **settings: object) -> Any:
    """A function under `fp8-current`, by the interpreter and by XLA, which agree."""
    text = scalify_hlo.rewrite(
        stablehlo_of(fn, *arguments), recipe="fp8-current", settings=OUTER | settings
    )
    (found,) = evaluate(parse(text), arguments)
    (compiled,) = compile_module(text)(arguments)
    np.testing.assert_array_equal(flushed(found), compiled)
    return compiled


class TestNumerics:
    @pytest.mark.slow
    @pytest.mark.parametrize("power_2", [True, False])
    @pytest.mark.parametrize("margin", [0, 3])
    @pytest.mark.parametrize("log2", [-60, -20, -3, 0, 7, 30])
    def test_equal_to_numpy(self, log2: int, margin: int, power_2: bool) -> None:
        x, w = sample(1, log2), sample(2, -log2 / 3)
        settings = {"scaling.margin": margin, "scaling.power_2_scale": power_2}
        found = run(outer, x, w, **settings)
        np.testing.assert_array_equal(found, outer_quantized(x, w, margin=margin, power_2=power_2))

    @pytest.mark.parametrize("format_", sorted(f for f in FORMATS if f.startswith("f8")))
    def test_every_format(self, format_: str) -> None:
        other = format_ if "E5M2" not in format_ else "f8E4M3FN"
        if format_ == "f8E5M2FNUZ":
            other = "f8E4M3FNUZ"
        settings = {
            "scaling.fp8_format": "matmul",
            "matmul.activation": format_,
            "matmul.weight": other,
            "matmul.gradient": other,
            "inputs.activation": ["x"],
        }
        x, w = sample(3, 4), sample(4, -9)
        found = run(outer, x, w, **settings)
        np.testing.assert_array_equal(found, outer_quantized(x, w, (format_, other)))

    @pytest.mark.parametrize("amax", [0.0, 1e-42, 2.0**-120, 2.0**-110, 1.75 * 2.0**100, 3e38])
    def test_extreme_amax(self, amax: float) -> None:
        x = np.linspace(-1, 1, 16).astype(F32) * F32(amax)
        w = sample(5)
        found = run(outer, x, w)
        assert not np.isnan(found).any()
        if amax != 1e-42:  # which XLA takes for 0
            np.testing.assert_array_equal(found, outer_quantized(x, w))

    @pytest.mark.parametrize("wild", [np.inf, -np.inf, np.nan])
    def test_what_is_not_finite(self, wild: float) -> None:
        x, w = sample(6), sample(7)
        x[3] = wild
        found = run(outer, x, w)
        np.testing.assert_array_equal(found, outer_quantized(x, w))
        assert np.isfinite(np.delete(found, 3, axis=0)).all()
        assert not np.isfinite(found[3]).any()

    @pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
    def test_narrow_programs(self, dtype: str) -> None:
        x, w = (jnp.asarray(sample(s, 3)).astype(dtype) for s in (8, 9))
        text = scalify_hlo.rewrite(stablehlo_of(outer, x, w), recipe="fp8-current", settings=OUTER)
        (found,) = compile_module(text)([np.asarray(x), np.asarray(w)])
        wide = outer_quantized(np.asarray(x), np.asarray(w))
        np.testing.assert_array_equal(found, wide.astype(found.dtype))

    @pytest.mark.parametrize("output", ["keep", "bf16"])
    def test_scales_whose_product_leaves_f32_make_no_nan(self, output: str) -> None:
        x, w = np.full(16, 3e38, F32), np.full(16, 3e38, F32)
        x[0] = 0
        found = run(outer, x, w, **{"matmul.output": output})
        assert not np.isnan(found).any()
        assert (found[0] == 0).all()

    def test_a_program_that_says_f8_itself_keeps_it(self) -> None:
        def rounded(x: jax.Array, w: jax.Array) -> Any:
            return outer(x.astype(jnp.float8_e4m3fn).astype(jnp.float32), w)

        x, w = sample(10), sample(11)
        wd, ws = quantized(w, E4M3)
        product = x.astype(dtype_of(E4M3)).astype(F32)[:, None] * wd.astype(F32)[None, :]
        np.testing.assert_array_equal(run(rounded, x, w), product * ws)


class TestPlaces:
    """The places of matmuls in programs."""

    def check(self, fn: Callable[..., Any], *arguments: Array, snr: float = 24.0) -> str:
        text = stablehlo_of(fn, *arguments)
        new: str = scalify_hlo.rewrite(text, recipe="fp8-current")
        assert "f8E4M3FN" in new
        for wanted, found in zip(
            compile_module(text)(arguments), compile_module(new)(arguments), strict=True
        ):
            error = np.sum(np.square(wanted - found)) / np.sum(np.square(wanted))
            assert 0 < error < 10 ** (-snr / 10)
        return new

    def test_a_scan_over_layers(self) -> None:
        def fn(x: jax.Array, w: jax.Array) -> jax.Array:
            return lax.scan(lambda c, w: (c @ w, None), x, w)[0]

        rng = np.random.default_rng(0)
        w = rng.standard_normal((5, 32, 32)).astype(F32) * 2.0 ** np.arange(5)[:, None, None] / 16
        self.check(fn, rng.standard_normal((16, 32)).astype(F32), w.astype(F32), snr=18)

    def test_functions_that_are_called_twice(self) -> None:
        layer = jax.jit(lambda x, w: jax.nn.relu(x @ w))
        x, v, w = normals(*[(32, 32)] * 3, seed=1)
        new = self.check(lambda x, v, w: layer(layer(x, v), w), x, v * 1e-4, w)
        assert new.count("stablehlo.maximum across") >= 4

    def test_convolutions(self) -> None:
        def fn(x: jax.Array, w: jax.Array) -> jax.Array:
            return lax.conv_general_dilated(
                x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )

        rng = np.random.default_rng(2)
        x = rng.standard_normal((2, 8, 8, 16)).astype(F32)
        w = (rng.standard_normal((3, 3, 16, 32)) * 2.0 ** rng.integers(-8, 8, 32)).astype(F32)
        self.check(fn, x, w)
        text = stablehlo_of(fn, x, w)
        new = scalify_hlo.rewrite(
            text, recipe="fp8-current", settings={"scaling.weight_scales": "channel"}
        )
        (wanted,), (found,) = (compile_module(t)([x, w]) for t in (text, new))
        noise = np.mean(np.square(wanted - found), axis=(0, 1, 2))
        assert (noise < 10**-2.5 * np.mean(np.square(wanted), axis=(0, 1, 2))).all()

    def test_gradients_share_the_casts_of_the_forward_pass(self) -> None:
        def fn(x: jax.Array, v: jax.Array, w: jax.Array) -> Any:
            return jax.grad(lambda v, w: jnp.sum((x @ v @ w) ** 2), (0, 1))(v, w)

        spec = shaped(32, 32)
        text = stablehlo_of(fn, spec, spec, spec)
        new = scalify_hlo.rewrite(text, recipe="fp8-current", settings={"residuals": "keep"})
        assert new.count("-> tensor<32x32xf8E4M3FN>") == 4  # x, v, w and the product
        assert new.count("-> tensor<32x32xf8E5M2>") == 2


def test_statistics_of_a_transformer_layer() -> None:
    config = gpt2.Config(layers=3, width=64, heads=2, sequence=32, vocab=64, batch=2)
    text = stablehlo_of(gpt2.adamw_step, *gpt2.abstract_state(config, gpt2.ADAMW))
    new = scalify_hlo.rewrite(text, recipe="fp8-current")
    assert new.count("stablehlo.reduce(") - text.count("stablehlo.reduce(") == 18 * config.layers


@pytest.mark.parametrize("state", ["keep", "f16"])
def test_with_narrow_state_and_pairs(state: str) -> None:
    """Operands are cast at the same scales whatever scales their values travel at."""
    x, w = sample(12, 3), sample(13, -5)
    text = scalify_hlo.rewrite(
        stablehlo_of(outer, x, w),
        recipe="fp8-current",
        signature="scaled",
        settings=OUTER | {"state.gradient": state},
    )
    given = [np.asarray(a, F32) for a in (x / 8, F32(8), w * 4, F32(0.25))]
    data, scale = compile_module(text)(given)
    np.testing.assert_array_equal(data * scale, outer_quantized(x, w))


@pytest.mark.slow
@pytest.mark.parametrize("case", ["gspmd", "shard_map"])
def test_one_amax_for_all_devices(case: str) -> None:
    eight_devices.run(sharded_current.main, case)


@pytest.mark.parametrize("format_", ["bf16", "f16"])
@pytest.mark.parametrize("log2", [-40.0, -10.0, 0.0, 10.0, 40.0])
@pytest.mark.parametrize("kind", ["current", "delayed", "calibrated"])
def test_formats_of_16_bits_keep_the_products_of_their_data_finite(
    kind: str, log2: float, format_: str
) -> None:
    """Scaled to its largest number, an operand in bf16 would have no finite product."""
    x, w = (sample(seed, log2, 32 * 32).reshape(32, 32) for seed in (0, 1))
    program = program_of(lambda x, w: x @ w, x, w)
    roles = ("activation", "weight", "gradient")
    settings = {f"matmul.{role}": format_ for role in roles} | {"scaling.fp8_format": "matmul"}
    found = called(rewritten(f"fp8-{kind}", program, x, w, **settings), x, w)
    exact = np.asarray(program.call(x, w), np.float64)
    error = np.abs(np.asarray(found, np.float64) - exact).max() / np.abs(exact).max()
    assert error < (0.02 if format_ == "bf16" else 0.002)
