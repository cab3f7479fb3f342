"""The predicted size of a mean of squares, whose terms do not cancel."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo.algebra.measured import Measured
from scalify_hlo.api import make_options
from scalify_hlo.passes.pipeline import rewrite_module
from tests.py.shared.judge import parse, program_of, shaped, stablehlo_of


def convolution(x: jax.Array, w: jax.Array) -> jax.Array:
    names = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=names)


def normalized(x: jax.Array, w: jax.Array, gain: jax.Array, shift: jax.Array) -> jax.Array:
    """A batch normalization as Flax writes it, between two convolutions."""
    y = convolution(x, w)
    mean, square = jnp.mean(y, (0, 1, 2)), jnp.mean(jax.lax.square(y), (0, 1, 2))
    variance = jnp.maximum(0.0, square - jax.lax.square(mean))
    y = (y - mean) * (jax.lax.rsqrt(variance + 1e-5) * gain) + shift
    return convolution(jax.nn.relu(y), w)


def test_squares_that_are_rescaled_are_positive_as_well() -> None:
    """The scale of a weight makes the squares be rescaled before they are summed."""
    random = np.random.default_rng(0)
    x, w = (random.standard_normal(shape) for shape in ((2, 8, 8, 16), (3, 3, 16, 16)))
    arrays = [x, w / 12, np.ones(16), 0.1 * np.ones(16)]
    given = [each.astype(np.float32) for each in arrays]
    exported = program_of(normalized, *given)
    scales = scalify_hlo.measured_scales(exported, *given)
    options = make_options("unit", "same", scales, {"matmul.smallest": 1})
    module = parse(exported.mlir_module())
    rewrite_module(module, replace(options, annotate=True))
    casts = re.findall(r"convert .*\[\"(.*) level (.*)\"\].*2x8x8x16xf8E4M3FN", str(module))
    (scale, level) = casts[-1]
    assert scale == "2^0"
    assert abs(float(level) - math.log2(math.sqrt(0.5))) < 1


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize(("factor", "scale"), [(3.0, "2^7"), (-3.0, "2^4")])
def test_only_a_positive_factor_keeps_squares_positive(
    factor: float, scale: str, left: bool
) -> None:
    """A sum of 64 terms is 64 times as large, or 8 times if their signs are not known."""

    def function(x: jax.Array, w: jax.Array) -> jax.Array:
        squares = factor * (x * x) if left else (x * x) * factor
        return (jnp.tanh(x) * jnp.sum(squares, 1, keepdims=True)) @ w

    types = [shaped(64, 64)] * 2
    text = stablehlo_of(function, *types)
    settings = {"matmul.smallest": 1}
    how: Any = {"recipe": "unit", "input_scale": {"*": Measured(1.0)}, "settings": settings}
    (matmul,) = scalify_hlo.rewrite(text, report=True, **how)[1].matmuls
    assert matmul.scales[0] is not None
    assert matmul.scales[0].scale == scale


def test_complex_squares_have_no_sign() -> None:
    def function(z: jax.Array, w: jax.Array) -> jax.Array:
        return jnp.real(jnp.sum((z * z) * (2 + 0j), 1, keepdims=True)) * w @ w

    types = [shaped(64, 64, dtype=dtype) for dtype in (jnp.complex64, jnp.float32)]
    text = stablehlo_of(function, *types)
    how: Any = {"recipe": "unit", "settings": {"matmul.smallest": 1}}
    assert scalify_hlo.rewrite(text, report=True, **how)[1].matmuls
