"""Roles stop at the last matmul of a program, and recipes erase converts that only matmuls take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import scalify_hlo
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.passes.roles import RolesPass
from tests.py.shared.judge import body_of, parse, shaped, stablehlo_of

SQUARE = shaped(32, 32)

LAST: dict[str, Callable[..., Any]] = {
    "in a call": lambda x, w: jax.jit(lambda y: y @ w)(jnp.tanh(x @ w)) + 1.0,
    "in a loop": lambda x, w: jax.lax.fori_loop(0, 3, lambda _, y: jnp.tanh(y @ w), x @ w) + 1.0,
    "in a branch": lambda x, w: jax.lax.cond(
        x[0, 0] > 0, lambda y: y @ w, lambda y: y - 1.0, jnp.tanh(x @ w)
    ),
}


def exported(function: Callable[..., Any], count: int) -> str:
    return stablehlo_of(function, *[SQUARE] * count)


@pytest.mark.parametrize("function", LAST.values(), ids=LAST)
def test_the_last_matmul_may_be_inside_of_another_op(function: Callable[..., Any]) -> None:
    report = run_passes(parse(exported(function, 2)), [NormalizePass(), RolesPass()])
    assert [matmul.roles for matmul in report.matmuls] == [("activation", "weight")] * 2


def test_a_narrow_matmul_may_take_what_another_makes() -> None:
    """Its operand was a convert back to f32, which goes with its last use."""
    module = parse(scalify_hlo.rewrite(exported(lambda x, v, w: x @ v @ w, 3), recipe="bf16"))
    names = [op.operation.name for op in body_of(module).operations]
    first, second = (i for i, name in enumerate(names) if name == "stablehlo.dot_general")
    assert "stablehlo.convert" not in names[first + 1 : second]
