"""The recipe of a rewrite that names none, and a recipe that finds no matmul to quantize."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo import InputError, Recipe, ScalifyWarning, rewrite
from scalify_hlo.passes.summary import summary
from tests.py.shared.commands import call
from tests.py.shared.judge import propagated, stablehlo_of

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
