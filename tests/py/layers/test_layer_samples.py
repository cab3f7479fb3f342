"""Samples and targets, by which layers are compared, and the memory after a search for layers."""

from __future__ import annotations

import gc

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalify_hlo.layers.graph import Node
from scalify_hlo.layers.layout import broadcast, fresh, unified
from scalify_hlo.layers.numbers import Target, mean, spread_to
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.passes.recognize import RecognizePass
from tests.py.shared.judge import parse, stablehlo_of

Array = npt.NDArray[np.float64]


def test_an_outer_product_of_an_axis_has_no_layout() -> None:
    """Samples have one axis for it, along which the product would be the diagonal."""
    (dim,) = fresh((3,))
    along, across = broadcast((dim,), (0,), (3, 3)), broadcast((dim,), (1,), (3, 3))
    assert unified(along, across) is None
    assert unified(along, along) == along


def test_an_outer_product_beside_a_softmax_is_none_of_it() -> None:
    def both(x: jax.Array) -> jax.Array:
        return jax.nn.softmax(x) / jnp.sum(jnp.kron(x, x))

    text = stablehlo_of(both, np.ones(3, np.float32))
    run_passes(parse(text), [RecognizePass()])


NUMBERS = st.sampled_from(
    [0.0, -0.0, 1.0, 1 + 5e-6, 1 + 5e-5, -3.0, 400.0, np.inf, -np.inf, np.nan]
)
SHAPES = ((1, 1), (1, 2), (3, 1), (3, 2))


@st.composite
def arrays(draw: st.DrawFn) -> Array:
    shape = draw(st.sampled_from(SHAPES))
    size = int(np.prod(shape))
    return np.reshape(draw(st.lists(NUMBERS, min_size=size, max_size=size)), shape)


def is_close(found: Array, wanted: Array, tolerance: float, unit: float | None) -> bool:
    """The definition, element by element."""
    largest = np.max(np.abs(wanted)) if unit is None else unit
    pairs = np.broadcast(found, wanted)
    return bool(np.isfinite(found).all()) and all(
        abs(f - w) <= tolerance * (abs(w) + largest) for f, w in pairs
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("unit", [None, 1.0])
@given(found=arrays(), wanted=arrays())
def test_the_first_element_decides_nothing_wrongly(
    unit: float | None, found: Array, wanted: Array
) -> None:
    for array in (found, wanted):
        expected = is_close(array, wanted, 1e-5, unit)
        assert Target(wanted, 1e-5, unit).met_by(array) == expected


def test_what_differs_later_is_none() -> None:
    wanted = np.ones((3, 2))
    found = wanted.copy()
    found[2, 1] = 1.001
    assert Target(wanted, 1e-5).met_by(wanted)
    assert not Target(wanted, 1e-5).met_by(found)


@pytest.mark.parametrize("axes", [(), (1,), (0, 2)])
def test_means_are_those_of_numpy(axes: tuple[int, ...]) -> None:
    array = np.random.default_rng(0).standard_normal((3, 5, 4))
    for given_ in (array, array > 0):
        wanted = np.mean(given_, axis=axes, keepdims=True)
        np.testing.assert_array_equal(mean(given_, axes), wanted, strict=True)


def test_arrays_are_spread_to_what_they_have_in_common() -> None:
    assert spread_to(np.ones((3, 1)), np.ones((1, 2))).shape == (3, 2)
    array = np.ones((3, 2))
    assert spread_to(array, array) is array


def test_a_pass_keeps_no_graph() -> None:
    """Nodes know each other: without care they would wait for the collector, which is paused."""
    text = stablehlo_of(jax.nn.gelu, jnp.ones((4, 8)))
    module = parse(text)
    gc.collect()
    gc.disable()
    try:
        before = sum(isinstance(found, Node) for found in gc.get_objects())
        assert run_passes(module, [RecognizePass()]).layers
        assert sum(isinstance(found, Node) for found in gc.get_objects()) <= before
    finally:
        gc.enable()
