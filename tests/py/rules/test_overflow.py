"""Overflow is a signal: infinities and NaN of operands reach results, and no other rows."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo.recipes.toml import preset_names
from tests.py.shared.judge import evaluate, parse, program_of, stablehlo_of

F32 = np.float32

WITHOUT_PROFILE = [name for name in preset_names() if name != "fp8-calibrated"]
PAIRED = ("propagate", "bf16", "fp16", "fp16-state", "fp8", "fp8-state", "fp8-state8", "unit")
CASES = [(name, "same") for name in WITHOUT_PROFILE] + [(name, "scaled") for name in PAIRED]

PLACES = ("input", "label", "weight", "loss scale")
VALUES = (np.inf, -np.inf, np.nan)

ROWS, SIZE = 64, 32


def step(w: Any, x: Any, y: Any, scale: Any) -> Any:
    """A training step that skips its update if a gradient is not finite."""

    def loss_of(w: Any) -> Any:
        out = jnp.tanh(x @ w["a"]) @ w["b"]
        return jnp.mean((out - y) ** 2) * scale

    g = jax.tree.map(lambda g: g / scale, jax.grad(loss_of)(w))
    finite = jnp.all(jnp.array([jnp.isfinite(v).all() for v in jax.tree.leaves(g)]))
    return jax.tree.map(lambda p, v: jnp.where(finite, p - 1e-2 * v, p), w, g), finite


def state() -> tuple[Any, ...]:
    """Weights, inputs, labels and a loss scale."""
    rng = np.random.default_rng(0)
    w = {"a": rng.normal(size=(SIZE, 64)) / 6, "b": rng.normal(size=(64, SIZE)) / 8}
    x, y = rng.normal(size=(2, ROWS, SIZE))
    w = {name: np.asarray(value, F32) for name, value in w.items()}
    return w, np.asarray(x, F32), np.asarray(y, F32), F32(2.0**10)


def planted(place: str, value: float) -> tuple[Any, ...]:
    """Returns the state with one number that is not finite."""
    w, x, y, scale = state()
    if place == "loss scale":
        return w, x, y, F32(value)
    array = {"input": x, "label": y, "weight": w["b"]}[place]
    array[3, 5] = value
    return w, x, y, scale


@pytest.fixture(scope="module")
def exported() -> Any:
    """The step."""
    return program_of(step, *state())


def rewritten(exported: Any, recipe: str, signature: str, inputs: tuple[Any, ...]) -> Any:
    """Returns a rewrite as a function of the state; sizes are declared as `inputs` have them."""
    how: dict[str, Any] = {}
    if signature == "same" and recipe in ("fp8", "fp8-state", "fp8-state8", "fp16", "unit"):
        how = {"input_scale": scalify_hlo.measured_scales(exported, *inputs)}
    program = scalify_hlo.rewrite(exported, recipe=recipe, signature=signature, **how)
    if recipe == "fp8-delayed":
        scales = scalify_hlo.init_scaling_state(program, *inputs)
        return lambda *arguments: program.call(*arguments, scales)[0]
    if signature == "scaled":
        return lambda *arguments: program.call(*scalify_hlo.scaled_state(program, arguments))
    return program.call


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("recipe", "signature"), CASES)
def test_steps_are_skipped(exported: Any, recipe: str, signature: str) -> None:
    call = rewritten(exported, recipe, signature, state())
    assert call(*state())[1]
    for place in PLACES:
        for value in VALUES:
            assert not exported.call(*planted(place, value))[1]
            assert not call(*planted(place, value))[1], (place, value)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("recipe", "signature"),
    [(name, "same") for name in ("fp8-current", "fp8-delayed", "fp8", "unit", "fp16", "mxfp8")]
    + [(name, "scaled") for name in PAIRED if name not in ("propagate", "bf16")],
)
def test_an_overflow_in_the_step_is_kept(exported: Any, recipe: str, signature: str) -> None:
    """Pairs hold what f32 does not, but what a cast saturates is an overflow as in f32."""
    w, x, y, _ = state()
    y[3, 5] = 1e30
    arguments = (w, x, y, F32(2.0**40))
    assert not exported.call(*arguments)[1]
    inputs = (*state()[:3], arguments[3])
    assert not rewritten(exported, recipe, signature, inputs)(*arguments)[1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("size", [1.0, 1e-4])
@pytest.mark.parametrize("recipe", [n for n in WITHOUT_PROFILE if n not in ("nvfp4", "mxfp4")])
def test_other_rows_stay_as_they_are(recipe: str, size: float) -> None:
    rng = np.random.default_rng(1)
    w = np.asarray(rng.normal(size=(64, 48)) / 8, F32)
    clean = np.asarray(rng.normal(size=(512, 64)) * size, F32)
    exported = program_of(lambda x, w: x @ w, clean, w)
    call = rewritten(exported, recipe, "same", (clean, w))
    before = np.asarray(call(clean, w), np.float64)
    for value, row in ((np.nan, 0), (np.nan, -1), (np.inf, -1)):
        x = clean.copy()
        x[row] = value
        found = np.asarray(call(x, w), np.float64)
        assert not np.isfinite(found[row]).any()
        kept = np.delete(found, row, axis=0) - np.delete(before, row, axis=0)
        assert np.square(kept).sum() < 10**-1.3 * np.square(np.delete(before, row, axis=0)).sum()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", ["f16", "f8E4M3FN", "f8E5M2", "f8E4M3"])
def test_casts_saturate_finite_numbers_only(target: str) -> None:
    numbers = np.array([0.0, -0.0, 1.5, -3.0, 3e38, -3e38, np.inf, -np.inf, np.nan], F32)
    x, w = np.repeat(numbers, 32).reshape(-1, 32), np.eye(32, dtype=F32)
    text = stablehlo_of(lambda x, w: x @ w, x, w)
    other = target if "E5M2" not in target else "f8E4M3FN"
    formats = {"matmul.activation": target, "matmul.weight": other, "matmul.gradient": other}
    text = scalify_hlo.rewrite(text, recipe="fp8", settings=formats, input_scale={"*": 1.0})
    (found,) = evaluate(parse(text), [x, w])
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(x))
    np.testing.assert_array_equal(np.sign(found[:6]), np.sign(x[:6]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("marked", [False, True])
def test_infinities_in_e5m2_of_the_program_pass_the_next_cast(marked: bool) -> None:
    """A clamp alone would hide those of the product, which is the operand of the next matmul."""

    def chain(g: Any, a: Any, b: Any) -> Any:
        if marked:
            g = scalify_hlo.cast_on_forward(g, jnp.float8_e5m2)
        else:
            g = jax.lax.clamp(F32(-1e6), g, F32(1e6)).astype(jnp.float8_e5m2)
        a = a.astype(jnp.float8_e4m3fn)
        return jax.lax.dot(g, a, preferred_element_type=jnp.float32) @ b

    g, a, b = np.ones((32, 32), F32), np.ones((32, 32), F32), np.eye(32, dtype=F32)
    g[3, 5] = np.inf if marked else 1e6
    text = stablehlo_of(chain, g, a, b)
    scaled = scalify_hlo.rewrite(text, recipe="fp8", input_scale={"*": 1.0})
    (found,) = evaluate(parse(scaled), [g, a, b])
    assert not np.isfinite(found[3]).any()
    assert np.isfinite(np.delete(found, 3, axis=0)).all()
