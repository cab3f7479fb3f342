"""Small programs for the tests of `compile`, and their reports for a target."""

from __future__ import annotations

import importlib.metadata
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

from scalify_hlo._compat import new_context
from scalify_hlo.ir.algorithms import dot_algorithm
from scalify_hlo.program.program import read_program
from scalify_hlo.targets.compiling import Compiled, compile_program
from scalify_hlo.targets.description import Target, install_hint, load_target
from scalify_hlo.targets.record import compile_record
from tests.py.shared.judge import program_of, shaped

LAYERS, WIDTH, BATCH = 3, 64, 32
ROWS, COLUMNS, ALL_ROWS = 256, 512, 1000


def stack(weights: jax.Array, x: jax.Array) -> jax.Array:
    """Layers in a loop."""
    return jnp.sum(jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, weights)[0])


def loops() -> jax.export.Exported:
    """The gradient of `stack`, which takes the memory of the weights."""
    step = jax.jit(jax.grad(stack), donate_argnums=0)
    return jax.export.export(step)(shaped(LAYERS, WIDTH, WIDTH), shaped(BATCH, WIDTH))


def pieces(x: jax.Array, table: jax.Array) -> tuple[jax.Array, ...]:
    """A cast with its amax, a transpose, a scalar, and an update in place."""
    largest = jnp.max(jnp.abs(x))
    cast = (x / largest).astype(jnp.float8_e4m3fn)
    return cast, x.T, jnp.tanh(x), largest * 3 + 1, table.at[3].set(x[0])


def kinds() -> jax.export.Exported:
    step = jax.jit(pieces, donate_argnums=1)
    return jax.export.export(step)(shaped(ROWS, COLUMNS), shaped(ALL_ROWS, COLUMNS))


def convolved(x: jax.Array, kernel: jax.Array) -> jax.Array:
    layouts = ("NHWC", "HWIO", "NHWC")
    return jnp.asarray(
        jax.lax.conv_general_dilated(x, kernel, (2, 1), "SAME", dimension_numbers=layouts)
    )


IMAGE, KERNEL = (2, 9, 10, 8), (3, 3, 8, 16)


def convolutions() -> jax.export.Exported:
    """A convolution and its two gradients."""

    def loss(x: jax.Array, kernel: jax.Array) -> jax.Array:
        return jnp.sum(convolved(x, kernel) ** 2)

    step = jax.jit(jax.grad(loss, (0, 1)))
    return jax.export.export(step)(shaped(*IMAGE), shaped(*KERNEL))


def sharded() -> jax.export.Exported:
    """A matmul whose contracted dimension is divided among four devices."""
    mesh = AbstractMesh((4,), ("x",), axis_types=(AxisType.Auto,))

    def place(*axes: str | None) -> NamedSharding:
        return NamedSharding(mesh, PartitionSpec(*axes))

    def product(a: jax.Array, b: jax.Array) -> jax.Array:
        return jnp.asarray(jax.lax.with_sharding_constraint(a @ b, place()))

    a = jax.ShapeDtypeStruct((32, 64), jnp.float32, sharding=place(None, "x"))
    b = jax.ShapeDtypeStruct((64, 48), jnp.float32, sharding=place("x", None))
    return program_of(product, a, b)


def gathered() -> jax.export.Exported:
    """A tensor that is divided among four devices, and gathered by all of them."""
    mesh = AbstractMesh((4,), ("x",), axis_types=(AxisType.Auto,))
    whole = NamedSharding(mesh, PartitionSpec())

    def gather(a: jax.Array) -> jax.Array:
        return jnp.sin(jnp.asarray(jax.lax.with_sharding_constraint(jnp.cos(a), whole)))

    part = NamedSharding(mesh, PartitionSpec("x"))
    a = jax.ShapeDtypeStruct((4096, 64), jnp.float32, sharding=part)
    return program_of(gather, a)


def quantized(m: int, n: int, k: int) -> str:
    """A matmul of f8, with the algorithm if jaxlib can hand it to a plugin."""
    f8 = "f8E4M3FN"
    with new_context():
        found = dot_algorithm(f8, f8, imprecise=True)
        words = str(found).removeprefix("#stablehlo.dot_algorithm")
    algorithm = "" if found is None else f", algorithm = {words}"
    a, b, y = f"tensor<{m}x{k}x{f8}>", f"tensor<{n}x{k}x{f8}>", f"tensor<{m}x{n}xbf16>"
    return (
        f"func.func public @main(%a: {a}, %b: {b}) -> {y} {{\n"
        f"  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1]{algorithm}"
        f" : ({a}, {b}) -> {y}\n  return %0 : {y}\n}}\n"
    )


def compiled(program: jax.export.Exported | str, target: str = "cpu", **how: Any) -> Compiled:
    content = program.encode() if isinstance(program, str) else program.mlir_module_serialized
    module = read_program(content, "program.mlir").module
    return compile_program(module, load_target(target), name="program.mlir", **how)


@cache
def report(make: Any, target: str = "cpu") -> dict[str, Any]:
    """The report of a program, which is compiled once."""
    return compile_record(compiled(make(), target), load_target(target), "program.mlir")


def require_plugin(name: str) -> Target:
    """Skips a test where XLA's compiler for a target is not installed."""
    target = load_target(name)
    for plugin in target.plugins:
        try:
            importlib.metadata.version(plugin)
        except importlib.metadata.PackageNotFoundError:
            pytest.skip(f"{plugin} is not installed: {install_hint(target)}")
    return target
