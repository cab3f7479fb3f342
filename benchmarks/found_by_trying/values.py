"""Points 1 to 5: wrong values."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

import scalify_hlo
from benchmarks.found_by_trying.checks import (
    Check,
    command,
    expect,
    exported,
    quiet,
    refused,
    require,
)


def _regions() -> None:
    """A region that only begins like a sum."""

    def bounded(x: Any) -> Any:
        return lax.reduce(x, 0.0, lambda a, b: jnp.tanh(a + b), (0,))

    x = jax.random.normal(jax.random.key(0), (16, 4)) * 8
    scaled = scalify_hlo.asarray(scalify_hlo.scalify(bounded)(scalify_hlo.as_scaled_array(x, 8.0)))
    np.testing.assert_array_equal(scaled, bounded(x))


def _training() -> tuple[Any, Any]:
    optimizer = optax.adam(1e-2)
    x, y = (jax.random.normal(jax.random.key(i), (32, 32)) for i in range(2))

    def step(params: Any, state: Any) -> Any:
        gradients = jax.grad(lambda p: jnp.mean((jnp.tanh(x @ p["w"]) @ p["v"] - y) ** 2))(params)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state

    params = {name: 0.1 * jax.random.normal(jax.random.key(2), (32, 32)) for name in "wv"}
    return step, (params, optimizer.init(params))


def _resumed() -> None:
    """A fresh function goes on with narrow state as the first one does."""
    step, state = _training()
    first, fresh = (scalify_hlo.scalify(step, recipe="fp8-state") for _ in range(2))
    kept = first(*scalify_hlo.as_scaled_array(state))
    kept = first(*kept)
    for a, b in zip(jax.tree.leaves(first(*kept)), jax.tree.leaves(fresh(*kept)), strict=True):
        np.testing.assert_array_equal(np.asarray(a, np.float64), np.asarray(b, np.float64))


def _prepared() -> None:
    """`scaled_state` makes what a program takes, and the error of a call names it."""
    step, state = _training()
    program = scalify_hlo.rewrite(exported(step, *state), recipe="fp8-state", signature="scaled")
    program.call(*program.call(*scalify_hlo.scaled_state(program, state)))
    wrong = scalify_hlo.as_scaled_array(state)
    refused(lambda: program.call(*wrong), Exception, "scaled_state")


def _left_alone() -> None:
    """A raw chlo.erf where there is nothing to scale."""
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
    count = scalify_hlo.rewrite(text, recipe="propagate").count(" = ")
    require(count == text.count(" = "), f"it became {count} ops")


def _agreement() -> None:
    """`inspect` and `--strict` agree on which ops have no scaled form."""
    text = """func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  %1 = stablehlo.custom_call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}"""
    given = ("-", "--recipe", "propagate", "--signature", "scaled")
    inspected = command("inspect", *given, text=text)
    strict = command("rewrite", *given, "--strict", text=text)
    expect(inspected, 0, "stablehlo.custom_call: has no scaled form")
    expect(strict, 1, "stablehlo.custom_call", "has no scaled form")
    for done in (inspected, strict):
        require(b"tanh: has no" not in done.stderr, "tanh has a rule, and is said to have none")


def _selected() -> None:
    """The gradient of a maximum pooling has a scaled form under bf16."""

    def loss(x: Any) -> Any:
        return jnp.sum(lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID") ** 2)

    x = jnp.ones((8, 8))
    with quiet():
        _, report = scalify_hlo.rewrite(exported(jax.grad(loss), x), recipe="bf16", report=True)
    found = [remark for remark in report.remarks if "select_and_scatter" in str(remark)]
    require(not found, "; ".join(map(str, found)))


CHECKS = {
    1: [Check("a region that only begins like a sum is none", _regions)],
    2: [Check("resumed training goes on as it was", _resumed)],
    3: [Check("scaled_state prepares state, and errors name it", _prepared)],
    4: [Check("chlo.erf stays one op where nothing is scaled", _left_alone)],
    5: [
        Check("inspect and --strict agree on ops without a scaled form", _agreement),
        Check("select_and_scatter has a scaled form", _selected),
    ],
}
