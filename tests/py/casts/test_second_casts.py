"""Second casts of weights: they change no bit, and stand where the update reads the weight."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import scalify_hlo
from scalify_hlo import init_scaling_state
from scalify_hlo.casts import second_casts
from tests.py.shared.judge import assert_all_same_bits, interpreted, program_of

LAYERS, WIDTH, ROWS = 3, 32, 48


def loss(params: Any, x: jax.Array) -> jax.Array:
    for layer in params:
        x = x + jax.nn.silu(x @ layer["up"]) @ layer["down"]
    return jnp.mean(jnp.square(x.astype(jnp.float32)))


def momentum(params: Any, state: Any, x: jax.Array) -> Any:
    gradients = jax.grad(loss)(params, x)
    state = jax.tree.map(lambda m, g: 0.9 * m + g.astype(jnp.float32), state, gradients)
    update = jax.tree.map(
        lambda p, m: (p.astype(jnp.float32) - 0.1 * m).astype(p.dtype), params, state
    )
    return update, state


def normalized(params: Any, state: Any, x: jax.Array) -> Any:
    """The first matmul reads the argument, divided by its rms."""

    def of_normalized(params: Any) -> jax.Array:
        wide = x.astype(jnp.float32)
        rms = jax.lax.rsqrt(jnp.mean(jnp.square(wide), -1, keepdims=True) + 1e-5)
        return loss(params, (wide * rms).astype(x.dtype))

    gradients = jax.grad(of_normalized)(params)
    return jax.tree.map(lambda p, g: p - g, params, gradients), state


def arguments(dtype: Any = jnp.bfloat16) -> tuple[Any, Any, jax.Array]:
    keys = iter(jax.random.split(jax.random.key(0), 2 * LAYERS + 1))
    shapes = {"up": (WIDTH, 2 * WIDTH), "down": (2 * WIDTH, WIDTH)}
    params = [
        {name: jax.random.normal(next(keys), shape, dtype) / 8 for name, shape in shapes.items()}
        for _ in range(LAYERS)
    ]
    state = jax.tree.map(lambda p: jnp.zeros(p.shape, jnp.float32), params)
    return params, state, jax.random.normal(next(keys), (ROWS, WIDTH), dtype)


def rewritten(
    step: Any, recipe: str, monkeypatch: pytest.MonkeyPatch, least: int, dtype: Any = jnp.bfloat16
) -> jax.export.Exported:
    monkeypatch.setattr(second_casts, "SECOND_CAST_ELEMENTS", least)
    exported = program_of(step, *arguments(dtype))
    settings = {"target": "gpu", "compute": "keep"}
    return scalify_hlo.rewrite(exported, recipe=recipe, settings=settings, report=True)[0]


def again(exported: jax.export.Exported) -> int:
    """The number of barriers of one dimension with floats of 16 or more bits."""
    flat = f"tensor<{2 * WIDTH * WIDTH}x"
    lines = exported.mlir_module().splitlines()
    return sum(
        "optimization_barrier" in line and flat in line and "f8" not in line for line in lines
    )


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float32])
@pytest.mark.parametrize("recipe", ["fp8", "unit", "fp8-current", "fp8-delayed"])
def test_the_same_bits(recipe: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for least in (1, 1 << 40):
        program = rewritten(momentum, recipe, monkeypatch, least, dtype)
        # The gradient of the input of the first matmul is not computed.
        assert again(program) == (2 * LAYERS - 1 if least == 1 else 0)
        extra = [init_scaling_state(program)] if recipe == "fp8-delayed" else []
        found.append(interpreted(program, *arguments(dtype), *extra))
    assert_all_same_bits(*found)


@pytest.mark.parametrize("recipe", ["unit", "fp8-current"])
def test_the_same_bits_of_normalized_arguments(
    recipe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = [rewritten(normalized, recipe, monkeypatch, least) for least in (1, 1 << 40)]
    lines = programs[0].mlir_module().splitlines()
    statistic = f"tensor<{ROWS}x1xf32>"
    assert any("optimization_barrier" in line and statistic in line for line in lines)
    assert_all_same_bits(*(interpreted(each, *arguments()) for each in programs))


@pytest.mark.parametrize("target", ["any", "b200", "cpu", "tpu", "portable"])
def test_other_targets(target: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_casts, "SECOND_CAST_ELEMENTS", 1)
    exported = program_of(momentum, *arguments())
    how = {"target": target} | ({"matmul.slower": "narrow"} if target == "b200" else {})
    assert again(scalify_hlo.rewrite(exported, recipe="unit", settings=how)) == 0
