"""Casts of transposes that matmuls read along their rows are in the order of their dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
import pytest

from scalify_hlo._compat import ir
from scalify_hlo.transforms.matmul_dims import order_casts
from tests.py.shared.judge import evaluate, parse

PLACED = 'mhlo.sharding = "{replicated}"'


def cast_text(*, moves: Sequence[int], dims: str, width: int) -> str:
    shape = (2, 4, 3, 8)
    turned = "x".join(str(shape[d]) for d in moves)
    flat = f"{2 * 3}x{4 * 8}"
    weight, result = f"tensor<{width}x16xf8E4M3FN>", f"tensor<{dims}x16xf32>"
    return f"""func.func @main(%x: tensor<2x4x3x8xf32>, %w: {weight}) -> {result} {{
  %0 = stablehlo.transpose %x, dims = {list(moves)} : (tensor<2x4x3x8xf32>) -> tensor<{turned}xf32>
  %1 = stablehlo.convert %0 : (tensor<{turned}xf32>) -> tensor<{turned}xf8E4M3FN>
  %2 = stablehlo.optimization_barrier %1 : tensor<{turned}xf8E4M3FN>
  %3 = stablehlo.reshape %2 : (tensor<{turned}xf8E4M3FN>) -> tensor<{flat}xf8E4M3FN>
  %4 = stablehlo.dot_general %3, %w, contracting_dims = [{int(width == 32)}] x [0]
    : (tensor<{flat}xf8E4M3FN>, {weight}) -> {result}
  return %4 : {result}
}}"""


@pytest.mark.parametrize(("dims", "width", "count"), [("6", 32, 1), ("32", 6, 0)])
def test_casts_of_transposes_are_in_order_if_their_rows_are_read(
    dims: str, width: int, count: int
) -> None:
    text = cast_text(moves=(0, 2, 1, 3), dims=dims, width=width)
    module = parse(text)
    with module.context, ir.Location.unknown():
        assert order_casts(module.operation) == count
    assert module.operation.verify()
    assert ("optimization_barrier %2 : tensor<192xf8E4M3FN>" in str(module)) == bool(count)
    rng = np.random.default_rng(0)
    x = rng.integers(-8, 8, (2, 4, 3, 8)).astype(np.float32)
    w = np.asarray(rng.integers(-8, 8, (width, 16)), jnp.float8_e4m3fn)
    rows = x.transpose(0, 2, 1, 3).reshape(6, 32)
    (found,) = evaluate(wide(module), [x, w.astype(np.float32)])
    wanted = (rows if width == 32 else rows.T) @ w.astype(np.float32)
    np.testing.assert_array_equal(found, wanted)


def wide(module: ir.Module) -> ir.Module:
    """The program with f32 in the place of f8, as all of its values are small integers."""
    return parse(str(module).replace("f8E4M3FN", "f32"))


BARRIER = "%2 = stablehlo.optimization_barrier %1 : tensor<2x3x4x8xf8E4M3FN>"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            BARRIER,
            f'%2 = "stablehlo.optimization_barrier"(%1) {{{PLACED}}}'
            " : (tensor<2x3x4x8xf8E4M3FN>) -> tensor<2x3x4x8xf8E4M3FN>",
        ),
        ("f8E4M3FN", "bf16"),
        (
            BARRIER,
            "%2, %9 = stablehlo.optimization_barrier %1, %x"
            " : tensor<2x3x4x8xf8E4M3FN>, tensor<2x4x3x8xf32>",
        ),
    ],
)
def test_other_barriers_stay(old: str, new: str) -> None:
    text = cast_text(moves=(0, 2, 1, 3), dims="6", width=32)
    assert old in text
    module = parse(text.replace(old, new))
    with module.context, ir.Location.unknown():
        assert order_casts(module.operation) == 0


def test_casts_that_batched_matmuls_read_stay() -> None:
    text = """func.func @main(%x: tensor<2x4x8xf32>, %w: tensor<2x4x5xf8E4M3FN>)
    -> tensor<2x8x5xf32> {
  %0 = stablehlo.transpose %x, dims = [0, 2, 1] : (tensor<2x4x8xf32>) -> tensor<2x8x4xf32>
  %1 = stablehlo.convert %0 : (tensor<2x8x4xf32>) -> tensor<2x8x4xf8E4M3FN>
  %2 = stablehlo.optimization_barrier %1 : tensor<2x8x4xf8E4M3FN>
  %3 = stablehlo.dot_general %2, %w, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<2x8x4xf8E4M3FN>, tensor<2x4x5xf8E4M3FN>) -> tensor<2x8x5xf32>
  return %3 : tensor<2x8x5xf32>
}"""
    module = parse(text)
    with module.context, ir.Location.unknown():
        assert order_casts(module.operation) == 0
