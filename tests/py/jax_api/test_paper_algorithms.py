"""The algorithms of the Scalify paper, as docs/algorithms.md has them, under several recipes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import pytest

import scalify_hlo as jsa
from tests.py.shared.judge import decibels as ratio_of
from tools import pages

pytestmark = pytest.mark.filterwarnings("ignore::scalify_hlo.ScalifyWarning")

Wide: TypeAlias = npt.NDArray[np.float64]
SMALL = 2.0**-16
"""The factor of a loss whose gradients f16 does not hold."""

scalify = partial(jsa.scalify, plain_results=False)
"""The paper's transform: gradients stay pairs, as f16 does not hold small ones."""

OF_RECIPE = pytest.mark.parametrize("recipe", ["propagate", "fp16", "fp8", "fp8-current"])
OF_DTYPE = pytest.mark.parametrize("dtype", [jnp.float32, jnp.float16])


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that the blocks of the page define."""
    text, names = (pages.DOCS / "algorithms.md").read_text(), dict[str, Any]()
    pages.run(text, "algorithms.md", tmp_path_factory.mktemp("page"), names)
    return names


def arrays(dtype: Any) -> Any:
    """State, data and labels of the model of the page."""
    random = np.random.default_rng(1)
    sizes = {"w1": (64, 64), "b1": (64,), "w2": (64, 64), "b2": (64,)}
    state = {name: jnp.asarray(random.normal(size=s) / 8, dtype) for name, s in sizes.items()}
    return state, *(jnp.asarray(random.normal(size=(64, 64)), dtype) for _ in range(2))


def value(array: Any) -> Wide:
    if isinstance(array, jsa.ScaledArray):
        return np.asarray(array.data, np.float64) * np.asarray(array.scale, np.float64)
    return np.asarray(array, np.float64)


def decibels(expected: Any, found: Any) -> float:
    """The lowest signal-to-noise ratio of the leaves of a tree."""

    def of(a: Any, b: Any) -> float:
        a, b = value(a), value(b)
        assert np.isfinite(b).all()
        assert b.any(), "all gradients are zero"
        return ratio_of(a, b)

    return min(of(expected[name], found[name]) for name in expected)


def layers(page: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """The linear layer, and those with each of the algorithms."""
    linear, rescale = page["linear_layer"], page["dynamic_rescaling_l2"]
    of_gradient = jax.custom_vjp(lambda x: x)
    of_gradient.defvjp(lambda x: (x, None), lambda _, gradient: (rescale(gradient),))
    return {
        "algorithm 1": linear,
        "algorithm 4": lambda *args: of_gradient(rescale(linear(*args))),
        "markers": lambda *args: jsa.dynamic_rescale_l2_grad(jsa.rebalance_scale(linear(*args), 4)),
        "algorithm 6": page["linear_layer_fp8"],
    }


def original(page: dict[str, Any], dtype: Any) -> Any:
    """The gradients of the model in f64, at a loss times 1."""
    with jax.enable_x64(True):
        wide = jax.tree.map(lambda x: jnp.asarray(np.asarray(x), jnp.float64), arrays(dtype))
        return jax.tree.map(np.asarray, jax.grad(page["model"])(*wide))


@OF_DTYPE
@OF_RECIPE
@pytest.mark.parametrize("name", ["algorithm 1", "algorithm 4", "markers", "algorithm 6"])
def test_gradients_bear_a_small_loss(
    page: dict[str, Any], name: str, recipe: str, dtype: Any
) -> None:
    expected, found = original(page, dtype), dict[float, float]()
    for factor in (1.0, SMALL):
        model = partial(page["model"], layer=layers(page)[name], factor=factor)
        run = scalify(jax.grad(model), recipe=recipe)
        gradients = run(*jsa.as_scaled_array(arrays(dtype)))
        found[factor] = decibels({k: g * factor for k, g in expected.items()}, gradients)
    exact = recipe in ("propagate", "fp16") and name != "algorithm 6"
    assert found[1.0] > (20 if exact else 18)
    assert found[SMALL] > (20 if exact else found[1.0] - 1)


@OF_DTYPE
@OF_RECIPE
def test_gradients_of_a_scan_bear_a_small_loss(recipe: str, dtype: Any) -> None:
    """The gradients of its layers are written into zeros, which get the scale of the loss."""

    def model(weights: Any, data: Any, labels: Any, factor: float) -> Any:
        last, _ = jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), data, weights["layers"])
        return jnp.mean((last @ weights["out"] - labels).astype(jnp.float32) ** 2) * factor

    random = np.random.default_rng(2)
    shapes = {"layers": (3, 64, 64), "out": (64, 64)}
    weights = {name: random.normal(size=shape) / 8 for name, shape in shapes.items()}
    given = jax.tree.map(
        lambda x: jnp.asarray(x, dtype), (weights, *random.normal(size=(2, 64, 64)))
    )
    wide = jax.tree.map(lambda x: x.astype(jnp.float32), given)
    expected = jax.jit(jax.grad(model))(*wide, 1.0)
    run, found = scalify(jax.grad(model), recipe=recipe), dict[float, float]()
    for factor in (1.0, SMALL):
        gradients = run(*jsa.as_scaled_array((*given, jnp.float32(factor))))
        found[factor] = decibels({k: g * factor for k, g in expected.items()}, gradients)
    exact = recipe in ("propagate", "fp16")
    assert found[1.0] > (40 if exact else 15)
    assert found[SMALL] > min(found[1.0], 60) - 1


@OF_DTYPE
@OF_RECIPE
def test_the_training_loop_trains(page: dict[str, Any], recipe: str, dtype: Any) -> None:
    def update(layer: Any, state: Any, data: Any, labels: Any) -> Any:
        model = partial(page["model"], layer=layer)
        loss, gradients = jax.value_and_grad(model)(state, data, labels)
        return loss, jax.tree.map(page["sgd"], state, gradients)

    state, *batch = arrays(dtype)
    plain = jax.tree.map(lambda x: x.astype(jnp.float32), (state, *batch))
    pairs = jsa.as_scaled_array(state)
    exact = jax.jit(partial(update, page["linear_layer"]))
    step = scalify(partial(update, page["linear_layer_fp8"]), recipe=recipe)
    for _ in range(6):
        expected, new = exact(*plain)
        plain = (new, *plain[1:])
        loss, pairs = step(pairs, *jsa.as_scaled_array(batch))
        pairs = jsa.dynamic_rescale(pairs)
        np.testing.assert_allclose(value(loss), value(expected), rtol=0.02)
    assert all(isinstance(pair, jsa.ScaledArray) for pair in pairs.values())


@OF_DTYPE
@pytest.mark.parametrize("recipe", ["propagate", "fp16"])
@pytest.mark.parametrize("exponents", [(-20, -18), (12, -3), (0, 0)])
def test_primitives_are_those_of_algorithm_3(
    page: dict[str, Any], exponents: tuple[int, int], recipe: str, dtype: Any
) -> None:
    random = np.random.default_rng(2)
    x, y, w = (
        jsa.ScaledArray(jnp.asarray(random.normal(size=shape), dtype), jnp.float32(2.0**e))
        for shape, e in zip([(128, 64)] * 2 + [(64, 32)], (*exponents, exponents[1]), strict=True)
    )
    bound = 2.0**-10 if dtype == jnp.float16 or recipe == "fp16" else 1e-6
    for written, function, other in (
        (page["scaled_add"], jnp.add, y),
        (page["scaled_matmul"], jnp.matmul, w),
    ):
        found, expected = scalify(function, recipe=recipe)(x, other), written(x, other)
        error = np.abs(value(found) - value(expected)).max()
        assert error <= bound * np.abs(value(expected)).max()
        if function is jnp.matmul:
            assert float(found.scale) == float(expected.scale)


@OF_DTYPE
@OF_RECIPE
def test_both_parts_of_algorithm_4_see_one_pair(
    page: dict[str, Any], recipe: str, dtype: Any
) -> None:
    def program(x: Any) -> Any:
        y = x * 2.0**12
        _, scale = jsa.get_data_and_scale(y)
        return scale, [page["rebalance_scale"](y, 4.0), page["dynamic_rescaling_l2"](y)]

    x = jnp.asarray(np.random.default_rng(3).normal(size=2048), dtype) * 3
    scale, results = scalify(program, recipe=recipe)(jsa.ScaledArray(x, jnp.float32(1)))
    for result in results:
        np.testing.assert_array_equal(value(result), value(x) * 2.0**12)
    assert float(scale) == 2.0**12
    if dtype == jnp.float32:  # In f16, what replaces an argument is rescaled once more.
        assert [float(result.scale) for result in results] == [2.0**14, 2.0**13]
