"""Training steps and inference of the example models are bit-equal on the interpreter."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import jax
import numpy as np
import pytest

from examples import cnn, gpt2, mlp
from tests.py.programs.program import argument_types
from tests.py.shared.judge import (
    assert_invariant,
    assert_same_bits,
    evaluate,
    floats,
    parse,
    rewritten,
    stablehlo_of,
)

CONFIG = gpt2.Config(layers=2, width=16, heads=2, sequence=8, vocab=11, batch=2)
RNG = np.random.default_rng(0)
TOKENS = RNG.integers(0, CONFIG.vocab, (CONFIG.batch, CONFIG.sequence + 1)).astype(np.int32)
IMAGES = RNG.standard_normal((2, 8, 8, 3), dtype=np.float32)
FEATURES = RNG.standard_normal((4, 12), dtype=np.float32)


def mlp_params() -> Any:
    return mlp.init(jax.random.key(0), (12, 16, 10))


def mlp_arguments(optimizer: Any) -> Any:
    return mlp_params(), optimizer.init(mlp_params()), FEATURES, np.arange(4, dtype=np.int32)


def cnn_arguments(optimizer: Any) -> Any:
    params, statistics = cnn.init(jax.random.key(0))
    return (params, statistics, optimizer.init(params)), IMAGES, np.arange(2, dtype=np.int32)


def gpt2_arguments(optimizer: Any, config: gpt2.Config = CONFIG) -> Any:
    return *gpt2.state(config, optimizer), TOKENS


STEPS: dict[str, tuple[Any, Callable[[], Any]]] = {
    "mlp-sgd": (mlp.sgd_step, partial(mlp_arguments, mlp.SGD)),
    "mlp-momentum": (mlp.momentum_step, partial(mlp_arguments, mlp.MOMENTUM)),
    "mlp-adam": (mlp.adam_step, partial(mlp_arguments, mlp.ADAM)),
    "mlp": (mlp.inference_step, lambda: (mlp_params(), FEATURES)),
    "cnn-momentum": (cnn.momentum_step, partial(cnn_arguments, cnn.MOMENTUM)),
    "cnn-adam": (cnn.adam_step, partial(cnn_arguments, cnn.ADAM)),
    "cnn": (cnn.inference_step, lambda: (*cnn.init(jax.random.key(0)), IMAGES)),
    "gpt2-sgd": (gpt2.sgd_step, partial(gpt2_arguments, gpt2.SGD)),
    "gpt2-adamw": (gpt2.adamw_step, partial(gpt2_arguments, gpt2.ADAMW)),
    "gpt2-inf-mask": (gpt2.adamw_step_inf_mask, partial(gpt2_arguments, gpt2.ADAMW)),
    "gpt2-untied": (
        gpt2.adamw_step,
        partial(gpt2_arguments, gpt2.ADAMW, replace(CONFIG, tied=False)),
    ),
    "gpt2": (gpt2.logits, lambda: (gpt2.init(jax.random.key(0), CONFIG), TOKENS[:, 1:])),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_step_is_bit_equal(name: str) -> None:
    step, make_arguments = STEPS[name]
    arguments = make_arguments()
    text = stablehlo_of(step, *arguments)
    values = [np.asarray(leaf) for leaf in jax.tree.leaves(arguments)]
    # The gradient of the keys' bias is 0 but for rounding, 1e-13: under larger scales its square,
    # which Adam takes, would leave the normal numbers, where invariance ends.
    exponents = [int(e) for e in np.random.default_rng(1).integers(-2, 3, len(values))]
    data = [
        np.ldexp(v, -e).astype(v.dtype) if is_float else v
        for v, e, is_float in zip(values, exponents, floats(text), strict=True)
    ]
    assert_invariant(text, data, exponents)


def polynomial(a: Any, b: Any, c: Any) -> Any:
    """Written out, as functions without an op of their own are: x^16 of a scale 2^15 is none."""
    x = a * b * c
    total = jax.numpy.zeros_like(x)
    for coefficient in (0.8, -1.2, 0.9, 1.3, -0.7, 1.1, 0.9, 1.1):
        total = total * (x * x) + coefficient
    return total


def product_of_sums(*arguments: Any) -> Any:
    """Sums of many small terms: their rms is not what their number leads to expect."""
    return reduce(operator.mul, map(jax.numpy.sum, arguments), jax.numpy.float32(1))


X = np.linspace(0.5, 2, 5, dtype=np.float32)
FAR: dict[str, tuple[Any, Any, list[list[int]]]] = {
    "polynomial": (polynomial, np.linspace(-1, 1, 7, dtype=np.float32), [[6, 5, 4], [-6, -5, 7]]),
    # As the squares of a deep network's gradients, which Adam takes.
    "product": (lambda *xs: reduce(operator.mul, xs) ** 2, X, [[6] * 17, [-6] * 17]),
    # Operands of a sum whose scales are 2^±144 apart, and whose values are not.
    "quotient": (
        lambda a, b, c, d, e, f: a * b * c + d * e * f,
        X,
        [[24] * 3 + [-24] * 3, [-24] * 3 + [24] * 3],
    ),
}
"""Functions, the values of each of their arguments, and exponents of scales far from 1."""

OF_DATA: dict[str, tuple[Any, Any, list[list[int]]]] = {
    # Products of many scales may be near 1 although single ones are far from it.
    "cancelling": (
        lambda a, b, c: (a * b) ** 6 + c * a * b,
        X,
        [[20, -20, 0], [45, -45, 0], [60, -60, 0]],
    ),
    "small terms": (
        product_of_sums,
        np.full(2**14, 2.0**-31, np.float32),
        [[1, -2, 3, 0, 2, -1, 1]],
    ),
}
"""The same, with the data of the arguments, whose values are these times their scales."""


@pytest.mark.parametrize("name", FAR | OF_DATA)
def test_products_of_scales_stay_in_range(name: str) -> None:
    function, x, cases = (FAR | OF_DATA)[name]
    for exponents in cases:
        text = stablehlo_of(function, *[x] * len(exponents))
        data = [x * np.float32(2.0**-k) if name in FAR else x for k in exponents]
        assert_invariant(text, data, exponents)


POWER = """
func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {
  %c = stablehlo.constant dense<12.0> : tensor<6xf32>
  %0 = stablehlo.power %x, %c : tensor<6xf32>
  return %0 : tensor<6xf32>
}"""
PRODUCT = """
func.func @main(%x: tensor<2x12xf32>) -> tensor<2xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.multiply across dimensions = [1]
    : (tensor<2x12xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}"""
FUNCTION = """
func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    %1 = stablehlo.multiply %a, %a : tensor<f32>
    %2 = stablehlo.multiply %1, %1 : tensor<f32>
    %3 = stablehlo.multiply %2, %2 : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}"""


@pytest.mark.parametrize("exponent", [20, -20])
@pytest.mark.parametrize("text", [POWER, PRODUCT, FUNCTION], ids=["power", "product", "function"])
def test_high_powers_stay_in_range(text: str, exponent: int) -> None:
    """Values near 1 whose data are not: their twelfth power would leave f32 with the scale's."""
    ((shape, _),) = argument_types(text)
    x = np.linspace(0.5, 2, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    assert_invariant(text, [np.ldexp(x, -exponent)], [exponent])
    module, _ = rewritten(text, "same", input_scale={"*": 2.0**exponent})
    assert_same_bits(evaluate(module, [x])[0], evaluate(parse(text), [x])[0])
