"""The results that are arguments of the next call: a short search finds what a full one finds."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest

from scalify_hlo.dataflow import made_of
from scalify_hlo.dataflow.carried import carried_arguments, may_come_back
from scalify_hlo.dataflow.frames import Frame, Place
from scalify_hlo.dialect import attributes
from scalify_hlo.program.program import read_program
from tests.py.shared.judge import main_of, program_of

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


def loss(params: Any, x: jax.Array) -> jax.Array:
    for layer in params:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return jnp.mean(x**2)


def exported_step(optimizer: optax.GradientTransformation, *, swapped: bool) -> Any:
    """A step; `swapped` adds the updates first, so that the parameter is the second operand."""

    def step(params: Any, state: Any, x: jax.Array) -> Any:
        grads = jax.grad(loss)(params, x)
        updates, state = optimizer.update(grads, state, params)
        if swapped:
            return jax.tree.map(lambda p, u: u + p, params, updates), state
        return optax.apply_updates(params, updates), state

    first = params()
    return program_of(step, first, optimizer.init(first), jnp.ones((4, 8)))


def exported_gradients() -> Any:
    return program_of(jax.grad(loss), params(), jnp.ones((4, 8)))


def exported_unnamed() -> Any:
    """Results whose names say nothing, one of which is a sum with an argument."""

    def swap(a: jax.Array, b: jax.Array) -> Any:
        return b * 2 + 1, a - b, a / b

    return program_of(swap, jnp.ones(3), jnp.ones(3))


def exported_penalty() -> Any:
    """Gradients with the weight as a term of a sum in the backward pass."""

    def penalized(params: Any, x: jax.Array) -> jax.Array:
        return loss(params, x) + sum(jnp.sum(layer["w"] ** 2) for layer in params)

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
