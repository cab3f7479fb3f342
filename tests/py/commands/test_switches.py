"""Switches of sites: a program with some on computes what a rewrite of these sites computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo.commands.choose.bench import Bench
from scalify_hlo.commands.choose.measuring import Measuring
from scalify_hlo.commands.choose.sites import sites_of
from scalify_hlo.program.given import readable
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.run import runner
from tests.py.shared import choosing
from tests.py.shared.choosing import batch, good_step, parameters, planted_step
from tests.py.shared.judge import program_of

SLOW = pytest.mark.slow


def scanned_loss(params: Any, x: Any, y: Any) -> Any:
    """The loss of a loop of layers, a function that is called twice, and a branch."""
    weights = jnp.stack(list(params.values()))
    called = jax.jit(lambda h: jnp.tanh(h @ params["first"]))
    h, _ = jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), called(called(x)), weights)
    h = jax.lax.cond(x[0, 0] > 0, lambda h: h @ params["second"], jnp.tanh, h)
    return jnp.mean((h - y) ** 2)


def scanned_step(params: Any, x: Any, y: Any) -> Any:
    """A step of that loss."""
    return choosing.descent(scanned_loss, params, x, y)


def quantized(step: Any, recipe: Recipe) -> tuple[Bench, list[str]]:
    """A bench, and the sites that a recipe quantizes."""
    bench = Bench(choosing.exported(step), [(parameters(), *batch())])
    report = bench.switched(bench.asked(recipe)).report
    return bench, [site.name for site in sites_of(report.matmuls, "step") if site.narrow]


def alone(recipe: Recipe, names: Sequence[str]) -> Recipe:
    """The recipe for some sites only."""
    return replace(recipe, matmul=replace(recipe.matmul, include=tuple(names)))


RECIPES: Any = [
    ("fp8-current", {}),
    ("unit", {}),
    *(
        pytest.param(name, settings, marks=SLOW)
        for name, settings in (
            ("fp8-delayed", {}),
            ("fp8-calibrated", {}),
            ("mxfp8", {}),
            ("nvfp4", {}),
            ("fp16-state", {}),
            ("fp8-current", {"state.gradient": "bf16"}),
            ("fp8-current", {"compute": "bf16"}),
        )
    ),
]


@pytest.mark.parametrize(("name", "settings"), RECIPES)
def test_a_setting_has_the_errors_of_its_own_rewrite(name: str, settings: dict[str, Any]) -> None:
    recipe = load_recipe(name, settings)
    bench, names = quantized(planted_step, recipe)
    switches = bench.switched(bench.asked(recipe))
    for chosen in (names, names[2:3], names[-1:]):
        mine = bench.outcome_at(switches, chosen)
        own = bench.outcome(bench.asked(alone(recipe, chosen)))
        assert [each.name for each in mine.errors] == [each.name for each in own.errors]
        for one, other in zip(mine.errors, own.errors, strict=True):
            # XLA leaves out some roundings to bf16, others in each program.
            assert one.ratio == pytest.approx(other.ratio, rel=0.01, abs=1e-7)
        assert mine.losses[0] == pytest.approx(own.losses[0], rel=2e-5)
        assert mine.report.totals.matmuls == own.report.totals.matmuls


def test_a_setting_has_the_bits_of_its_own_rewrite() -> None:
    """On the interpreter, which computes op by op."""
    x, first, second = np.random.default_rng(0).standard_normal((3, 16, 16), np.float32)
    program = program_of(
        jax.grad(lambda w, v, x: jnp.sum(jnp.tanh(x @ w) @ v), (0, 1)), first, second, x
    )
    recipe, sample = load_recipe("fp8-current"), [(first, second, x)]
    bench = Bench(program, sample)
    switches = bench.switched(bench.asked(recipe))
    names = [site.name for site in sites_of(switches.report.matmuls, "step") if site.narrow]
    assert len(names) == 4
    source, run = readable(program), partial(runner.compiled, backend="interpreter")
    for chosen in (names, names[:1], names[-2:]):
        mine = run(replace(source, module=switches.fixed(chosen)))([first, second, x])
        own = readable(scalify_hlo.rewrite(program, recipe=alone(recipe, chosen)))
        for one, other in zip(mine, run(own)([first, second, x]), strict=True):
            np.testing.assert_array_equal(one, other)


@SLOW
def test_loops_branches_and_calls_have_switches() -> None:
    recipe = load_recipe("fp8-current")
    bench, names = quantized(scanned_step, recipe)
    switches = bench.switched(bench.asked(recipe))
    for name in names:
        mine = bench.outcome_at(switches, [name])
        own = bench.outcome(bench.asked(alone(recipe, [name])))
        assert mine.losses[0] == pytest.approx(own.losses[0], rel=1e-6)
        assert mine.report.totals.matmuls == own.report.totals.matmuls


def test_constants_are_wide_where_the_switch_is_off() -> None:
    x, weights = batch()[0], parameters()
    program = program_of(lambda x: jnp.tanh(x @ weights["first"]) @ weights["second"], x)
    bench = Bench(program, [(x,)])
    switches = bench.switched(bench.asked(load_recipe("fp8-current")))
    (wide,) = bench.outcome_at(switches, ()).errors
    assert wide.snr_db > 120


def test_one_program_is_compiled_for_all_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, compile_module = [], runner.compile_module

    def counted(*given: Any, **options: Any) -> Any:
        compiled.append(given)
        return compile_module(*given, **options)

    monkeypatch.setattr(runner, "compile_module", counted)
    bench = Bench(choosing.exported(good_step), [(parameters(), *batch())])
    told: list[int] = []
    measuring = Measuring(bench, load_recipe("fp8-current"), told.append)
    effects = {measuring.effect([site]) for site in measuring.sites}
    effects |= {measuring.effect([site]) for site in measuring.sites}
    assert len(effects) == len(measuring.sites) == measuring.runs == 11
    assert told == [*range(1, 12)]
    assert len(compiled) == 2  # The original and the rewrite.
