"""The argument in which a step counts: `scalify_hlo.dataflow.step_count`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.step_count import step_count
from scalify_hlo.dialect.attributes import argument_names
from tests.py.shared.judge import main_of, parse, stablehlo_of


def counted(text: str) -> str | None:
    """The name of the argument that counts the steps of a program."""
    module = parse(text)
    with module.context:
        main = main_of(module)
        found = step_count(main)
        if found is None:
            return None
        name: str = argument_names(main)[ir.BlockArgument(found).arg_number]
        return name


def of_optimizer(optimizer: optax.GradientTransformation) -> str | None:
    params = {"w": jnp.ones((4, 4))}

    def step(params: Any, state: Any, gradients: Any) -> Any:
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state

    return counted(stablehlo_of(step, params, optimizer.init(params), params))


@pytest.mark.parametrize(
    ("optimizer", "name"),
    [
        (optax.adam(1e-3), "state[0].count"),
        (optax.lion(1e-3), "state[0].count"),
        (optax.sgd(1e-3, momentum=0.9), None),
        (optax.sgd(optax.cosine_decay_schedule(1.0, 10)), "state[1].count"),
    ],
    ids=["adam", "lion", "sgd", "schedule"],
)
def test_optimizers_count(optimizer: Any, name: str | None) -> None:
    assert of_optimizer(optimizer) == name


def test_a_count_that_starts_again_is_none() -> None:
    """Of micro-batches, whose number comes again in each update."""
    found = of_optimizer(optax.MultiSteps(optax.sgd(1e-3), 4).gradient_transformation())
    assert found is None or "mini_step" not in found


def test_a_count_of_skipped_steps_is_none() -> None:
    """It stays 0 as long as all gradients are finite."""
    assert of_optimizer(optax.apply_if_finite(optax.sgd(1e-3), 5)) is None


@pytest.mark.parametrize("dtype", [jnp.int32, jnp.uint32, jnp.int8])
def test_a_count_of_any_integers(dtype: Any) -> None:
    x, number = jnp.ones(3), jnp.zeros((), dtype)
    assert counted(stablehlo_of(lambda x, n: (x, n + 1), x, number)) == "n"
    assert counted(stablehlo_of(lambda x, n: (x, 1 + n), x, number)) == "n"
    assert counted(stablehlo_of(lambda x, n: (x, n + 2), x, number)) is None
    assert counted(stablehlo_of(lambda x, n: (x, n), x, number)) is None
    assert counted(stablehlo_of(lambda x, n: x + n, x, number)) is None
    assert counted(stablehlo_of(lambda x, n: (x, jnp.where(n < 3, n + 1, 0)), x, number)) is None
    assert counted(stablehlo_of(lambda x, n: (x, (n + 1) % 4), x, number)) is None


def test_a_count_may_be_made_in_a_call() -> None:
    x, number = jnp.ones(3), jnp.zeros((), jnp.int32)
    nested = jax.jit(lambda n: n + 1)
    assert counted(stablehlo_of(lambda x, n: (x, nested(n)), x, number)) == "n"
    assert counted(stablehlo_of(lambda x, n: (x, nested(nested(n))), x, number)) is None
    assert counted(stablehlo_of(lambda x, n: (x, n + 1), x, jnp.zeros(2, jnp.int32))) is None
    assert counted(stablehlo_of(lambda x: (x, jnp.int32(1) + jnp.int32(1)), x)) is None


def test_a_program_without_a_body_has_none() -> None:
    assert counted("func.func private @main(tensor<i32>) -> tensor<i32>") is None
