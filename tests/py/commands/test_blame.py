"""`blame`: the sites that cost accuracy, found by runs with all other sites wide."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo.commands.choose.blame import Bisection, BlameOptions, main_part
from scalify_hlo.commands.choose.model import Blame, BlamedSite, Effect
from scalify_hlo.commands.choose.results import GRADIENT, OUTPUT, ResultError
from scalify_hlo.commands.choose.sites import Site, sites_of
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.program.program import read_text
from tests.py.shared import choosing
from tests.py.shared.choosing import WIDTH, batch, good_step, parameters, planted_step
from tests.py.shared.commands import call
from tests.py.shared.judge import decibels, program_of, stablehlo_of

PAGE = Path(__file__).resolve().parents[3] / "docs" / "compare.md"
PLANTED = "planted@forward"
FORWARD, DGRAD = "dot_general@forward", "dot_general@dgrad"


def blamed(step: Any, recipe: Any = "fp8-current", **options: Any) -> Blame:
    program = choosing.exported(step)
    return scalify_hlo.blame(program, [(parameters(), *batch())], recipe, **options)


@cache
def planted() -> Blame:
    return blamed(planted_step, snr_db=15.0)


SLOW = pytest.mark.slow


@cache
def every_site() -> Blame:
    return blamed(good_step, explained=1.0)


@pytest.mark.parametrize(
    "recipe",
    ["fp8-current", *(pytest.param(name, marks=SLOW) for name in ("fp8-delayed", "unit"))],
)
def test_a_planted_site_is_first(recipe: str) -> None:
    found = planted() if recipe == "fp8-current" else blamed(planted_step, recipe, runs=16)
    first = found.sites[0]
    assert first.site.name == PLANTED
    assert first.share > 0.4
    assert all(first.share > 2 * other.share for other in found.sites[1:])
    assert first.site.part == "forward"
    assert "choosing.py:" in first.site.location


@SLOW
def test_no_site_stands_out_where_none_is_planted() -> None:
    found = every_site()
    assert len(found.sites) == 11
    assert found.rest == 0
    assert max(each.share for each in found.sites) < 0.5
    assert sum(each.share for each in found.sites) == pytest.approx(1)


def test_a_site_has_the_error_of_a_program_with_it_alone() -> None:
    first = planted().sites[0]
    program = choosing.exported(planted_step)
    alone = scalify_hlo.load_recipe("fp8-current", {"matmul.include": [PLANTED]})
    before, after = (
        each.call(parameters(), *batch())
        for each in (program, scalify_hlo.rewrite(program, recipe=alone, report=True)[0])
    )
    assert first.effect.loss == pytest.approx(float(after[1] - before[1]), abs=1e-6)
    changes = [np.float64(each[0]["first"]) - parameters()["first"] for each in (before, after)]
    snr = decibels(*changes)
    (one,) = (each for each in first.effect.results if each.name == "result[0]['first']")
    assert one.snr_db == pytest.approx(snr, abs=0.1)


def test_the_recipe_without_the_worst_is_better() -> None:
    found = planted()
    assert found.whole.passes(4)
    assert not found.whole.passes(15)
    assert found.effect.passes(15)
    assert found.left_out[0].name == PLANTED
    assert found.result.matmul.exclude[0] == PLANTED
    assert found.effect.narrow is not None
    assert found.effect.narrow >= 0.8
    # XLA may fuse a matmul that is wide otherwise than that of the original.
    assert min(each.snr_db for each in found.wide.results) > 100


def test_the_recipe_can_be_read_and_passes(tmp_path: Path) -> None:
    path = tmp_path / "better.toml"
    path.write_text(planted().toml)
    assert scalify_hlo.load_recipe(path) == planted().result
    comparison = scalify_hlo.compare_recipes(
        choosing.exported(planted_step),
        [(parameters(), *batch())],
        ["fp8-current", path, "bf16"],
        snr_db=15.0,
    )
    assert comparison.suggested == str(path)
    (tmp_path / "part.toml").write_text(f'base = "fp8-current"\n{planted().fragment}')
    assert scalify_hlo.load_recipe(tmp_path / "part.toml") == planted().result


def test_the_number_of_runs_is_bounded() -> None:
    found = blamed(planted_step, runs=6)
    assert found.runs <= 6
    assert found.rest > 0
    assert 0 < found.rest_share <= 1


@SLOW
def test_the_number_of_sites_that_are_left_wide_can_be_chosen() -> None:
    found = blamed(planted_step, worst=0, runs=8)
    assert found.left_out == ()
    assert found.effect == found.whole
    assert len(blamed(planted_step, worst=2).left_out) == 2


@SLOW
def test_a_ratio_that_cannot_be_reached() -> None:
    found = blamed(planted_step, snr_db=40.0, runs=16)
    assert [site.name for site in found.left_out] == [PLANTED]
    assert not found.effect.passes(40)


@SLOW
def test_options_are_set_over_the_recipe(tmp_path: Path) -> None:
    out = tmp_path / "better.toml"
    program, inputs = choosing.write(planted_step, tmp_path)
    given = ["blame", program, "--inputs", inputs, "--recipe", "fp8-current", "--runs", "5"]
    over = ["--set", "matmul.exclude=planted", "--set", "matmul.smallest=32"]
    done = call(*given, *over, "-o", out, "--format", "json", code=0)
    sites = json.loads(done.stdout)["sites"]
    assert not any("planted" in each["site"] for each in sites)
    written = scalify_hlo.load_recipe(out)
    assert written.matmul.smallest == (32, 32, 32)
    assert written.matmul.exclude[0] == "planted"
    call(*given, "--set", "matmul.exclud=x", code=2)


@SLOW
def test_what_the_recipe_excludes_stays_wide() -> None:
    recipe = scalify_hlo.load_recipe("fp8-current", {"matmul.exclude": ["*second*"]})
    found = blamed(planted_step, recipe, runs=12)
    assert found.result.matmul.exclude[:2] == ("*second*", PLANTED)
    assert all("second" not in each.site.name for each in found.sites)


@SLOW
def test_errors_without_any_narrow_matmul_are_not_those_of_sites() -> None:
    recipe = scalify_hlo.load_recipe("fp8-current", {"compute": "bf16"})
    found = blamed(planted_step, recipe, runs=16)
    worst = found.wide.worst(outputs=False)
    assert worst is not None
    assert worst.snr_db < 40
    assert found.sites[0].site.name == PLANTED


def test_programs_without_gradients_are_judged_by_outputs() -> None:
    w = parameters()["first"]
    program = program_of(lambda x, w: jnp.tanh(x @ w) @ w, batch()[0], w)
    found = scalify_hlo.blame(program, [(batch()[0], w)], "fp8-current")
    assert found.judged == (OUTPUT,)
    assert found.loss is None
    assert found.sites[0].effect.loss is None
    assert found.sites[0].effect.worst(outputs=False) is None


def sites() -> list[Site]:
    _, report = scalify_hlo.rewrite(choosing.exported(good_step), recipe="fp8-current", report=True)
    return sites_of(report.matmuls, "step")


def test_a_name_matches_one_site() -> None:
    every = sites()
    assert len(every) == 11
    for site in every:
        assert [other for other in every if other.is_matched(site.name)] == [site]


def unnamed() -> Any:
    """A step without names of ops, in which no operand of a matmul is an argument."""

    def loss(w: Any, x: Any, y: Any) -> Any:
        return jnp.mean((jnp.tanh(jnp.sinh(x) @ jnp.sinh(w)) - y) ** 2)

    def step(w: Any, x: Any, y: Any) -> Any:
        value, gradients = jax.value_and_grad(loss, (0, 1))(w, x, y)
        return value, *gradients

    array = np.ones((WIDTH, WIDTH), np.float32)
    module = stablehlo_of(step, array, array, array)
    return read_text(module).module.operation.get_asm(enable_debug_info=False)


def test_sites_without_scopes_and_weights_are_told_apart_by_their_use() -> None:
    _, report = scalify_hlo.rewrite(unnamed(), recipe="fp8-current", report=True)
    every = sites_of(report.matmuls, "step")
    assert [(site.name, site.calls) for site in every] == [(FORWARD, 1), (DGRAD, 2)]
    for site in every:
        settings = {"matmul.exclude": [site.name]}
        _, found = scalify_hlo.rewrite(
            unnamed(), recipe="fp8-current", settings=settings, report=True
        )
        left = {each.roles for each in found.matmuls if each.wide is not None}
        assert left == {site.operands}


@SLOW
def test_one_of_two_sites_of_one_name_is_left_wide() -> None:
    x = batch()[0]
    found = scalify_hlo.blame(unnamed(), [(x, x, x)], "fp8-current", worst=1)
    assert {each.site.name for each in found.sites} == {FORWARD, DGRAD}
    (out,) = found.left_out
    _, report = scalify_hlo.rewrite(unnamed(), recipe=found.result, report=True)
    assert {each.roles for each in report.matmuls if each.wide is not None} == {out.operands}


@SLOW
def test_the_gradient_of_a_weight_is_measured_alone() -> None:
    step, params, (x, y) = good_step, parameters(), batch()
    alone = {each.site.name: each.effect for each in every_site().sites}
    wgrad, dgrad = "fourth@wgrad", "fourth@dgrad"
    assert alone[wgrad] != alone[dgrad]
    recipe = scalify_hlo.load_recipe("fp8-current", {"matmul.include": [wgrad]})
    program = choosing.exported(step)
    rewritten, report = scalify_hlo.rewrite(program, recipe=recipe, report=True)
    assert [each.name for each in report.matmuls if each.wide is None] == [wgrad]
    before, after = (each.call(params, x, y)[0]["fourth"] for each in (program, rewritten))
    change = np.float64(before) - params["fourth"]
    (one,) = (each for each in alone[wgrad].results if each.name == "result[0]['fourth']")
    moved = np.float64(after) - params["fourth"]
    assert one.snr_db == pytest.approx(decibels(change, moved), abs=0.1)


def test_a_recipe_that_quantizes_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="the recipe propagate quantizes no matmul"):
        blamed(good_step, "propagate")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runs": 4}, "runs takes a whole number, at least 5, and not 4"),
        ({"explained": 0.0}, "explained takes a number above 0 and up to 1, and not 0.0"),
        ({"explained": 1.5}, "explained takes a number above 0 and up to 1, and not 1.5"),
        ({"worst": -1}, "worst takes a whole number, at least 0, and not -1"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        BlameOptions(**options)


LOST = """
func.func @main(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<32x32xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = stablehlo.divide %zero, %zero : tensor<32x32xf32>
  %2 = stablehlo.add %0, %1 : tensor<32x32xf32>
  return %2 : tensor<32x32xf32>
}
"""


@pytest.mark.parametrize("command", ["blame", "compare", "search"])
def test_results_that_are_not_finite_are_refused(command: str, tmp_path: Path) -> None:
    """All errors are those of the original, so that any recipe would look exact."""
    path = tmp_path / "lost.mlir"
    path.write_text(LOST)
    given = {
        "compare": ("--recipes", "bf16"),
        "search": ("--recipe", "bf16", "--budget", "wide<=1"),
    }
    done = call(command, path, *given.get(command, ("--recipe", "bf16")), code=1)
    assert "lost.mlir: error: no number in the results of the original is finite" in done.stderr
    assert "`scalify-hlo bisect-nan` finds the op" in done.stderr


def test_a_recipe_without_errors_stays_as_it_is() -> None:
    """The casts of zeros are exact."""
    x = np.zeros((32, 32), np.float32)
    program = program_of(jnp.matmul, x, x)
    found = scalify_hlo.blame(program, [(x, x)], "bf16")
    assert [each.share for each in found.sites] == [0]
    assert not found.left_out
    assert not found.result.matmul.exclude
    text = str(found)
    assert text.endswith("no site is left wide: the recipe stays as it is")
    assert "exclude" not in text
    forced = scalify_hlo.blame(program, [(x, x)], "bf16", worst=1)
    assert len(forced.left_out) == 1
    assert "exclude = [" in str(forced)


def bisected(noise: Sequence[float], runs: int = 100, explained: float = 0.9) -> Bisection[int]:
    """Bisection of numbers whose noise adds up."""

    def measure(items: tuple[int, ...]) -> dict[str, float]:
        return {"output": sum(noise[i] for i in items)}

    whole = measure(tuple(range(len(noise))))
    bisection = Bisection(range(len(noise)), measure, whole, runs)
    bisection.run(explained)
    return bisection


def test_half_of_the_error_of_single_sites_is_the_main_part() -> None:
    def ranked(*shares: float) -> list[BlamedSite]:
        effect = Effect(None, (), None)
        site = Site("a", ("a",), (), "forward", ("", ""), "", 1, ("f32", "f32"), True)
        return [BlamedSite(site, share, effect) for share in shares]

    assert main_part(ranked(0.41, 0.004)) == 1
    assert main_part(ranked(0.2, 0.2, 0.1)) == 2
    assert main_part(ranked()) == 0


def test_bisection_finds_the_largest_in_few_runs() -> None:
    noise = [1e-6] * 64
    noise[37] = 1.0
    found = bisected(noise)
    shares = found.shares()
    best = max(range(len(shares)), key=lambda i: shares[i])
    assert found.pieces[best].items == (37,)
    assert shares[best] > 0.9
    assert found.runs == 12


def test_bisection_ends() -> None:
    assert bisected([]).pieces == []
    assert bisected([1.0]).runs == 0
    assert [piece.items for piece in bisected([0.0, 0.0]).pieces] == [(0, 1)]
    assert len(bisected([1.0] * 8, explained=1.0).pieces) == 8
    assert bisected([1.0] * 8, runs=5, explained=1.0).runs == 4
    assert sorted(i for piece in bisected([1.0] * 7).pieces for i in piece.items) == [*range(7)]


def test_shares_are_means_over_groups() -> None:
    noise = {0: {"output": 1.0, "gradients": 0.0}, 1: {"output": 1.0, "gradients": 4.0}}
    whole = {"output": 2.0, "gradients": 4.0}
    bisection = Bisection([0, 1], lambda items: noise[items[0]], whole, 2)
    bisection.run(1.0)
    assert bisection.shares() == [0.25, 0.75]


def test_results_that_are_lost_count_with_a_bound() -> None:
    lost = Effect(None, (ResultError("a", OUTPUT, -np.inf), ResultError("b", GRADIENT, 20.0)), None)
    assert lost.noise == pytest.approx({"output": 1e3, "gradients": 0.01})
    assert not lost.passes(-100)
