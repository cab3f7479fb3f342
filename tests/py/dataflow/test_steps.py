"""Ops that only steps of the state need are not searched for layers; other ops are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest
from jax import lax

from examples.training import training_step
from scalify_hlo._compat import ir
from scalify_hlo.dataflow.frames import operations
from scalify_hlo.dataflow.steps import without_steps
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.passes.recognize import RecognizePass
from scalify_hlo.passes.roles import RolesPass
from tests.py.shared.judge import main_of, parse, stablehlo_of

MARKS = (
    *(attributes.LAYER, attributes.LAYER_GRADIENT, attributes.EPSILON),
    *(attributes.LAYER_NUMBER, attributes.LAYER_INPUT),
)
PARAMS = {
    "bias": jnp.zeros(8),
    "gain": jnp.ones(8),
    "table": jnp.ones((4, 8)),
    "w": jnp.ones((8, 8)),
}
HIDDEN = jnp.ones((6, 8))


def norm(x: jax.Array) -> jax.Array:
    centerd = x - jnp.mean(x, -1, keepdims=True)
    return centerd * lax.rsqrt(jnp.mean(centerd**2, -1, keepdims=True) + 1e-5)


def loss(params: Any) -> jax.Array:
    """Its layer is before all matmuls, and its backward part after all of them."""
    x = norm(params["table"][jnp.array([0, 1, 2, 3, 1, 0])]) * params["gain"] + params["bias"]
    return jnp.mean((x @ params["w"]) ** 2)


def trained(optimizer: optax.GradientTransformation) -> Callable[..., Any]:
    return training_step(loss, optimizer)


def step_text(optimizer: optax.GradientTransformation) -> str:
    return stablehlo_of(trained(optimizer), PARAMS, optimizer.init(PARAMS))


def with_roles(text: str) -> ir.Module:
    module = parse(text)
    run_passes(module, [NormalizePass(), RolesPass()])
    return module


def left_out(module: ir.Module) -> int:
    """Returns the number of ops that are not read."""
    main = main_of(module)
    with module.context:
        return len(operations(main.regions[0].blocks[0])) - len(without_steps(main))


def marked(module: ir.Module) -> list[str]:
    """Returns the marks of layers on each op, in order."""
    run_passes(module, [NormalizePass(), RecognizePass(inputs=True)])
    return [
        f"{op.name} {[f'{name} {op.attributes[name]}' for name in MARKS if name in op.attributes]}"
        for op in ops_in(module.operation)
    ]


def assert_same_marks(text: str, *layers: str) -> None:
    """With roles, the same layers are found, and there are some."""
    marks = marked(with_roles(text))
    assert marks == marked(parse(text))
    for layer in layers:
        assert any(layer in mark for mark in marks)


OPTIMIZERS = {
    "adam": optax.adam(0.1),
    "adamw": optax.adamw(0.1),
    "clipped": optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.1)),
    "momentum": optax.sgd(0.1, momentum=0.9),
    "sgd": optax.sgd(0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_layers_after_all_matmuls_are_found(name: str) -> None:
    text = step_text(OPTIMIZERS[name])
    assert_same_marks(text, f'{attributes.LAYER_GRADIENT} "layer_norm"')
    assert left_out(with_roles(text)) >= 4


def test_an_optimizer_is_not_read() -> None:
    """Of Adam's ops only those are that count steps."""
    module = with_roles(step_text(optax.adam(0.1)))
    main = main_of(module)
    with module.context:
        assert not any(name == "stablehlo.sqrt" for name, _ in without_steps(main))
    everything = operations(main.regions[0].blocks[0])
    assert sum(op.name == "stablehlo.sqrt" for op in everything) == len(PARAMS)


def test_programs_without_roles_are_read_whole() -> None:
    assert left_out(parse(step_text(optax.adam(0.1)))) == 0


@pytest.mark.parametrize("first", [False, True])
def test_layers_of_what_is_no_state_are_found(*, first: bool) -> None:
    def step(params: Any) -> Any:
        new, _, value = trained(optax.sgd(0.1))(params, optax.sgd(0.1).init(params))
        shares = jax.nn.softmax(new["w"])
        return (shares, new, value) if first else (new, value, shares)

    text = stablehlo_of(step, PARAMS)
    assert_same_marks(text, "layer_norm", f'{attributes.LAYER} "softmax"')
    assert first or left_out(with_roles(text)) > 0


@pytest.mark.parametrize("layer", [norm, jax.nn.softmax, jax.nn.silu])
def test_layers_that_make_state_are_found(layer: Callable[[jax.Array], jax.Array]) -> None:
    """What is carried to the next step is no step because of that."""

    def step(params: Any, hidden: jax.Array) -> Any:
        new, _, value = trained(optax.sgd(0.1))(params, optax.sgd(0.1).init(params))
        return new, layer(hidden + value), value

    assert_same_marks(stablehlo_of(step, PARAMS, HIDDEN), "layer_norm", f"{attributes.LAYER} ")


def test_gradients_that_look_like_state_are_read() -> None:
    """An elementwise function and its gradient have one type."""

    def gradients(x: jax.Array, y: jax.Array) -> Any:
        return jax.grad(lambda x, y: jnp.sum(norm(x) * y), (0, 1))(x, y)

    assert_same_marks(stablehlo_of(gradients, HIDDEN, HIDDEN), attributes.LAYER_GRADIENT)


def shared(params: Any, other: Any) -> Any:
    """Two weights have one gradient."""
    value, gradients = jax.value_and_grad(lambda p: loss(p) + loss(other))(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, (params, other), (gradients, gradients)), value


def chosen(params: Any, average: Any) -> Any:
    """Ops in branches read what is outside of these."""
    new, _, value = trained(optax.sgd(0.1))(params, optax.sgd(0.1).init(params))
    return new, lax.cond(value > 0, lambda: jnp.sum(new["w"]), lambda: value), average


@pytest.mark.parametrize("function", [shared, chosen])
def test_what_is_not_plain_is_read_whole(function: Callable[..., Any]) -> None:
    text = stablehlo_of(function, PARAMS, PARAMS)
    assert left_out(with_roles(text)) == 0
    assert_same_marks(text, "layer_norm")
