"""Recipes that are refused, the default one, and those that find no matmul to quantize."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scalify_hlo
from scalify_hlo import (
    InputError,
    Recipe,
    ScalifyError,
    ScalifyWarning,
    UsageError,
    load_recipe,
    rewrite,
)
from scalify_hlo.passes.summary import summary
from scalify_hlo.recipes.loading import defaults
from scalify_hlo.recipes.model import MatmulOptions
from tests.py.recipes.test_recipe import assert_one_sentence, refusal, write
from tests.py.shared import samples
from tests.py.shared.commands import call
from tests.py.shared.judge import propagated, stablehlo_of

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
    "target = 'cuda'": "'cuda' is not a value of 'target'",
    "meet = true": "'meet' takes a string, and not True",
    "meet = {}": "'meet' takes a string, and not a table",
    "saturate = 'yes'": "'saturate' takes true or false, and not 'yes'",
    "saturate = 1": "'saturate' takes true or false, and not 1",
    "[matmul]\nsmallest = 0": "takes a whole number or a list of 3, each at least 1, and not 0",
    "[matmul]\nsmallest = [2, 16]": "each at least 1, and not [2, 16]",
    "[matmul]\nsmallest = [2, 16, 0]": "each at least 1, and not [2, 16, 0]",
    "[matmul]\nsmallest = ['2', 16, 16]": "each at least 1, and not ['2', 16, 16]",
    "[matmul]\nsmallest = []": "each at least 1, and not []",
    "[matmul]\nsmallest = true": "'matmul.smallest' takes a whole number",
    "[matmul]\nsmallest = 16.0": "'matmul.smallest' takes a whole number",
    "[matmul]\nsmallest = '16'": "'matmul.smallest' takes a whole number",
    "[matmul]\nexclude = 'head'": "'matmul.exclude' takes a list of strings",
    "[matmul]\nexclude = ['a', 1]": "'matmul.exclude' takes a list of strings",
    "[matmul]\nweight = ['e4m3']": "'matmul.weight' takes a string, and not ['e4m3']",
    "[matmul.weight]\na = 1": "'matmul.weight' takes a string, and not a table",
    "[state]\nweight = 1979-05-27": "'state.weight' takes a format, or a table",
}
WRONG_FORMATS = {
    "[state]\nweight = 'f8E4M3NF'": "is not a format for 'state.weight' (did you mean 'f8E4M3FN'",
    "[state]\nweight = 'int8'": "'int8' is not a format for 'state.weight'",
    "[state]\nweight = 'f4E2M1FN'": "'state.weight' cannot be f4E2M1FN",
    "[matmul]\noutput = 'e4m3'": "'matmul.output' cannot be f8E4M3FN",
    "compute = 'f64'": "'compute' cannot be f64",
    "target = 'gpu'\n[state]\nweight = 'f8E3M4'": "a format that the target 'gpu' lacks",
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
    "meet = max": (":1:8", "invalid TOML: invalid value"),
    "meet = 'max'\nmeet = 'max'\n": (":2:13", "invalid TOML: cannot overwrite a value"),
    "meet = '": ("", "(at end of document)"),
    "a = " + "[" * 10_000: ("", "invalid TOML: "),
    "a = " + "9" * 5_000: ("", "invalid TOML: "),
}
REFUSED = UNKNOWN_KEYS | WRONG_VALUES | WRONG_FORMATS | WRONG_PAIRS | WRONG_BASES


@pytest.mark.parametrize("text", REFUSED)
def test_a_files_mistake_is_the_files_and_named(text: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        load_recipe(path)
    assert REFUSED[text] in caught.value.message
    location = str(caught.value.location)
    assert location.startswith(path)
    line = location.removeprefix(path).removeprefix(":")  # keys in quotes have none
    assert line == "" or 1 <= int(line) <= len(text.splitlines())
    assert caught.value.hint


def test_the_line_of_a_mistake_is_named(tmp_path: Path) -> None:
    text = 'base = "fp8"\n\n[scaling]\nkind = "current"\n\n[matmul]\n\nactivation = "e4m4"\n'
    path = write(tmp_path, text)
    with pytest.raises(InputError, match="did you mean 'e4m3'") as caught:
        load_recipe(path)
    assert caught.value.location == f"{path}:8"


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
        ("fp8", ["saturate="], "'saturate' takes true or false, and not ''"),
        ("fp8", ["saturate=1"], "'saturate' takes true or false, and not '1'"),
        ("fp8", ["matmul.smallest=0"], "at least 1, and not '0'"),
        ("fp8", ["matmul.smallest=2,16"], "at least 1, and not '2,16'"),
        ("fp8", ["matmul.smallest=2,,16"], "at least 1, and not '2,,16'"),
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
        ("fp8", ["target=gpu", "state.weight=f8E4M3"], "the target 'gpu' lacks"),
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
        load_recipe(path, ["target=gpu"])
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
        result = call(*arguments, text=samples.TEXT, code=1)
        place = {"meet=\n": ":1:6", "[state]\nweight = 'f9'": ":2"}.get(text, ":1")
        assert_one_sentence(result, "", location=f"{path}{place}")
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
        result = call("recipes", path, code=1)
        assert_one_sentence(result, message, location=path)
    with pytest.raises(InputError, match="null"):
        load_recipe("a\0.toml")


def test_what_is_no_recipe_is_refused() -> None:
    with pytest.raises(UsageError, match="class int is not a recipe"):
        load_recipe(3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="is not a format"):
        load_recipe(Recipe(compute="f61"))
    with pytest.raises(UsageError, match="takes a whole number"):
        scalify_hlo.rewrite(samples.TEXT, recipe=Recipe(matmul=MatmulOptions(smallest=(0, 0, 0))))
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


X, W = np.ones((32, 64), np.float32), np.ones((64, 32), np.float32)


def exported(function: Any = jnp.matmul, *arguments: Any) -> str:
    return stablehlo_of(function, *(arguments or (X, W)))


def first_line(function: Any, *arguments: Any, **settings: Any) -> str:
    text = exported(function, *arguments)
    given = [part for pair in settings.items() for part in ("--set", "matmul.{}={}".format(*pair))]
    done = call("rewrite", "-", "-o", "/dev/null", *given, text=text)
    (line,) = [each for each in done.stderr.splitlines() if each.startswith("fp8-current: ")]
    strict = call("rewrite", "-", "-o", "/dev/null", *given, "--strict", text=text)
    assert (done.exit_code, strict.exit_code) == (0, 1)
    call("rewrite", "-", "--recipe", "propagate", "--strict", text=text, code=0)
    return line


# The default


def test_a_rewrite_quantizes_with_the_scales_of_this_run() -> None:
    new, report = rewrite(exported(), report=True)
    assert (report.recipe, report.narrowed, report.remarks) == ("fp8-current", 1, [])
    assert new == rewrite(exported(), recipe="fp8-current")
    done = call("rewrite", "-", text=exported())
    assert done.stderr == (
        "fp8-current: 1 of 1 matmul in FP8 (1 of 1 forward); 2 statistics per layer\n"
    )
    assert done.stdout.count("f8E4M3FN") > 1


def test_inspect_shows_what_a_rewrite_does() -> None:
    assert "fp8-current: 1 of 1 matmul in FP8" in call("inspect", "-", text=exported()).stdout
    named = call("inspect", "-", "--recipe", "propagate", text=exported()).stdout
    assert "in FP8" not in named


def test_with_a_profile_scales_are_those_of_the_profile(tmp_path: Path) -> None:
    profile = scalify_hlo.calibrate(exported(), [[X, W]])
    new, report = rewrite(exported(), profile=profile, report=True)
    assert (report.recipe, report.statistics) == ("fp8-calibrated", 0)
    assert new == rewrite(exported(), recipe="fp8-calibrated", profile=profile)
    path = tmp_path / "profile.json"
    path.write_text(scalify_hlo.dump_profile(profile))
    done = call("rewrite", "-", "--profile", path, text=exported())
    assert done.stderr.startswith("fp8-calibrated: 1 of 1 matmul in FP8")


def test_of_propagate_a_program_is_asked_for_by_name() -> None:
    assert "f8" not in propagated(exported())
    assert "f8" not in rewrite(exported(), recipe=Recipe())
    assert Recipe().name == scalify_hlo.load_recipe().name == "propagate"


@pytest.mark.parametrize("options", [{}, {"recipe": None}])
def test_a_function_has_the_paper_s_transform(options: dict[str, Any]) -> None:
    function = scalify_hlo.scalify(jnp.matmul, **options)
    assert "f8" not in function.lower(X, W).as_text()


def test_input_scales_divide_at_the_entry() -> None:
    new = rewrite(exported(), input_scale={"*": 2.0**-4})
    assert "dense<1.600000e+01>" in new
    assert "dense<1.600000e+01>" not in rewrite(exported())


def test_the_example_of_an_input_scale_names_a_recipe_that_reads_it() -> None:
    example = call("rewrite", "--help").stdout.partition("Example: ")[2]
    assert "--recipe unit --input-scale '*=2^-4'" in example


def test_models_with_markers_keep_them() -> None:
    def marked(x: jax.Array, w: jax.Array) -> jax.Array:
        return jnp.sum(scalify_hlo.dynamic_rescale_l2_grad(jnp.tanh(x)) @ w)

    text = exported(jax.grad(marked), X, W)
    for signature in ("same", "scaled"):
        _, report = rewrite(text, signature=signature, report=True)
        assert (report.recipe, report.markers) == ("fp8-current", 1)
        assert report.narrowed == len(report.matmuls) > 0


# No matmul is quantized


def test_a_program_without_a_matmul() -> None:
    told = "fp8-current: the program has no matmul; --recipe propagate asks for none"
    assert first_line(jnp.tanh, X) == told
    with pytest.warns(ScalifyWarning, match="--recipe propagate asks for none"):
        rewrite(exported(jnp.tanh, X))


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ((X[:, :8], W[:8]), "matmul.smallest"),
        ((X, np.ones((64, 8192), np.float32)), "matmul.vocabulary"),
    ],
)
def test_matmuls_that_the_recipe_leaves(arguments: Any, option: str) -> None:
    line = first_line(jnp.matmul, *arguments)
    assert line.startswith("fp8-current: 0 of 1 matmul in low precision")
    assert f"; --set {option}=... changes this" in line


def test_the_option_of_most_matmuls_is_named() -> None:
    def model(x: jax.Array, w: jax.Array, v: jax.Array) -> Any:
        return x @ w, [x @ v, (x + 1) @ v]

    line = first_line(model, X, np.ones((64, 8192), np.float32), W[:, :8])
    assert "; --set matmul.smallest=... changes this" in line


def test_integers_have_no_format_to_change() -> None:
    integers = np.ones((32, 32), np.int8)
    line = first_line(jnp.matmul, integers, integers)
    assert "; --recipe propagate asks for none" in line


def test_what_options_leave_out_is_asked_for() -> None:
    text, settings = exported(), {"matmul.exclude": "*"}
    _, report = rewrite(text, settings=settings, strict=True, report=True)
    assert summary(report).startswith("fp8-current: 0 of 1 matmul in low precision")
    assert "; --set matmul.exclude=... changes this" in summary(report)
    with pytest.raises(InputError, match="quantizes no matmul: its only matmul stays wide"):
        rewrite(text, settings={"matmul.smallest": 128}, strict=True)
