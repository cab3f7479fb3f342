"""Passes list the ops of `main` once, as long as none of them adds or erases any."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import jax
import pytest

import scalify_hlo
from examples import gpt2
from scalify_hlo._compat import ir
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import Options, rewrite_module, run_passes, run_pipeline
from scalify_hlo.passes.report import Report
from scalify_hlo.recipe import load_recipe
from tests.py.judge import parse
from tests.py.programs import PROGRAMS, Program

GPT2 = gpt2.Config(layers=2, width=64, heads=2, sequence=32, vocab=64, batch=4)
ROLES = "scalify-normalize,scalify-signature{every},scalify-roles,scalify-recognize{inputs}"
REST = "scalify-apply-recipe{recipe=unit},scalify-propagate{narrow predict=unit},scalify-verify"


def step() -> str:
    """A training step, in which whole layers are computed twice: MLIR's cse erases ops of it."""

    def twice(*arguments: object) -> object:
        return gpt2.adamw_step(*arguments), gpt2.adamw_step(*arguments)

    state = gpt2.abstract_state(GPT2, gpt2.ADAMW)
    return str(jax.export.export(jax.jit(twice))(*state).mlir_module())


def text_of(module: ir.Module) -> str:
    return str(module.operation.get_asm())


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_ops_are_counted_wherever_they_are(program: Program) -> None:
    counted: Counter[str] = Counter()

    def visit(op: ir.Operation) -> ir.WalkResult:
        counted[op.name] += 1
        return ir.WalkResult.ADVANCE

    module = parse(program.text())
    module.operation.walk(visit)
    report = Report()
    with module.context, ir.Location.unknown():
        NormalizePass().apply(module.operation, report)
    assert report.ops == counted


@pytest.mark.parametrize("between", ["cse", "canonicalize", "symbol-dce"])
def test_what_mlir_erases_between_passes_is_not_looked_at(between: str) -> None:
    source = step()
    whole, parts = parse(source), parse(source)
    run_pipeline(whole, f"{ROLES},{between},{REST}")
    for part in (ROLES, between, REST):
        run_pipeline(parts, part)
    assert text_of(whole) == text_of(parts)


@dataclass(frozen=True)
class Listed(NormalizePass):
    """Notes whether the pass before it handed a list on.

    Attributes:
        seen: Takes that.
    """

    seen: list[bool] = field(default_factory=list)

    def apply(self, _: ir.Operation, report: Report) -> None:
        """Notes it."""
        self.seen.append(report.listing is not None)


def listing_passes(*more: str) -> set[str]:
    """The passes of a rewrite after which there is a list, if others are run after them."""
    seen: list[bool] = []
    passes = Options(recipe=load_recipe("unit")).passes()
    watched = [each for one in passes for each in (one, Listed(seen))]
    report = run_passes(parse(step()), [*watched, *more])
    assert report.listing is None  # who has a report may have no program any more
    return {type(one).__name__ for one, was in zip(passes, seen, strict=True) if was}


def test_it_is_handed_on_between_passes_that_only_mark() -> None:
    assert listing_passes() == {"NormalizePass", "SignaturePass", "RolesPass", "RecognizePass"}


def test_it_is_not_where_mlir_s_own_passes_run() -> None:
    """They do not say what they erased."""
    assert not listing_passes("cse")


@pytest.mark.parametrize("recipe", ["fp8", "fp8-state", "unit"])
def test_no_mark_is_left(recipe: str) -> None:
    module = parse(step())
    signature = "same" if recipe == "unit" else "scaled"
    options = Options(recipe=load_recipe(recipe), signature=signature)  # type: ignore[arg-type]
    rewrite_module(module, options)
    assert "scalify." not in text_of(module)
    assert "scalify." not in scalify_hlo.rewrite(step(), recipe=recipe)
