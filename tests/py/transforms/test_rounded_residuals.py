"""Values that the forward pass keeps rounded: those, and only those, that bear it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

import scalify_hlo
from scalify_hlo import InputError
from scalify_hlo._compat import ir
from scalify_hlo.casts.kept import KeptForm
from scalify_hlo.report.model import Report
from tests.py.shared.commands import call
from tests.py.shared.judge import interpreted, parse, shaped, stablehlo_of

_ROWS, _WIDTH, _LAYERS = 16, 32, 3
_F8 = {"residuals": "auto", "activations.saved": "f8"}
Layer = Callable[[jax.Array, jax.Array], Any]


def _rms_norm(x: jax.Array) -> jax.Array:
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5)


def _centered(x: jax.Array) -> jax.Array:
    return (x - jnp.mean(x, -1, keepdims=True)) * lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-5)


def _attended(x: jax.Array, w: jax.Array) -> jax.Array:
    """Large scores, whose softmax has to see all of their digits."""
    return jax.nn.softmax(_rms_norm(x) @ (_rms_norm(x) @ w).T * 20, -1) @ x


def _after(fn: Callable[[jax.Array], jax.Array]) -> Layer:
    return lambda x, w: _rms_norm(x + fn(x @ w))


_ROUNDED: dict[str, Layer] = {
    "gelu": _after(jax.nn.gelu),
    "exact gelu": _after(lambda x: jax.nn.gelu(x, approximate=False)),
    "silu": _after(jax.nn.silu),
    "tanh": _after(jnp.tanh),
    "softplus": _after(jax.nn.softplus),
    "relu": _after(jax.nn.relu),
    "rms_norm": _after(_rms_norm),
    "layer_norm": _after(_centered),
    "softmax": lambda x, w: _rms_norm(x + _attended(x, w)),
    "tanh and one": lambda x, w: (1 + jnp.tanh(x @ w)) * 3,
    "checkpoint": jax.checkpoint(lambda x, w: x + jax.nn.gelu(_rms_norm(x) @ w)),
}
_EXACT: dict[str, Layer] = {
    "sine": lambda x, w: jnp.sin(100 * (x @ w)),
    "maximum": lambda x, w: jnp.max((x @ w).reshape(_ROWS, -1, 2), -1).repeat(2, 1),
}


def _scanned(layer: Layer, weights: jax.Array, x: jax.Array) -> jax.Array:
    return lax.scan(lambda x, w: (layer(x, w), None), x, weights)[0]


def _unrolled(layer: Layer, weights: jax.Array, x: jax.Array) -> jax.Array:
    for i in range(_LAYERS):
        x = layer(x, weights[i])
    return x


def _given() -> tuple[jax.Array, jax.Array, jax.Array]:
    keys = jax.random.split(jax.random.key(0), 3)
    weights = jax.random.normal(keys[0], (_LAYERS, _WIDTH, _WIDTH)) / np.sqrt(_WIDTH)
    return weights, *(jax.random.normal(key, (_ROWS, _WIDTH)) for key in keys[1:])


def _both(fn: Any, *given: Any, recipe: str = "propagate", **more: str) -> tuple[Report, Any, Any]:
    """The report, and the results without and with values that are kept rounded."""
    program, settings = export.export(jax.jit(fn))(*given), {**_F8, **more}
    made, report = scalify_hlo.rewrite(program, recipe=recipe, settings=settings, report=True)
    plain = scalify_hlo.rewrite(program, recipe=recipe, settings={"residuals": "auto"})
    return report, interpreted(plain, *given), interpreted(made, *given)


def _snr(exact: Any, found: Any) -> float:
    exact, found = np.asarray(exact, np.float64), np.asarray(found, np.float64)
    return float(10 * np.log10((exact**2).sum() / max(((exact - found) ** 2).sum(), 1e-30)))


def _step(run: Any, layer: Layer) -> Any:
    def loss(weights: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.sum(run(layer, weights, x) * y)

    return jax.value_and_grad(loss)


@pytest.mark.parametrize("run", [_scanned, _unrolled])
@pytest.mark.parametrize("name", [*_ROUNDED, *_EXACT])
def test_gradients_stay_near(name: str, run: Any) -> None:
    """Layers that would lose all digits have the gradients that they had."""
    layer = {**_ROUNDED, **_EXACT}[name]
    report, before, after = _both(_step(run, layer), *_given())
    assert before[0] == after[0]
    assert _snr(before[1], after[1]) > (15 if name in _ROUNDED else 100)
    assert bool(report.kept_rounded) == (name in _ROUNDED)


@pytest.mark.parametrize("run", [_scanned, _unrolled])
def test_a_floor_may_be_rounded_and_not_what_it_is_of(run: Any) -> None:
    layer: Layer = lambda x, w: jnp.floor(99 * (x @ w)) * (x @ w)  # noqa: E731
    _, before, after = _both(_step(run, layer), *_given())
    assert _snr(before[1], after[1]) > 25


@pytest.mark.parametrize("run", [_scanned, _unrolled])
@pytest.mark.parametrize("rounding", ["nearest", "stochastic"])
@pytest.mark.parametrize("recipe", ["fp8-current", "unit", "mxfp8"])
def test_operands_that_are_cast_again_stay_finite(recipe: str, rounding: str, run: Any) -> None:
    """Rounded up, they are beyond the largest number of f8, which their scale was fitted to."""

    def layer(x: jax.Array, w: jax.Array) -> jax.Array:
        return _rms_norm((jax.nn.relu(x @ w) * 1.635) @ w)

    weights = jnp.zeros((_LAYERS, _WIDTH, _WIDTH)).at[:, :2].set(1)
    x = jnp.zeros((_ROWS, _WIDTH)).at[:, 0].set(1).at[:, 1].set(0.0703125)
    more = {"activations.rounding": rounding}
    report, before, after = _both(
        _step(run, layer), weights, x, jnp.ones_like(x), recipe=recipe, **more
    )
    assert report.kept_rounded
    assert np.isfinite(before[1]).all()
    assert np.isfinite(after[1]).all()


def test_results_and_the_loss_are_those_before() -> None:
    """The prediction is near its target, so that their difference has few digits."""

    def step(weights: jax.Array, x: jax.Array, y: jax.Array) -> Any:
        def loss(weights: jax.Array) -> Any:
            hidden = x @ weights[0]
            found = jax.nn.gelu(hidden) @ weights[1]
            return jnp.mean((found - y) ** 2), hidden

        (value, hidden), gradient = jax.value_and_grad(loss, has_aux=True)(weights)
        return value, jnp.exp(hidden), gradient

    weights, x, _ = _given()
    y = jax.nn.gelu(x @ weights[0]) @ weights[1] * 1.001
    _, before, after = _both(step, weights, x, y)
    for one, other in zip(before[:2], after[:2], strict=True):
        np.testing.assert_array_equal(one, other)
    assert _snr(before[2], after[2]) > 20


def test_loops_of_the_forward_pass_read_what_they_did() -> None:
    def forward(weights: jax.Array, x: jax.Array) -> jax.Array:
        def encode(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
            y = jnp.tanh(x @ w)
            return y, y * y

        x, kept = lax.scan(encode, x, weights)
        return lax.scan(lambda x, each: (x @ each.T @ x, None), x, kept)[0]

    report, before, after = _both(forward, *_given()[:2])
    assert not report.kept_rounded
    np.testing.assert_array_equal(before[0], after[0])


@pytest.mark.parametrize(
    ("devices", "groups"), [(1, 11), (2, 22), (4, 44), (7, 11), (11, 11), (0, 11)]
)
def test_no_group_is_on_two_devices(devices: int, groups: int) -> None:
    """Each group has one scale, so that devices would exchange values for it."""
    module = parse(f"module attributes {{mhlo.num_partitions = {devices} : i32}} {{}}")
    recipe = scalify_hlo.load_recipe("fp8-memory")
    with module.context, ir.Location.unknown():
        type_ = ir.RankedTensorType.get([8, 1408], ir.BF16Type.get())
        kept = KeptForm(module.operation, recipe).size(type_)
    assert kept == 8 * (1408 + groups)


def test_bf16_is_kept_where_f32_was() -> None:
    more = {"activations.saved": "bf16"}
    report, before, after = _both(_step(_scanned, _ROUNDED["gelu"]), *_given(), **more)
    assert report.kept_rounded
    assert _snr(before[1], after[1]) > 40


def test_a_program_without_such_values_is_told() -> None:
    text = stablehlo_of(lambda x, w: x @ w, shaped(32, 32), shaped(32, 32))
    settings = {"activations.saved": "f8"}
    _, report = scalify_hlo.rewrite(text, recipe="propagate", settings=settings, report=True)
    told = [remark.message for remark in report.remarks]
    assert any("activations.saved has no effect: no pass keeps a value" in each for each in told)
    with pytest.raises(InputError, match=r"activations\.saved has no effect"):
        scalify_hlo.rewrite(text, recipe="propagate", settings=settings, strict=True)
    _, report = scalify_hlo.rewrite(text, recipe="fp8-memory", report=True)
    assert not any("activations" in remark.message for remark in report.remarks)


def test_a_step_that_keeps_nothing_rounded_is_told_under_a_preset() -> None:
    def step(weights: jax.Array, x: jax.Array) -> Any:
        gradient = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(weights)
        return weights - 0.1 * gradient

    text = stablehlo_of(step, shaped(32, 32), shaped(16, 32))
    how: dict[str, Any] = {"recipe": "fp8-memory", "signature": "scaled", "report": True}
    _, report = scalify_hlo.rewrite(text, **how)
    assert not report.kept_rounded
    assert any("activations.saved has no effect" in each.message for each in report.remarks)


def test_the_summary_counts_them() -> None:
    text = stablehlo_of(_step(_scanned, _ROUNDED["gelu"]), *_given())
    said = call("rewrite", "-", "--recipe", "fp8-memory", text=text).stderr
    assert re.search(r"residuals: .* to .*, \d+ values? rounded", said.replace("\n", " "))
