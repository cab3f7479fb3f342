"""The predicted size of a mean of squares, whose terms do not cancel."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

import scalify_hlo


def normalized(x: jax.Array, w: jax.Array, v: jax.Array) -> jax.Array:
    """A batch normalization as Flax writes it, between two matmuls."""
    y = x @ w
    mean, square = jnp.mean(y, 0), jnp.mean(y * y, 0)
    variance = jnp.maximum(0.0, square - mean * mean)
    return ((y - mean) * jax.lax.rsqrt(variance + 1e-5)) @ v


def test_squares_that_are_rescaled_are_positive_as_well() -> None:
    """The scale of a weight makes the squares be rescaled before they are summed."""
    random = np.random.default_rng(0)
    x, w, v = (random.standard_normal(shape) for shape in ((128, 64), (64, 64), (64, 64)))
    arrays = [each.astype(np.float32) for each in (x, w / 16, v / 8)]
    exported = jax.export.export(jax.jit(normalized))(*arrays)
    scales = scalify_hlo.measured_scales(exported, *arrays)
    _, report = scalify_hlo.rewrite(exported, recipe="unit", input_scale=scales, report=True)
    _, second = report.matmuls
    assert second.scales[0] is not None
    assert second.scales[0].scale == "2^0"
    assert not report.remarks
