"""Limits of searches for state, and the statistic from which narrow state takes its scale."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest

import scalify_hlo
from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.casts.state import _measured, narrow_arguments
from scalify_hlo.dataflow import reach, state
from scalify_hlo.dataflow.degrees import Degrees
from scalify_hlo.dataflow.frames import Frame, Place
from scalify_hlo.dataflow.monomials import MIXED, degree_of
from scalify_hlo.dataflow.reach import Reach
from scalify_hlo.errors import InputError, Remark
from scalify_hlo.layers import match
from scalify_hlo.recipes.model import StateOptions
from tests.py.shared.judge import main_of, parse, shaped, stablehlo_of


def chain(op: str, length: int) -> tuple[object, list[Place]]:
    """A program that applies an op again and again: its module, and all its values."""
    lines = ["%0 = stablehlo.exponential %x : !t"]
    for i in range(length):
        operands = ", ".join([f"%{i}"] * (2 if op == "add" else 1))
        lines.append(f"%{i + 1} = stablehlo.{op} {operands} : !t")
    body = "\n".join([*lines, f"return %{length} : !t"]).replace("!t", "tensor<4x4xf32>")
    module = parse(f"func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {{ {body} }}")
    main = main_of(module)
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
    shapes = [shaped(64, 64)] * 2
    return stablehlo_of(_named(step, "main"), *shapes)


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


def remarks_of(
    step: Callable[..., Any], *arguments: Any, recipe: str = "fp8-state"
) -> list[Remark]:
    """The remarks on searches that ended at a limit, of a rewrite of a step."""
    text = stablehlo_of(_named(step, "main"), *arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, report = scalify_hlo.rewrite(text, recipe=recipe, signature="scaled", report=True)
    return [remark for remark in report.remarks if ", since more than " in remark.message]


X = jnp.ones((8, 8))


def adam(m: jax.Array, v: jax.Array, w: jax.Array, x: jax.Array) -> Any:
    """A step whose second moment is a power with a constant exponent."""
    g = jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w)))(w)
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * jnp.power(g, jnp.full((8, 8), 2.0))
    return m, v, w - 0.1 * m / (jnp.sqrt(v) + 1e-8)


def test_a_constant_that_is_moved_too_often_is_a_remark(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not remarks_of(adam, X, X, X, X)
    monkeypatch.setattr(reach, "MOVES", 1)
    (remark,) = remarks_of(adam, X, X, X, X)
    assert "more than 1 ops move the constant of stablehlo." in remark.message
    assert "without a role" in remark.message
    assert "declare roles" in remark.hint


def test_an_update_of_too_many_values_is_a_remark(monkeypatch: pytest.MonkeyPatch) -> None:
    """SM3 makes the update of a matrix of moments of its rows and columns."""
    optimizer = optax.sm3(1e-3)

    def step(state: Any, w: jax.Array, x: jax.Array) -> Any:
        gradient = jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w)))(w)
        updates, state = optimizer.update(gradient, state, w)
        return state, optax.apply_updates(w, updates)

    arguments = (optimizer.init(X), X, X)
    assert not remarks_of(step, *arguments)
    monkeypatch.setattr(state, "UPDATE_VALUES", 2)
    (remark,) = remarks_of(step, *arguments)
    assert "more than 2 values lead to the update by stablehlo." in remark.message
    assert "declare roles" in remark.hint


def test_a_layer_of_too_many_values_is_a_remark(monkeypatch: pytest.MonkeyPatch) -> None:
    def model(w: jax.Array, x: jax.Array) -> jax.Array:
        x = x - jnp.mean(x, axis=1, keepdims=True)
        return (x * jax.lax.rsqrt(jnp.mean(x * x, axis=1, keepdims=True) + 1e-5)) @ w

    assert not remarks_of(model, X, X)
    monkeypatch.setattr(match, "LAYER_CONE", 2)
    (remark,) = remarks_of(model, X, X)
    assert "layers that are not recognized, since more than 2 values lead to" in remark.message
    assert "stablehlo.rsqrt at " in remark.message
    assert "custom_scale" in remark.hint


@pytest.mark.parametrize(
    ("role", "statistic", "narrow", "expected"),
    [
        # As a recipe asks: wide state has no headroom, and narrow moments have some.
        ("weight", "l2", None, ("l2", 0)),
        ("second_moment", "max", None, ("max", 0)),
        ("weight", "l2", "f16", ("l2", 0)),
        ("first_moment", "l2", "f16", ("l2", 0)),
        ("second_moment", "l2", "f16", ("l2", 4)),
        ("weight", "max", "f16", ("max", 7)),
        ("first_moment", "max", "f16", ("max", 7)),
        # Where it asks for none, f16 weights and first moments take their rms, all else the amax.
        ("weight", "none", "f16", ("l2", 0)),
        ("first_moment", "none", "f16", ("l2", 0)),
        ("second_moment", "none", "f16", ("max", 7)),
        ("weight", "none", "f8E4M3FN", ("max", 7)),
        ("first_moment", "none", "f8E5M2", ("max", 7)),
        ("first_moment", "none", "f8E3M4", ("max", 2)),
    ],
)
def test_statistic(
    role: str, statistic: str, narrow: str | None, expected: tuple[str, int]
) -> None:
    assert _measured(role, statistic, FORMATS[narrow] if narrow else None) == expected


STEP = """
func.func @main(%w: tensor<4x4xf32> {{scalify.pair, scalify.role = "weight"{stored}}})
    -> tensor<4x4xf32> {{
  %0 = stablehlo.negate %w : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}}
"""


@pytest.mark.parametrize(
    ("stored", "options", "element"),
    [
        ("", StateOptions(), "f32"),
        (', scalify.stored = "f16"', StateOptions(), "f16"),
        ("", StateOptions(weight="f16"), "f16"),
        (', scalify.stored = "bf16"', StateOptions(weight="f16"), "bf16"),
    ],
)
def test_formats_of_arguments(stored: str, options: StateOptions, element: str) -> None:
    module = parse(STEP.format(stored=stored))
    main = main_of(module)
    with module.context, ir.Location.unknown():
        roles = narrow_arguments(main, options).roles
    assert roles == (set() if element == "f32" else {"weight"})
    argument = main.regions[0].blocks[0].arguments[0]
    assert str(argument.type) == f"tensor<4x4x{element}>"
