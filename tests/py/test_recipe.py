"""Recipes: presets, files and settings over them, in and out, and what is refused."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

import scalify_hlo
from scalify_hlo import InputError, Recipe, ScalifyError, UsageError, dump_recipe, load_recipe
from scalify_hlo.cli.main import main
from scalify_hlo.cli.recipes import page
from scalify_hlo.formats import FORMATS
from scalify_hlo.recipe import (
    CHOICES,
    KEEP,
    Inputs,
    Matmul,
    Meet,
    Predict,
    Rescale,
    Rounding,
    Scaling,
    State,
    Target,
    defaults,
)
from scalify_hlo.recipe_file import preset_names, preset_text
from scalify_hlo.recipe_formats import E5M2, F8, FNUZ, LACKING, OPERANDS, PLACES, spellings
from tests.py import samples

ROOT = Path(__file__).resolve().parents[2]

F16, BF16 = Matmul("f16", "f16", "f16", "f32"), Matmul("bf16", "bf16", "bf16", "bf16")
FP8 = Matmul("f8E4M3FN", "f8E4M3FN", "f8E5M2", "f32")
L2 = Rescale("l2")
PRESETS = {
    "propagate": Recipe(),
    "bf16": Recipe("bf16", matmul=BF16),
    "fp16": Recipe("fp16", matmul=F16, state=State(gradient="f16")),
    "fp16-state": Recipe("fp16-state", matmul=F16, state=State("f16", "f16"), norm_gradients=L2),
    "fp8": Recipe("fp8", matmul=FP8, state=State("f16", "f8E5M2"), norm_gradients=L2),
    "fp8-state": Recipe(
        "fp8-state",
        matmul=FP8,
        state=State("f16", "f8E5M2", "f16", "f16"),
        norm_gradients=L2,
        state_gradients=L2,
    ),
    "fp8-current": Recipe("fp8-current", matmul=FP8, scaling=Scaling("current", "HYBRID")),
    "fp8-delayed": Recipe("fp8-delayed", matmul=FP8, scaling=Scaling("delayed", "HYBRID")),
    "fp8-calibrated": Recipe("fp8-calibrated", matmul=FP8, scaling=Scaling("calibrated", "HYBRID")),
    "unit": Recipe("unit", matmul=FP8, predict="unit"),
}
"""Table 3 of the Scalify paper, experiments #1 to #4, what they are compared with, and `unit`."""


# Presets


def test_presets_are_what_they_say() -> None:
    assert {name: load_recipe(name) for name in preset_names()} == PRESETS


def test_the_vocabulary_stays_out_of_every_preset() -> None:
    assert not any(recipe.matmul.vocabulary for recipe in PRESETS.values())
    assert all(recipe.matmul.smallest == 16 for recipe in PRESETS.values())


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
    return st.sampled_from([f for f in PLACES[key] if f not in LACKING.get(target, ())])


@st.composite
def operands(draw: st.DrawFn, target: str) -> tuple[str, str, str]:
    wide = (KEEP, "f32", "bf16", "f16")
    fnuz = [f for f in FNUZ if f not in LACKING.get(target, ())]
    other = [f for f in F8 if f not in (*FNUZ, *LACKING.get(target, ()))]
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
    return Recipe(
        name=draw(st.text(max_size=8)),
        meet=draw(st.sampled_from(get_args(Meet))),
        rounding=draw(st.sampled_from(get_args(Rounding))),
        saturate=draw(st.booleans()),
        compute=draw(formats("compute", target)),
        predict=draw(st.sampled_from(get_args(Predict))),
        target=target,
        matmul=Matmul(
            *draw(operands(target)),
            output=draw(formats("matmul.output", target)),
            smallest=draw(st.integers(1)),
            vocabulary=draw(st.booleans()),
            include=draw(patterns),
            exclude=draw(patterns),
        ),
        state=State(
            **{key: draw(formats(f"state.{key}", target)) for key in State.__dataclass_fields__}
        ),
        inputs=Inputs(
            **{
                key: draw(scales if key == "scale" else patterns)
                for key in Inputs.__dataclass_fields__
            }
        ),
    )


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
    recipe = Recipe(meet="max", matmul=Matmul(exclude=('a"\\\x7f\n', "é")))
    assert dump_recipe(Recipe()) == 'name = "propagate"\n'
    assert dump_recipe(recipe) == (
        'name = "propagate"\nmeet = "max"\n\n[matmul]\nexclude = ["a\\"\\\\\\u007f\\n", "é"]\n'
    )
    assert len(tomllib.loads(dump_recipe(recipe, whole=True))["matmul"]) == 8


def test_every_option_has_a_type_that_is_checked() -> None:
    for key, default in defaults().items():
        assert (
            isinstance(default, (bool, int, float, tuple))
            or key == "name"
            or default in CHOICES[key]
        )
    assert set(CHOICES) <= set(defaults())


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
    matmul = replace(FP8, exclude=("head",), smallest=64)
    state = State(gradient="f8E5M2")
    expected = Recipe("fp8", meet="max", matmul=matmul, state=state, norm_gradients=L2)
    assert load_recipe(path) == expected
    again = load_recipe(path, ["matmul.smallest=32", "matmul.exclude=a, b*", "saturate=false"])
    changed = replace(matmul, smallest=32, exclude=("a", "b*"))
    assert again == replace(expected, matmul=changed, saturate=False)


def test_dotted_keys_are_tables() -> None:
    given_ = {"matmul.exclude": ["a,b"], "matmul.vocabulary": True, "inputs.weight": ("w*",)}
    recipe = load_recipe("bf16", given_)
    assert recipe.matmul == replace(BF16, exclude=("a,b",), vocabulary=True)
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
    for target in ("cuda", "tpu", "cpu", "any"):
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
        works = refusal(Recipe(matmul=Matmul(activation, weight, gradient))) is None
        assert works is (uniform and related and once), trio


PRESENT = {
    "cuda": ["f8E4M3FN", "f8E5M2"],
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


# What is refused

UNKNOWN_KEYS = {
    "met = 'max'": "a recipe has no option 'met' (did you mean 'meet'",
    "[matmul]\nweigth = 'e4m3'": "no option 'matmul.weigth' (did you mean 'matmul.weight'",
    "[matmull]\nweight = 'e4m3'": "no option 'matmull.weight' (did you mean 'matmul.weight'",
    "[matmull]": "no option 'matmull' (did you mean",
    "[[matmul]]\nweight = 'e4m3'": "no option 'matmul' (did you mean",
    "matmul = 'e4m3'": "no option 'matmul' (did you mean",
    "activation = 'e4m3'": "no option 'activation' (did you mean 'matmul.activation'",
    "'matmul.weight' = 'e4m3'": "(did you mean 'matmul.weight'",
    "[meet]\nmax = 1": "no option 'meet.max' (did you mean",
}
WRONG_VALUES = {
    "meet = 'maxx'": "'maxx' is not a value of 'meet' (did you mean 'max'?)",
    "target = 'gpu'": "'gpu' is not a value of 'target'",
    "meet = true": "'meet' takes a string, and not True",
    "meet = {}": "'meet' takes a string, and not a table",
    "saturate = 'yes'": "'saturate' takes true or false, and not 'yes'",
    "saturate = 1": "'saturate' takes true or false, and not 1",
    "[matmul]\nsmallest = 0": "'matmul.smallest' takes a whole number, at least 1, and not 0",
    "[matmul]\nsmallest = true": "'matmul.smallest' takes a whole number",
    "[matmul]\nsmallest = 16.0": "'matmul.smallest' takes a whole number",
    "[matmul]\nsmallest = '16'": "'matmul.smallest' takes a whole number",
    "[matmul]\nexclude = 'head'": "'matmul.exclude' takes a list of strings",
    "[matmul]\nexclude = ['a', 1]": "'matmul.exclude' takes a list of strings",
    "[matmul]\nweight = ['e4m3']": "'matmul.weight' takes a string, and not ['e4m3']",
    "[matmul.weight]\na = 1": "'matmul.weight' takes a string, and not a table",
    "[state]\nweight = 1979-05-27": "'state.weight' takes a string, and not datetime.date",
}
WRONG_FORMATS = {
    "[state]\nweight = 'f8E4M3NF'": "is not a format for 'state.weight' (did you mean 'f8E4M3FN'",
    "[state]\nweight = 'int8'": "'int8' is not a format for 'state.weight'",
    "[state]\nweight = 'f4E2M1FN'": "'state.weight' cannot be f4E2M1FN",
    "[matmul]\noutput = 'e4m3'": "'matmul.output' cannot be f8E4M3FN",
    "compute = 'f64'": "'compute' cannot be f64",
    "target = 'cuda'\n[state]\nweight = 'f8E3M4'": "a format that the target 'cuda' lacks",
}
WRONG_PAIRS = {
    "base = 'fp8'\n[matmul]\nactivation = 'e5m2'": "no hardware multiplies E5M2 by E5M2",
    "base = 'fp8'\n[matmul]\nweight = 'e5m2'": "no hardware multiplies E5M2 by E5M2",
    "base = 'fp8'\n[matmul]\ngradient = 'f8E5M2FNUZ'": "a FNUZ format of AMD with another",
    "base = 'fp8'\n[matmul]\ngradient = 'keep'": "takes two f8 operands or none",
    "base = 'fp16'\n[matmul]\nweight = 'e4m3'": "takes two f8 operands or none",
    "[matmul]\nweight = 'e4m3'": "takes two f8 operands or none",
}
WRONG_BASES = {
    "base = 'fp9'": "no recipe is named 'fp9' (did you mean 'fp8'",
    "base = 'mine.toml'": "no recipe is named 'mine.toml'",
    "base = 8": "'base' takes a string, and not 8",
}
NO_TOML = {
    "meet = max": (":1:8", "this is no TOML: invalid value"),
    "meet = 'max'\nmeet = 'max'\n": (":2:13", "this is no TOML: cannot overwrite a value"),
    "meet = '": ("", "(at end of document)"),
    "a = " + "[" * 10_000: ("", "this is no TOML: "),
    "a = " + "9" * 5_000: ("", "this is no TOML: "),
}
REFUSED = UNKNOWN_KEYS | WRONG_VALUES | WRONG_FORMATS | WRONG_PAIRS | WRONG_BASES


def call(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(main, list(arguments), input=text)


def assert_one_sentence(result: Result, message: str, location: str = "") -> None:
    error, note = result.stderr.splitlines()
    assert error.startswith(f"{location}: error: " if location else "error: ")
    assert message in error
    assert " note: " in f" {note}"
    assert "defect" not in error
    assert result.stdout == ""


@pytest.mark.parametrize("text", REFUSED)
def test_a_files_mistake_is_the_files_and_named(text: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        load_recipe(path)
    assert REFUSED[text] in caught.value.message
    assert caught.value.location == path
    assert caught.value.hint


@pytest.mark.parametrize("text", NO_TOML)
def test_what_is_no_toml_is_said_with_its_line(text: str, tmp_path: Path) -> None:
    place, message = NO_TOML[text]
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        load_recipe(path)
    assert message in caught.value.message
    assert (caught.value.location or "").startswith(f"{path}{place}")


@pytest.mark.parametrize(
    ("recipe", "settings", "message"),
    [
        ("fp88", [], "no recipe is named 'fp88' (did you mean 'fp8'"),
        ("", [], "no recipe is named ''"),
        ("fp8", ["meet"], "'meet' sets no option of the recipe"),
        ("fp8", ["met=max"], "no option 'met' (did you mean 'meet'"),
        ("fp8", ["base=fp16"], "no option 'base'"),
        ("fp8", ["=max"], "no option ''"),
        ("fp8", ["meet=maxx"], "did you mean 'max'"),
        ("fp8", ["saturate=1"], "'saturate' takes true or false, and not '1'"),
        ("fp8", ["matmul.smallest=0"], "at least 1, and not '0'"),
        ("fp8", ["matmul.smallest=-3"], "at least 1, and not '-3'"),
        ("fp8", ["matmul.smallest=1e3"], "at least 1, and not '1e3'"),
        ("fp8", ["matmul.smallest=" + "9" * 9_999], "at least 1, and not"),
        ("fp8", ["matmul=f16"], "no option 'matmul' (did you mean"),
        ("fp8", ["matmul.wieght=f16"], "did you mean 'matmul.weight'"),
        ("fp8", ["matmul.exclude=\udcff"], "takes a list of strings"),
        ("fp8", ["name=\udcff"], "takes a string"),
        ("fp8", ["state.weight=f8E4M3NF"], "did you mean 'f8E4M3FN'"),
        ("fp8", ["matmul.activation=f8E5M2"], "no hardware multiplies E5M2 by E5M2"),
        ("fp8", ["matmul.weight=f16"], "takes two f8 operands or none"),
        ("fp8", ["target=cuda", "state.weight=f8E4M3"], "the target 'cuda' lacks"),
    ],
)
def test_a_calls_mistake_is_misuse(
    recipe: str, settings: list[str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        load_recipe(recipe, settings)
    assert message in caught.value.message
    assert caught.value.location is None
    sets = [part for setting in settings for part in ("--set", setting)]
    out = tmp_path / "out.mlir"
    arguments = ["-", "-o", str(out), "--recipe", recipe, *sets]
    for result in (
        call("recipes", recipe, *sets),
        call("rewrite", *arguments, text=samples.TEXT),
    ):
        assert result.exit_code == 2
        assert_one_sentence(result, message)
    assert not out.exists()


def test_a_setting_that_spoils_a_good_file_is_misuse(tmp_path: Path) -> None:
    path = write(tmp_path, "[state]\nweight = 'f8E3M4'")
    with pytest.raises(UsageError, match="lacks"):
        load_recipe(path, ["target=cuda"])
    with pytest.raises(UsageError, match="two f8 operands"):
        load_recipe(write(tmp_path, "base = 'fp8'"), ["matmul.weight=keep"])


@pytest.mark.parametrize("text", ["[state]\nweight = 'f9'", "base = 'fp9'", "meet=\n", "meet = 3"])
def test_a_bad_file_ends_a_command_before_it_writes(text: str, tmp_path: Path) -> None:
    path, out = write(tmp_path, text), tmp_path / "out.mlir"
    for arguments in (
        ["recipes", path],
        ["inspect", "-", "--recipe", path],
        ["rewrite", "-", "-o", str(out), "--recipe", path],
    ):
        result = call(*arguments, text=samples.TEXT)
        assert result.exit_code == 1
        assert_one_sentence(result, "", location=path if text != "meet=\n" else f"{path}:1:6")
    assert not out.exists()


def test_a_file_that_cannot_be_read_is_the_inputs_fault(tmp_path: Path) -> None:
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    for path, message in (
        ("missing.toml", "cannot read the recipe: no such file"),
        ("missing/recipe", "cannot read the recipe: no such file"),
        (f"{tmp_path}/", "cannot read the recipe: is a directory"),
        (str(binary), "cannot read the recipe: it is not UTF-8"),
    ):
        result = call("recipes", path)
        assert result.exit_code == 1
        assert_one_sentence(result, message, location=path)
    with pytest.raises(InputError, match="null"):
        load_recipe("a\0.toml")


def test_what_is_no_recipe_is_refused() -> None:
    with pytest.raises(UsageError, match="class int is no recipe"):
        load_recipe(3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="is not a format"):
        load_recipe(Recipe(compute="f61"))
    with pytest.raises(UsageError, match="takes a whole number"):
        scalify_hlo.rewrite(samples.TEXT, recipe=Recipe(matmul=Matmul(smallest=0)))
    with pytest.raises(UsageError, match="no option '3'"):
        load_recipe("fp8", {3: "max"})  # type: ignore[dict-item]


@given(content=st.text(max_size=200) | st.binary(max_size=200))
def test_any_file_is_a_recipe_or_an_input_error(
    content: str | bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("recipe") / "r.toml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert_one_line(refusal(path, error=InputError))


leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.just(["a"])


@given(st.sampled_from([*defaults(), "met", "matmul"]), leaves)
def test_any_setting_is_taken_or_refused(key: str, value: Any) -> None:
    assert_one_line(refusal("fp16", {key: value}))


def assert_one_line(error: ScalifyError | None) -> None:
    assert error is None or (error.hint and "\n" not in error.message)


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
    settings = ["--set", "matmul.smallest=64", *options]
    path = write(tmp_path, call("recipes", name, *settings).stdout)
    expected = load_recipe(name, ["matmul.smallest=64"])
    assert load_recipe(path) == expected
    assert call("recipes", path, *options).stdout == dump_recipe(expected, whole=bool(options))


def test_options_without_a_recipe_are_misuse() -> None:
    for option in (["--all"], ["--set", "meet=max"]):
        result = call("recipes", *option)
        assert result.exit_code == 2
        assert_one_sentence(result, "no recipe is named that could be printed")


def test_a_recipe_file_is_taken_by_rewrite_and_in_python(tmp_path: Path) -> None:
    path = write(tmp_path, "meet = 'max'")
    scale = ["--signature", "scaled"]
    by_command = call("rewrite", "-", "--recipe", path, *scale, text=samples.TEXT)
    assert by_command.exit_code == 0
    by_name = call("rewrite", "-", "--set", "meet=max", *scale, text=samples.TEXT)
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
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert result.returncode == 0, result.stderr


def test_the_places_of_formats_are_those_of_stablehlo() -> None:
    assert {name for names in PLACES.values() for name in names} - {KEEP} <= set(FORMATS)
    assert set(OPERANDS) < set(PLACES)


def test_docs_are_what_the_presets_and_docstrings_say() -> None:
    assert (ROOT / "docs" / "recipes.md").read_text() == page(), "run `make docs`"
