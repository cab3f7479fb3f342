"""Ops after the last cast are passed over if values are data: the text is the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest

import scalify_hlo
from examples import gpt2
from scalify_hlo.api import make_options
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.program.program import read_text
from scalify_hlo.program.record import rewrite_recorded
from scalify_hlo.scaling import last_ops
from tests.py.shared.judge import program_of, stablehlo_of

pytestmark = pytest.mark.slow

GPT2 = gpt2.Config(layers=2, width=64, heads=2, sequence=32, vocab=64, batch=4)
STATIC = {"norm_gradients.statistic": "none"}


def walked_whole(source: str, recipe: str, settings: dict[str, object]) -> str:
    """A rewrite that annotates all ops, and so visits all; without the annotations."""
    options = make_options(recipe, "same", {"*": 2.0**-4}, settings)
    module = read_text(source).module
    with module.context:
        rewrite_recorded(module, replace(options, annotate=True), "<walked>")
        for op in ops_in(module.operation, where=lambda op: attributes.FORMS in op.attributes):
            del op.attributes[attributes.FORMS]
        return str(module.operation.get_asm(enable_debug_info="loc(" in source))


def rewritten(source: str, recipe: str, settings: dict[str, object]) -> str:
    """A rewrite as users ask for it."""
    text = scalify_hlo.rewrite(source, recipe=recipe, input_scale={"*": 2.0**-4}, settings=settings)
    return str(text)


def gpt2_step() -> str:
    state = gpt2.abstract_state(GPT2, gpt2.ADAMW)
    return stablehlo_of(gpt2.adamw_step, *state)


def loss(params: Any, x: jax.Array) -> jax.Array:
    for w, b in params[:-1]:
        x = jax.nn.gelu(x @ w + b)
    w, b = params[-1]
    return jnp.mean((x @ w + b) ** 2)


def step_of(optimizer: optax.GradientTransformation) -> str:
    """A training step of a small model."""
    params = [(jnp.zeros((16, 16)), jnp.zeros(16)) for _ in range(3)]

    def step(params: Any, state: Any, x: jax.Array) -> Any:
        gradients = jax.grad(loss)(params, x)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state

    exported = program_of(step, params, optimizer.init(params), jnp.zeros((8, 16)))
    return str(exported.mlir_module())


def halved(params: Any, x: jax.Array) -> Any:
    """Gradients that are reshaped, cut, joined with constants, compared, and summed at the end."""
    (w, b), *_ = gradients = jax.grad(loss)(params, x)
    flat = jnp.concatenate([w.reshape(-1), jnp.full(3, 0.25), jnp.zeros(2)])
    low = jnp.where(flat > 0.5, flat, jnp.flip(flat)) + jnp.broadcast_to(0.125, flat.shape)
    last = jax.lax.fori_loop(0, 3, lambda _, total: total + jnp.sum(b) * 2.0, jnp.sum(low))
    return gradients, low.astype(jnp.bfloat16), last, jnp.cumsum(b), jnp.argmax(flat)


def halved_step() -> str:
    params = [(jnp.zeros((16, 16)), jnp.zeros(16)) for _ in range(3)]
    return stablehlo_of(halved, params, jnp.zeros((8, 16)))


def narrow_end() -> str:
    """A program whose last ops make f16."""

    def fn(x: jax.Array, w: jax.Array) -> Any:
        y = x @ w
        return (jnp.tanh(y) * 3.0).astype(jnp.float16) + jnp.float16(1), y + 1.0

    return stablehlo_of(fn, jnp.zeros((8, 16)), jnp.zeros((16, 16)))


def narrow_before() -> str:
    """A program whose last ops are about f16 that is there before its matmul."""

    def fn(x: jax.Array, w: jax.Array, h: jax.Array) -> Any:
        z = (x * 8.0).astype(jnp.float16)
        y = x @ w
        return z * z - z, h * h + h, y + 1.0

    arguments = jnp.zeros((8, 16)), jnp.zeros((16, 16)), jnp.zeros(4, jnp.float16)
    return stablehlo_of(fn, *arguments)


GROUPED = """func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.add %0, %0 : tensor<8x16xf32>
  sdy.sharding_group %1 group_id = 0 : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}"""
"""An op without results comes after the last cast."""


SOURCES: dict[str, Callable[[], str]] = {
    "GPT-2": gpt2_step,
    "clipped adamw": lambda: step_of(
        optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))
    ),
    "momentum": lambda: step_of(optax.sgd(1e-3, momentum=0.9)),
    "adafactor": lambda: step_of(optax.adafactor(1e-3, min_dim_size_to_factor=8)),
    "others": halved_step,
    "f16 at the end": narrow_end,
    "f16 from before": narrow_before,
    "no result": lambda: GROUPED,
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("recipe", "settings"), [("unit", {}), ("fp8", STATIC), ("fp8", {})])
def test_the_text_is_that_of_a_whole_walk(
    source: str, recipe: str, settings: dict[str, object]
) -> None:
    text, small = SOURCES[source](), {"matmul.smallest": 1, **settings}
    assert rewritten(text, recipe, small) == walked_whole(text, recipe, small)


def test_an_optimizer_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []
    walk = last_ops.LastOps.walk

    def counted(self: last_ops.LastOps, visit: last_ops.Visit) -> None:
        visited = 0

        def count(*arguments: Any) -> None:
            nonlocal visited
            visited += 1
            visit(*arguments)

        walk(self, count)
        seen.append((visited, len(self._ops) - self.start))

    monkeypatch.setattr(last_ops.LastOps, "walk", counted)
    rewritten(SOURCES["clipped adamw"](), "unit", {"matmul.smallest": 1})
    ((visited, count),) = seen
    assert count > 80
    assert visited < count / 3
