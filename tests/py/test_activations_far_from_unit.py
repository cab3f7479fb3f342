"""Gradients of activations far from unit, and with losses that read nothing but their outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax import nn

import scalify_hlo
from scalify_hlo.analysis.layers.recognition import recognize
from tests.py.judge import parse
from tests.py.test_loop_gradients import snr

Function = Callable[[Any], Any]


def squares(y: Any) -> Any:
    """The mean of squares, whose gradient is a multiple of the output."""
    return jnp.mean(y**2)


def exact_gelu(x: Any) -> Any:
    """GELU by the error function."""
    return nn.gelu(x, approximate=False)


def squared_relu(x: Any) -> Any:
    """The activation of Primer, whose data have a heavy tail."""
    return nn.relu(x) ** 2


@pytest.mark.parametrize("loss", [squares, jnp.mean, jnp.sum, lambda y: jnp.mean(jnp.abs(y))])
@pytest.mark.parametrize(
    ("activation", "name"),
    [(nn.gelu, "gelu"), (exact_gelu, "gelu"), (nn.silu, "silu"), (nn.mish, "mish")],
)
def test_gradients_of_losses_of_the_output_alone_are_found(
    activation: Function, name: str, loss: Function
) -> None:
    """The gradient of the output is a function of it, or a constant, and no unknown value."""
    gradient = jax.jit(jax.grad(lambda x: loss(activation(x))))
    exported = jax.export.export(gradient)(jax.ShapeDtypeStruct((4, 8), np.float32))
    layers = recognize(parse(str(exported.mlir_module())))
    assert [(layer.name, layer.exact) for layer in layers if layer.part == "backward"] == [
        (name, True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("activation", "loss", "size", "depth"),
    [
        (nn.gelu, squares, 1.0, 4),
        (nn.gelu, jnp.mean, 8.0, 2),
        (nn.mish, squares, 8.0, 2),
        (nn.leaky_relu, squares, 8.0, 2),
        (squared_relu, squares, 0.09, 2),
        (squared_relu, squares, 8.0, 2),
        (lambda x: x**3 / 3, jnp.mean, 0.09, 2),
    ],
    ids=["gelu", "gelu-mean", "mish", "leaky", "squared-relu", "squared-relu-far", "cube"],
)
def test_gradients_far_from_unit(
    activation: Function, loss: Function, size: float, depth: int
) -> None:
    """They are as exact as with measured scales, or near it, with sizes declared or not.

    A polynomial of large values times zeros was predicted by the polynomial, a choice of one of two
    values by the smaller, and a power by numbers that are all alike.
    """
    random = np.random.default_rng(9)
    x = random.standard_normal((64, 128), np.float32)
    weights = random.standard_normal((depth, 128, 128), np.float32) * np.float32(size)

    def of(weights: Any, x: Any) -> Any:
        for w in weights:
            x = activation(x @ w)
        return loss(x)

    exported = jax.export.export(jax.jit(jax.grad(of)))([*weights], x)
    wanted = exported.call([*weights], x)
    scales = scalify_hlo.measured_scales(exported, [*weights], x)

    def ratios(recipe: str, **options: Any) -> list[float]:
        made = scalify_hlo.rewrite(exported, recipe=recipe, **options)
        return list(map(snr, wanted, made.call([*weights], x)))

    least = [min(13.0, ratio) - 1.5 for ratio in ratios("fp8-current")]
    for recipe in ("fp8", "unit"):
        for options in ({}, {"input_scale": scales}):
            assert all(map(float.__ge__, ratios(recipe, **options), least)), (recipe, options)
