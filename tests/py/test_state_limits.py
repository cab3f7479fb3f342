"""What is found of long programs does not depend on what was asked before."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo.analysis.degrees import Degrees
from scalify_hlo.analysis.frames import Frame, Place
from scalify_hlo.analysis.monomials import MIXED, degree_of
from scalify_hlo.analysis.reach import Reach
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.errors import InputError
from tests.py.judge import parse


def chain(op: str, length: int) -> tuple[object, list[Place]]:
    """A program that applies an op again and again: its module, and all its values."""
    lines = ["%0 = stablehlo.exponential %x : !t"]
    for i in range(length):
        operands = ", ".join([f"%{i}"] * (2 if op == "add" else 1))
        lines.append(f"%{i + 1} = stablehlo.{op} {operands} : !t")
    body = "\n".join([*lines, f"return %{length} : !t"]).replace("!t", "tensor<4x4xf32>")
    module = parse(f"func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {{ {body} }}")
    main = main_function(module.operation)
    assert main is not None
    with module.context:
        frame = Frame({})
    operations = list(main.regions[0].blocks[0].operations)
    return module, [frame.place(op.results[0]) for op in operations[:-1]]


def test_long_chains_are_followed_to_their_start() -> None:
    """Each op uses the one before twice, so that no path is walked again."""
    module, values = chain("add", 1500)
    reach = Reach({values[0]: 1})
    assert reach.of(values[-1]) == 1
    assert all(reach.of(value) == 1 for value in values)
    del module


def test_what_is_found_at_a_limit_is_not_kept() -> None:
    module, values = chain("abs", 120)
    degrees = Degrees(Reach({}), lambda _: None)
    assert degrees.of(values[-1]) is MIXED  # too far away
    for value in values[:60]:
        assert degree_of(degrees.of(value)) == 1
    assert degree_of(degrees.of(values[-1])) == 1  # and now it is not
    del module


def nested_calls(depth: int) -> str:
    """A training step of a linear model under so many calls, one in another."""

    def loss(w: jax.Array, x: jax.Array) -> Any:
        return jnp.mean((x @ w) ** 2)

    def step(w: jax.Array, x: jax.Array) -> Any:
        return w - 0.1 * jax.grad(loss)(w, x)

    for number in range(depth):
        step = jax.jit(_named(step, f"call_{number}"))
    shapes = [jax.ShapeDtypeStruct((64, 64), np.float32)] * 2
    return str(jax.export.export(jax.jit(_named(step, "main")))(*shapes).mlir_module())


def _named(step: Callable[..., Any], name: str) -> Callable[..., Any]:
    def named(*arguments: Any) -> Any:
        return step(*arguments)

    named.__name__ = name
    return named


@pytest.mark.parametrize(("depth", "ended"), [(8, False), (80, True)])
def test_a_search_that_ends_at_a_limit_is_a_remark(depth: int, ended: bool) -> None:
    """Roles, layers and carried arguments are not looked for in calls that nest too deep."""
    text = nested_calls(depth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, report = scalify_hlo.rewrite(text, recipe="fp8", signature="scaled", report=True)
    found = [remark for remark in report.remarks if "64 deep" in remark.message]
    assert bool(found) == ended
    assert all(remark.op == "func.func" for remark in found)
    if ended:
        kinds = {remark.message.partition(",")[0] for remark in found}
        assert len(kinds) == 3, kinds
        with pytest.raises(InputError, match="64 deep"):
            scalify_hlo.rewrite(text, recipe="fp8", signature="scaled", strict=True)


def test_limits_of_a_search_are_told() -> None:
    module, values = chain("abs", 120)
    Degrees(Reach({}), lambda _: None).of(values[-1])
    assert [limit for limit in values[-1][1].ended if "lead to a state" in limit]
    del module
