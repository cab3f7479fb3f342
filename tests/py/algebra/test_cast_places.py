"""The place of data in the range of a format, by how uncertain their size is."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo import Report
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.algebra.measured import Measured
from scalify_hlo.algebra.scale import ONE, RuntimeScale, Scale, Scaled
from scalify_hlo.algebra.uncertainty import Uncertainty, of_root
from scalify_hlo.dialect import attributes
from scalify_hlo.recipes.toml import input_scale_text, parse_input_scale
from scalify_hlo.rules.untrusted import octaves_of, place_of
from tests.py.shared.judge import shaped, stablehlo_of

E4M3, E5M2, F16 = FORMATS["f8E4M3FN"], FORMATS["f8E5M2"], FORMATS["f16"]
STATIC = Scaled(ONE, 0, of_root(1.0))
PEAK = Scaled(Scale(0, ((RuntimeScale(0, "s0"), 1),)), 0, of_root(1.0, peak="known"))


@pytest.mark.parametrize(
    ("kind", "octaves", "place"),
    [
        (attributes.DATA, 2.0, (0, 3)),
        (attributes.DATA, 2.1, (1, 3)),
        (attributes.DATA, 3.0, (1, 3)),
        (attributes.DATA, 3.1, (0, 3)),
        (attributes.GRADIENT, 2.0, (0, 3)),
        (attributes.GRADIENT, 2.1, (1, 4)),
        (attributes.GRADIENT, 4.0, (1, 4)),
        (attributes.GRADIENT, 4.1, (0, 3)),
    ],
)
def test_uncertain_data_are_put_an_octave_above_unit(
    kind: str, octaves: float, place: tuple[int, int]
) -> None:
    """E4M3 has 3 octaves below unit and 6 above."""
    assert place_of(STATIC, E4M3, kind, octaves) == place


@pytest.mark.parametrize("octaves", [0.0, 2.0, 4.0])
def test_data_of_known_amax_leave_a_margin_of_two_octaves(octaves: float) -> None:
    assert place_of(PEAK, E4M3, attributes.GRADIENT, octaves) == (4, 2)


@pytest.mark.parametrize("target", [E5M2, F16])
def test_other_formats_have_as_much_room_below(target: object) -> None:
    assert isinstance(target, type(E4M3))
    for info in (STATIC, PEAK):
        assert place_of(info, target, attributes.GRADIENT, 20.0) == (0, target.room)


def test_the_room_holds_the_data() -> None:
    """Normal numbers that are off by all the room lose less than four bits' rounding."""
    data = np.random.default_rng(0).standard_normal(1 << 14).astype(np.float32)
    for octaves in (3.0, 4.0):
        above, room = place_of(STATIC, E4M3, attributes.GRADIENT, octaves)
        for error in (-room, room):
            moved = np.ldexp(data, above + error)
            cast = np.clip(moved, -448, 448).astype(jnp.float8_e4m3fn).astype(np.float32)
            assert np.mean((cast - moved) ** 2) / np.mean(moved**2) < 1.05 * 2.0**-10


def test_declared_sizes_are_trusted_for_gradients_in_8_bits() -> None:
    square = Scaled(ONE, 0, Uncertainty({next(iter(of_root(0.5, 8.0).degrees)): 2.0}))
    assert octaves_of(square, E4M3, attributes.GRADIENT) == 1.0
    assert octaves_of(square, E4M3, attributes.DATA) == 16.0
    assert octaves_of(square, F16, attributes.GRADIENT) == 16.0


def test_measured_scales_are_read_and_written_as_such() -> None:
    for scale in (2.0**-4, Measured(0.0625)):
        pattern, found = parse_input_scale(input_scale_text("x", scale))
        assert (pattern, found, type(found)) == ("x", scale, type(scale))


def square_of(scale: float) -> Report:
    def function(x: jax.Array, w: jax.Array) -> jax.Array:
        return (x * x) @ w

    types = [shaped(64, 64)] * 2
    text = stablehlo_of(function, *types)
    settings = {"matmul.smallest": 1}
    how: Any = {"input_scale": {"x": scale, "w": 1.0}, "settings": settings}
    return scalify_hlo.rewrite(text, recipe="unit", report=True, **how)[1]


def test_a_power_of_a_measured_input_is_trusted() -> None:
    """The square of a declared one is measured at run time."""
    assert [len(square_of(kind(0.5)).remarks) for kind in (float, Measured)] == [1, 0]


def test_measured_scales_say_so() -> None:
    text = stablehlo_of(jnp.sin, np.array([1, 2], np.float32))
    scales = scalify_hlo.measured_scales(text, np.array([1, 2], np.float32))
    assert all(isinstance(scale, Measured) for scale in scales.values())
    rewritten = scalify_hlo.rewrite(text, recipe="propagate", input_scale=scales)
    assert " measured" in rewritten
