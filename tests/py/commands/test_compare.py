"""`compare`: recipes on a program, against what the rewritten programs return."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import optax
import pytest
from jax import export

import scalify_hlo
from examples.training import training_step
from scalify_hlo.commands.choose.comparison import recipes_of
from scalify_hlo.commands.choose.results import (
    GRADIENT,
    MOMENT,
    NOISE,
    OUTPUT,
    STATE,
    UPDATE,
    ResultError,
)
from scalify_hlo.commands.choose.suggestion import ByLoss, BySnr, suggest
from scalify_hlo.commands.choose.trials import Comparison, Trial, dump_comparison
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.results.decibels import decibels, stored, written
from tests.py.devices import eight_devices, sharded_compare
from tests.py.shared import choosing, commands, judge
from tests.py.shared.choosing import WIDTH, batch, good_step, parameters, planted_step
from tests.py.shared.judge import program_of, shaped
from tests.py.shared.role_models import sgd
from tests.py.shared.schemas import changed, faults

PAGE = Path(__file__).resolve().parents[3] / "docs" / "compare.md"


def compared(step: Any, recipes: Any = "fp8-current, bf16", **options: Any) -> Comparison:
    program = choosing.exported(step)
    return scalify_hlo.compare_recipes(program, [(parameters(), *batch())], recipes, **options)


@cache
def every() -> Comparison:
    """All presets on a step, which is repeated."""
    return compared(good_step, "all", steps=3, carry=True, seeds=2, snr_db=15.0)


def trial(comparison: Comparison, name: str) -> Trial:
    return next(each for each in comparison.trials if each.name == name)


def test_results_are_those_of_the_rewritten_program() -> None:
    program = choosing.exported(good_step)
    rewritten = scalify_hlo.rewrite(program, recipe="fp8-current")
    before, after = (each.call(parameters(), *batch()) for each in (program, rewritten))
    found = {each.name: each for each in trial(every(), "fp8-current").results}
    assert found["result[1]"].kind == OUTPUT
    assert found["result[1]"].snr_db == pytest.approx(judge.decibels(before[1], after[1]), abs=0.1)
    for name, old in parameters().items():
        one = found[f"result[0]['{name}']"]
        assert one.kind == UPDATE
        changes = [np.float64(each[0][name]) - old for each in (before, after)]
        assert one.snr_db == pytest.approx(judge.decibels(*changes), abs=0.1)


def test_exact_rewrites_are_exact() -> None:
    found = trial(every(), "propagate")
    assert {each.snr_db for each in found.results} == {math.inf}
    assert not found.saves
    assert found.losses == every().losses


def test_operands_and_the_result_have_the_error_of_the_casts_of_the_recipe() -> None:
    found = {each.site.name: each for each in trial(every(), "fp8-current").matmuls}
    site = found["first@forward"]
    values, casts = (batch()[0], parameters()["first"]), []
    for value, measured in zip(values, site.operands, strict=True):
        scale = 2.0 ** np.floor(np.log2(448 / np.abs(value).max()))
        casts.append((value * scale).astype(ml_dtypes.float8_e4m3fn).astype(np.float64) / scale)
        assert measured == pytest.approx(judge.decibels(value, casts[-1]), abs=0.05)
    exact = np.float64(values[0]) @ values[1]
    assert site.snr_db == pytest.approx(judge.decibels(exact, casts[0] @ casts[1]), abs=0.05)


def test_saturation_is_part_of_the_error() -> None:
    x, w = batch()[0], parameters()["first"]
    program = program_of(lambda x, w: x @ w, x, w)
    profile = scalify_hlo.calibrate(program, [(x / 64, w)])
    found = scalify_hlo.compare_recipes(program, [(x, w)], "fp8-calibrated", profile=profile)
    (site,) = found.trials[0].matmuls
    lhs, rhs = site.operands
    assert lhs is not None
    assert rhs is not None
    assert lhs < 3 < 30 < rhs
    assert site.snr_db < 3


def test_an_outlier_channel_is_seen_in_the_result_of_its_matmul() -> None:
    (found,) = compared(planted_step, "fp8-current").trials
    worst, following = found.matmuls[:2]
    assert worst.site.name == "planted@forward"
    assert worst.snr_db < 10 < 20 < following.snr_db
    assert all(each is not None and each > 30 for each in worst.operands)


def test_turns_of_a_loop_count_together() -> None:
    def step(w: Any, x: Any) -> Any:
        return jax.lax.scan(lambda h, each: (jnp.tanh(h @ each), None), x, w)[0]

    x = batch()[0]
    w = np.stack(list(parameters().values()))
    program = program_of(step, w, x)
    (found,) = scalify_hlo.compare_recipes(program, [(w, x)], ["bf16"]).trials
    (site,) = found.matmuls
    casts = w.astype(ml_dtypes.bfloat16).astype(np.float32)
    assert site.site.calls == 1
    assert site.operands[1] == pytest.approx(judge.decibels(w, casts), abs=0.05)


def test_shares_statistics_and_state() -> None:
    narrow, small, half = (trial(every(), n) for n in ("bf16", "fp8-current", "fp8-state"))
    assert (narrow.fp8, narrow.narrow, narrow.bits) == (0, 1, 16)
    assert (small.fp8, small.narrow, small.bits) == (1, 1, 8)
    _, report = scalify_hlo.rewrite(choosing.exported(good_step), recipe="fp8-current", report=True)
    assert small.statistics == report.statistics > 0
    assert small.state == 1
    assert half.state == pytest.approx(0.5, abs=0.01)
    assert "signature scaled" in half.recipe


def test_delayed_scales_are_settled_and_profiles_are_of_the_inputs() -> None:
    current = trial(every(), "fp8-current")
    for name in ("fp8-delayed", "fp8-calibrated"):
        found = trial(every(), name)
        pairs = zip(found.results, current.results, strict=True)
        assert all(abs(one.snr_db - other.snr_db) < 0.5 for one, other in pairs)


def test_losses_are_those_of_steps_that_carry_state() -> None:
    found, params = every(), parameters()
    rewritten = scalify_hlo.rewrite(choosing.exported(good_step), recipe="fp8-current")
    state, losses = params, []
    for _ in range(3):
        state, loss = rewritten.call(state, *batch())
        losses.append(float(loss))
    assert trial(found, "fp8-current").losses[0] == pytest.approx(losses, rel=1e-5)
    assert found.loss == "result[1]"
    assert found.losses[0][0] > found.losses[0][2]


def test_seeds_are_paired() -> None:
    found = every()
    assert found.spread is not None
    assert found.spread > 0
    changes = found.loss_changes(trial(found, "fp16"), -1)
    assert len(changes) == 2
    assert max(map(abs, changes)) < found.spread


def test_kinds_of_results() -> None:
    loss, optimizer = choosing.loss_of, optax.adam(1e-3)
    state = optimizer.init(parameters())
    program = program_of(training_step(loss, optimizer), parameters(), state, *batch())
    found = scalify_hlo.compare_recipes(program, [(parameters(), state, *batch())], "bf16")
    kinds = {each.name: each.kind for each in found.trials[0].results}
    assert found.judged == (OUTPUT, MOMENT)
    assert kinds["result[0]['first']"] == UPDATE
    assert kinds["result[1][0].mu['first']"] == MOMENT
    assert kinds["result[1][0].nu['first']"] == STATE
    assert kinds["result[2]"] == OUTPUT

    gradient = program_of(jax.value_and_grad(loss), parameters(), *batch())
    found = scalify_hlo.compare_recipes(gradient, [(parameters(), *batch())], "bf16")
    assert found.judged == (OUTPUT, GRADIENT)
    assert [each.kind for each in found.trials[0].results] == [OUTPUT, *[GRADIENT] * 4]


def test_results_that_are_rounding_noise_are_not_judged() -> None:
    def loss(params: Any, x: Any) -> Any:
        scores = jax.nn.softmax(x @ params["w"] + params["shift"])
        return jnp.mean((scores @ params["v"]) ** 2)

    params = {
        "w": parameters()["first"],
        "v": parameters()["second"],
        "shift": np.zeros((WIDTH, 1), np.float32),
    }
    x = batch()[0]
    program = program_of(sgd(loss), params, x)
    found = scalify_hlo.compare_recipes(program, [(params, x)], "bf16")
    (one,) = found.trials
    assert {each.name: each.kind for each in one.results} == {
        "result[0]['shift']": NOISE,
        "result[0]['v']": UPDATE,
        "result[0]['w']": UPDATE,
        "result[1]": OUTPUT,
    }
    assert found.suggested == "bf16"


def test_the_cheapest_is_suggested() -> None:
    assert every().suggested == "fp8-calibrated"
    bits, statistics, state = (
        Trial("a", bits=8, narrow=1.0, statistics=9),
        Trial("b", bits=8, narrow=1.0, statistics=3),
        Trial("c", bits=8, narrow=1.0, statistics=3, state=0.5),
    )
    wide = Trial("d", bits=16, narrow=1.0)
    assert suggest([wide, bits], BySnr((OUTPUT,), 20))[0] == "a"
    assert suggest([bits, statistics], BySnr((OUTPUT,), 20))[0] == "b"
    assert suggest([bits, statistics, state], BySnr((OUTPUT,), 20))[0] == "c"


def test_no_recipe_may_be_good_enough() -> None:
    found = compared(good_step, snr_db=90.0)
    assert not found.suggested
    assert found.suggestion.startswith("none: no recipe has 90 dB in all outputs and changes")
    assert "the nearest is bf16" in found.suggestion
    none = compared(good_step, "propagate", steps=1)
    assert none.suggestion.startswith("none: no recipe that the program takes has a matmul")


def test_steps_of_training_are_judged_by_their_loss() -> None:
    found = compared(good_step, "bf16, fp8-current")
    assert (found.steps, found.carry) == (50, True)
    gap = found.gap(trial(found, "fp8-current"))
    assert gap is not None
    assert 0 < abs(gap) < 0.02
    assert found.suggested == "fp8-current"
    assert "a loss after 50 steps within 0.02 of the first loss" in found.suggestion
    strict = compared(good_step, "bf16, fp8-current", within=gap - 1e-6)
    assert strict.suggested != "fp8-current"
    assert [found.passes(each) for each in found.trials] == [True, True]
    lost = replace(found.trials[1], losses=((1.0, math.nan),))
    assert not found.passes(lost)
    assert "loss is not finite" in suggest([lost], ByLoss(found, 0.02))[1]


def test_a_ratio_that_is_asked_for_counts_in_training_too() -> None:
    found = compared(good_step, snr_db=90.0)
    assert (found.steps, found.snr_db, found.within, found.suggested) == (50, 90.0, None, "")
    with pytest.raises(UsageError, match="judged by --snr"):
        compared(good_step, snr_db=20.0, within=0.1)
    with pytest.raises(UsageError, match="no steps of training are run"):
        compared(good_step, steps=1, within=0.1)
    by_loss = compared(good_step, "bf16", within=0.1)
    assert (by_loss.snr_db, by_loss.within) == (None, 0.1)


def test_other_programs_run_once() -> None:
    program = export.export(jax.jit(lambda x: x @ x))(np.ones((32, 32), np.float32))
    found = scalify_hlo.compare_recipes(program, [(np.ones((32, 32), np.float32),)], "bf16")
    assert (found.steps, found.carry) == (1, False)


def test_a_result_that_is_lost_fails() -> None:
    lost = Trial("x", narrow=1.0, results=(ResultError("loss", OUTPUT, -math.inf),))
    assert not lost.passes((OUTPUT,), -1000)
    assert lost.passes((GRADIENT,), 20)
    assert "lost in loss" in suggest([lost], BySnr((OUTPUT,), 20))[1]


def test_a_recipe_that_the_program_cannot_take_is_listed(tmp_path: Path) -> None:
    recipe = tmp_path / "head.toml"
    recipe.write_text('base = "fp8-current"\n[matmul]\nexclude = ["frist"]\n')
    found = compared(good_step, [recipe, "bf16"])
    refused, ran = found.trials
    assert refused.name == str(recipe)
    assert refused.reason.startswith("matmul.exclude 'frist' matches no matmul")
    assert not refused.passes((OUTPUT,), 0)
    assert not ran.reason
    assert found.suggested == "bf16"


def test_symbolic_shapes_run_at_those_of_the_inputs() -> None:
    shape = export.symbolic_shape("n, 64")
    x = shaped(*shape)
    w = parameters()["first"]
    program = program_of(lambda x, w: jnp.tanh(x @ w), x, w)
    sample = (batch()[0], w)
    found = scalify_hlo.compare_recipes(program, [sample], "fp8-current, fp8-calibrated")
    assert found.suggested == "fp8-calibrated"
    assert found.trials[0].state is None
    profile = scalify_hlo.calibrate(program, [sample])
    given = scalify_hlo.compare_recipes(program, [sample], "fp8-calibrated", profile=profile)
    assert given.trials[0] == found.trials[1]
    assert found.trials[0].matmuls[0].site.name == "w@forward"


def test_a_profile_of_another_program_is_refused() -> None:
    w, x = parameters()["first"], batch()[0]
    other = program_of(lambda x, w: x @ w, x, w)
    profile = scalify_hlo.calibrate(other, [(x, w)])
    calibrated, narrow = compared(good_step, "fp8-calibrated, bf16", profile=profile).trials
    assert "profile" in calibrated.reason
    assert not narrow.reason


@pytest.mark.slow
def test_programs_that_are_divided_by_hand_among_devices() -> None:
    found = eight_devices.run(sharded_compare.main)
    recipes = {each["name"]: each for each in found["comparison"]["recipes"]}
    assert "run with its own arguments only" in recipes["fp8-delayed"]["reason"]
    for name, least in (("fp8-state", 15), ("fp8-calibrated", 15), ("bf16", 40)):
        one = recipes[name]
        assert one["reason"] is None
        assert all(each["snr_db"] > least for each in one["results"])
        assert len(one["matmuls"]) == 2
        assert all(each["snr_db"] > least for each in one["matmuls"])
    assert found["sites"] == 2
    assert found["costs"].keys() == {"loss", "gradients"}
    assert all(0 < cost < 0.1 for cost in found["costs"].values())
    assert found["wide"] == 1


def test_bad_requests_are_refused() -> None:
    program, sample = choosing.exported(good_step), (parameters(), *batch())
    for options, message in (
        ({"recipes": "fp9"}, "no recipe is named 'fp9'"),
        ({"recipes": ""}, "there are no recipes to compare"),
        ({"steps": 0}, "steps takes a whole number, at least 1, and not 0"),
        ({"seeds": -1}, "seeds takes a whole number, at least 1, and not -1"),
        ({"signature": "pairs"}, "'pairs' is not a value of signature"),
        ({"snr_db": math.nan}, "snr_db takes a finite number, and not nan"),
    ):
        with pytest.raises(UsageError, match=re.escape(message)):
            scalify_hlo.compare_recipes(program, [sample], **options)
    with pytest.raises(UsageError, match="there are no inputs"):
        scalify_hlo.compare_recipes(program, [])
    rewritten = scalify_hlo.rewrite(program, recipe="bf16")
    with pytest.raises(InputError, match="the program was rewritten before"):
        scalify_hlo.compare_recipes(rewritten, [sample])
    x, y = batch()
    rows = shaped(*export.symbolic_shape("n, 64"))
    dynamic = program_of(lambda x: x + 1, rows)
    with pytest.raises(UsageError, match="inputs 2 have other shapes"):
        scalify_hlo.compare_recipes(dynamic, [(x,), (y[:2],)], steps=2)
    constant = program_of(lambda x: jnp.sum(x), x)
    with pytest.raises(UsageError, match="no result of the program is an argument"):
        scalify_hlo.compare_recipes(constant, [(x,)], carry=True)


def test_decibels() -> None:
    assert decibels(0.01) == pytest.approx(20)
    assert decibels(0) == math.inf
    assert decibels(math.inf) == decibels(math.nan) == -math.inf
    assert [written(each) for each in (math.inf, -math.inf, 12.34)] == ["exact", "lost", "12.3"]
    assert [stored(each) for each in (math.inf, None, 12.34567)] == ["exact", None, 12.346]


def test_a_comparison_fits_its_schema(tmp_path: Path) -> None:
    whole = json.loads(dump_comparison(every()))
    assert not faults(whole, "compare")
    recipe = tmp_path / "head.toml"
    recipe.write_text('base = "fp8-current"\n[matmul]\nexclude = ["frist"]\n')
    refused = json.loads(dump_comparison(compared(good_step, [recipe])))
    assert not faults(refused, "compare")
    for path, value in (
        (("version",), 2),
        (("recipes", 0, "results", 0, "kind"), "loss"),
        (("recipes", 0, "matmuls", 0, "snr_db"), None),
        (("recipes", 0, "fp8"), 1.5),
        (("recipes", 0, "colour"), "red"),
    ):
        assert faults(changed(whole, path, value), "compare"), path


def test_losses_that_are_not_finite_are_json() -> None:
    whole = Comparison(
        "p", "0", 1, False, 20.0, 0.02, (OUTPUT,), "loss", ((math.nan,),),
        (Trial("x", losses=((math.inf,),)),), "", "none",
    )  # fmt: skip
    found = json.loads(dump_comparison(whole), parse_constant=pytest.fail)
    assert found["losses"] == found["recipes"][0]["losses"] == [[None]]


run = partial(commands.call, "compare")


def test_options_are_set_over_all_recipes() -> None:
    over = {"matmul.exclude": "*planted*"}
    found = dict(recipes_of("fp8-current,bf16,propagate", over))
    for name in ("fp8-current", "bf16"):
        assert found[name] == load_recipe(name, over)
    refused = found["propagate"]
    assert isinstance(refused, UsageError)
    with pytest.raises(UsageError) as caught:
        load_recipe("propagate", over)
    assert refused.message == caught.value.message


@pytest.mark.parametrize(
    ("recipes", "setting"),
    [
        ("fp8,bf16", "matmul.exclud=x"),
        ("fp8,bf16", "matmul.smallest=none"),
        ("propagate", "matmul.exclude=*head*"),
    ],
)
def test_options_that_fit_no_recipe_are_refused(recipes: str, setting: str) -> None:
    first = recipes.split(",")[0]
    with pytest.raises(UsageError) as caught:
        load_recipe(first, [setting])
    with pytest.raises(UsageError) as refused:
        recipes_of(recipes, dict([setting.split("=", 1)]))
    assert refused.value.message == caught.value.message


def test_the_command_sets_options(tmp_path: Path) -> None:
    program, inputs = choosing.write(planted_step, tmp_path)
    given = ("--inputs", inputs, "--recipes", "fp8-current,propagate")
    done = run(program, *given, "--set", "matmul.exclude=planted", "--format", "json", code=0)
    current, refused = json.loads(done.stdout)["recipes"]
    assert "matmul.exclude" in current["recipe"]
    assert current["narrow"] == pytest.approx(1 - 3 / 11, abs=1e-6)
    assert not any("planted" in each["site"] for each in current["matmuls"])
    assert "matmul.exclude" in refused["reason"]
    over = ("--set", "matmul.exclude=planted")
    done = run(program, *given, *over, "--rows", "0", "--steps", "2", "--seeds", "2")
    (line,) = [each for each in done.stdout.splitlines() if each.startswith("loss of ")]
    assert line.startswith("loss of the original (result[1]): ")
    assert "over 2 seeds" in line
    (line,) = [each for each in done.stdout.splitlines() if each.startswith("propagate: ")]
    assert line == f"propagate: not possible: {refused['reason']}"
    done = run(program, *given, "--signature", "same", "--set", "state.weight=bf16")
    assert "propagate: not possible: state.weight has no effect" in done.stdout
    done = run(program, *given, "--set", "matmul.exclud=x", code=2)
    assert "a recipe has no option 'matmul.exclud'" in done.stderr


def test_the_command_writes_json(tmp_path: Path) -> None:
    program, inputs = choosing.write(good_step, tmp_path)
    out = tmp_path / "compared.json"
    run(program, "--inputs", inputs, "--recipes", "bf16", "--format", "json", "-o", out, code=0)
    assert json.loads(out.read_text())["suggested"] == "bf16"
