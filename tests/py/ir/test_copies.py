"""Barriers and sharding constraints copy values: analyses look through them, by number."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax import export
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import scalify_hlo
from scalify_hlo.dataflow.frames import Frame
from scalify_hlo.dataflow.matmuls import _matmuls_of
from scalify_hlo.dataflow.state import is_used_elsewhere
from scalify_hlo.ir.functions import main_function
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.program.program import read_text

PROGRAM = """
sdy.mesh @mesh = <["devices"=1]>
func.func @main(%w: tensor<8x8xf32>, %x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {{
  {copies}
  %0 = stablehlo.{reads}
  %new = stablehlo.subtract %w, %0 : tensor<8x8xf32>
  return %new, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}}
"""
COPIES = {
    "a barrier": "%d, %c = stablehlo.optimization_barrier %x, %w"
    " : tensor<8x8xf32>, tensor<8x8xf32>",
    "a constraint": "%c = sdy.sharding_constraint %w <@mesh, [{}, {}]> : tensor<8x8xf32>",
}
READS = {
    True: "dot_general %x, %c, contracting_dims = [1] x [0]"
    " : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>",
    False: "multiply %x, %c : tensor<8x8xf32>",
}


@pytest.mark.parametrize("matmul", [True, False])
@pytest.mark.parametrize("copies", COPIES)
def test_the_model_uses_a_weight_behind_a_copy(copies: str, *, matmul: bool) -> None:
    module = read_text(PROGRAM.format(copies=COPIES[copies], reads=READS[matmul])).module
    with module.context:
        main = main_function(module.operation)
        assert main is not None
        frame = Frame.of(main)
        assert is_used_elsewhere(frame.place(main.arguments[0])) is matmul
        frame.release()


@pytest.mark.parametrize("copies", COPIES)
def test_matmuls_of_a_tensor_behind_a_copy(copies: str) -> None:
    module = read_text(PROGRAM.format(copies=COPIES[copies], reads=READS[True])).module
    with module.context:
        main = main_function(module.operation)
        assert main is not None
        (matmul,) = ops_in(main, {"stablehlo.dot_general"})
        for value in (main.arguments[0], matmul.operands[1]):
            assert _matmuls_of(value) == [matmul]


def test_state_of_a_step_on_explicit_axes() -> None:
    """Explicit axes constrain each tensor; the state is found as on automatic ones."""
    optimizer = optax.adam(1e-3)

    def loss(w: Any, x: jax.Array) -> jax.Array:
        return jnp.mean((jnp.tanh(x @ w["a"]) @ w["b"]) ** 2)

    def step(w: Any, state: Any, x: jax.Array) -> Any:
        updates, state = optimizer.update(jax.grad(loss)(w, x), state, w)
        return optax.apply_updates(w, updates), state

    def stored(axes: AxisType) -> list[Any]:
        mesh = jax.make_mesh((1,), ("devices",), axis_types=(axes,))
        with jax.set_mesh(mesh):
            data = NamedSharding(mesh, P("devices", None))
            w = {
                name: jax.device_put(np.eye(16, dtype="f"), NamedSharding(mesh, P()))
                for name in "ab"
            }
            x = jax.device_put(np.ones((16, 16), "f"), data)
            exported = export.export(jax.jit(step))(w, optimizer.init(w), x)
        scaled = scalify_hlo.rewrite(exported, recipe="fp8-state8", signature="scaled")
        return [aval.dtype for aval in scaled.in_avals]

    assert stored(AxisType.Explicit) == stored(AxisType.Auto)
    assert jnp.float8_e4m3fn in stored(AxisType.Explicit)
