"""Weights that a step only reads, those that it trains, and averages: each in its own format."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import scalify_hlo as jsa
from scalify_hlo.passes.summary import summary
from tests.py.shared.judge import program_of

WIDE, HALF, E4M3 = "float32", "float16", "float8_e4m3fn"
E4M3_WEIGHTS = {"state.weight": "e4m3"}
AT_RANDOM = E4M3_WEIGHTS | {"state.weight_rounding": "stochastic"}


def params() -> tuple[Any, Any]:
    keys = jax.random.split(jax.random.key(0), 2)
    lora = {"a": jax.random.normal(keys[0], (64, 32)) / 8, "b": jnp.full((32, 64), 0.125)}
    return {"w": jax.random.normal(keys[1], (64, 64)) / 8}, lora


def batch() -> Any:
    return jax.random.normal(jax.random.key(1), (32, 64))


def step(base: Any, lora: Any, moment: Any, slow: Any, x: Any) -> Any:
    """A step of adapters, with momentum and an average of the adapters."""

    def loss(lora: Any) -> Any:
        return jnp.mean(jnp.tanh(x @ base["w"] + (x @ lora["a"]) @ lora["b"]) ** 2)

    value, gradients = jax.value_and_grad(loss)(lora)
    moment = jax.tree.map(lambda m, g: 0.9 * m + g, moment, gradients)
    lora = jax.tree.map(lambda w, m: w - 0.01 * m, lora, moment)
    slow = jax.tree.map(lambda a, w: 0.9999 * a + 1e-4 * w, slow, lora)
    return lora, moment, slow, value


def rewritten(recipe: str, settings: Any, **more: Any) -> Any:
    base, lora = params()
    program = program_of(step, base, lora, lora, lora, batch())
    how = {"recipe": recipe, "settings": settings, "signature": "scaled"}
    return jsa.rewrite(program, **how, **more)


def formats(program: Any) -> tuple[str, str, str]:
    """The formats of the base, an adapter and its average."""
    base, lora, _, slow, _ = jax.tree.unflatten(program.in_tree, program.in_avals)[0]
    return base["w"].data.dtype.name, lora["a"].data.dtype.name, slow["a"].data.dtype.name


@pytest.mark.parametrize(
    ("recipe", "settings", "wanted"),
    [
        ("fp8-current", E4M3_WEIGHTS, (E4M3, WIDE, WIDE)),
        ("fp8-current", E4M3_WEIGHTS | {"inputs.weight": ["base*"]}, (E4M3, WIDE, WIDE)),
        ("fp8-current", AT_RANDOM, (E4M3, E4M3, E4M3)),
        ("fp8-current", {"state.frozen": "e4m3"}, (E4M3, WIDE, WIDE)),
        ("fp8", {}, (WIDE, HALF, WIDE)),
        ("fp8", {"state.frozen": "e4m3"}, (E4M3, HALF, WIDE)),
        ("fp8-state8", {"state.frozen": "e4m3"}, (E4M3, HALF, WIDE)),
        ("fp16-state", {}, (WIDE, HALF, WIDE)),
    ],
)
def test_weights_have_the_format_of_their_kind(
    recipe: str, settings: Any, wanted: tuple[str, str, str]
) -> None:
    program, report = rewritten(recipe, settings, report=True)
    assert formats(program) == wanted
    told = any("updates that are rounded to nearest are lost" in r.message for r in report.remarks)
    assert told == (settings.get("state.weight") == "e4m3" and wanted[1] == WIDE)
    narrow = recipe != "fp8-current" or "state.weight" in settings
    kept = 2 * (narrow and wanted[2] == WIDE)
    assert report.averages == kept
    assert ("2 averages of weights in the format of the program" in summary(report)) == (kept > 0)


def test_a_preset_with_averages_is_no_error() -> None:
    rewritten("fp16-state", {}, strict=True)


def of_frozen_weights() -> Any:
    base, _ = params()
    return program_of(lambda base, x: x @ base["w"], base, batch())


def of_trained_weights() -> Any:
    _, lora = params()
    return program_of(lambda *state: step({"w": jnp.eye(64)}, *state), *[lora] * 3, batch())


@pytest.mark.parametrize(
    ("program", "missing"),
    [(of_frozen_weights, "state.weight"), (of_trained_weights, "state.frozen")],
)
def test_a_format_for_weights_that_are_not_there_is_a_remark(program: Any, missing: str) -> None:
    settings = {"state.weight": "bf16", "state.frozen": "e4m3"}
    how: dict[str, Any] = {"signature": "scaled", "report": True}
    _, report = jsa.rewrite(program(), recipe="fp8-current", settings=settings, **how)
    found = [r.message for r in report.remarks if r.message.startswith("state.")]
    assert [message.split()[0] for message in found] == [missing]


def test_a_format_that_trained_weights_do_not_get_is_an_error_if_strict() -> None:
    with pytest.raises(jsa.ScalifyError, match="updates that are rounded"):
        rewritten("fp8-current", E4M3_WEIGHTS, strict=True)


@pytest.mark.parametrize("settings", [E4M3_WEIGHTS, {"state.frozen": "e4m3"}])
def test_adapters_move_as_in_f32(settings: Any) -> None:
    program = rewritten("fp8-current", settings)
    base, lora = params()
    wide: Any = (lora, jax.tree.map(jnp.zeros_like, lora), lora)
    frozen, *state = jsa.scaled_state(program, (base, *wide))
    run = jax.jit(program.call)
    for _ in range(20):
        *wide, value = jax.jit(step)(base, *wide, batch())
        *state, scaled = run(frozen, *state, jsa.as_scaled_array(batch()))
    assert abs(float(jsa.asarray(scaled)) / float(value) - 1) < 0.02
    for name, first in lora.items():
        moved = wide[0][name] - first
        error = jnp.linalg.norm(jsa.asarray(state[0][name]) - wide[0][name])
        assert error < 0.1 * jnp.linalg.norm(moved)
