"""Programs with a typed PRNG key as an argument, which a program takes as its words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import scalify_hlo as jsa
from scalify_hlo.recipes.loading import load_recipe
from tests.py.shared.judge import program_of

RNG = np.random.default_rng(0)
KEY = jax.random.key(0)
X, W = (RNG.standard_normal(shape, np.float32) for shape in ((8, 16), (16, 16)))


def dropout(x: Any, w: Any, key: Any) -> Any:
    hidden = jnp.tanh(x @ w)
    return jnp.where(jax.random.bernoulli(key, 0.5, hidden.shape), 2 * hidden, 0)


ARGUMENTS = (X, W, KEY)
SAMPLES = {
    "a tuple": ARGUMENTS,
    "by name": {"x": X, "w": W, "key": KEY},
    "its words": {"x": X, "w": W, "key": jax.random.key_data(KEY)},
}
MEASURED: dict[str, Callable[[Any, Any], Any]] = {
    "calibrate": lambda program, sample: jsa.calibrate(program, [sample]).tensors,
    "collect_stats": lambda program, sample: jsa.collect_stats(program, [sample]).variants,
    "find_nan": lambda program, sample: jsa.find_nan(program, [sample]).origins,
    "compare_recipes": lambda program, sample: [
        trial.name
        for trial in jsa.compare_recipes(program, [sample], recipes=["fp8-current"]).trials
    ],
    "blame": lambda program, sample: [
        site.site for site in jsa.blame(program, [sample], recipe="fp8-current").sites
    ],
}


@pytest.mark.parametrize("name", MEASURED)
def test_measuring_takes_a_key_in_each_form(name: str) -> None:
    program = program_of(dropout, *ARGUMENTS)
    found = [MEASURED[name](program, sample) for sample in SAMPLES.values()]
    assert found[0] == found[1] == found[2]


def test_sizes_of_floats_are_measured_beside_a_key() -> None:
    program = program_of(dropout, *ARGUMENTS)
    assert list(jsa.measured_scales(program, *ARGUMENTS)) == ["x", "w"]
    assert list(jsa.measured_scales(str(program.mlir_module()), X, W, KEY)) == ["x", "w"]
    many = export.export(jax.jit(lambda keys, x: jax.vmap(jax.random.normal)(keys) * x))
    keys = jax.random.split(KEY, 3)
    assert list(jsa.measured_scales(many(keys, X[0, :3]), keys, X[0, :3])) == ["x"]


def test_a_recipe_that_measures_its_arguments() -> None:
    recipe = load_recipe("unit", {"matmul.smallest": 1})
    run = jsa.scalify(dropout, recipe=recipe)
    np.testing.assert_allclose(run(*ARGUMENTS), dropout(*ARGUMENTS), atol=0.5)
