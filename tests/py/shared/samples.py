"""Small programs in every form in which users keep them."""

from __future__ import annotations

import functools
import io
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jax import export

from tests.py.shared.judge import program_of

TEXT = """\
module @tiny {
  func.func public @main(%arg0: tensor<4x3xf32>, %arg1: tensor<3x2xf32>) -> tensor<4x2xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
    %1 = stablehlo.add %0, %0 : tensor<4x2xf32>
    return %1 : tensor<4x2xf32>
  }
}
"""

Params = dict[str, jax.Array]


def loss(params: Params, x: jax.Array, index: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A layer with a float result, an integer one, and an integer argument."""
    h = jnp.tanh(x @ params["w"] + params["b"])
    return jnp.sum(h[index] * 2), jnp.argmax(h)


def arguments(seed: int = 0) -> tuple[Params, jax.Array, jax.Array]:
    """Arguments of `loss`."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> npt.NDArray[np.float32]:
        return rng.standard_normal(shape).astype(np.float32)

    params = {"w": jnp.asarray(normal(4, 4)), "b": jnp.asarray(normal(4))}
    return params, jnp.asarray(normal(8, 4)), jnp.int32(3)


@functools.cache
def exported() -> export.Exported:
    """`loss` after jax.export."""
    return program_of(loss, *arguments())


@functools.cache
def stored() -> dict[str, bytes]:
    """`loss` as bytes, by kind."""
    program = exported()
    buffer = io.BytesIO()
    module: Any = jax.jit(loss).lower(*arguments()).compiler_ir("stablehlo")
    module.operation.write_bytecode(buffer)
    return {
        "text": str(program.mlir_module()).encode(),
        "bytecode": buffer.getvalue(),
        "artifact": program.mlir_module_serialized,
        "exported": bytes(program.serialize(vjp_order=1)),
    }


KINDS = ("text", "bytecode", "artifact", "exported")
