"""Recipes: presets, files and settings over them, in and out, and what is refused."""

from __future__ import annotations

import itertools
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

import scalify_hlo
from scalify_hlo import Recipe, ScalifyError, UsageError, dump_recipe, load_recipe
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.cli.recipes import page
from scalify_hlo.recipes.fields import values_of
from scalify_hlo.recipes.formats import (
    AUTO,
    DEVICES,
    E5M2,
    F8,
    FNUZ,
    MICRO,
    OPERANDS,
    PLATFORMS,
    spellings,
)
from scalify_hlo.recipes.loading import OPTIONS, PLACES, defaults, idle, own_options
from scalify_hlo.recipes.model import (
    KEEP,
    ActivationOptions,
    Blocks,
    DataRounding,
    Inputs,
    MatmulOptions,
    Meet,
    MomentScales,
    Predict,
    Rescale,
    Rounding,
    Scaling,
    StateOptions,
    Target,
)
from scalify_hlo.recipes.toml import preset_names, preset_text
from tests.py.shared import samples
from tests.py.shared.commands import call, python

ROOT = Path(__file__).resolve().parents[3]

F16, BF16 = MatmulOptions("f16", "f16", "f16", "f32"), MatmulOptions("bf16", "bf16", "bf16", "bf16")
FP8 = MatmulOptions("f8E4M3FN", "f8E4M3FN", "f8E5M2")
E4M3 = MatmulOptions("f8E4M3FN", "f8E4M3FN", "f8E4M3FN")
FP4 = MatmulOptions("f4E2M1FN", "f4E2M1FN", "f4E2M1FN")
L2 = Rescale("l2")
PRESETS = {
    "propagate": Recipe(),
    "bf16": Recipe("bf16", matmul=BF16),
    "fp16": Recipe("fp16", matmul=F16, state=StateOptions(gradient="f16")),
    "fp16-state": Recipe(
        "fp16-state", matmul=F16, state=StateOptions("f16", "f16"), norm_gradients=L2
    ),
    "fp8": Recipe("fp8", matmul=FP8, state=StateOptions("f16", "f8E5M2"), norm_gradients=L2),
    "fp8-state": Recipe(
        "fp8-state",
        matmul=FP8,
        state=StateOptions("f16", "f8E5M2", "f16", "f16"),
        norm_gradients=L2,
        state_gradients=L2,
    ),
    "fp8-state8": Recipe(
        "fp8-state8",
        matmul=FP8,
        state=StateOptions("f16", "f8E5M2", "f8E4M3FN", "f8E4M3FN", "block"),
        norm_gradients=L2,
        state_gradients=L2,
    ),
    "fp8-memory": Recipe(
        "fp8-memory",
        matmul=FP8,
        state=StateOptions("f16", "f8E5M2", "f8E4M3FN", "f8E4M3FN", "block"),
        activations=ActivationOptions("f8"),
        norm_gradients=L2,
        state_gradients=L2,
    ),
    "fp8-current": Recipe("fp8-current", matmul=FP8, scaling=Scaling("current", "HYBRID")),
    "fp8-delayed": Recipe("fp8-delayed", matmul=FP8, scaling=Scaling("delayed", "HYBRID")),
    "fp8-calibrated": Recipe("fp8-calibrated", matmul=FP8, scaling=Scaling("calibrated", "HYBRID")),
    "mxfp8": Recipe("mxfp8", matmul=E4M3, scaling=Scaling("block", "E4M3")),
    "fp8-block": Recipe(
        "fp8-block",
        matmul=E4M3,
        scaling=Scaling("block", "E4M3"),
        blocks=Blocks(128, "f32", weight="square"),
    ),
    "nvfp4": Recipe(
        "nvfp4",
        matmul=replace(FP4, last_wide=0.15),
        scaling=Scaling("block"),
        blocks=Blocks(16, "e4m3", weight="square"),
    ),
    "mxfp4": Recipe("mxfp4", matmul=FP4, scaling=Scaling("block")),
    "unit": Recipe("unit", matmul=FP8, predict="unit"),
}
"""Table 3 of the Scalify paper, experiments #1 to #4, what they are compared with, and `unit`."""


def assert_one_sentence(result: Result, message: str, location: str = "") -> None:
    error, note = result.stderr.splitlines()
    assert error.startswith(f"{location}: error: " if location else "error: ")
    assert message in error
    assert " note: " in f" {note}"
    assert "defect" not in error
    assert result.stdout == ""


# Presets


def test_presets_are_what_they_say() -> None:
    assert {name: load_recipe(name) for name in preset_names()} == PRESETS


def test_the_vocabulary_stays_out_of_every_preset() -> None:
    assert not any(recipe.matmul.vocabulary for recipe in PRESETS.values())
    assert all(recipe.matmul.smallest == (2, 16, 16) for recipe in PRESETS.values())


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_a_file_that_starts_with_what_it_does(name: str, tmp_path: Path) -> None:
    text = preset_text(name)
    first = text.splitlines()[0]
    assert first.startswith("# ")
    assert first.endswith(".")
    path = tmp_path / "copy.toml"
    path.write_text(text)
    base = tomllib.loads(text).get("base", "propagate")
    assert load_recipe(path) == replace(PRESETS[name], name=base)


def test_narrow_is_whatever_changes_a_dtype() -> None:
    assert [name for name in PRESETS if not load_recipe(name).narrow] == ["propagate"]
    assert load_recipe("propagate", ["compute=bf16"]).narrow


# Out and in


def formats(key: str, target: str) -> st.SearchStrategy[str]:
    return st.sampled_from([f for f in PLACES[key] if f not in PLATFORMS[target].lacks])


@st.composite
def operands(draw: st.DrawFn, target: str) -> tuple[str, str, str]:
    wide = (KEEP, "f32", "bf16", "f16")
    fnuz = [f for f in FNUZ if f not in PLATFORMS[target].lacks]
    other = [f for f in F8 if f not in (*FNUZ, *PLATFORMS[target].lacks)]
    family = draw(st.sampled_from([f for f in (wide, fnuz, other) if f]))
    roles = draw(st.tuples(*[st.sampled_from(family)] * 3))
    narrow = [f for f in family if f not in E5M2]
    once = draw(st.integers(0, 2))
    a, b, c = (
        r if i == once or r not in E5M2 else draw(st.sampled_from(narrow))
        for i, r in enumerate(roles)
    )
    return a, b, c


@st.composite
def recipes(draw: st.DrawFn) -> Recipe:
    """Any recipe that is not refused."""
    target = draw(st.sampled_from(get_args(Target)))
    patterns = st.lists(st.text(max_size=6), max_size=3).map(tuple)
    scales = st.lists(st.sampled_from(["a*=2^-4", "w=0.5", "[x]=8"]), max_size=3).map(tuple)
    blocks = st.lists(st.sampled_from(["a*=0x1", "w=128x128", "[x]=8"]), max_size=3).map(tuple)
    special = {"scale": scales, "blocks": blocks}
    recipe = Recipe(
        name=draw(st.text(max_size=8)),
        meet=draw(st.sampled_from(get_args(Meet))),
        rounding=draw(st.sampled_from(get_args(Rounding))),
        saturate=draw(st.booleans()),
        compute=draw(formats("compute", target)),
        predict=draw(st.sampled_from(get_args(Predict))),
        target=target,
        matmul=MatmulOptions(
            *draw(operands(target)),
            output=draw(formats("matmul.output", target)),
            smallest=draw(st.tuples(*[st.integers(1)] * 3)),
            vocabulary=draw(st.booleans()),
            last_wide=draw(st.floats(0, 1)),
            include=draw(patterns),
            exclude=draw(patterns),
        ),
        state=StateOptions(
            **{
                key: draw(formats(f"state.{key}", target))
                for key in StateOptions.__dataclass_fields__
                if key not in ("moment_scales", "weight_rounding")
            },
            weight_rounding=draw(st.sampled_from(get_args(DataRounding))),
            moment_scales=draw(
                st.just("tensor")
                if target == "portable"
                else st.sampled_from(get_args(MomentScales))
            ),
        ),
        inputs=Inputs(
            **{key: draw(special.get(key, patterns)) for key in Inputs.__dataclass_fields__}
        ),
    )
    return without_idle(recipe)


def without_idle(recipe: Recipe) -> Recipe:
    """A recipe in which the options without effect are at their defaults."""
    for option in own_options(recipe, idle(recipe)):
        table, _, name = option.key.rpartition(".")
        value = {name: defaults()[option.key]}
        if table:
            value = {table: replace(getattr(recipe, table), **value)}
        recipe = replace(recipe, **value)  # type: ignore[arg-type]
    return recipe


@pytest.mark.slow
@given(recipe=recipes(), whole=st.booleans())
def test_what_is_dumped_loads_as_the_same_recipe(
    recipe: Recipe, whole: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("recipe") / "r.toml"
    path.write_bytes(dump_recipe(recipe, whole=whole).encode())
    assert load_recipe(path) == recipe
    assert load_recipe(str(path)) == recipe
    assert load_recipe(recipe) == recipe


def test_only_what_is_not_default_is_dumped() -> None:
    recipe = Recipe(meet="max", matmul=MatmulOptions(exclude=('a"\\\x7f\n', "é")))
    assert dump_recipe(Recipe()) == 'name = "propagate"\n'
    assert dump_recipe(recipe) == (
        'name = "propagate"\nmeet = "max"\n\n[matmul]\nexclude = ["a\\"\\\\\\u007f\\n", "é"]\n'
    )
    assert len(tomllib.loads(dump_recipe(recipe, whole=True))["matmul"]) == 11


def test_every_option_has_a_type_that_is_checked() -> None:
    for key, each in OPTIONS.items():
        assert each.about, key
        assert each.values.check(each.default) == each.default, key
        assert not each.values.names or each.default in each.values.names


# What outdoes what


def write(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text)
    return str(path)


def test_a_file_starts_from_its_base_and_a_call_has_the_last_word(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        'base = "fp8"\nmeet = "max"\n[matmul]\nexclude = ["head"]\nsmallest = 64\n'
        '[state]\nweight = "keep"\n[inputs]',
    )
    matmul = replace(FP8, exclude=("head",), smallest=(64, 64, 64))
    state = StateOptions(gradient="f8E5M2")
    expected = Recipe("fp8", meet="max", matmul=matmul, state=state, norm_gradients=L2)
    assert load_recipe(path) == expected
    changed = replace(matmul, smallest=(2, 32, 16), exclude=("a", "b*"))
    for smallest, exclude in (("2, 32,16", "a, b*"), ("[2, 32,16]", '["a", "b*"]')):
        given_ = [f"matmul.smallest={smallest}", f"matmul.exclude={exclude}", "saturate=false"]
        assert load_recipe(path, given_) == replace(expected, matmul=changed, saturate=False)
    assert load_recipe("fp8", ["matmul.exclude=[0]['w']"]).matmul.exclude == ("[0]['w']",)


def test_dotted_keys_are_tables() -> None:
    given_ = {"matmul.exclude": ["a,b"], "matmul.vocabulary": True, "inputs.weight": ("w*",)}
    recipe = load_recipe("fp8", given_)
    assert recipe.matmul == replace(FP8, exclude=("a,b",), vocabulary=True)
    assert recipe.inputs == Inputs(weight=("w*",))
    assert load_recipe("bf16", ["matmul.include="]).matmul.include == ()
    assert load_recipe("bf16", "meet=max").meet == "max"


def test_several_settings_are_judged_together() -> None:
    keys = ("activation", "weight", "gradient", "output")
    swapped = dict.fromkeys((f"matmul.{key}" for key in keys), "bf16")
    assert load_recipe("fp8", swapped).matmul == BF16
    assert load_recipe(PRESETS["fp8"], swapped).matmul == BF16


# Names of formats


@pytest.mark.parametrize("name", [*F8, "f16", "bf16", "f32"])
def test_formats_go_by_many_names(name: str) -> None:
    target = "target=rocm" if name in FNUZ else "target=any"
    for spelling in (name, *spellings(name)):
        for text in (spelling, spelling.lower(), spelling.upper()):
            recipe = load_recipe("propagate", [f"state.weight={text}", target])
            assert recipe.state.weight == name


def test_short_names_mean_what_the_target_has() -> None:
    matmul = load_recipe("fp8", ["target=rocm"]).matmul
    assert (matmul.activation, matmul.gradient) == FNUZ
    for target in ("gpu", "tpu", "cpu", "iree", "portable", "any"):
        assert load_recipe("fp8", [f"target={target}"]).matmul == FP8
    ocp = ["target=rocm", "matmul.activation=f8E4M3FN", "matmul.weight=f8E4M3FN"]
    assert load_recipe("fp8", [*ocp, "matmul.gradient=f8E5M2"]).matmul == FP8


def refusal(
    recipe: Any, settings: Any = (), error: type[ScalifyError] = UsageError
) -> ScalifyError | None:
    """The error of a recipe; of one that loads nothing, and it loads again as it is."""
    try:
        loaded = load_recipe(recipe, settings)
    except error as refused:
        return refused
    assert load_recipe(loaded) == loaded
    return None


@pytest.mark.parametrize("activation", PLACES["matmul.activation"])
def test_operands_meet_only_where_hardware_multiplies_them(activation: str) -> None:
    for weight, gradient in itertools.product(PLACES["matmul.weight"], repeat=2):
        trio = (activation, weight, gradient)
        uniform = len({name in F8 for name in trio}) == 1
        related = len({name in FNUZ for name in trio}) == 1
        once = sum(name in E5M2 for name in trio) < 2
        scaled = not {*MICRO} & {*trio}  # They need block scales, which this recipe does not have.
        works = refusal(Recipe(matmul=MatmulOptions(activation, weight, gradient))) is None
        assert works is (uniform and related and once and scaled), trio


PRESENT = {
    **{name: ["f8E4M3FN", "f8E5M2"] for name in ("gpu", *DEVICES)},
    "iree": ["f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ"],
    "portable": sorted({*F8} - {"f8E3M4", "f8E4M3"}),
    "tpu": ["f8E4M3B11FNUZ", "f8E4M3FN", "f8E5M2"],
    "rocm": sorted(F8),
    "cpu": sorted(F8),
    "any": sorted(F8),
}


@pytest.mark.parametrize("target", get_args(Target))
def test_a_target_takes_the_formats_that_it_has(target: str) -> None:
    setting = {"target": target}
    refusals = {name: refusal("propagate", setting | {"state.weight": name}) for name in F8}
    assert sorted(name for name, error in refusals.items() if error is None) == PRESENT[target]
    for name, error in refusals.items():
        assert error is None or f"{name}, a format that the target {target!r} lacks" in str(error)
    assert refusal("fp8", setting) is None


# Command line and documentation


def test_recipes_lists_the_presets_with_their_first_lines() -> None:
    lines = call("recipes").stdout.splitlines()[1:]
    assert [line.split()[0] for line in lines] == sorted(PRESETS)
    for line in lines:
        name, about = line.split(maxsplit=1)
        assert preset_text(name).startswith(f"# {about}\n")


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("options", [[], ["--all"]])
def test_recipes_prints_a_file_that_is_taken_again(
    name: str, options: list[str], tmp_path: Path
) -> None:
    settings = ["--set", "meet=max", *options]
    path = write(tmp_path, call("recipes", name, *settings).stdout)
    expected = load_recipe(name, ["meet=max"])
    assert load_recipe(path) == expected
    assert call("recipes", path, *options).stdout == dump_recipe(expected, whole=bool(options))


def test_options_without_a_recipe_are_misuse() -> None:
    for option in (["--all"], ["--set", "meet=max"]):
        result = call("recipes", *option, code=2)
        assert_one_sentence(result, "there is no recipe to print")


def test_a_recipe_file_is_taken_by_rewrite_and_in_python(tmp_path: Path) -> None:
    path = write(tmp_path, "meet = 'max'")
    scale = ["--signature", "scaled"]
    by_command = call("rewrite", "-", "--recipe", path, *scale, text=samples.TEXT, code=0)
    named = ["--recipe", "propagate", "--set", "meet=max"]
    by_name = call("rewrite", "-", *named, *scale, text=samples.TEXT)
    assert by_command.stdout == by_name.stdout
    for recipe in (path, Path(path)):
        text = scalify_hlo.rewrite(samples.TEXT, recipe=recipe, signature="scaled")
        assert text.split() == by_command.stdout.split()


def test_recipes_need_neither_jax_nor_mlir() -> None:
    code = (
        "import sys\nfrom scalify_hlo.cli.main import main\n"
        "try: main(['recipes', 'fp8', '--set', 'target=rocm'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "assert not {'jax', 'jaxlib', 'numpy'} & set(sys.modules)"
    )
    python("-c", code)


def test_the_places_of_formats_are_those_of_stablehlo() -> None:
    assert {name for names in PLACES.values() for name in names} - {AUTO, KEEP} <= set(FORMATS)
    assert set(OPERANDS) < set(PLACES)


def test_docs_are_what_the_presets_and_docstrings_say() -> None:
    assert (ROOT / "docs" / "recipes.md").read_text() == page(), "run `make docs`"


@pytest.mark.parametrize(
    ("hint", "text", "number"),
    [(int, "12345678901", 12345678901), (float, "1e-300", 1e-300), (float, "-.5", -0.5)],
)
def test_long_numbers_are_read(hint: type, text: str, number: float) -> None:
    assert values_of(hint).read("option", text, spelt=True) == number


@pytest.mark.parametrize(
    "number", [float("inf"), float("nan"), "1e999", pytest.param(10**400, id="10^400")]
)
def test_numbers_that_are_not_finite_are_refused(number: object) -> None:
    with pytest.raises(UsageError, match="option takes a finite number, and not"):
        values_of(float).read("option", number, spelt=True)
