"""Layers add as many ops at depth as near the surface, and their scales stay exact there."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import scalify_hlo as jsa
from benchmarks.growth import BOUND, count, program


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["fp8", "unit", "fp16"])
@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_ops_that_a_layer_adds(recipe: str, signature: str) -> None:
    depths = 12, 24, 48, 96
    ops = [count(program("chain", d), recipe=recipe, signature=signature).ops for d in depths]
    near, far = ((ops[i + 1] - ops[i]) / (depths[i + 1] - depths[i]) for i in (0, 2))
    assert far <= BOUND * near


@pytest.mark.parametrize("depth", [3, 40, 150])
def test_scales_of_any_mantissa_through_many_layers(depth: int) -> None:
    """Each weight is an eighth of a diagonal; scales are random, and their product is not."""
    rng = np.random.default_rng(depth)

    def model(weights: list[jax.Array], x: jax.Array) -> jax.Array:
        for w in weights:
            x = x @ w
        return x

    scales = np.exp2(rng.uniform(-9, 9, depth)).astype("f")
    matrices = rng.choice([0.5, 1.0, 2.0], (depth, 4)).astype("f")
    shape = jax.ShapeDtypeStruct((4, 4), jnp.float32)
    exported = export.export(jax.jit(model))([shape] * depth, shape)
    rewritten = jsa.rewrite(exported, recipe="propagate", signature="scaled")
    given = [jsa.ScaledArray(np.diag(m), s) for m, s in zip(matrices, scales, strict=True)]
    start = np.exp2(-np.round(np.log2(scales.astype("d")).sum() + np.log2(matrices).sum()))
    result = rewritten.call(given, jsa.ScaledArray(np.eye(4, dtype="f"), np.float32(start)))
    wanted = np.diag(matrices.astype("d").prod(0)) * scales.astype("d").prod() * start
    value = np.asarray(result.data, "d") * np.asarray(result.scale, "d")
    np.testing.assert_allclose(value, wanted, rtol=1e-4)
