"""Inputs whose scales are taken while the program runs, because a recipe names them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo as sh
from scalify_hlo.api import make_options
from scalify_hlo.errors import UsageError
from scalify_hlo.passes.summary import summary
from scalify_hlo.program.program import read_text
from scalify_hlo.program.rewriting import rewrite_program
from scalify_hlo.report.model import Report
from tests.py.shared.judge import program_of, stablehlo_of

SIZE = 64
X = jax.random.normal(jax.random.key(0), (SIZE, SIZE))
W = jax.random.normal(jax.random.key(1), (SIZE, SIZE)) / 8
MEASURE = {"inputs.verify": "x"}
Model = Callable[..., jax.Array]
Pair = tuple[jax.Array, jax.Array]


def direct(x: jax.Array, w: jax.Array) -> jax.Array:
    return x @ w


def called(x: jax.Array, w: jax.Array) -> jax.Array:
    first, second = jax.jit(lambda x, w: x @ w), jax.jit(lambda x, w: x @ w.T)
    return jnp.asarray(first(x, w) - second(x, w))


def scanned(x: jax.Array, w: jax.Array) -> jax.Array:
    def turn(carry: jax.Array, row: jax.Array) -> tuple[jax.Array, None]:
        return carry + row @ w, None

    return jax.lax.scan(turn, jnp.zeros((16, SIZE)), x.reshape(4, 16, SIZE))[0]


def chosen(x: jax.Array, w: jax.Array) -> jax.Array:
    return jnp.asarray(jax.lax.cond(w[0, 0] > 0, lambda x: x @ w, lambda x: -x @ w, x))


def carried(x: jax.Array, w: jax.Array) -> jax.Array:
    """The argument reaches the matmul in the second turn of a loop."""

    def turn(carry: Pair, _: None) -> tuple[Pair, None]:
        y, z = carry
        return (z, y @ w), None

    return jax.lax.scan(turn, (jnp.zeros_like(x), x), None, length=2)[0][1]


MODELS = (direct, called, scanned, chosen, carried)


def text(model: Model) -> str:
    return stablehlo_of(model, X, W)


def report_of(source: str, measure: Sequence[str] = ("x",)) -> Report:
    settings = {"inputs.verify": list(measure)}
    options = make_options(recipe="fp8", settings=settings, input_scale={"w": 2.0**-3})
    return rewrite_program(read_text(source), options)[1]


def error(model: Model, size: float, recipe: str, **settings: Any) -> float:
    """The relative error if x is `size` times as large as is declared."""
    x = X * size
    program = program_of(model, x, W)
    new = sh.rewrite(program, recipe=recipe, input_scale={"x": 1.0, "w": 2.0**-3}, **settings)
    return off(new.call(x, W), program.call(x, W))


def off(found: jax.Array, exact: jax.Array) -> float:
    """The relative error of a result; both may be beyond the squares of f32."""
    wide, other = np.float64(exact), np.float64(found)
    return float(np.linalg.norm(other - wide) / np.linalg.norm(wide))


@pytest.mark.parametrize("model", [direct, scanned])
def test_a_wrong_declared_scale_does_no_harm(model: Model) -> None:
    for size in (2.0**-10, 1.0, 2.0**10):
        assert error(model, size, "fp8", settings=MEASURE) < 0.1
    assert error(model, 2.0**-10, "fp8") > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["fp16", "fp8", "unit"])
@pytest.mark.parametrize("model", MODELS)
def test_it_is_so_under_all_recipes(model: Model, recipe: str) -> None:
    right = error(model, 1.0, recipe, settings=MEASURE)
    for size in (2.0**-10, 2.0**10):
        assert error(model, size, recipe, settings=MEASURE) <= max(2 * right, 0.1)


@pytest.mark.parametrize("model", MODELS[:-1])
def test_there_is_one_statistic_for_all_uses(model: Model) -> None:
    report = report_of(text(model))
    assert "; 1 input measured at run time" in summary(report)
    assert [(s.kind, s.name, s.statistic) for s in report.sites] == [("inputs", "x", "l2")]
    settings = {"x": 1.0, "w": 2.0**-3}
    new = sh.rewrite(text(model), recipe="fp8", input_scale=settings, settings=MEASURE)
    plain = sh.rewrite(text(model), recipe="fp8", input_scale=settings)
    assert new.count("stablehlo.reduce(") == plain.count("stablehlo.reduce(") + 1


def test_what_no_cast_depends_on_is_not_measured() -> None:
    def normalized(x: jax.Array, w: jax.Array) -> jax.Array:
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return ((x - mean) * jax.lax.rsqrt(variance)) @ w

    report = report_of(text(normalized))
    assert not report.sites
    assert not report.remarks


def test_inputs_below_the_epsilon_of_a_normalization_are_small_still() -> None:
    """The normalized values are far below 1 then, which only the size at run time tells."""

    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        centered = x - x.mean(-1, keepdims=True)
        variance = (centered**2).mean(-1, keepdims=True)
        return jnp.mean((centered * jax.lax.rsqrt(variance + 1e-5) @ w) ** 2)

    step = jax.jit(jax.grad(loss))
    exported = jax.export.export(step)(W, X)
    for recipe in ("fp8", "unit", "fp16"):
        rewritten = sh.rewrite(exported, recipe=recipe)
        for size in (1e-6, 1.0, 1e6, 1e18):
            arrays = W, (X * size).astype(np.float32)
            assert off(rewritten.call(*arrays), exported.call(*arrays)) < 0.12, (recipe, size)


def test_values_between_two_bounds_are_no_larger() -> None:
    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        hidden = x
        for activation in (jax.nn.hard_swish, jax.nn.relu6, jax.nn.hard_swish):
            hidden = hidden + activation(hidden @ w)
        return jnp.mean((hidden @ w) ** 2)

    exported = program_of(jax.grad(loss), W, X)
    rewritten = sh.rewrite(exported, recipe="fp16")
    for size in (2.0**-6, 1.0, 2.0**6):
        arrays = W, (X * size).astype(np.float32)
        assert off(rewritten.call(*arrays), exported.call(*arrays)) < 0.01, size


def test_a_pattern_that_matches_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match=r"inputs.verify 'xx' matches no float.*'x'"):
        report_of(text(direct), ["x", "xx"])


def test_patterns_are_as_elsewhere() -> None:
    assert {s.name for s in report_of(text(direct), ["X", "arg1"]).sites} == {
        "x",
        "w",
    }


def test_scalify_measures_too() -> None:
    measured = sh.scalify(direct, recipe="fp8", settings=MEASURE)
    x = X * 2.0**-12
    found = sh.asarray(measured(x, sh.as_scaled_array(W)))
    np.testing.assert_allclose(found, x @ W, atol=0.2 * float(jnp.std(x @ W)))


@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_what_is_returned_as_it_came_keeps_its_bits(signature: Any) -> None:
    program = program_of(lambda x, w: (x, x @ w), X, W)
    new = sh.rewrite(program, recipe="fp8", settings=MEASURE, signature=signature)
    pairs = [sh.as_scaled_array(v) for v in (X, W)] if signature == "scaled" else [X, W]
    np.testing.assert_array_equal(sh.asarray(new.call(*pairs)[0]), X)


def test_zeros_and_one_large_element() -> None:
    program = program_of(direct, X, W)
    new = sh.rewrite(program, recipe="fp8", settings=MEASURE, input_scale={"w": 2.0**-3})
    assert not np.asarray(new.call(jnp.zeros_like(X), W)).any()
    x = X.at[0, 0].set(2.0**9)  # data near unit would saturate
    assert float(jnp.abs(new.call(x, W) - x @ W).max()) < 0.1 * float(jnp.abs(x @ W).max())


def test_a_vjp_measures_what_it_takes() -> None:
    program = program_of(direct, X, W)
    new = sh.rewrite(program, recipe="fp8", settings=MEASURE, input_scale={"*": 1.0})
    gradients = new.vjp().call(X, W, X)
    assert all(np.isfinite(np.asarray(g)).all() for g in gradients)


@pytest.mark.parametrize("recipe", ["fp8", "unit", "fp16"])
@pytest.mark.parametrize("sizes", [(1.0, 1 / 8), (2.0**20, 2.0**-20)])
def test_gradients_of_layers_of_which_nothing_is_declared(
    recipe: str, sizes: tuple[float, float]
) -> None:
    def loss(w: list[jax.Array], b: jax.Array, x: jax.Array) -> jax.Array:
        for v in w:
            x = jax.nn.relu(x @ v / (8 * sizes[1])) + b
        return jnp.mean(x / sizes[0])

    keys = jax.random.split(jax.random.key(2), 3)
    w = [jax.random.normal(key, (SIZE, SIZE)) * sizes[1] for key in keys]
    b, x = jnp.zeros(SIZE), X * sizes[0]
    program = program_of(jax.grad(loss), w, b, x)
    new, report = sh.rewrite(program, recipe=recipe, report=True)
    assert len(report.sites) == report.statistics <= len(w) + 2
    for found, expected in zip(new.call(w, b, x), program.call(w, b, x), strict=True):
        error = jnp.linalg.norm(found - expected) / jnp.linalg.norm(expected)
        assert error < 10 ** (-13 / 20)


def test_largest_of_sizes_is_found_at_run_time() -> None:
    """A bias that nothing is known of may be larger, or smaller, than what it is added to."""
    program = program_of(lambda x, b, w: (x @ w + b) @ w, X, X[0], W)
    new = sh.rewrite(program, recipe="fp8")
    for size in (2.0**-20, 1.0, 2.0**20):
        found, expected = (p.call(X, X[0] * size, W) for p in (new, program))
        assert float(jnp.linalg.norm(found - expected) / jnp.linalg.norm(expected)) < 0.1
