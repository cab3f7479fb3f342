"""Rules that are wrong by one power of two: the checks of the other files notice each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pytest

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import ONE, Scale, Scaled, ScaleInfo, Splat
from scalify_hlo.rules import isolated
from scalify_hlo.rules.registry import Apply
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.rules.table import RULES
from scalify_hlo.scaling import propagation
from tests.py.judge import assert_invariant, rewritten
from tests.py.programs import PROGRAMS, Program
from tests.py.programs.program import ABSENT, SIZES, draw
from tests.py.test_rules import JUDGES

pytestmark = pytest.mark.slow

Mutation = Callable[[Apply, list[bool], ir.OpView, ScaleRewriter], ir.OpView | None]
"""Applies a rule wrongly to an op, and notes whether that made a difference."""


def wrong_result(
    apply: Apply, made: list[bool], op: ir.OpView, rewriter: ScaleRewriter
) -> ir.OpView:
    """Twice the scale, or twice the constant."""
    op = apply(op, rewriter) or op
    for result in op.results:
        info = rewriter.info(result)
        if isinstance(info, Scaled):
            rewriter.set(result, Scaled(info.scale.shift(1), info.level))
            made.append(True)
        elif isinstance(info, Splat):
            rewriter.set(result, Splat(2 * info.value))
            made.append(True)
    return op


def wrong_operand(apply: Apply, made: list[bool], op: ir.OpView, rewriter: ScaleRewriter) -> None:
    """The first operand that is rescaled to a scale is rescaled to one twice as large."""
    rescale_to = rewriter.rescale_to

    def once(value: ir.Value, target: Scale, at: ir.Operation) -> ir.Value:
        rescaled = rescale_to(value, target, at)
        if rescaled == value or made_here:
            return rescaled
        made_here.append(True)
        return rewriter.multiply(rescaled, ONE.shift(-1), at)

    made_here: list[bool] = []
    with _instead(rewriter, "rescale_to", once), _instead(rewriter.rescaler, "rescale_to", once):
        apply(op, rewriter)
    made += made_here


def wrong_kept(apply: Apply, made: list[bool], op: ir.OpView, rewriter: ScaleRewriter) -> None:
    """A function of degree 0 whose result keeps the scale."""
    info = rewriter.info(op.operands[0])
    apply(op, rewriter)
    if isinstance(info, Scaled) and rewriter.format(op.results[0]) is not None:
        rewriter.set(op.results[0], info)
        made.append(True)


def out_of_range(apply: Apply, made: list[bool], op: ir.OpView, rewriter: ScaleRewriter) -> None:
    """Data taken where they overflow."""
    info = rewriter.info(op.operands[0])
    if isinstance(info, Scaled):
        rewriter.replace(
            op, 0, rewriter.rescale_to(op.operands[0], info.scale.shift(-200), op.operation)
        )
        made.append(True)
    apply(op, rewriter)


@contextmanager
def _instead(instance: object, name: str, function: object) -> Iterator[None]:
    right = getattr(instance, name)
    setattr(instance, name, function)
    try:
        yield
    finally:
        setattr(instance, name, right)


MUTATIONS: dict[str, tuple[Mutation, ...]] = {
    "stablehlo.sign": (wrong_kept,),
    "stablehlo.is_finite": (out_of_range,),
}
ALWAYS = (wrong_result, wrong_operand)


def _judged(op: str) -> bool:
    """Whether a wrong scale can be seen: an op that nothing runs shows only its results' scales."""
    rule = RULES[op]
    if op in ABSENT or rule.family in ("call", "expanded", "refused"):
        return False  # see below; what an op is expanded to has rules of its own
    if op == "stablehlo.tuple":
        return False  # the tuples that are left after normalizing are results, which nothing runs
    if rule.family == "source":
        return op == "stablehlo.constant"
    return rule.family not in ("opaque", "read") or any(p.judge != "report" for p in _programs(op))


def _programs(op: str) -> list[Program]:
    """The programs about an op, or else those that contain it."""
    return [p for p in PROGRAMS if p.op == op] or [p for p in PROGRAMS if f"{op} " in p.body]


def noticed(program: Program, seed: int, exponents: tuple[int, ...]) -> bool:
    """Whether the check of `test_rules` fails."""
    if program.judge == "report":
        _, report = rewritten(program.text(), "scaled")
        return tuple(r.scale for r in report.results) != program.scales
    try:
        assert_invariant(
            program.text(),
            draw(program, SIZES, seed),
            exponents,
            ulps=program.ulps,
            run=JUDGES[program.judge],
        )
    except AssertionError:
        return True
    return False


def runs(op: str) -> Iterator[Callable[[], bool]]:
    """Checks that concern an op."""
    # Between them the seeds take each branch of the programs that have some.
    starts = ((0, (2, -1)), (1, (-1, 3)), (2, (1, 2)), (11, (3, -2)))
    for (seed, exponents), program in product(starts, _programs(op)):
        count = len(program.data.split())
        yield partial(noticed, program, seed, (exponents * count)[:count])


@pytest.mark.parametrize("op", [op for op in sorted(RULES) if _judged(op)])
def test_mutants_are_noticed(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = RULES[op]
    kinds = 0
    for mutation in MUTATIONS.get(op, ALWAYS):
        made: list[bool] = []
        monkeypatch.setitem(RULES, op, replace(rule, apply=partial(mutation, rule.apply, made)))
        found = any(run() for run in runs(op))
        assert found or not made, f"{mutation.__name__} of {op} passes all checks"
        kinds += bool(made)
    assert kinds, f"no program makes a mutant of {op}"


def test_the_rules_themselves_pass() -> None:
    """The same checks find nothing where nothing was changed."""
    for op in ("stablehlo.divide", "stablehlo.scatter", "stablehlo.sqrt", "stablehlo.case"):
        assert not any(run() for run in runs(op))


@pytest.mark.parametrize("op", ["func.call", "stablehlo.composite"])
def test_mutants_of_calls_are_noticed(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results of a call that are taken to have twice the scale."""
    right = isolated.translated

    def wrong(*arguments: Any) -> ScaleInfo:
        info = right(*arguments)
        return Scaled(info.scale.shift(1), info.level) if isinstance(info, Scaled) else info

    monkeypatch.setattr(propagation, "translated", wrong)
    assert any(run() for run in runs(op))
