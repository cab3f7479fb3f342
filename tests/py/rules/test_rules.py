"""Every rule, on every kind of operand: the rewritten program means the same, bit for bit."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalify_hlo.recipes.model import Recipe
from scalify_hlo.rules.table import RULES
from tests.py.programs import PROGRAMS, Program
from tests.py.programs.program import ABSENT, SIZES, Sizes, draw
from tests.py.shared.judge import assert_invariant, evaluate, evaluate_with_xla, rewritten

pytestmark = pytest.mark.slow

JUDGES = {"interpreter": evaluate, "xla": evaluate_with_xla}
RUN = [p for p in PROGRAMS if p.judge == "interpreter"]
COMPILED = [p for p in PROGRAMS if p.judge == "xla"]
REPORTED = [p for p in PROGRAMS if p.judge == "report"]
# The first of a list is what hypothesis tries first and shrinks to.
EXPONENTS = sorted(range(-20, 21), key=lambda e: (abs(e - 3), e))


@dataclass(frozen=True)
class Case:
    """The arguments of a program."""

    sizes: Sizes
    seed: int
    wild: bool
    exponents: tuple[int, ...]
    pairs: tuple[bool, ...]
    recipe: Recipe


def cases(arguments: int, span: int) -> st.SearchStrategy[Case]:
    size = st.sampled_from((2, 3, 1, 4))
    exponents = [e for e in EXPONENTS if abs(e) <= span]
    return st.builds(
        Case,
        sizes=st.tuples(size, size, size),
        seed=st.integers(0, 2**32 - 1),
        wild=st.booleans(),
        exponents=st.tuples(*[st.sampled_from(exponents)] * arguments),
        pairs=st.tuples(*[st.sampled_from((True, True, False))] * arguments),
        recipe=st.sampled_from((Recipe(), Recipe(meet="max"))),
    )


def check(program: Program, case: Case) -> None:
    assert_invariant(
        program.text(case.sizes),
        draw(program, case.sizes, case.seed, wild=case.wild),
        case.exponents,
        recipe=case.recipe,
        pairs=case.pairs,
        ulps=program.ulps,
        run=JUDGES[program.judge],
    )


def arguments(program: Program) -> int:
    return len(program.data.split())


@pytest.mark.parametrize("program", RUN, ids=str)
@settings(max_examples=6)
@given(data=st.data())
def test_invariance(program: Program, data: st.DataObject) -> None:
    check(program, data.draw(cases(arguments(program), program.span)))


@pytest.mark.parametrize("program", COMPILED, ids=str)
@settings(max_examples=2)
@given(data=st.data())
def test_invariance_on_xla(program: Program, data: st.DataObject) -> None:
    check(program, data.draw(cases(arguments(program), program.span)))


@pytest.mark.parametrize("program", REPORTED, ids=str)
def test_report_where_nothing_runs(program: Program) -> None:
    _, report = rewritten(program.text(), "scaled")
    assert tuple(r.scale for r in report.results) == program.scales
    static = {f"arg{i}": 2.0**3 for i, word in enumerate(program.data.split()) if word == "any"}
    rewritten(program.text(), "same", input_scale=static)


def test_every_rule_has_a_program() -> None:
    with_program = {p.op for p in PROGRAMS}
    inside = {op for op in RULES if any(f"{op}" in p.body for p in PROGRAMS)}
    refused = {op for op, rule in RULES.items() if rule.family == "refused"}
    assert set(RULES) - with_program - inside == refused | ABSENT


def test_programs_contain_their_op() -> None:
    for program in PROGRAMS:
        name = program.op.removeprefix("func.") if program.op.startswith("func.") else program.op
        assert name in program.text(SIZES), program.name
