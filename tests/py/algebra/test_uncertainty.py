"""The algebra of the uncertainty of predicted sizes, without any program."""

import math

import pytest

from scalify_hlo.algebra.scale import ONE, Scaled
from scalify_hlo.algebra.uncertainty import (
    CERTAIN,
    CONSTANT,
    GRADIENT,
    NORMALIZED,
    UNKNOWN,
    Uncertainty,
    mean,
    of_root,
    renamed,
)
from scalify_hlo.rules.families import product_uncertainty
from scalify_hlo.rules.parameters import parameters_of, returned


def info(uncertainty: Uncertainty) -> Scaled:
    return Scaled(ONE, 0, uncertainty)


def test_independent_factors_add_in_quadrature() -> None:
    product = of_root(3.0) * of_root(4.0)
    assert product.octaves == 5.0


def test_a_power_of_one_root_adds_linearly() -> None:
    x = of_root(0.5)
    assert (x * x * x).octaves == 1.5
    assert (x**3).octaves == 1.5


def test_a_ratio_of_one_root_is_certain() -> None:
    x = of_root(2.0)
    assert (x / x).octaves == 0
    assert not (x / x).degrees


def test_roots_halve() -> None:
    assert (of_root(2.0) ** 0.5).octaves == 1.0
    assert (of_root(2.0) ** -0.5).octaves == 1.0


def test_a_sum_has_the_mean_of_degrees() -> None:
    assert mean((of_root(2.0), CERTAIN)).octaves == 1.0
    x = of_root(2.0)
    assert mean((x, x)) is x


def test_many_roots_are_merged_without_losing_their_variance() -> None:
    product = CERTAIN
    for _ in range(64):
        product = product * of_root(1.0)
    assert product.octaves == pytest.approx(8.0)
    assert len(product.degrees) == 12


def test_what_is_known_to_be_missing_is_followed() -> None:
    x, y = of_root(1.0).drifting(0.75), of_root(1.0).drifting(0.5)
    assert (x * y).drift == 1.25
    assert (x / y).drift == 0.25
    assert (x**2).drift == 1.5
    assert mean((x, y)).drift == 0.625
    assert x.with_root(1.0).with_bias(1.0).drift == 0.75
    assert x.octaves == of_root(1.0).octaves


def test_a_product_with_a_measured_value_follows_its_amax() -> None:
    measured, other = of_root(1.0, peak="known"), of_root(1.0)
    assert (measured * other).peak
    assert not (other / measured).peak
    assert renamed(measured * other).peak
    gradient = of_root(1.0, peak=GRADIENT)
    assert renamed(measured * gradient).peak == (gradient * measured).peak == GRADIENT


def test_nothing_known_stays_so() -> None:
    assert (UNKNOWN * of_root(1.0)).octaves >= 1e6
    assert (UNKNOWN**0.5).octaves > 1e5


def test_correlation() -> None:
    x, y = of_root(1.0), of_root(1.0)
    assert x.correlation(x) == 1.0
    assert x.correlation(y) == 0.0
    assert (x * y).correlation(x) == pytest.approx(1 / math.sqrt(2))


def test_powers_of_one_root_are_correlated() -> None:
    x, y = of_root(0.5), of_root(2.0)
    assert (x**3).correlation(x**2) == pytest.approx(1.0)
    assert (x**3).correlation(x**-2) == pytest.approx(1.0)
    # 3x + y and 2x - y: (3*2*0.5² + 1*1*2²) / sqrt((9*0.5² + 2²) * (4*0.5² + 2²))
    assert (x**3 * y).correlation(x**2 / y) == pytest.approx(5.5 / math.sqrt(6.25 * 5.0))


def test_roots_are_shared() -> None:
    x, y = of_root(1.0), of_root(1.0)
    assert (x * y).degrees.keys() >= x.degrees.keys()
    assert not x.degrees.keys() & y.degrees.keys()
    assert not CERTAIN.degrees


def test_constants_are_told() -> None:
    element, x = of_root(1.0, constant=True), of_root(1.0)
    assert CONSTANT.constant
    assert element.constant
    assert not CERTAIN.constant
    assert not x.constant
    assert not (element * x).constant
    assert not (element * NORMALIZED).constant


def test_one_root_alone_is_single() -> None:
    x = of_root(1.0)
    assert x.single
    assert not CERTAIN.single
    assert not (x * of_root(1.0)).single
    assert not (x * NORMALIZED).single
    assert not x.with_bias(0.5).single


def test_the_root_of_a_computed_value_is_no_argument() -> None:
    """A loop gives each carry one root: a product with saved activations is no gain."""
    x, w = of_root(1.0), of_root(2.0)
    assert Uncertainty({renamed(x): 1.0}).single
    saved = Uncertainty({renamed(x * w): 1.0})
    assert not saved.single
    assert not Uncertainty({renamed(saved): 1.0}).single


def test_a_root_keeps_the_larger_of_its_deviations() -> None:
    assert (of_root(1.0, 3.0) ** 1.0).misdeclared == 1.0
    assert (of_root(1.0, 3.0) ** 2.0).misdeclared == 6.0
    assert (of_root(1.0, 3.0) ** -2.0).misdeclared == 6.0
    assert (of_root(4.0, 3.0) ** 2.0).misdeclared == 8.0


def test_a_mean_has_a_share_of_all() -> None:
    x, y = of_root(2.0), of_root(1.0)
    part = mean((x * y, x / y, NORMALIZED.with_bias(0.3)))
    assert list(part.degrees.values()) == [pytest.approx(2 / 3)]
    assert part.rest == pytest.approx(0.0625 / 9)
    assert part.bias == pytest.approx(0.1)


def test_the_first_power_is_the_same() -> None:
    x = of_root(2.0)
    assert x**1 is x
    assert CERTAIN**3 is CERTAIN
    assert x * CERTAIN is x
    assert CERTAIN * x is x


def test_a_power_multiplies_all() -> None:
    x = (of_root(2.0) * NORMALIZED).with_bias(0.5)
    part = x**-3
    assert list(part.degrees.values()) == [-3.0]
    assert part.rest == pytest.approx(9 * 0.0625)
    assert part.bias == pytest.approx(1.5)


def test_normalized_operands_of_one_matmul_do_not() -> None:
    """Queries and keys of one normalized value are products with weights of their own."""
    query = product_uncertainty(info(NORMALIZED), info(of_root(0.5)), terms=64)
    key = product_uncertainty(info(NORMALIZED), info(of_root(0.5)), terms=64)
    assert product_uncertainty(info(query), info(key), terms=64).octaves < 1.5


def test_calls_keep_the_degrees_of_arguments() -> None:
    """A function is walked once; its result is as uncertain as each call's arguments make it."""
    x = of_root(0.5)
    inner = parameters_of([info(of_root(1.0)), info(of_root(1.0))], casting=False)
    a, b = (f.uncertainty for f in inner.infos if isinstance(f, Scaled))
    call = parameters_of([info(x), info(x**5)], casting=False)
    assert call.key == inner.key
    (result,) = returned([info(a * b)], inner, call)
    assert isinstance(result, Scaled)
    assert result.uncertainty.octaves == 3.0


def test_functions_with_casts_are_told_apart_by_octaves() -> None:
    low, high = ([info(of_root(size))] for size in (0.5, 5.0))
    assert parameters_of(low, casting=True).key != parameters_of(high, casting=True).key
    assert parameters_of(low, casting=False).key == parameters_of(high, casting=False).key


def test_each_call_makes_roots_of_its_own() -> None:
    inner = parameters_of([info(of_root(1.0))], casting=False)
    made = info(of_root(1.0))
    results = [returned([made], inner, inner)[0] for _ in range(2)]
    first, second = (f.uncertainty for f in results if isinstance(f, Scaled))
    assert first.correlation(second) == 0


def test_powers_beyond_all_numbers_are_not_trusted() -> None:
    part = of_root(0.5)
    for _ in range(2000):
        part = part * part
    assert part.octaves == UNKNOWN.octaves
    assert (part**1e200).octaves == UNKNOWN.octaves
    assert (part / part).octaves == 0
