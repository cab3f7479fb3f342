"""The command `compare`, and the options that it sets over recipes."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from scalify_hlo.commands.choose.comparison import recipes_of
from scalify_hlo.errors import UsageError
from scalify_hlo.recipes.loading import load_recipe
from tests.py.shared import choosing, commands
from tests.py.shared.choosing import good_step, planted_step

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
    done = run(
        program, *given, "--set", "matmul.exclude=*jvp(planted)*", "--format", "json", code=0
    )
    current, refused = json.loads(done.stdout)["recipes"]
    assert "matmul.exclude" in current["recipe"]
    assert current["narrow"] == pytest.approx(1 - 3 / 11, abs=1e-6)
    assert not any("planted)" in each["site"] for each in current["matmuls"])
    assert "matmul.exclude" in refused["reason"]
    over = ("--set", "matmul.exclude=*jvp(planted)*")
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
