"""scalify_hlo.tree: figures over state of ScaledArrays are those over its values."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import scalify_hlo as jsa
from scalify_hlo import ScaledArray, UsageError, as_scaled_array, asarray, tree
from tests.py.shared import resumed

F32 = np.dtype("float32")


def state_of(name: str) -> Any:
    """State of each kind: as split, in f16, in blocks with scales of their own, and moments."""
    random = np.random.default_rng(0)
    values = jnp.asarray(random.standard_normal((4, 128)) * 64, jnp.float32)
    pair = as_scaled_array(values)
    arrays = {
        "f32": pair,
        "f16": ScaledArray(pair.data.astype(jnp.float16), pair.scale * 2.0**20, F32),
        "blocks": as_scaled_array(values, block=(1, 0)),
        "first moment": ScaledArray(
            jnp.round(pair.data).astype(jnp.float8_e4m3fn),
            jnp.full((4, 1), 2.0**5).astype(jnp.float8_e8m0fnu),
            F32,
            1,
        ),
        "plain": values,
    }
    return {"w": arrays[name], "inner": (arrays[name], None), "bias": jnp.float32(3)}


def structure(of: Any) -> Any:
    return jax.tree.structure(of)


KINDS = pytest.mark.parametrize("kind", ["f32", "f16", "blocks", "first moment", "plain"])


@KINDS
def test_figures_are_those_of_the_values(kind: str) -> None:
    state = state_of(kind)
    values = asarray(state)
    assert tree.size(state) == sum(x.size for x in jax.tree.leaves(values)) == 1025
    for norm in (tree.global_norm, jax.jit(tree.global_norm)):
        np.testing.assert_allclose(norm(state), optax.tree.norm(values), rtol=1e-6)
    np.testing.assert_array_equal(
        tree.map(lambda a, b: 0.5 * a + b, state, values)["inner"][0], values["w"] * 1.5
    )
    assert [np.shape(leaf) for leaf in tree.leaves(state)] == [(), (4, 128), (4, 128)]


@KINDS
def test_an_average_has_the_form_of_the_first(kind: str) -> None:
    state = state_of(kind)
    larger = tree.map(lambda x: x * 16, state)
    found = tree.average([state, larger], [0.9, 0.1])
    assert structure(found) == structure(state)
    for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(state), strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    tolerance = {"f16": 2.0**-10, "first moment": 2.0**-3}.get(kind, 1e-6)
    for ours, theirs in zip(tree.leaves(found), tree.leaves(state), strict=True):
        theirs = np.asarray(theirs, np.float32) * 2.5
        error = np.linalg.norm(np.asarray(ours, np.float32) - theirs)
        assert error <= tolerance * np.linalg.norm(theirs)


def test_a_pair_is_given_as_it_is() -> None:
    state = state_of("f16")
    assert tree.map(lambda x: x.dtype.name, state)["w"] == "float16"
    scales = tree.map(lambda x: getattr(x, "scale", None), state)
    assert scales["w"] is state["w"].scale


def test_abstract_state_has_a_size() -> None:
    assert tree.size(jax.eval_shape(lambda: state_of("f16"))) == 1025
    assert tree.size({}) == 0
    assert tree.global_norm({}) == 0


def test_squares_are_those_of_a_wide_dtype() -> None:
    """optax squares f16 in f16."""
    assert tree.global_norm({"a": jnp.full(4, 300, jnp.float16)}) == 600
    small = ScaledArray(jnp.float16(1.5), jnp.float32(2.0**-40))
    assert float(tree.global_norm(small)) == 1.5 * 2.0**-40
    assert tree.global_norm([jnp.int32(3), 4.0, jnp.complex64(12j)]) == 13


def test_counts_are_those_of_the_first() -> None:
    first, second = ({"count": jnp.int32(n), "w": jnp.float32(n)} for n in (1, 2))
    assert tree.average([first, second]) == {"count": 1, "w": 1.5}


@pytest.mark.parametrize(
    ("trees", "weights"), [([], None), ([1.0], [1.0, 2.0]), ([1.0, 2.0], [1.0, -1.0])]
)
def test_weights_that_are_none_are_refused(trees: Any, weights: Any) -> None:
    with pytest.raises(UsageError, match="no average"):
        tree.average(trees, weights)


def test_its_place_is_found() -> None:
    assert jsa.tree is tree
    assert "tree" in dir(jsa)


@pytest.mark.slow
def test_training_goes_on_from_an_average() -> None:
    step, start = resumed.scaled("fp8-state8")
    states = [step(start)]
    states.append(step(states[0]))
    after = step(tree.average(states))
    assert structure(after) == structure(states[1])
    assert np.isfinite(float(tree.global_norm(after[0])))
