"""Gradients that are zero but for a share of the positions (Unit Scaling paper, appendix H.5)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from tests.py.shared.judge import program_of, rms

ROWS, WIDTH, CLASSES = 512, 32, 64

Params = tuple[jax.Array, jax.Array]


def losses(params: Params, x: jax.Array, labels: jax.Array) -> jax.Array:
    logits = jnp.tanh(x @ params[0]) @ params[1]
    found: jax.Array = -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], -1)[:, 0]
    return found


def weighted(params: Params, x: jax.Array, labels: jax.Array, mask: jax.Array) -> jax.Array:
    """The weights are floats of the caller."""
    return jnp.sum(losses(params, x, labels) * mask) / jnp.sum(mask)


def converted(params: Params, x: jax.Array, labels: jax.Array, mask: jax.Array) -> jax.Array:
    """The weights are integers or booleans of the caller, and their sum is kept above zero."""
    weights = mask.astype(jnp.float32)
    return jnp.sum(losses(params, x, labels) * weights) / jnp.maximum(jnp.sum(weights), 1.0)


def ignored(params: Params, x: jax.Array, labels: jax.Array, mask: jax.Array) -> jax.Array:
    """The mask is a comparison with a label, and is counted in integers."""
    kept = jnp.where(mask != 0, labels, -100) != -100
    return jnp.sum(jnp.where(kept, losses(params, x, labels), 0.0)) / jnp.sum(kept)


def given(share: float) -> tuple[Params, jax.Array, jax.Array, np.ndarray[Any, Any]]:
    random = np.random.default_rng(0)
    x = random.standard_normal((ROWS, WIDTH)).astype(np.float32)
    params = tuple(
        (random.standard_normal((WIDTH, n)) / math.sqrt(WIDTH)).astype(np.float32)
        for n in (WIDTH, CLASSES)
    )
    labels = random.integers(0, CLASSES, ROWS).astype(np.int32)
    return params, x, labels, random.random(ROWS) < share  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("loss", "kind"),
    [
        (weighted, np.float32),
        (converted, np.int32),
        (converted, np.bool_),
        (ignored, np.int32),
    ],
)
@pytest.mark.parametrize("share", [1 / 12, 0.15, 0.77, 1.0])
def test_a_gradient_of_few_rows_is_near_its_size(
    loss: Callable[..., jax.Array], kind: Any, share: float
) -> None:
    """The gradient of the logits has its scale within 3 octaves above and 1 below its size."""
    params, x, labels, kept = given(share)
    arguments = params, x, labels, kept.astype(kind)
    exported = program_of(jax.grad(loss), *arguments)
    scales = scalify_hlo.measured_scales(exported, *arguments)
    _, report = scalify_hlo.rewrite(exported, recipe="unit", input_scale=scales, report=True)
    cast = report.matmuls[2].scales[0]
    assert cast is not None
    assert cast.origin == "predicted"
    logits = jnp.tanh(x @ params[0]) @ params[1]

    def of_logits(logits: jax.Array) -> jax.Array:
        each = -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], -1)[:, 0]
        found: jax.Array = jnp.sum(each * kept) / kept.sum()
        return found

    size = math.log2(rms(jax.grad(of_logits)(logits)))
    assert -3 <= size - int(cast.scale.removeprefix("2^")) <= 1.5  # It is a power of two.


def pooled(params: Params, x: jax.Array, mask: jax.Array) -> jax.Array:
    """The mean of the rows that a mask keeps, as of a padded sentence."""
    rows, kept = jnp.tanh(x @ params[0]).reshape(8, -1, WIDTH), mask.reshape(8, -1, 1)
    found: jax.Array = jnp.sum(rows * kept, 1) / jnp.sum(kept, 1) @ params[1]
    return found


def test_a_mean_of_kept_rows_is_as_large_as_that_of_all() -> None:
    params, x, _, kept = given(0.5)
    arguments = params, x, kept.astype(np.float32)
    exported = program_of(pooled, *arguments)
    scales = scalify_hlo.measured_scales(exported, *arguments)
    how: Any = {"recipe": "unit", "input_scale": scales, "settings": {"matmul.smallest": 1}}
    cast = scalify_hlo.rewrite(exported, report=True, **how)[1].matmuls[1].scales[0]
    assert cast is not None
    rows = np.tanh(x @ params[0]).reshape(8, -1, WIDTH)
    mean = (rows * kept.reshape(8, -1, 1)).sum(1) / kept.reshape(8, -1, 1).sum(1)
    assert abs(math.log2(rms(mean)) - int(cast.scale.removeprefix("2^"))) <= 1.5


def unnormalized(x: jax.Array, w: jax.Array, mask: jax.Array) -> jax.Array:
    """Nothing is divided by the sum, which may be of any numbers."""
    return (x * jnp.sum(mask, 0)) @ w


def of_classes(x: jax.Array, w: jax.Array, labels: jax.Array) -> jax.Array:
    """The elements of each class, by one-hot rows: a class has a row in 32."""
    counts = jnp.sum(jax.nn.one_hot(labels, 32), 0)
    return (x / (1.0 + counts)) @ w


@pytest.mark.parametrize(
    ("function", "types", "scale"),
    [(unnormalized, (32, 32, (64, 32)), "2^3"), (of_classes, (32, 32, (64,)), "2^0")],
)
def test_other_sums_keep_their_sizes(
    function: Callable[..., jax.Array], types: Any, scale: str
) -> None:
    x, w = np.ones((2, 32, 32), np.float32)
    third = np.zeros(types[2], np.int32 if function is of_classes else np.float32)
    exported = program_of(function, x, w, third)
    how: Any = {"recipe": "unit", "input_scale": {"*": 1.0}, "settings": {"matmul.smallest": 1}}
    cast = scalify_hlo.rewrite(exported, report=True, **how)[1].matmuls[0].scales[0]
    assert cast is not None
    assert cast.scale == scale
