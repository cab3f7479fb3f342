"""The scale algebra: a group of monomials, and meets that choose."""

from __future__ import annotations

import math
from functools import reduce
from operator import mul
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalify_hlo.algebra.limits import GIVEN_BOUND, SMALL_TERM, TRUSTED_LEVEL
from scalify_hlo.algebra.scale import (
    ANY,
    ONE,
    AnyScale,
    RuntimeScale,
    Scale,
    Scaled,
    Splat,
    levels_at,
    mean_uncertainty,
    meet,
    splat_info,
)
from scalify_hlo.algebra.scale_origins import ScaleOrigin
from scalify_hlo.algebra.uncertainty import of_root

GENERATORS = [RuntimeScale(i, f"s{i}", state=i < 2) for i in range(4)]

powers = st.dictionaries(st.sampled_from(GENERATORS), st.integers(-6, 6), max_size=4)
scales = st.builds(lambda e, p: Scale.of(e, p.items()), st.integers(-40, 40), powers)
static_scales = st.integers(-40, 40).map(Scale)
small = st.integers(-5, 5)
levels = st.integers(-8, 8)
scaled_infos = st.builds(Scaled, scales, levels)
static_infos = st.builds(Scaled, static_scales, levels)


def value(scale: Scale, exponents: tuple[int, ...]) -> int:
    """log2 of a scale when its run-time scales are ``2^exponents``."""
    return scale.exponent + sum(k * exponents[g.index] for g, k in scale.powers)


exponents = st.tuples(*[st.integers(-GIVEN_BOUND, GIVEN_BOUND)] * len(GENERATORS))


class TestGroup:
    @given(scales, scales, scales)
    def test_associates(self, a: Scale, b: Scale, c: Scale) -> None:
        assert (a * b) * c == a * (b * c)

    @given(scales, scales)
    def test_commutes(self, a: Scale, b: Scale) -> None:
        assert a * b == b * a
        assert hash(a * b) == hash(b * a)

    @given(scales)
    def test_has_one_and_inverses(self, a: Scale) -> None:
        assert a * ONE == a == ONE * a
        assert a * a**-1 == ONE == a / a

    @given(scales, scales)
    def test_quotient_undoes_product(self, a: Scale, b: Scale) -> None:
        assert a * b / b == a
        assert a / b == a * b**-1

    @given(scales, scales, exponents)
    def test_is_what_numbers_do(self, a: Scale, b: Scale, at: tuple[int, ...]) -> None:
        assert value(a * b, at) == value(a, at) + value(b, at)
        assert value(a / b, at) == value(a, at) - value(b, at)

    @given(scales, st.integers(-40, 40))
    def test_shift_is_product_with_a_power(self, a: Scale, e: int) -> None:
        assert a.shift(e) == a * Scale(e)


class TestPowers:
    @given(scales, small, small)
    def test_add_and_multiply(self, a: Scale, m: int, n: int) -> None:
        assert a**m * a**n == a ** (m + n)
        assert (a**m) ** n == a ** (m * n)

    @given(scales, scales, small)
    def test_distribute(self, a: Scale, b: Scale, n: int) -> None:
        assert (a * b) ** n == a**n * b**n

    @given(scales, st.integers(1, 5))
    def test_root_undoes_power(self, a: Scale, n: int) -> None:
        assert (a**n).divides(n)
        assert (a**n).root(n) == a

    @given(scales, st.integers(2, 5))
    def test_root_is_refused_where_there_is_none(self, a: Scale, n: int) -> None:
        odd = (a**n).shift(1)
        assert not odd.divides(n)
        with pytest.raises(ValueError, match="no monomial root"):
            odd.root(n)


class TestPortions:
    bounds = st.sampled_from((31, 62, 126, 1022))

    @given(scales, bounds)
    def test_multiply_back(self, a: Scale, bound: int) -> None:
        assert reduce(mul, a.portions(bound), ONE) == a

    @given(scales, bounds)
    def test_keep_within_the_bound(self, a: Scale, bound: int) -> None:
        assert all(p.reach <= bound for p in a.portions(bound))

    @given(scales, bounds)
    def test_whole_where_it_fits(self, a: Scale, bound: int) -> None:
        if a.reach <= bound:
            assert list(a.portions(bound)) == [a]

    @given(scales, exponents)
    def test_reach_is_a_bound(self, a: Scale, at: tuple[int, ...]) -> None:
        assert abs(value(a, at)) <= a.reach


class TestProperties:
    @given(scales)
    def test_static_is_degree_zero(self, a: Scale) -> None:
        assert a.static == (a.degree == 0)

    def test_state_is_the_scale_of_an_argument_itself(self) -> None:
        own, derived = GENERATORS[0], GENERATORS[2]
        assert Scale(0, ((own, 1),)).state
        others = (ONE, Scale(1, ((own, 1),)), Scale(0, ((own, 2),)), Scale(0, ((derived, 1),)))
        assert not any(s.state for s in others)

    def test_prints_as_reports_show_it(self) -> None:
        a, b, *_ = GENERATORS
        assert str(ONE) == "2^0"
        assert str(Scale(-4)) == "2^-4"
        assert str(Scale(0, ((a, 1),))) == "s0"
        assert str(Scale(3, ((a, 1), (b, -2)))) == "2^3*s0*s1^-2"
        assert str(Scaled(Scale(2), 5)) == "2^2 level 5"
        assert str(ANY) == "any"

    def test_order_of_birth_does_not_matter(self) -> None:
        a, b, *_ = GENERATORS
        assert Scale.of(0, [(b, 2), (a, 1)]) == Scale.of(0, [(a, 1), (b, 2)])


class TestMeet:
    @given(st.lists(scaled_infos, min_size=1, max_size=4))
    def test_chooses_the_scale_of_one_operand(self, operands: list[Scaled]) -> None:
        assert meet(operands) in [f.scale for f in operands]

    @given(st.lists(static_infos, min_size=1, max_size=4), st.randoms(use_true_random=False))
    def test_order_is_nothing_to_static_scales(
        self, operands: list[Scaled], random: Random
    ) -> None:
        """Of operands that are as large, which one is chosen makes no difference once settled."""
        shuffled = random.sample(operands, len(operands))
        assert normalized_at(meet(operands), operands) == normalized_at(meet(shuffled), shuffled)

    @given(st.lists(static_infos, min_size=1, max_size=4))
    def test_largest_static_scale_wins(self, operands: list[Scaled]) -> None:
        largest = max(f.normalized.exponent for f in operands)
        chosen = meet(operands)
        assert largest in [f.normalized.exponent for f in operands if f.scale == chosen]

    @given(scales, st.lists(levels, min_size=1, max_size=4))
    def test_equal_scales_stay(self, scale: Scale, heights: list[int]) -> None:
        assert meet([Scaled(scale, height) for height in heights]) == scale

    @given(scaled_infos, scaled_infos)
    def test_anchors_go_first(self, a: Scaled, b: Scaled) -> None:
        assert meet([a, b], [False, True]) == b.scale
        assert meet([a, b], [True, False]) == a.scale

    @given(scaled_infos, scaled_infos)
    def test_without_an_anchor_all_may_choose(self, a: Scaled, b: Scaled) -> None:
        assert meet([a, b], [False, False]) == meet([a, b])

    def test_an_argument_s_own_scale_is_the_anchor(self) -> None:
        state = Scaled(Scale(0, ((GENERATORS[1], 1),)))
        derived = Scaled(Scale(0, ((GENERATORS[0], 2),)))
        static = Scaled(Scale(-3))
        for operands in ([state, derived, static], [static, derived, state]):
            assert meet(operands) == state.scale

    def test_fewer_generators_make_the_better_anchor(self) -> None:
        short = Scaled(Scale(5, ((GENERATORS[2], 1),)))
        long = Scaled(Scale(0, ((GENERATORS[0], 2), (GENERATORS[1], -1))))
        assert meet([long, short]) == short.scale


def normalized_at(scale: Scale, operands: list[Scaled]) -> float:
    """log2 of the rms that a sum of the operands is expected to have, scale included."""
    return scale.exponent + max(levels_at(scale, operands))


class TestLevels:
    @given(st.lists(scaled_infos, min_size=1, max_size=4))
    def test_own_level_stays_where_nothing_is_brought(self, operands: list[Scaled]) -> None:
        for info in operands:
            assert info.level in levels_at(info.scale, operands)

    @given(static_infos, static_scales)
    def test_bringing_moves_the_level_against_the_scale(self, info: Scaled, to: Scale) -> None:
        (level,) = levels_at(to, [info])
        assert to.exponent + level == info.scale.exponent + info.level

    def test_unknown_distances_are_passed_over(self) -> None:
        own = Scaled(Scale(0, ((GENERATORS[0], 1),)), 5)
        other = Scaled(Scale(0, ((GENERATORS[1], 1),)), 7)
        assert levels_at(own.scale, [own, other]) == [5]
        assert levels_at(ONE, [own, other]) == [0]

    @given(scales, st.integers(-300, 300))
    def test_settling_is_held_within_what_levels_are_trusted_for(
        self, scale: Scale, level: int
    ) -> None:
        paid = (Scaled(scale, level).normalized / scale).exponent
        assert abs(paid) == min(abs(level), TRUSTED_LEVEL)
        assert paid * level >= 0


class TestSplats:
    @pytest.mark.parametrize("number", [0.0, -0.0, float("inf"), float("-inf"), float("nan")])
    def test_right_at_every_scale(self, number: float) -> None:
        assert splat_info(number) is ANY
        assert isinstance(ANY, AnyScale)

    @given(st.floats(allow_nan=False, allow_infinity=False).filter(bool))
    def test_finite_numbers_adopt(self, number: float) -> None:
        info = splat_info(number)
        assert isinstance(info, Splat)
        assert abs(math.log2(abs(number)) - info.level) <= 0.5

    @pytest.mark.parametrize(("number", "level"), [(1.0, 0), (0.9, 0), (-8.0, 3), (0.26, -2)])
    def test_level_is_the_nearest_power(self, number: float, level: int) -> None:
        assert Splat(number).level == level


class TestDefaults:
    def test_of_scales(self) -> None:
        assert ONE.depth == 0
        assert Scale(3).depth == 0

    def test_of_run_time_scales(self) -> None:
        runtime = RuntimeScale(0, "s0")
        assert runtime.state
        assert Scale(0, ((runtime, 2),)).depth == runtime.depth == 0

    def test_of_roots_and_of_what_is_uncertain(self) -> None:
        runtime = RuntimeScale(0, "s0", bound=20, depth=2, size=6.0, uncertainty=of_root(3.0))
        certain = RuntimeScale(1, "s1", size=1.0)
        product = Scale(3, ((runtime, 2), (certain, 1)))
        assert product.uncertainty.octaves == 6.0
        assert Scale(3, ((certain, 2),)).uncertainty.octaves == 0.0
        root = ScaleOrigin((product,), 2)
        assert (root.size, root.depth) == ((3 + 12 + 1) / 2, 2)
        assert root.bound == product.reach // 2 + 1
        assert root.uncertainty.octaves == 3.0


class TestMeanUncertainty:
    LARGE = Scaled(ONE, 0, of_root(8.0))

    @pytest.mark.parametrize("scale", [ONE, Scale(-3)])
    def test_small_terms_do_not_make_a_sum_more_certain(self, scale: Scale) -> None:
        small = Scaled(scale, -SMALL_TERM - 1 - scale.exponent, of_root(1.0))
        assert mean_uncertainty([self.LARGE, small]).octaves == 8.0

    def test_terms_of_similar_size_do(self) -> None:
        other = Scaled(ONE, -SMALL_TERM, of_root(1.0))
        assert mean_uncertainty([self.LARGE, other]).octaves < 5.0

    def test_a_small_term_may_be_more_uncertain_than_predicted(self) -> None:
        small = Scaled(ONE, -20, of_root(40.0))
        assert mean_uncertainty([self.LARGE, small]).octaves > 20.0
