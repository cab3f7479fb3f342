"""The uncertainty of products."""

from __future__ import annotations

import math

import pytest

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import ANY, ONE, Scaled, Splat
from scalify_hlo.algebra.uncertainty import CERTAIN, NORMALIZED, Uncertainty, of_root
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.rules.families import product_uncertainty
from scalify_hlo.rules.isolated import placeholder
from scalify_hlo.rules.scale_rewriter import Notes, ScaleRewriter, Settings
from scalify_hlo.rules.sums import _is_constant, add
from tests.py.shared.judge import body_of, parse


def info(uncertainty: Uncertainty) -> Scaled:
    return Scaled(ONE, 0, uncertainty)


def test_contractions_have_a_bias() -> None:
    x, w = of_root(0.5), of_root(0.5)
    short, long = (product_uncertainty(info(x * w), info(x**2), 1, n) for n in (64, 256))
    assert short.bias == long.bias == pytest.approx(0.05)


def test_products_with_one_root_alone_have_a_larger_bias() -> None:
    x, w = of_root(0.5), of_root(0.5)
    assert product_uncertainty(info(x), info(w)).tails == pytest.approx(0.1)
    assert product_uncertainty(info(x * w), info(w)).tails == pytest.approx(0.1)
    assert product_uncertainty(info(x * w), info(x * w)).tails == 0


def test_a_contraction_averages_what_gains_made_larger() -> None:
    """Ten gains are off by an octave; behind a contraction, that is one of its errors."""
    x, gain, w = of_root(0.5), of_root(0.0), of_root(0.5)
    for _ in range(10):
        x = product_uncertainty(info(x), info(gain))
    assert x.octaves == pytest.approx(0.5 + 1.0)
    found = product_uncertainty(info(x), info(w), 1, 64)
    assert found.octaves == pytest.approx(0.05 + math.hypot(0.5, 0.5, 1.0))
    assert found.tails == 0


def test_the_bias_of_a_gradient_is_one_of_its_errors() -> None:
    x = of_root(3.0).with_bias(3.5).with_gain(0.5)
    assert x.averaged.octaves == pytest.approx(5.0)
    assert NORMALIZED.averaged is NORMALIZED


def test_products_with_what_has_no_root_have_none() -> None:
    x = of_root(0.5)
    assert product_uncertainty(info(x), info(NORMALIZED), terms=64).bias == 0
    assert product_uncertainty(info(x), Splat(3.0)) is x
    assert product_uncertainty(Splat(3.0), info(x), -1).degrees == (x**-1).degrees
    assert product_uncertainty(Splat(3.0), Splat(2.0)) is CERTAIN


def test_terms_of_one_root_may_add_up() -> None:
    """Twice as many octaves as the number of terms has, where all of both is one root."""
    x = of_root(0.5)
    shared = product_uncertainty(info(x), info(x), 1, 256)
    assert shared.octaves == pytest.approx(0.05 + math.hypot(1.0, 4.0))
    few = product_uncertainty(info(x), info(x), 1, 2)
    assert few.octaves == pytest.approx(0.05 + math.hypot(1.0, 1.0))
    single = product_uncertainty(info(x), info(x))
    assert single.octaves == pytest.approx(0.1 + math.hypot(1.0, 1.0))


def test_terms_of_different_roots_do_not() -> None:
    x, w = of_root(0.5), of_root(0.5)
    found = product_uncertainty(info(x), info(w), 1, 256)
    assert found.octaves == pytest.approx(0.05 + math.hypot(0.5, 0.5))
    assert len(found.degrees) == 2


def test_constants() -> None:
    assert _is_constant(None)
    assert _is_constant(Splat(1.0))
    assert not _is_constant(ANY)
    assert _is_constant(info(of_root(1.0, constant=True)))
    assert not _is_constant(info(of_root(1.0)))


SUM = """
func.func @main(%x: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %c : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@pytest.mark.parametrize(("degree", "octaves"), [(1, 0.0), (2, 4.0), (3, 6.0)])
def test_sums_of_a_power_and_a_constant_are_uncertain(degree: int, octaves: float) -> None:
    """Either may be the larger one; the uncertainty is 2 octaves for each degree."""
    module = parse(SUM)
    block = body_of(module)
    with module.context, ir.Location.unknown():
        settings = Settings(load_recipe("fp8"), narrow=True, tracks_uncertainty=True)
        rewriter = ScaleRewriter(placeholder(block), settings, Notes(), lambda *_: None)
        power = of_root(0.5) ** degree
        rewriter.set(block.arguments[0], info(power))
        add(block.operations[1], rewriter)
        found = rewriter.info(block.operations[1].results[0])
    assert isinstance(found, Scaled)
    assert found.uncertainty.octaves == pytest.approx(math.hypot(power.octaves, octaves))
