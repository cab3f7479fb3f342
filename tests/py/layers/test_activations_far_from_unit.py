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
from scalify_hlo.layers.recognition import recognize
from tests.py.shared.judge import decibels, parse, program_of, shaped

Function = Callable[..., Any]


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
    exported = jax.export.export(gradient)(shaped(4, 8))
    layers = recognize(parse(str(exported.mlir_module())))
    assert [(layer.name, layer.exact) for layer in layers if layer.part == "backward"] == [
        (name, True)
    ]


def assert_is_exact(of: Function, weights: Any, x: Any) -> None:
    """Gradients under predicted scales are as exact as with measured ones, or near it.

    Sizes are declared or not.
    """
    exported = program_of(jax.grad(of), weights, x)
    wanted = exported.call(weights, x)
    scales = scalify_hlo.measured_scales(exported, weights, x)

    def ratios(recipe: str, **options: Any) -> list[float]:
        made = scalify_hlo.rewrite(exported, recipe=recipe, **options)
        return list(map(decibels, wanted, made.call(weights, x)))

    least = [min(13.0, ratio) - 1.5 for ratio in ratios("fp8-current")]
    for recipe in ("fp8", "unit"):
        for options in ({}, {"input_scale": scales}):
            found = ratios(recipe, **options)
            assert np.greater_equal(found, least).all(), (recipe, options)


def normal(seed: int, *shape: int, size: float = 1.0) -> Any:
    """Normal numbers."""
    return np.random.default_rng(seed).standard_normal(shape, np.float32) * np.float32(size)


def variational(y: Any) -> Any:
    """The divergence of a variational autoencoder from its prior."""
    mean, log_variance = jnp.split(y, 2, 1)
    return -jnp.mean(1 + log_variance - mean**2 - jnp.exp(log_variance))


def gaussian(y: Any) -> Any:
    """The negative log likelihood of normal numbers with a predicted variance."""
    mean, log_variance = jnp.split(y, 2, 1)
    return jnp.mean(jnp.exp(-log_variance) * (mean - normal(3, 64, 64)) ** 2 + log_variance)


def policy(y: Any) -> Any:
    """The clipped objective of proximal policy optimization."""
    ratio, advantage = jnp.exp(y / 16), normal(3, 64, 128)
    return jnp.mean(jnp.minimum(ratio * advantage, jnp.clip(ratio, 0.8, 1.2) * advantage))


def kurtosis(y: Any) -> Any:
    """The mean of fourth powers of normalized values."""
    centered = y - jnp.mean(y, -1, keepdims=True)
    return jnp.mean((centered * jax.lax.rsqrt(jnp.var(y, -1, keepdims=True) + 1e-5)) ** 4)


def activated(activation: Function, loss: Function = squares) -> tuple[Function, Function]:
    """An activation after each layer, and a loss of the last one's."""
    return activation, lambda y: loss(activation(y))


NETWORKS: dict[str, tuple[tuple[Function, Function], list[float], float]] = {
    # A polynomial of large values times zeros was predicted by the polynomial alone, a choice of
    # one of two values by the smaller, and a power by numbers that are all alike.
    "gelu": (activated(nn.gelu), [1.0] * 4, 1.0),
    "gelu-mean": (activated(nn.gelu, jnp.mean), [8.0] * 2, 1.0),
    "mish": (activated(nn.mish), [8.0] * 2, 1.0),
    "leaky": (activated(nn.leaky_relu), [8.0] * 2, 1.0),
    "squared-relu": (activated(squared_relu), [0.09] * 2, 1.0),
    "squared-relu-far": (activated(squared_relu), [8.0] * 2, 1.0),
    "cube": (activated(lambda x: x**3 / 3, jnp.mean), [0.09] * 2, 1.0),
    # An exponential may be larger than all else, and than any sum of which it is a term.
    "variational": ((nn.gelu, variational), [0.09, 1.0], 1.0),
    "gaussian": ((nn.gelu, gaussian), [0.09, 1.0], 1.0),
    "policy": ((nn.gelu, policy), [0.09, 8.0], 1.0),
    # The count in a variance is a number that the program computes.
    "kurtosis": ((nn.gelu, kurtosis), [0.09, 0.09], 1.0),
    # A function is as small as its operand, whose size may be that of an undeclared input.
    **{
        function.__name__: (activated(function, lambda y: jnp.mean((y - 1) ** 2)), [0.09] * 4, 1e-3)
        for function in (jnp.tanh, jnp.sin, nn.elu)
    },
    # Fractions of octaves add up: those of roots, of activations and of rounded sizes. Under `fp8`,
    # levels are whole numbers. Behind ten layers, they were wrong by eight octaves.
    "many layers": ((nn.gelu, lambda y: jnp.mean(jnp.abs(y))), [1 / 8] * 10, 1.0),
}
"""Activations and losses, the sizes of the weights of each layer, and that of the input."""


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_far_from_unit(name: str) -> None:
    (activation, loss), sizes, size = NETWORKS[name]

    def of(weights: Any, x: Any) -> Any:
        for w in weights[:-1]:
            x = activation(x @ w)
        return loss(x @ weights[-1])

    weights = [normal(seed, 128, 128, size=of_one) for seed, of_one in enumerate(sizes)]
    assert_is_exact(of, weights, normal(9, 64, 128, size=size))


@pytest.mark.slow
@pytest.mark.parametrize("size", [30.0, 1000.0])
def test_a_constant_beside_measured_data(size: float) -> None:
    """Data whose amax is measured keep their expected size in a sum with a constant near 1.

    If what is measured depends on an input that nobody declared, that size is not known.
    """

    def of(weights: Any, x: Any) -> Any:
        powers = jnp.concatenate([x, x**2, x**3], -1)
        return jnp.mean((nn.relu(powers @ weights[0]) @ weights[1] - 1) ** 2)

    weights = [normal(0, 192, 64, size=192**-0.5), normal(1, 64, 1, size=1 / 8)]
    assert_is_exact(of, weights, normal(9, 32, 64, size=size))
