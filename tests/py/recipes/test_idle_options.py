"""Every option of a recipe has an effect, or the recipe is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import astuple, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import pytest

import scalify_hlo
from examples import gpt2
from scalify_hlo import InputError, Recipe, UsageError, load_recipe
from scalify_hlo.errors import ScalifyError
from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.profile.model import Profile
from scalify_hlo.recipes.loading import OPTIONS, TABLES, defaults, idle_under_same, load_calibrated
from scalify_hlo.recipes.model import Scaling, StateOptions
from scalify_hlo.recipes.toml import preset_names
from tests.py.recipes.test_recipe import assert_one_sentence, write
from tests.py.shared.commands import call
from tests.py.shared.judge import parse, shaped, stablehlo_of

CONFIG = gpt2.Config(layers=1, width=32, heads=2, sequence=16, vocab=32, batch=2)


@cache
def step() -> str:
    """A training step with matmuls, normalizations, weights and moments, and a count of steps."""
    state = gpt2.abstract_state(CONFIG, gpt2.ADAMW)
    return stablehlo_of(gpt2.adamw_step, *state)


@cache
def powers() -> str:
    """Operands whose predicted size cannot be trusted."""

    def fn(a: jax.Array) -> jax.Array:
        for _ in range(4):
            a = a @ a
        return a

    return stablehlo_of(fn, shaped(32, 32))


@cache
def seen() -> tuple[str, Profile]:
    """A matmul, and a profile of it."""
    fn = jax.jit(lambda x, w: x @ w)
    x = jax.random.normal(jax.random.key(0), (32, 32)) ** 3
    text = str(jax.export.export(fn)(x, x).mlir_module())
    return text, scalify_hlo.calibrate(text, [(x, x)])


class Case(NamedTuple):
    """Where an option has an effect."""

    value: object
    recipe: str = "fp8"
    settings: Mapping[str, object] = MappingProxyType({})
    signature: str = "same"
    program: str = "step"


def _of(kind: str) -> dict[str, Any]:
    return {"recipe": f"fp8-{kind}", "program": "seen"}


STEP: dict[str, object] = {"inputs.step": ["*count"]}
EVERY_4: dict[str, object] = {"norm_gradients.every": 4}
EFFECTS = {
    "meet": Case("max", "propagate", signature="scaled"),
    "rounding": Case("up"),
    "saturate": Case(False),
    "epsilon": Case("data"),
    "compute": Case("bf16"),
    "predict": Case("unit"),
    "untrusted": Case("bounded", program="powers"),
    "target": Case("rocm"),
    "residuals": Case("keep"),
    "matmul.activation": Case("f8E4M3B11FNUZ"),
    "matmul.weight": Case("f8E3M4"),
    "matmul.gradient": Case("e4m3"),
    "matmul.output": Case("bf16"),
    "matmul.smallest": Case(64),
    "matmul.vocabulary": Case(True),
    "matmul.last_wide": Case(0.5),
    "matmul.first_wide": Case(0.5),
    "matmul.slower": Case("narrow", "fp8-current", settings={"target": "h200"}),
    "matmul.include": Case(["*mlp*"]),
    "matmul.exclude": Case(["*mlp*"]),
    "scaling.kind": Case("current"),
    "scaling.fp8_format": Case("E4M3"),
    "scaling.margin": Case(2, **_of("current")),
    "scaling.power_2_scale": Case(False, **_of("current")),
    "scaling.amax_history_len": Case(4, **_of("delayed")),
    "scaling.amax_compute_algo": Case("most_recent", **_of("delayed")),
    "scaling.interval": Case(4, **_of("delayed")),
    "scaling.weight_scales": Case("channel", **_of("current")),
    "scaling.data_scales": Case("row", **_of("current")),
    "scaling.exponents": Case([4, 0, -8], settings={"scaling.kind": "static"}),
    "scaling.batch": Case("each", "fp8-current", settings={"matmul.smallest": 1}),
    "scaling.method": Case("rms", **_of("calibrated")),
    "scaling.methods": Case(["*=rms"], **_of("calibrated")),
    "scaling.percentile": Case(
        50.0, settings={"scaling.method": "percentile"}, **_of("calibrated")
    ),
    "blocks.size": Case(16, "mxfp8", program="seen"),
    "blocks.scale": Case("f32", "mxfp8", program="seen"),
    "blocks.rounding": Case("floor", "mxfp8", program="seen"),
    "blocks.weight": Case("square", "mxfp8", program="seen"),
    "blocks.gradient_rounding": Case("stochastic", "mxfp8"),
    "blocks.activation_rounding": Case("stochastic", "mxfp8"),
    "blocks.hadamard": Case("wgrad", "mxfp8"),
    "loss_scale.kind": Case("constant", "propagate"),
    "loss_scale.value": Case(4.0, "loss-scaling"),
    "loss_scale.period": Case(4, "auto-loss-scaling"),
    "state.weight": Case("f8E4M3FN", signature="scaled"),
    "state.gradient": Case("e4m3"),
    "state.first_moment": Case("bf16", signature="scaled"),
    "state.second_moment": Case("bf16", signature="scaled"),
    "state.moment_scales": Case(
        "block", settings={"state.first_moment": "e4m3"}, signature="scaled"
    ),
    "state.weight_rounding": Case(
        "stochastic", settings={"state.weight": "bf16"}, signature="scaled"
    ),
    "state.frozen": Case(
        "f8E4M3FN", settings={"inputs.weight": ["arg1"]}, program="seen", signature="scaled"
    ),
    "activations.saved": Case("f8", "fp8-current"),
    "activations.rounding": Case("stochastic", "fp8-current", settings={"activations.saved": "f8"}),
    "inputs.weight": Case(["*.mu*"], signature="scaled"),
    "inputs.first_moment": Case(["params*"], signature="scaled"),
    "inputs.second_moment": Case(["params*"], signature="scaled"),
    "inputs.activation": Case(["params*"], settings={"matmul.weight": "f8E3M4"}),
    "inputs.gradient": Case(["params*up"]),
    "inputs.step": Case(["*count"], settings=EVERY_4),
    "inputs.scale": Case(["params*=2^-4"]),
    "inputs.verify": Case(["params*up*"], settings={"inputs.scale": ["*=1"]}),
    "inputs.blocks": Case(["params*up*=0x1"], signature="scaled"),
    "norm_gradients.statistic": Case("max"),
    "norm_gradients.rounding": Case("up"),
    "norm_gradients.every": Case(4, settings=STEP),
    "state_gradients.statistic": Case("l2"),
    "state_gradients.rounding": Case("up", settings={"state_gradients.statistic": "l2"}),
    "state_gradients.every": Case(4, settings=STEP | {"state_gradients.statistic": "l2"}),
    "matmul_operands.statistic": Case("l2"),
    "matmul_operands.rounding": Case("up", settings={"matmul_operands.statistic": "l2"}),
    "matmul_operands.every": Case(4, settings=STEP | {"matmul_operands.statistic": "l2"}),
    "state_rescale.statistic": Case("l2", "propagate", signature="scaled"),
    "state_rescale.rounding": Case("up", signature="scaled"),
    "state_rescale.every": Case(4, settings=STEP, signature="scaled"),
    "sites.statistic": Case("max", settings={"sites.names": ["*tanh*"]}),
    "sites.rounding": Case("up", settings={"sites.names": ["*tanh*"]}),
    "sites.every": Case(4, settings=STEP | {"sites.names": ["*tanh*"]}),
    "sites.names": Case(["*tanh*"]),
}
"""For each option but the name, which the program only carries along, a place where it counts."""


def outcome(recipe: Recipe, case: Case) -> str:
    """The rewritten program, or why there is none."""
    profile = None
    if case.program == "seen":
        text, profile = seen()
    else:
        text = {"step": step, "powers": powers}[case.program]()
    module = parse(text)
    if recipe.scaling.kind != "calibrated":
        profile = None
    same = case.signature == "same"
    options = Options(recipe, signature="same" if same else "scaled", profile=profile)
    try:
        rewrite_module(module, options)
    except ScalifyError as error:
        return str(error)
    return str(module)


def with_value(recipe: Recipe, key: str, value: object) -> Recipe:
    """A recipe with one option set, unchecked."""
    table, _, name = key.rpartition(".")
    given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value}
    return replace(
        recipe, **({table: replace(getattr(recipe, table), **given)} if table else given)
    )


def test_every_option_is_here() -> None:
    assert [*EFFECTS] == [key for key in defaults() if key != "name"]
    assert {*NEEDS, *OF_PAIRS} < set(EFFECTS)


@pytest.mark.slow
@pytest.mark.parametrize("key", EFFECTS)
def test_an_option_has_an_effect(key: str) -> None:
    case = EFFECTS[key]
    load = load_calibrated if case.recipe == "fp8-calibrated" else load_recipe
    without = load(case.recipe, {k: v for k, v in case.settings.items() if k != "inputs.step"})
    if "inputs.step" in case.settings:
        without = with_value(without, "inputs.step", case.settings["inputs.step"])
    given = load(case.recipe, {**case.settings, key: case.value})
    assert outcome(given, case) != outcome(without, case)


NEEDS = [key for key, each in OPTIONS.items() if each.said("needs") is not None]
OF_PAIRS = [option.key for option in idle_under_same()]
KINDS = [key for key in NEEDS if key.startswith("scaling.") and key != "scaling.kind"]
IDLE = [
    *((key, "propagate") for key in NEEDS if key != "activations.saved"),
    *((key, "fp8") for key in KINDS),
    *((key, "bf16") for key in ("matmul.smallest", "matmul.vocabulary")),
    *((key, "fp8-current") for key in ("predict", "untrusted")),
    *((f"scaling.{key}", "fp8-current") for key in ("interval", "amax_compute_algo")),
    *((f"scaling.{key}", "fp8-delayed") for key in ("weight_scales", "method")),
]
"""Options, and recipes beside which they have no effect."""


@pytest.mark.slow
@pytest.mark.parametrize(("key", "recipe"), IDLE)
def test_what_is_refused_has_none(key: str, recipe: str) -> None:
    case = EFFECTS[key]._replace(signature="same")
    plain = load_recipe(recipe)
    if key == "sites.names":
        plain = with_value(plain, "sites.statistic", "none")
    set_ = with_value(plain, key, case.value)
    with pytest.raises(UsageError, match=f"{key} has no effect") as caught:
        load_recipe(set_)
    assert caught.value.hint
    if key != "sites.names":  # which no marker can be made for
        assert outcome(set_, case) == outcome(plain, case)


MOMENT_SCALES = "state.moment_scales"
WEIGHT_ROUNDING = "state.weight_rounding"
AFTER_OTHERS = (MOMENT_SCALES, WEIGHT_ROUNDING)
"""Options that need another option of pairs, which is refused before them."""


@pytest.mark.parametrize("key", [key for key in OF_PAIRS if key not in AFTER_OTHERS])
def test_state_is_returned_as_it_is_taken_under_same(key: str) -> None:
    recipe = "fp8" if key in ("state_rescale.rounding", "state_rescale.every") else "propagate"
    case = EFFECTS[key]._replace(signature="same")
    set_ = with_value(load_recipe(recipe), key, case.value)
    assert outcome(set_, case) == outcome(load_recipe(recipe), case)
    with pytest.raises(UsageError, match=f"{key} has no effect: with the signature same"):
        scalify_hlo.rewrite(step(), recipe=set_)
    value = ",".join(case.value) if isinstance(case.value, list) else case.value
    result = call(
        "rewrite", "-", "--recipe", recipe, "--set", f"{key}={value}", text=step(), code=2
    )
    assert_one_sentence(result, f"{key} has no effect")


@pytest.mark.parametrize(
    "settings",
    [
        {"state.first_moment": "e4m3", MOMENT_SCALES: "block"},
        {"state.weight": "bf16", WEIGHT_ROUNDING: "stochastic"},
        {WEIGHT_ROUNDING: "stochastic"},
    ],
)
def test_no_state_has_options_of_its_own_under_same(settings: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"state\.\w+ has no effect: with the signature same"):
        scalify_hlo.rewrite(step(), recipe="fp8", settings=settings)


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_may_say_more_than_a_signature_needs(name: str, tmp_path: Path) -> None:
    if name == "fp8-calibrated":
        return
    path = write(tmp_path, call("recipes", name).stdout)
    assert scalify_hlo.rewrite(step(), recipe=path) == scalify_hlo.rewrite(step(), recipe=name)


def test_nothing_is_saved_rounded_where_all_is_kept() -> None:
    settings = {"residuals": "keep", "activations.saved": "f8"}
    with pytest.raises(UsageError, match=r"activations\.saved has no effect: residuals is keep"):
        load_recipe("propagate", settings)
    assert not load_recipe("fp8-memory", {"residuals": "keep"}).cuts_residuals


def test_a_preset_that_is_overridden_is_no_mistake() -> None:
    assert load_recipe("unit", ["scaling.kind=current"]).predict == "unit"
    assert load_recipe("fp8", {"norm_gradients.statistic": "none"}).matmul.narrow


def test_the_file_is_at_fault_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, 'base = "fp8"\n\n[scaling]\nmargin = 2\n')
    with pytest.raises(InputError, match=r"scaling\.margin has no effect") as caught:
        load_recipe(path)
    assert caught.value.location == f"{path}:4"
    assert load_recipe(path, ["scaling.kind=current"]).scaling == Scaling("current", margin=2)


def test_scales_that_no_float_holds(tmp_path: Path) -> None:
    for scale in ("2^999999999999", "2^-1023", "2^1024", "2^" + "9" * 6000):
        path = write(tmp_path, f'[inputs]\nscale = ["*={scale}"]\n')
        with pytest.raises(InputError, match=r"input scale|out of range") as caught:
            load_recipe(path)
        assert caught.value.location == f"{path}:2"
        result = call("rewrite", "-", "--input-scale", f"*={scale}", text=powers(), code=2)
        assert result.stdout == ""


class TestProfiles:
    def test_options_of_calibrated_scales_need_a_profile(self) -> None:
        text, profile = seen()
        settings = {"scaling.margin": 2}
        for recipe in ("propagate", "fp8", "fp8-calibrated"):
            scalify_hlo.rewrite(text, recipe=recipe, profile=profile, settings=settings)
        with pytest.raises(UsageError, match=r"interval has no effect: scaling.kind is calibrated"):
            scalify_hlo.rewrite(text, profile=profile, settings={"scaling.interval": 2})

    def test_a_recipe_without_formats_goes_over_the_preset(self, tmp_path: Path) -> None:
        path = write(tmp_path, 'compute = "bf16"\n[scaling]\nmethod = "rms"\n')
        loaded = load_calibrated(path)
        assert (loaded.compute, loaded.scaling.method) == ("bf16", "rms")
        assert loaded == load_recipe("fp8-calibrated", ["compute=bf16", "scaling.method=rms"])
        by_value = load_calibrated(Recipe(compute="bf16", scaling=Scaling(method="rms")))
        assert by_value == loaded

    def test_delayed_scales_are_refused_with_or_without_formats(self, tmp_path: Path) -> None:
        path = write(tmp_path, "[scaling]\nkind = 'delayed'\n")
        with pytest.raises(UsageError, match="past steps"):
            load_calibrated(path)


def test_state_that_no_step_carries_is_remarked() -> None:
    text, _ = seen()
    given = ["--signature", "scaled", "--recipe", "fp8"]
    plain = call("rewrite", "-", *given, text=text)
    assert "state.weight" not in plain.stderr  # of the preset
    moments = ("--set", "state.first_moment=e4m3")
    asked = call("rewrite", "-", *given, *moments, text=text, code=0)
    assert "remark" in asked.stderr
    assert "state.first_moment is f8E4M3FN, and the program returns no such state" in asked.stderr
    call("rewrite", "-", *given, *moments, "--strict", text=text, code=1)
    weight = ("--set", "state.weight=e4m3")
    assert "state.weight is f8E4M3FN" in call("rewrite", "-", *given, *weight, text=text).stderr
    declared = (*weight, "--set", "inputs.weight=arg1")
    assert "state.weight" not in call("rewrite", "-", *given, *declared, text=text).stderr
    stepped = call("rewrite", "-", *given, "--set", "state.weight=e4m3", text=step())
    assert "keeps the format of params" in stepped.stderr
    assert "state.weight is f8E4M3FN, in which updates that are rounded" in stepped.stderr


DECIDE = {
    *("meet", "rounding", "saturate", "epsilon", "predict", "untrusted", "target"),
    *("residuals", "inputs.step", "scaling.fp8_format", "scaling.batch"),
}
"""Options that decide about what a program may or may not have."""
REMARKED = [key for key in EFFECTS if key not in DECIDE and EFFECTS[key].recipe != "fp8-calibrated"]


def unmarked(text: str) -> list[str]:
    """The lines of a rewritten program but that on the rewrite."""
    return [line for line in text.splitlines() if "scalify.rewritten" not in line]


@pytest.mark.parametrize("key", REMARKED)
def test_what_a_program_does_not_have_is_remarked(key: str) -> None:
    """The program has one matmul, and neither layers nor state."""
    case, text = EFFECTS[key], seen()[0]
    given = [f"--set={k}={v}" for k, v in case.settings.items() if k != "inputs.step"]
    value = ",".join(map(str, case.value)) if isinstance(case.value, list) else case.value
    how = ("--recipe", case.recipe, "--signature", case.signature, *given)
    plain = call("rewrite", "-", *how, text=text)
    asked = call("rewrite", "-", *how, f"--set={key}={value}".replace("False", "false"), text=text)
    if asked.exit_code or unmarked(asked.stdout) != unmarked(plain.stdout):
        return
    named = f"({key}|{key.partition('.')[0]}.kind)"
    assert re.search(rf"remark: .*: {named} (has no effect|is \w+, and the program)", asked.stderr)
    call("rewrite", "-", *how, f"--set={key}={value}", "--strict", text=text, code=1)


@pytest.mark.parametrize("table", ["norm_gradients", "state_rescale"])
def test_a_rescaling_that_is_switched_off_is_not_missed(table: str) -> None:
    off = {f"{table}.statistic": "none"}
    how: dict[str, Any] = {"recipe": "fp8", "signature": "scaled", "report": True}
    _, told = scalify_hlo.rewrite(step(), settings=off, **how)
    assert not [remark for remark in told.remarks if "has no effect" in remark.message]


def test_an_option_of_the_rescalings_that_narrow_state_needs_is_not_missed() -> None:
    every = {"state_rescale.every": 4, **STEP}
    how: dict[str, Any] = {"recipe": "fp8", "signature": "scaled", "report": True}
    _, told = scalify_hlo.rewrite(step(), settings=every, **how)
    assert not [remark for remark in told.remarks if "has no effect" in remark.message]


def test_tables_have_no_options_that_are_not_listed() -> None:
    assert set(TABLES) == {key.partition(".")[0] for key in EFFECTS if "." in key}
    *formats, scales, rounding, frozen = astuple(StateOptions())
    assert ({*formats, frozen}, scales, rounding) == ({"keep"}, "tensor", "nearest")
