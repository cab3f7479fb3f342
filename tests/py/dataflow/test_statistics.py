"""Statistics beside an optimizer are no state of it, and its own state keeps its roles."""

from __future__ import annotations

import zlib
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest

from tests.py.dataflow.test_optimizer_roles import OPTAX, WITH_VALUE, assert_state_roles
from tests.py.dataflow.test_roles import exported
from tests.py.dataflow.test_state_roles import argument_roles, names_of
from tests.py.shared.beside import BESIDE, batch, params, step_of

NEED_NAMES = {"renormalized", "renormalized, before", "codebook", "dual variables", "memory"}
"""Those that depend on weights, which only names of the backward pass tell from gradients."""

CASES = [(name, False) for name in BESIDE]
CASES += [(name, True) for name in BESIDE if name not in NEED_NAMES]


def assert_roles(name: str, optimizer: str, *, stripped: bool) -> None:
    how, weights = OPTAX[optimizer][0], params()
    step = step_of(name, how, with_value=optimizer in WITH_VALUE)
    given: Any = (weights, jax.eval_shape(how.init, weights), BESIDE[name][1](), *batch())
    text = exported(step, given)
    assert_state_roles(optimizer, text, stripped=stripped)
    roles = zip(names_of(text), argument_roles(text, stripped=stripped), strict=True)
    assert {each: role for each, role in roles if each.startswith("beside") and role} == {}


@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "adamw", "adafactor"])
@pytest.mark.parametrize(("name", "stripped"), CASES)
def test_what_stands_beside_an_optimizer_is_no_state_of_it(
    name: str, optimizer: str, *, stripped: bool
) -> None:
    assert_roles(name, optimizer, stripped=stripped)


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", OPTAX)
def test_each_optimizer_is_found_beside_something(optimizer: str) -> None:
    drawn = sorted(BESIDE)[zlib.crc32(optimizer.encode()) % len(BESIDE)]
    assert_roles(drawn, optimizer, stripped=False)


def test_weights_to_which_an_optimizer_adds_zero_are_weights() -> None:
    weights = params()
    labels = {name: "frozen" if name == "u" else "trained" for name in weights}
    each = {"trained": optax.adam(1e-3), "frozen": optax.set_to_zero()}
    optimizer = optax.multi_transform(each, labels)
    given: Any = (weights, jax.eval_shape(optimizer.init, weights), jnp.ones(()), *batch())
    text = exported(step_of("loss", optimizer), given)
    found = dict(zip(names_of(text), argument_roles(text, stripped=False), strict=True))
    assert {role for name, role in found.items() if name.startswith("params")} == {"weight"}
