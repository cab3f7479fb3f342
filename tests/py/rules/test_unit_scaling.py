"""The factors of activations are integrals over a normal distribution, done here by quadrature."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from scalify_hlo.rules.unit_scaling import ACTIVATIONS, ActivationSize, added

Array = npt.NDArray[np.float64]
X = np.linspace(-12.0, 12.0, 240_001)
DENSITY = np.exp(-(X**2) / 2) / math.sqrt(2 * math.pi)

FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": lambda x: np.maximum(x, 1e-3 * x),
    "gelu": lambda x: x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "hard_silu": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "quick_gelu": lambda x: x / (1 + np.exp(-1.702 * x)),
    "mish": lambda x: x * np.tanh(np.logaddexp(x, 0)),
}


def mean(values: Array) -> float:
    return float(np.trapezoid(values * DENSITY, X))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_factors(name: str) -> None:
    y = FUNCTIONS[name](X)
    slope, activation = np.gradient(y, X), ACTIVATIONS[name]
    assert mean(y) == pytest.approx(activation.mean, abs=1e-3)
    assert mean((y - mean(y)) ** 2) ** -0.5 == pytest.approx(activation.forward, rel=1e-3)
    assert mean(slope**2) ** -0.5 == pytest.approx(activation.backward, rel=1e-3)
    assert activation.size() == pytest.approx(math.log2(mean(y**2)) / 2, abs=2e-3)
    assert activation.gradient_size == pytest.approx(math.log2(mean(slope**2)) / 2, abs=2e-3)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_bounded_activations(name: str) -> None:
    largest = float(np.abs(FUNCTIONS[name](X)).max())
    assert ACTIVATIONS[name].bounded == (largest <= 1)


def test_bounded_results_do_not_grow_with_the_input() -> None:
    bounded = ActivationSize(2.0, 1.0, mean=0.5, bounded=True)
    assert bounded.size(8.0) == bounded.size() == pytest.approx(-0.5)
    assert bounded.size(-2.0) == pytest.approx(math.log2(math.hypot(0.125, 0.5)))
    free = ActivationSize(2.0, 1.0, mean=0.5)
    assert free.size(3.0) == pytest.approx(2.5)


def test_sums_of_terms_of_several_sizes() -> None:
    assert added([1.0, 1.0]) == pytest.approx(1.5)
    assert added([2.0, 0.0]) == pytest.approx(math.log2(math.sqrt(17)))
    assert added([5000.0, 5000.0]) == pytest.approx(5000.5)
