"""Tensors that a GPU computes along with a reduction of rows, and their casts at delayed scales."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo._compat import ir
from scalify_hlo.casts.costs import is_made_of_rows
from scalify_hlo.ir.walk import ops_in
from tests.py.shared.judge import assert_all_equal, body_of, evaluate, parse, program_of

X = np.random.default_rng(0).standard_normal((32, 64)).astype(np.float32)


def layer_norm(x: jax.Array) -> jax.Array:
    wide = x.astype(jnp.float32)
    centered = wide - wide.mean(-1, keepdims=True)
    scale = jax.lax.rsqrt(jnp.square(centered).mean(-1, keepdims=True) + 1e-5)
    return (centered * scale).astype(x.dtype)


def gradient(x: jax.Array) -> jax.Array:
    """The gradient of a normalization, added to another one."""
    slope: jax.Array = jax.vjp(layer_norm, x)[1](jnp.cos(x))[0]
    return x + slope


def reused(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A function of a normalized tensor, which is kept."""
    y = layer_norm(x)
    return jnp.tanh(y), y


def softmax(x: jax.Array) -> jax.Array:
    return jax.nn.softmax(x.astype(jnp.float32), axis=-1).astype(x.dtype)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (layer_norm, True),
        (gradient, True),
        (softmax, True),
        (lambda x: layer_norm(x) * jnp.arange(64, dtype=x.dtype), True),
        (reused, False),
        (jnp.tanh, False),
        (lambda x: x, False),
        (lambda x: x + x.sum(), False),
        (lambda x: x + jnp.broadcast_to(x[:, :1], x.shape), False),
        (lambda x: x - x.mean(0, keepdims=True), False),
        (lambda x: x + jnp.sum(x @ x.T, -1, keepdims=True), False),
        (lambda x: layer_norm(x) @ jnp.ones((64, 64), x.dtype), False),
    ],
)
def test_rows(function: Callable[..., jax.Array], expected: bool, dtype: str) -> None:
    exported = program_of(function, jnp.asarray(X, dtype))
    module = parse(str(exported.mlir_module()))
    with module.context:
        block = body_of(module)
        returned = block.operations[len(block.operations) - 1]
        assert is_made_of_rows(returned.operands[0]) == expected


def test_sizes_that_are_not_known() -> None:
    module = parse("""func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %0 = stablehlo.tanh %x : tensor<?x4xf32>
      return %0 : tensor<?x4xf32>
    }""")
    block = body_of(module)
    assert not is_made_of_rows(block.operations[0].results[0])


def normed(x: jax.Array, w: jax.Array) -> jax.Array:
    return layer_norm(x) @ w


def test_a_cast_and_an_amax_are_apart_from_the_kernel_of_rows() -> None:
    """The barrier changes no result. Compilers that are not known to need it get none."""
    w = np.random.default_rng(1).standard_normal((64, 48)).astype(np.float32)
    exported = program_of(normed, X, w)
    state = [np.zeros((1024, 2), np.float32), np.full(2, 0.25, np.float32), np.zeros((), np.int32)]
    results = []
    for target in ("h200", "gpu"):
        settings = {"matmul.smallest": 1, "target": target, "compute": "keep"}
        settings |= {"matmul.slower": "narrow"} if target == "h200" else {}
        new = scalify_hlo.rewrite(exported, recipe="fp8-delayed", settings=settings)
        module = parse(str(new.mlir_module()))
        assert _behind_barriers(module) == (target == "h200")
        results.append(evaluate(module, [X, w, *state]))
    assert_all_equal(*results)
    found, wanted = np.asarray(results[0][0], np.float32), normed(jnp.asarray(X), jnp.asarray(w))
    np.testing.assert_allclose(found, wanted, atol=1.5)


def _behind_barriers(module: ir.Module) -> bool:
    """Whether an amax is that of a value behind a barrier."""
    owners = [op.operands[0].owner for op in ops_in(module.operation, {"stablehlo.abs"})]
    ops = [owner for owner in owners if not isinstance(owner, ir.Block)]
    return any(op.name == "stablehlo.optimization_barrier" for op in ops)
