"""A model whose weights are stored, and how it is rewritten."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

import scalify_hlo as jsa
from tests.py.shared.judge import program_of

SETTINGS = {"state.weight": "f8E4M3FN"}
SQUARE = jax.random.normal(jax.random.key(2), (3, 64, 64)) / 8


def predict(params: Any, x: jax.Array) -> Any:
    """A weight as it is, a transposed one, and one of rank 3; a bias is read by no matmul."""
    h = jax.nn.relu(x @ params["up"] + params["bias"])
    y = jnp.einsum("bf,hkf->bhk", h, params["heads"])
    return y.reshape(len(y), -1) @ params["down"].T


def parameters(dtype: Any = jnp.float32) -> Any:
    keys = iter(jax.random.split(jax.random.key(0), 4))
    shapes = {"up": (64, 128), "bias": (128,), "heads": (4, 16, 128), "down": (32, 64)}
    return {name: jax.random.normal(next(keys), s, dtype) / 8 for name, s in shapes.items()}


def batch(dtype: Any = jnp.float32) -> jax.Array:
    return jax.random.normal(jax.random.key(1), (32, 64), dtype)


def rewritten(
    function: Any, *arguments: Any, recipe: str = "fp8", settings: Any = SETTINGS
) -> tuple[jax.export.Exported, jsa.Report]:
    program = program_of(function, *arguments)
    return jsa.rewrite(program, recipe=recipe, signature="scaled", settings=settings, report=True)


def dtypes(program: jax.export.Exported) -> dict[str, str]:
    (params, *_), _ = jax.tree.unflatten(program.in_tree, program.in_avals)
    return {name: str(leaf.data.dtype) for name, leaf in params.items()}


def converts(program: jax.export.Exported, name: str) -> bool:
    """Whether a program converts an argument, reshaped and transposed ones included."""
    from scalify_hlo.program.program import read_program

    module = read_program(program.mlir_module_serialized, "program").module
    main = next(op for op in module.body.operations if op.name.value == "main")
    values = [a for a in main.arguments if name in str(a.location) and a.type.rank]
    for value in values:
        for use in value.uses:
            if use.owner.operation.name == "stablehlo.convert":
                return True
            if use.owner.operation.name in ("stablehlo.reshape", "stablehlo.transpose"):
                values.append(use.owner.results[0])
    return False
