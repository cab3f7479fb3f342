"""Steps of the state, which are not searched for layers, and the results that come back."""

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
from scalify_hlo.dataflow import made_of
from scalify_hlo.dataflow.carried import carried_arguments, may_come_back
from scalify_hlo.dataflow.frames import Frame, Place, operations
from scalify_hlo.dataflow.steps import without_steps
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.passes.recognize import RecognizePass
from scalify_hlo.passes.roles import RolesPass
from scalify_hlo.program.program import read_program
from tests.py.shared.judge import main_of, parse, program_of, stablehlo_of

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


LAYERS = 12

Found = tuple[dict[int, int], dict[int, list[int]]]


def carried(program: jax.export.Exported) -> Found:
    """Returns the results of both searches for a program all of whose values are pairs."""
    module = read_program(program.mlir_module_serialized).module
    with module.context:
        main = main_of(module)
        frame = Frame.of(main)
        names = attributes.argument_names(main)
        results = attributes.result_names(attributes.result_attributes(main))
        found = carried_arguments(main, names, results, {}, frame)
        return found, may_come_back(main, names, results, found, frame)


def params() -> Any:
    keys = jax.random.split(jax.random.key(0), LAYERS)
    return [{"w": jax.random.normal(key, (8, 8)), "b": jnp.zeros(8)} for key in keys]


def loss_of_layers(params: Any, x: jax.Array) -> jax.Array:
    for layer in params:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return jnp.mean(x**2)


def exported_step(optimizer: optax.GradientTransformation, *, swapped: bool) -> Any:
    """A step; `swapped` adds the updates first, so that the parameter is the second operand."""

    def step(params: Any, state: Any, x: jax.Array) -> Any:
        grads = jax.grad(loss_of_layers)(params, x)
        updates, state = optimizer.update(grads, state, params)
        if swapped:
            return jax.tree.map(lambda p, u: u + p, params, updates), state
        return optax.apply_updates(params, updates), state

    first = params()
    return program_of(step, first, optimizer.init(first), jnp.ones((4, 8)))


def exported_gradients() -> Any:
    return program_of(jax.grad(loss_of_layers), params(), jnp.ones((4, 8)))


def exported_unnamed() -> Any:
    """Results whose names say nothing, one of which is a sum with an argument."""

    def swap(a: jax.Array, b: jax.Array) -> Any:
        return b * 2 + 1, a - b, a / b

    return program_of(swap, jnp.ones(3), jnp.ones(3))


def exported_penalty() -> Any:
    """Gradients with the weight as a term of a sum in the backward pass."""

    def penalized(params: Any, x: jax.Array) -> jax.Array:
        return loss_of_layers(params, x) + sum(jnp.sum(layer["w"] ** 2) for layer in params)

    return program_of(jax.grad(penalized), params()[:2], jnp.ones((4, 8)))


def exported_far() -> Any:
    """State that many ops make."""

    def step(params: Any) -> Any:
        for _ in range(40):
            params = jax.tree.map(lambda leaf: leaf + 1, params)
        return params

    return program_of(step, params()[:2])


def exported_alike() -> Any:
    """State whose names differ but for their ends, in another order."""

    def step(before: Any) -> Any:
        return {f"after {i}": {"w": before[f"{LAYERS - 1 - i}"]["w"] * 2} for i in range(LAYERS)}

    before = {f"{i}": {"w": jnp.ones(8)} for i in range(LAYERS)}
    return program_of(step, before)


def exported_nested() -> Any:
    """Two results with equal ends of paths, one of which has the whole path of an argument."""

    def step(params: jax.Array, g: jax.Array) -> Any:
        return {"a": {"params": params * 2 + g}, "params": params - g}

    return program_of(step, jnp.ones(3), jnp.ones(3))


PROGRAMS = {
    "adamw": lambda: exported_step(optax.adamw(1e-3), swapped=False),
    "adamw, swapped": lambda: exported_step(optax.adamw(1e-3), swapped=True),
    "nesterov": lambda: exported_step(optax.sgd(1e-2, 0.9, nesterov=True), swapped=True),
    "adagrad": lambda: exported_step(optax.adagrad(1e-2), swapped=False),
    "averages": lambda: exported_step(optax.chain(optax.adam(1e-3), optax.ema(0.9)), swapped=False),
    "gradients": exported_gradients,
    "penalty": exported_penalty,
    "far": exported_far,
    "alike": exported_alike,
    "unnamed": exported_unnamed,
    "nested": exported_nested,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_short_search_finds_what_the_full_one_finds(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = PROGRAMS[name]()
    short = carried(program)
    monkeypatch.setattr(made_of, "NEAR_OPS", 0)
    monkeypatch.setattr(made_of, "NEAR_ARGUMENTS", 0)
    assert carried(program) == short


@pytest.mark.parametrize("name", ["adamw", "adamw, swapped"])
def test_all_state_of_a_step_is_found(name: str) -> None:
    found, _ = carried(PROGRAMS[name]())
    leaves = 2 * LAYERS
    assert len(found) >= 3 * leaves  # Parameters and two moments; a count may be among the rest.
    assert all(result == argument for result, argument in found.items())


@pytest.mark.parametrize("name", ["gradients", "penalty"])
def test_gradients_are_no_state(name: str) -> None:
    assert carried(PROGRAMS[name]()) == ({}, {})


def test_of_equal_names_the_first_result_is_chosen() -> None:
    assert carried(exported_nested())[0] == {0: 0, 1: 1}


def test_far_state_and_state_of_other_names_are_found() -> None:
    assert carried(exported_far())[0] == {i: i for i in range(4)}
    assert len(carried(exported_alike())[0]) == LAYERS


def test_named_state_needs_no_full_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only factors such as decay rates are searched to their ends, and no result: all are sums."""
    searched: list[str] = []
    parts = made_of.Flow._parts

    def noted(self: made_of.Flow, place: Place) -> Any:
        searched.append(made_of.made_from(place)[0])
        return parts(self, place)

    monkeypatch.setattr(made_of.Flow, "_parts", noted)
    carried(PROGRAMS["adamw"]())
    assert "stablehlo.broadcast_in_dim" in searched
    assert "stablehlo.add" not in searched
