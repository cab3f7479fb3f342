"""Steps with a fault at one line, in a plain step and a shard_map."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, PartitionSpec

from scalify_hlo.api import find_nan, rewrite
from scalify_hlo.commands.check.check import checked
from scalify_hlo.commands.check.comparison import bound_of
from scalify_hlo.commands.check.parting import ComparedValue, compare_values
from scalify_hlo.commands.nan.nan_report import NonFiniteOp
from scalify_hlo.program.given import readable
from scalify_hlo.program.record import recorded_options
from scalify_hlo.program.tensors import Array
from tests.py.shared.judge import program_of

Function = Callable[..., Any]
SIZE = 32


def logarithm(x: jax.Array, w: jax.Array) -> jax.Array:
    return jnp.tanh(jnp.log(x) @ w)  # NaN


def exponential(x: jax.Array, w: jax.Array) -> jax.Array:
    return jnp.exp(x * 50) @ w  # overflow


def matmul(x: jax.Array, w: jax.Array) -> jax.Array:
    return jnp.arctan((x @ w) * 3)  # cast


def sharded(layer: Function) -> Function:
    mesh = jax.make_mesh((4, 2), ("d", "t"), axis_types=(AxisType.Auto,) * 2)
    rows, whole = PartitionSpec("d"), PartitionSpec()
    return jax.shard_map(layer, mesh=mesh, in_specs=(rows, whole), out_specs=rows)


def line(mark: str, file: str = __file__) -> str:
    """The place of the line of a file that ends with a comment, as the end of locations begins."""
    lines = Path(file).read_text().splitlines()
    (number,) = (i for i, text in enumerate(lines, 1) if text.endswith(f"# {mark}"))
    return f"{Path(file).name}:{number}:"


def inputs() -> tuple[Array, Array]:
    """Positive numbers near one, and weights."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0.5, 1.5, (SIZE, SIZE)).astype(np.float32)
    return x, rng.standard_normal((SIZE, SIZE)).astype(np.float32) / 8


def origin(step: Function, x: Array, w: Array) -> NonFiniteOp | None:
    """The op that `find_nan` finds in a step."""
    return find_nan(program_of(step, x, w), [(x, w)]).first


def parted(step: Function, x: Array, w: Array) -> list[ComparedValue]:
    """The values of a step that differ in its rewrite by `fp8` at inputs of scale 1."""
    exported = program_of(step, x, w)
    settings = {"matmul.smallest": 4}
    program, _ = rewrite(
        exported, recipe="fp8", settings=settings, input_scale={"*": 1.0}, report=True
    )
    original, rewritten = readable(exported), readable(program)
    done = checked(original, rewritten, inputs={"x": x, "w": w})
    bound = bound_of(original.module, rewritten.module)
    if bound is None:
        raise AssertionError("the rewrite has no casts")
    options = recorded_options(rewritten.module, rewritten.name)
    values = compare_values(original, options, done)
    return [each for each in values if each.difference.snr_db < bound.of_values.snr_db]
