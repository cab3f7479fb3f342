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
    """A polynomial of large values times zeros was predicted by the polynomial alone.

    A choice of one of two values was predicted by the smaller, and a power by numbers that are all
    alike.
    """

    def of(weights: Any, x: Any) -> Any:
        for w in weights:
            x = activation(x @ w)
        return loss(x)

    weights = [normal(seed, 128, 128, size=size) for seed in range(depth)]
    assert_is_exact(of, weights, normal(9, 64, 128))


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "size"), [(variational, 1.0), (gaussian, 1.0), (policy, 8.0), (kurtosis, 0.09)]
)
def test_losses_far_from_unit(loss: Function, size: float) -> None:
    """An exponential may be larger than all else, and than any sum of which it is a term.

    The count in a variance is a number that the program computes.
    """

    def of(weights: Any, x: Any) -> Any:
        return loss(nn.gelu(x @ weights[0]) @ weights[1])

    weights = [normal(20, 128, 128, size=0.09), normal(21, 128, 128, size=size)]
    assert_is_exact(of, weights, normal(9, 64, 128))


@pytest.mark.slow
@pytest.mark.parametrize("function", [jnp.tanh, jnp.sin, nn.elu])
def test_functions_of_small_values(function: Function) -> None:
    """A function is as small as its operand, whose size may be that of an undeclared input."""

    def of(weights: Any, x: Any) -> Any:
        for w in weights:
            x = function(x @ w)
        return jnp.mean((x - 1) ** 2)

    weights = [normal(seed, 64, 64, size=1 / 8) for seed in range(4)]
    assert_is_exact(of, weights, normal(9, 32, 64, size=1e-3))


@pytest.mark.slow
def test_many_layers() -> None:
    """Fractions of octaves add up: those of roots, of activations and of rounded sizes.

    Under `fp8`, levels are whole numbers. Behind ten layers, they were wrong by eight octaves.
    """

    def of(weights: Any, x: Any) -> Any:
        for w in weights[:-1]:
            x = nn.gelu(x @ w)
        return jnp.mean(jnp.abs(x @ weights[-1]))

    weights = [normal(seed, 64, 64, size=2**0.5 / 8) for seed in range(10)]
    assert_is_exact(of, weights, normal(9, 32, 64))


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
