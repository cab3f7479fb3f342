"""The recipes of the literature: their names, their list, and what programs and targets lack."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import scalify_hlo
from scalify_hlo import UsageError, load_recipe
from scalify_hlo.cli.recipes import page
from scalify_hlo.commands.choose.comparison import recipes_of
from scalify_hlo.recipes.sources import LABELS, source_of
from scalify_hlo.recipes.toml import literature_names, preset_names, preset_text
from tests.py.shared.commands import call
from tests.py.shared.emitted import inference
from tests.py.shared.judge import program_of, shaped

# What a program or a target lacks, in a sentence.


def remarks(program: Any, name: str, **options: Any) -> list[str]:
    _, report = scalify_hlo.rewrite(program, recipe=name, report=True, **options)
    return [remark.message for remark in report.remarks]


def mlp() -> jax.export.Exported:
    weights = [shaped(64, 64)] * 2

    def fitted(p: Any, x: jax.Array) -> Any:
        return jax.grad(lambda p: jnp.mean((jnp.tanh(x @ p[0]) @ p[1]) ** 2))(p)

    return program_of(fitted, weights, shaped(32, 64))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("deepseek-v3", ["matmul.exclude matches no matmul: '*@product' or '*router*'"]),
        ("te-current", ["matmul.exclude matches no matmul: '*@product'"]),
        (
            "nvidia-nvfp4",
            [
                "matmul.first_wide has no effect: 0.033 of 2 linear layers is less than one",
                "matmul.last_wide has no effect: 0.13 of 2 linear layers is less than one",
                "matmul.exclude matches no matmul: '*@product'",
            ],
        ),
        ("micikevicius-2022", []),
    ],
)
def test_attention_and_layers_that_a_program_lacks_are_told(name: str, told: list[str]) -> None:
    assert remarks(mlp(), name) == told
    with pytest.raises(UsageError, match="matches no matmul"):
        scalify_hlo.rewrite(mlp(), recipe=name, settings={"matmul.exclude": ["*head*"]})


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("deepseek-v3", ["first_moment is bf16", "second_moment is bf16"]),
        ("fp8-lm", ["first_moment is f8E4M3FN", "second_moment is f16"]),
        ("coat", ["first_moment is f8E4M3FN", "second_moment is f8E4M3FN"]),
        ("te-current", []),
    ],
)
def test_an_optimizer_that_a_program_lacks_is_told(name: str, told: list[str]) -> None:
    found = remarks(inference(), name, signature="scaled")
    for each in told:
        assert f"state.{each}, and the program returns no such state" in found
    assert any("state" in message for message in found) == bool(told)


@pytest.mark.parametrize("name", ["quartet", "nvidia-nvfp4", "fp4-all-the-way"])
def test_no_gradient_to_round_is_told(name: str) -> None:
    found = remarks(inference(), name)
    assert "blocks.gradient_rounding has no effect: no quantized matmul multiplies a gradient" in (
        found
    )
    # Quartet transforms forward matmuls too.
    assert any("blocks.hadamard" in message for message in found) == (name == "nvidia-nvfp4")


@pytest.mark.parametrize(
    ("name", "target", "format_"),
    [
        ("noune-2022", "h100", "f8E4M3FNUZ"),
        ("noune-2022", "tpu", "f8E4M3FNUZ"),
        ("quartet", "iree", "f4E2M1FN"),
        ("nvidia-nvfp4", "portable", "f4E2M1FN"),
    ],
)
def test_a_format_that_the_target_lacks_is_refused(name: str, target: str, format_: str) -> None:
    message = f"is {format_}, a format that the target '{target}' lacks"
    with pytest.raises(UsageError, match=re.escape(message)):
        load_recipe(name, {"target": target})


# Names and listings.


def test_the_names_are_taken_wherever_recipes_are(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('base = "deepseek-v3"\n\n[blocks]\nsize = 64\n')
    assert load_recipe(path).blocks.size == 64
    assert load_recipe(path).state.first_moment == "bf16"
    with pytest.raises(UsageError, match=r"did you mean 'deepseek-v3'"):
        load_recipe("deepseek-v")


def test_each_file_says_what_it_does() -> None:
    for name in literature_names():
        source, first = source_of(name), preset_text(name).splitlines()[0]
        assert source is not None
        assert first.startswith("# ")
        assert first.endswith(".")
        for text in filter(None, source):
            assert text.endswith(".")
    assert all(source_of(name) is None for name in preset_names())


def test_the_list_has_every_paragraph() -> None:
    found = call("recipes", "--literature").stdout
    words = " ".join(found.split())
    for name in literature_names():
        source = source_of(name)
        assert source is not None
        for label, text in zip(LABELS, source, strict=False):
            assert not text or f"{label.lower()} {text}" in words


def test_the_list_is_json_and_a_page_too() -> None:
    listed = json.loads(call("recipes", "--literature", "--format", "json").stdout)["recipes"]
    assert [each["name"] for each in listed] == literature_names()
    for each in listed:
        source = source_of(each["name"])
        assert source is not None
        assert each["source"] == source._asdict()
    section = call("recipes", "--literature", "--markdown").stdout
    assert section.strip() in page()
    assert all(f"\n### {name}\n" in section for name in literature_names())


def test_a_name_and_the_list_are_misuse() -> None:
    result = call("recipes", "coat", "--literature", code=2)
    assert "the list has all recipes" in result.stderr


def test_compare_takes_all_of_them_by_one_word() -> None:
    assert sorted(name for name, _ in recipes_of("literature", {})) == literature_names()
    assert [name for name, _ in recipes_of("coat,qwix", {})] == ["coat", "qwix"]
