"""Formats of single tensors of state, by patterns of the names of arguments."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jax
import pytest

import scalify_hlo as jsa
from scalify_hlo import UsageError
from scalify_hlo.program.record import recorded_options
from tests.py.casts.test_frozen_weights import E4M3, HALF, WIDE, batch, formats, params, rewritten
from tests.py.shared.commands import call
from tests.py.shared.judge import parse, shaped, stablehlo_of

BASE = 'state.weight."base/*"'
BF16 = "bfloat16"


def text() -> str:
    """Inference with a layer that only matmuls read, and one that something else reads too."""

    def model(params: Any, x: Any) -> Any:
        return jax.numpy.tanh(x @ params["up"]) @ params["down"] + params["down"].sum()

    return stablehlo_of(model, {"up": shaped(64, 64), "down": shaped(64, 64)}, shaped(64, 64))


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({BASE: "e4m3"}, (E4M3, WIDE, WIDE)),
        ({"state.weight": {"base/*": "e4m3"}}, (E4M3, WIDE, WIDE)),
        ({"state.weight": "base/*=e4m3"}, (E4M3, WIDE, WIDE)),
        ({"state.weight": "lora/*=f16, base['w']=e4m3"}, (E4M3, HALF, WIDE)),
        ({"state.weight.'LORA/*'": "f16", BASE: "e4m3"}, (E4M3, HALF, WIDE)),
        ({"state.weight": "f16", 'state.weight."slow/*"': "keep"}, (WIDE, HALF, WIDE)),
        ({'state.frozen."base/*"': "e4m3", 'state.weight."lora/*"': "f16"}, (E4M3, HALF, WIDE)),
        ({'state.weight."lora/*"': "f16", 'state.weight."lora/a"': "bf16"}, (WIDE, BF16, WIDE)),
        ({'state.weight."*"': "keep", 'state.weight."arg0*"': "e4m3"}, (E4M3, WIDE, WIDE)),
    ],
)
def test_a_pattern_chooses_the_format_of_single_weights(settings: Any, wanted: Any) -> None:
    program, report = rewritten("fp8-current", settings, report=True)
    assert formats(program) == wanted
    assert not [each for each in report.remarks if "state." in each.message]
    module = parse(program.mlir_module())
    recorded = recorded_options(module, "it").recipe.state
    assert recorded == jsa.load_recipe("fp8-current", settings).state


def test_adapters_over_a_frozen_base_move_as_in_f32() -> None:
    base, lora = params()
    program = rewritten("fp8-current", {BASE: "e4m3"})
    stored = jsa.scaled_state(program, (base, lora, lora, lora))
    assert stored[0]["w"].data.dtype.name == E4M3
    after = program.call(*stored, jsa.as_scaled_array(batch()))[0]
    plain = rewritten("fp8-current", {}).call(
        *map(jsa.as_scaled_array, (base, lora, lora, lora, batch()))
    )[0]
    for key in lora:
        moved, wanted = (jsa.asarray(each[key]) - lora[key] for each in (after, plain))
        assert jax.numpy.linalg.norm(moved - wanted) < 0.1 * jax.numpy.linalg.norm(wanted)


def test_a_file_adds_patterns_to_its_base(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "fp8-state"\n[state]\nweight."base/*" = "e4m3"\n')
    before, recipe = jsa.load_recipe("fp8-state").state, jsa.load_recipe(path)
    assert recipe.state.weight == f"{before.weight}, base/*=f8E4M3FN"
    path.write_text(jsa.dump_recipe(recipe))
    assert jsa.load_recipe(path) == recipe
    last = jsa.load_recipe(path, ['state.weight."base/*"=e5m2', "state.weight.'x=y'=bf16"])
    assert last.state.weight == f"{before.weight}, base/*=f8E5M2, x=y=bf16"
    path.write_text('base = "fp8"\n\n[state]\nweight."base/*" = "e4m9"\n')
    with pytest.raises(
        jsa.InputError, match=r"'e4m9' is not a format for 'state\.weight'"
    ) as caught:
        jsa.load_recipe(path)
    assert caught.value.location == f"{path}:4"


def test_weights_of_inference() -> None:
    how = ("rewrite", "-", "--recipe", "fp8-current", "--signature", "scaled")
    one = call(*how, "--set", 'state.weight."up"=e4m3', text=text())
    assert "params['up']" in one.stdout
    signature = next(line for line in one.stdout.splitlines() if "@main" in line)
    assert signature.count("f8E4M3FN") == 1
    assert "state.weight" not in one.stderr
    both = ("--set", 'state.weight."params/*"=e4m3')
    told = call(*how, *both, text=text())
    assert "reads params['down'] besides matmuls" in told.stderr
    call(*how, *both, "--strict", text=text(), code=1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {BASE: "e4m3", 'state.weight."x"': "e4m3"},
            r"keeps the format of x, of which .*\"x\" asks",
        ),
        ({'state.weight."x"': "e4m3"}, "state.weight is keep, x=f8E4M3FN, and the program"),
        ({'state.weight."lora/*"': "e4m3"}, r"keeps the format of lora\['a'\] and 1 more: state"),
        ({BASE: "bf16"}, "state.weight is keep, base/.*=bf16, and the program returns no such"),
        ({'state.frozen."lora/*"': "e4m3"}, "state.frozen is keep, .*, and the program has no"),
        ({BASE: "bf16", 'state.weight."b*/*"': "e4m3"}, "base.* has no effect: later patterns"),
    ],
)
def test_a_pattern_that_gives_its_format_to_less_is_told(settings: Any, message: str) -> None:
    _, report = rewritten("fp8-current", settings, report=True)
    told = [each.message for each in report.remarks if "state." in each.message]
    assert re.search(message, "\n".join(told))
    assert len(told) == 1


def test_a_pattern_without_arguments_is_refused() -> None:
    with pytest.raises(UsageError, match=r'state.weight."bases/w" matches no argument .*base/w'):
        rewritten("fp8-current", {'state.weight."bases/w"': "e4m3"})


@pytest.mark.parametrize("key", ["state.gradient", "state.weight_rounding", "matmul.weight"])
def test_other_options_take_no_patterns(key: str) -> None:
    with pytest.raises(UsageError, match=f"'{key}' takes a string, and not a table"):
        jsa.load_recipe("fp8", {f'{key}."base/*"': "e4m3"})
