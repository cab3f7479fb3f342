"""Constants are quantized where loops and functions take them, and in whole files."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from scalify_hlo import rewrite
from scalify_hlo._compat import ir, new_context
from scalify_hlo.algebra.measured import Measured
from scalify_hlo.casts import encoding
from scalify_hlo.casts.encoding import dtype_of, exponent_below_rms
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.program.artifact import write_artifact, write_bytecode
from scalify_hlo.run.interpreter import evaluate
from tests.py.casts.test_quantize import (
    FP8,
    SIZE,
    Array,
    X,
    constants,
    dense,
    normal,
    parse,
    program,
    quantized,
    run,
    same_bits,
    without_algorithm,
)
from tests.py.shared.judge import program_of, propagated, rms, shaped, stablehlo_of


class TestRegionsAndFunctions:
    def test_a_scan_over_stacked_weights_carries_none_of_them(self) -> None:
        def layers(x: Any, weights: Any) -> Any:
            return jax.lax.scan(lambda c, w: (jnp.tanh(c @ w), None), x, weights)[0]

        # A product of slices of an argument is measured, as its scale may be declared wrongly. The
        # sizes of constants are certain, so the casts of the carry have other scales.
        x, weights = normal(SIZE, SIZE, seed=5), normal(3, SIZE, SIZE, scale=0.1)
        module = quantized(stablehlo_of(lambda v: layers(v, weights), X))
        given_ = parse(stablehlo_of(layers, X, jax.ShapeDtypeStruct(weights.shape, weights.dtype)))
        rewrite_module(given_, Options(recipe=FP8, input_scale={"weights": 2.0**-4}))
        expected = np.asarray(layers(x, weights))
        found, measured = run(module, x), run(given_, x, weights)
        assert rms(found - expected) <= 1.1 * rms(measured - expected)
        assert constants(module) == ["f8E4M3FN"]
        (loop,) = ops_in(module.operation, {"stablehlo.while"})
        assert not any("3x" in str(value.type) for value in loop.operands)

    def test_what_a_loop_gives_back_it_carries(self) -> None:
        weight = normal(SIZE, SIZE, scale=0.1)
        text = f"""
func.func @main(%x: T, %n: tensor<i32>) -> (T, T) {{
  %w = stablehlo.constant {dense(weight)}
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%i = %n, %v = %w, %y = %x) : tensor<i32>, T, T
   cond {{
    %c = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %d = stablehlo.dot_general %y, %v, contracting_dims = [1] x [0] : (T, T) -> T
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %v, %d : tensor<i32>, T, T
  }}
  return %0#2, %0#1 : T, T
}}""".replace(" T", " tensor<32x32xf32>").replace("(T", "(tensor<32x32xf32>")
        module = without_algorithm(quantized(text))
        assert sorted(constants(module)) == ["f32", "f8E4M3FN"]
        x = normal(SIZE, SIZE, seed=1)
        _, given_back = evaluate(module, [x, np.asarray(0, np.int32)])
        same_bits(given_back, weight)

    def test_functions_in_functions(self) -> None:
        @jax.jit
        def product(x: Any, w: Any) -> Any:
            return x @ w

        @jax.jit
        def layer(x: Any, w: Any) -> Any:
            return jnp.tanh(product(x, w))

        x, weight = normal(SIZE, SIZE, seed=5), normal(SIZE, SIZE, scale=0.1)
        module = quantized(stablehlo_of(lambda x: layer(x, weight), X))
        assert constants(module) == ["f8E4M3FN"]
        given_ = parse(stablehlo_of(layer, X, X))
        scale = Measured(2.0 ** exponent_below_rms(weight.ravel()))
        rewrite_module(given_, Options(recipe=FP8, input_scale={"w": scale}))
        same_bits(run(module, x), run(given_, x, weight))


class TestFiles:
    def test_bytes_are_a_quarter(self) -> None:
        weight = normal(256, 256, scale=0.02)
        bytes_ = [shaped(256, 256)]
        text = stablehlo_of(lambda x: x @ weight, *bytes_)
        module = quantized(text)
        assert len(write_bytecode(module)) < 0.27 * weight.nbytes
        assert len(write_artifact(module, "current")) < 0.27 * weight.nbytes
        assert len(str(module)) < 0.27 * len(text)

    def test_an_artifact_reads_back(self) -> None:
        weight = normal(SIZE, SIZE, scale=0.02)
        artifact = program_of(lambda x: x @ weight, X)
        again = rewrite(artifact, recipe=FP8)
        x = normal(SIZE, SIZE, seed=1)
        result = np.asarray(again.call(x))
        same_bits(result, run(quantized(stablehlo_of(lambda x: x @ weight, X)), x))


class TestBytesOfNarrowFormats:
    """bf16 and f8 have no buffers in the bindings, and are read from bytecode."""

    @pytest.mark.parametrize("count", [2, 3, 31, 32, 63, 64, 127, 128, 8191, 8192, 20000, 1 << 20])
    @pytest.mark.parametrize("name", ["bf16", "f8E4M3FN"])
    def test_are_read_at_any_length(self, name: str, count: int) -> None:
        bits = np.random.default_rng(count).integers(0, 256, count * 2, np.uint8)
        array = bits[: count * dtype_of(name).itemsize].view(dtype_of(name))
        assert self.read(array, name).tobytes() == array.tobytes()

    @pytest.mark.parametrize("byte", [0, 1, 2, 3, 0x40, 0x82, 0xFF])
    def test_are_found_among_like_bytes(self, byte: int) -> None:
        array = np.full(4096, byte, np.uint8).view(ml_dtypes.bfloat16)
        array[-1] = 5.0
        assert self.read(array, "bf16").tobytes() == array.tobytes()

    @staticmethod
    def read(array: Array, name: str) -> Array:
        with new_context(), ir.Location.unknown():
            type_ = ir.RankedTensorType.get(array.shape, ir.Type.parse(name))
            bits = array.view(f"u{array.itemsize}")
            attribute = ir.DenseElementsAttr.get(bits, type=type_)
            return encoding.elements_of(attribute).copy()


def test_a_text_without_casts_stays_as_it_is() -> None:
    text = program(normal(SIZE, SIZE), baked=True)
    plain = propagated(text)
    assert re.search(r"constant dense<\"0x\w+\"> : tensor<32x32xf32>", plain)
