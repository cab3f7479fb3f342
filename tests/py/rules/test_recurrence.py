"""Sizes of a loop's carries: the algebra by itself, and what is read of a loop."""

from __future__ import annotations

import numpy as np
import pytest

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import UNBOUNDED
from scalify_hlo.algebra.scale import Scale, Scaled, ScaleInfo
from scalify_hlo.algebra.uncertainty import CERTAIN, Root, Uncertainty, of_root
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.rules.recurrence import (
    _circles,
    after_turns,
    entered,
    has_narrow_values,
    in_turns,
    made_anew,
    no_less,
    recurring,
    with_uncertainties,
    writing_functions,
)
from tests.py.shared.judge import body_of, parse

LOOP = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {{
  %start = stablehlo.constant dense<{start}> : tensor<i32>
  %0:4 = stablehlo.while(%i = %start, %a = %x, %b = %y, %c = %w)
      : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    cond {{
      %limit = stablehlo.constant dense<{limit}> : tensor<i32>
      %1 = stablehlo.compare {direction}, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }} do {{
      %step = stablehlo.constant dense<{step}> : tensor<i32>
      %1 = stablehlo.{moved} %i, %step : tensor<i32>
      %2 = stablehlo.multiply %a, %c : tensor<4xf32>
      stablehlo.return %1, %2, %b, %c : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    }}
  return %0#1 : tensor<4xf32>
}}
"""
COUNTED = {"start": 0, "limit": 12, "step": 1, "direction": "LT", "moved": "add"}


def loop(**changes: object) -> tuple[ir.Module, ir.Operation]:
    """A loop, and the module that it is in."""
    module = parse(LOOP.format(**COUNTED | changes))
    block = body_of(module)
    return module, block.operations[1].operation


def info(uncertainty: Uncertainty, exponent: int = 0, level: float = 0.0) -> Scaled:
    return Scaled(Scale(exponent), level, uncertainty)


def after(op: ir.Operation, *ends: ScaleInfo, roots: list[Root | None]) -> list[float | None]:
    """The octaves of carries after a loop that they enter near unit and certain to an octave."""
    starts: list[ScaleInfo] = [info(of_root(1.0)) if root else None for root in roots]
    found = after_turns(op, starts, ends, roots)
    return [None if known is None else known.octaves for known in found]


class TestTurns:
    """A carry that adds up has the error of a turn as often as the loop turns."""

    @pytest.mark.parametrize(
        ("changes", "turns"),
        [
            ({}, 12),
            ({"start": 12}, 1),
            ({"direction": "EQ"}, 64),
        ],
    )
    def test_of_a_loop(self, changes: dict[str, object], turns: int) -> None:
        _, op = loop(**changes)
        root = Root(1.0)
        one = Uncertainty({root: 1.0}, bias=0.25)
        assert after(op, None, info(one), None, None, roots=[None, root, None, None]) == [
            None,
            1.0 + 0.25 * turns,
            None,
            None,
        ]


MINE = Root(1.0)


class TestAfterTurns:
    @pytest.mark.parametrize(
        ("end", "octaves"),
        [
            (info(Uncertainty({Root(3.0): 1.0}, bias=0.5)), 3.5),  # made anew
            (info(Uncertainty({}, bias=0.5)), 1.0),
            # Errors converge below degree one.
            (info(Uncertainty({MINE: 0.5}, bias=2.0)), 2.0 * sum(0.5**i for i in range(12))),
            (info(Uncertainty({MINE: 0.75}, bias=2.0)), 2.0 * sum(0.75**i for i in range(12))),
            (info(Uncertainty({MINE: 0.8}, bias=2.0)), 25.0),
            (info(Uncertainty({MINE: 2.0})), UNBOUNDED),  # multiplied with itself
            (info(Uncertainty({MINE: 1.0}), exponent=2, level=1.0), 37.0),  # of another size
        ],
    )
    def test_of_one_carry(self, end: Scaled, octaves: float) -> None:
        _, op = loop()
        found = after(op, None, end, None, None, roots=[None, MINE, None, None])[1]
        assert found == pytest.approx(octaves, rel=1e-12)

    def test_carries_that_feed_each_other_grow_together(self) -> None:
        """Each is the other to the power of 1.5: two turns square them and more."""
        _, op = loop()
        a, b = Root(1.0), Root(1.0)
        ends = info(Uncertainty({b: 1.5})), info(Uncertainty({a: 1.5}))
        found = after(op, None, *ends, None, roots=[None, a, b, None])
        assert found[1:3] == [UNBOUNDED, UNBOUNDED]

    def test_a_carry_is_as_uncertain_as_what_it_takes_of_another(self) -> None:
        _, op = loop()
        a, b = Root(1.0), Root(1.0)
        fed = info(Uncertainty({b: 2.0}))
        counting = info(Uncertainty({b: 1.0}, bias=0.5))
        found = after(op, None, fed, counting, None, roots=[None, a, b, None])
        assert found[2] == 1.0 + 0.5 * 12
        assert found[1] == 2 * (1.0 + 0.5 * 12)


class TestInTurns:
    """Eleven of twelve turns have made errors before the last."""

    @staticmethod
    def inside(end: Scaled, root: Root, *, predicts: bool = True) -> tuple[Scaled, Uncertainty]:
        """A carry at the start of an iteration, and the uncertainty after the last if it adds."""
        _, op = loop()
        start = info(of_root(1.0))
        infos, added = in_turns(op, [None, start], [None, end], [None, root], predicts=predicts)
        carry = infos[1]
        assert isinstance(carry, Scaled)
        return carry, added[1] or CERTAIN

    def test_errors_of_the_last_turn_are_in_the_result_alone(self) -> None:
        root = Root(1.0)
        carry, last = self.inside(info(Uncertainty({root: 1.0}, bias=0.25)), root)
        assert carry.uncertainty.octaves == 1.0 + 0.25 * 11
        assert last.octaves == 1.0 + 0.25 * 12

    def test_a_level_that_moves_is_in_the_middle(self) -> None:
        root = Root(1.0)
        carry, last = self.inside(info(Uncertainty({root: 1.0}), level=0.5), root)
        assert carry.level == 0.5 * 11 / 2
        assert carry.uncertainty.octaves == 1.0 + 0.5 * 11 / 2
        assert last.octaves == 1.0 + 0.5 * 12 - 0.5 * 11 / 2
        fallen, _ = self.inside(info(Uncertainty({root: 1.0}), level=-0.5), root)
        assert fallen.level == -carry.level
        assert fallen.uncertainty.octaves == carry.uncertainty.octaves

    def test_levels_are_whole_numbers_unless_sizes_are_predicted(self) -> None:
        root = Root(1.0)
        end = info(Uncertainty({root: 1.0}), level=0.5)
        carry, _ = self.inside(end, root, predicts=False)
        assert carry.level == round(0.5 * 11 / 2)
        assert carry.uncertainty.octaves == 1.0 + max(carry.level, 5.5 - carry.level)

    def test_products_of_slices_of_an_argument_are_powers_of_it(self) -> None:
        root, slices = Root(1.0), Root(0.5, 8.0)
        carry, last = self.inside(info(Uncertainty({root: 1.0, slices: 1.0})), root)
        assert carry.uncertainty.octaves == 1.0 + 0.5 * 11
        assert carry.uncertainty.misdeclared == last.misdeclared == 1.0 + 8.0 * 12

    def test_a_carry_that_stays_keeps_what_its_powers_are_worth(self) -> None:
        root = Root(0.5, 8.0, peak="known")
        carry, _ = self.inside(info(Uncertainty({root: 1.0})), root)
        assert (carry.uncertainty**2).misdeclared == 16.0
        assert carry.uncertainty.peak

    def test_an_error_that_converges(self) -> None:
        root = Root(1.0)
        carry, last = self.inside(info(Uncertainty({root: 0.5}), level=1.0), root)
        assert carry.level == pytest.approx(1.0, abs=0.001)
        assert carry.uncertainty.octaves == pytest.approx(1.0, abs=0.001)
        assert last is CERTAIN


def test_results_are_no_less_uncertain_than_turns_make_them() -> None:
    known, less = info(of_root(2.0)), of_root(1.0)
    assert no_less([known, known, None], [less, None, less]) == [known, known, None]
    (found,) = no_less([info(of_root(1.0))], [of_root(2.0)])
    assert isinstance(found, Scaled)
    assert found.uncertainty.octaves == 2.0


def test_entered_carries_have_roots_of_their_own() -> None:
    shared = of_root(2.0)
    inside, roots = entered([info(shared), None, info(shared)])
    first, nothing, last = inside
    assert isinstance(first, Scaled)
    assert isinstance(last, Scaled)
    assert nothing is None
    assert [root is None for root in roots] == [False, True, False]
    assert first.uncertainty.octaves == last.uncertainty.octaves == 2.0
    assert not first.uncertainty.degrees.keys() & last.uncertainty.degrees.keys()


def test_with_uncertainties() -> None:
    known, found = info(of_root(1.0)), of_root(3.0)
    assert with_uncertainties([known, None, known], [found, found, None]) == [
        known._replace(uncertainty=found),
        None,
        known,
    ]


@pytest.mark.parametrize(("turns", "uncertain"), [(1, 0.0), (4, 2.0), (16, 4.0), (1000, 4.0)])
def test_recurring_results_are_uncertain(turns: int, uncertain: float) -> None:
    a, b = Root(0.0), Root(0.0)
    ends = [info(Uncertainty({a: 1.0})), info(Uncertainty({b: 1.0})), info(Uncertainty({b: 1.0}))]
    found = recurring(ends, [a, b, a], [True, False, True], turns)
    octaves = [end.uncertainty.octaves for end in found if isinstance(end, Scaled)]
    assert octaves == [uncertain, 0.0, 0.0]
    misdeclared = [end.uncertainty.misdeclared for end in found if isinstance(end, Scaled)]
    assert misdeclared == [4.0, 0.0, 0.0]


def test_carries_that_are_made_anew() -> None:
    _, op = loop()
    assert made_anew(op, ()) == [True, True, False, False]


WRITING = """
func.func private @written(%x: tensor<4xf32>, %u: tensor<1xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i
    : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @both(%x: tensor<4xf32>, %u: tensor<1xf32>, %i: tensor<i32>)
    -> (tensor<4xf32>, tensor<1xf32>) {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i
    : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
  return %0, %u : tensor<4xf32>, tensor<1xf32>
}
func.func private @negated(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @caller(%x: tensor<4xf32>, %u: tensor<1xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  %0 = call @written(%x, %u, %i) : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %u: tensor<1xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  %0 = call @caller(%x, %u, %i) : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def test_functions_that_return_what_they_write_into() -> None:
    module = parse(WRITING)
    functions = functions_in(module.operation)
    assert writing_functions(functions) == {"written", "caller", "main"}


NARROW = """
func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {{
  %0 = "stablehlo.if"(%p) ({{
    {inner}
    stablehlo.return %x : tensor<4xf32>
  }}, {{
    stablehlo.return %x : tensor<4xf32>
  }}) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {{
  return %x : tensor<4xf32>
}}
"""


@pytest.mark.parametrize(
    ("inner", "functions", "narrow"),
    [
        ("%1 = stablehlo.negate %x : tensor<4xf32>", (), False),
        ("%1 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf16>", (), True),
        ("%1 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xbf16>", (), False),
        ('%1 = stablehlo.negate %x {scalify.cast = "activation"} : tensor<4xf32>', (), True),
        ("%1 = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>", (), False),
        ("%1 = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>", ("f",), True),
    ],
)
def test_blocks_with_narrow_values(inner: str, functions: tuple[str, ...], narrow: bool) -> None:
    module = parse(NARROW.format(inner=inner))
    main = module.body.operations[0]
    assert has_narrow_values(main.regions[0].blocks, functions) is narrow


def test_groups_of_carries_that_feed_each_other() -> None:
    feeds = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0]], dtype=bool)
    assert _circles(feeds) == [[1, 2, 3]]
    assert _circles(feeds & feeds.T) == []
