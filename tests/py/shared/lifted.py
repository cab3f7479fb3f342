"""Programs whose matmuls stand in functions, loops, branches and per-device computations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.passes.roles import RolesPass
from scalify_hlo.rules.statistics import statistic
from scalify_hlo.transforms.hoist import Combine, add_results, lift
from scalify_hlo.transforms.inlining import inline_calls
from tests.py.shared.judge import main_of

Array = np.ndarray[Any, np.dtype[Any]]

TURNS, STEPS, WIDTH = 4, 3, 8


def nested(w: jax.Array, xs: jax.Array, flags: jax.Array) -> jax.Array:
    """A loop in a branch in a loop; the branch is not taken in each turn."""

    def inner(h: jax.Array, _: None) -> tuple[jax.Array, None]:
        return 1.25 * (h @ w), None

    def turn(carry: jax.Array, given: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, None]:
        x, flag = given
        taken = lax.cond(
            flag, lambda h: lax.scan(inner, h, None, length=STEPS)[0], lambda h: h - 1, x
        )
        return carry + taken @ w, None

    total: jax.Array = lax.scan(turn, jnp.zeros(xs.shape[1:], xs.dtype), (xs, flags))[0]
    return total


def left_of_nested(w: Array, xs: Array, flags: Array) -> tuple[list[Array], list[Array]]:
    """The left operands of the matmuls of `nested`: of the one in the loop of the branch first."""
    inside, outside = [], []
    for x, flag in zip(xs, flags, strict=True):
        h = x
        for _ in range(STEPS if flag else 0):
            inside.append(h)
            h = np.asarray(1.25 * (h @ w), np.float32)
        outside.append(h if flag else h - 1)
    return inside, outside


@jax.jit
def shared(x: jax.Array, w: jax.Array) -> jax.Array:
    """A function that is called in several places."""
    return jnp.tanh(_product(x, w))


@jax.jit
def _product(x: jax.Array, w: jax.Array) -> jax.Array:
    return 2 * (x @ w)


def calls(w: jax.Array, xs: jax.Array) -> jax.Array:
    """Calls a function twice, and in each turn of a loop."""

    def turn(h: jax.Array, x: jax.Array) -> tuple[jax.Array, None]:
        return shared(h + x, w), None

    h = shared(xs[0], w)
    h = lax.scan(turn, h, xs)[0]
    last: jax.Array = shared(4 * h, w)
    return last


def left_of_calls(w: Array, xs: Array) -> list[list[Array]]:
    """The left operands of the matmuls of `calls`, in order of the program."""
    h = np.tanh(2 * (xs[0] @ w))
    inside = []
    for x in xs:
        inside.append(h + x)
        h = np.tanh(2 * (inside[-1] @ w))
    return [[xs[0]], inside, [4 * h]]


def arrays() -> tuple[Array, Array, Array]:
    """Weights, one input for each turn, and whether it takes the branch."""
    rng = np.random.default_rng(0)
    w = (rng.standard_normal((WIDTH, WIDTH)) / WIDTH**0.5).astype(np.float32)
    xs = rng.standard_normal((TURNS, WIDTH, WIDTH)).astype(np.float32)
    return w, xs, np.array([True, False, True, False])


def matmuls(module: ir.Module) -> list[ir.Operation]:
    """The matmuls that have a role, in order of the program."""
    return ops_in(module.operation, where=lambda op: attributes.ROLES in op.attributes)


def observe(module: ir.Module, combine: Combine) -> int:
    """Makes `main` return the amax, or how often it is used, of each matmul's left operand.

    Returns:
        How many results were added.
    """
    run_passes(module, [NormalizePass(), RolesPass()])
    with module.context, ir.Location.unknown():
        assert not inline_calls(module.operation, [attributes.ROLES])
        main = main_of(module)
        values = list(_values(module, combine))
        add_results(main, lift(main, values, combine), ["" for _ in values])
        assert module.operation.verify()
    return len(values)


def _values(module: ir.Module, combine: Combine) -> Iterator[ir.Value]:
    for op in matmuls(module):
        if combine == "maximum":
            yield statistic(op.operands[0], "max", op, wide=False, devices=None)
        else:
            i32 = ir.IntegerType.get_signless(32)
            yield emit.constant(ir.RankedTensorType.get([2], i32), 3, op)
