"""Compares recipes on a step that `jax.shard_map` divides among devices."""

from __future__ import annotations

import functools
import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec

import scalify_hlo
from scalify_hlo.commands.choose.trials import dump_comparison
from tests.py.devices.eight_devices import mesh
from tests.py.shared.judge import program_of


def main() -> dict[str, Any]:
    """Compares recipes, and finds what costs accuracy, in a step with a matmul and a mean."""
    whole, rows = PartitionSpec(), PartitionSpec("d")

    @functools.partial(jax.shard_map, mesh=mesh(d=8), in_specs=(whole, rows), out_specs=whole)
    def loss(w: Any, x: Any) -> Any:
        return jax.lax.pmean(jnp.mean(jnp.tanh(x @ w) ** 2), "d")

    def step(w: Any, x: Any) -> Any:
        value, gradient = jax.value_and_grad(loss)(w, x)
        return w - 0.1 * gradient, value

    rng = np.random.default_rng(0)
    w, x = rng.standard_normal((2, 128, 128), np.float32)
    exported = program_of(step, w / 8, x)
    recipes = "fp8-state,fp8-calibrated,fp8-delayed,bf16"
    sample = (w / 8, x)
    comparison = scalify_hlo.compare_recipes(exported, [sample], recipes, steps=2, carry=True)
    blamed = scalify_hlo.blame(exported, [sample], "fp8-current", explained=1.0)
    searched = scalify_hlo.search(exported, [sample], "fp8-current", "wide<=1")
    found = json.loads(dump_comparison(comparison))
    costs = {each.effect: each.cost for each in searched.sites}
    more = {"costs": costs, "wide": searched.chosen.wide}
    return {"comparison": found, "sites": len(blamed.sites), **more}
