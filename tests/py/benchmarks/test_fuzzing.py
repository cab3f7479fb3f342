"""A slice of `benchmarks.fuzz`, and that it finds what is wrong."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from benchmarks import fuzz
from benchmarks.fuzz_pool import Case, answers
from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import Scaled
from scalify_hlo.errors import InputError, ScalifyError, UsageError
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.rules.table import RULES
from tests.py.fuzzing import (
    casts,
    commands,
    files,
    jax_programs,
    mlir_programs,
    models,
    programs,
    settings,
)
from tests.py.fuzzing.finding import FindingError
from tests.py.fuzzing.steps import Step, fewer, kinds_of, reduced
from tests.py.shared.judge import parse

SEED = 18
PROGRAMS, FILES = 90, 150
"""In each of the slices, all of which take two minutes at the most."""


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 4 * PROGRAMS, PROGRAMS))
def test_random_programs(first: int) -> None:
    outcomes, found = fuzz.run(fuzz.cases("program", SEED, first, PROGRAMS), 1)
    assert not found
    assert outcomes.total() == PROGRAMS
    assert all(row.holds for row in fuzz.rows(outcomes, found))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 2 * FILES, FILES))
def test_damaged_files(first: int) -> None:
    outcomes, found = fuzz.run(fuzz.cases("file", SEED, first, FILES), 1)
    assert not found
    assert outcomes.total() == FILES
    assert any("rewritten" in outcome for outcome in outcomes)
    assert any("by the command" in outcome for outcome in outcomes)


@pytest.mark.parametrize("kind", settings.KINDS)
def test_damaged_settings(kind: str) -> None:
    """Without a process of their own, as no native reader takes part."""
    found = {settings.check(kind, Random(f"{SEED} {number}")) for number in range(FILES)}
    assert found == {f"{kind}, read", f"{kind}, refused"}


MODELS_FOR_COMMANDS = ("complex constants in a loop", "dropout", "eigh", "empty rows", "one head")
PROGRAMS_FOR_COMMANDS = 3


@pytest.mark.slow
def test_every_command_on_a_few_programs() -> None:
    numbers = map(sorted(models.MODELS).index, MODELS_FOR_COMMANDS)
    asked = [Case("model", SEED, number) for number in numbers]
    asked += fuzz.cases("command", SEED, 0, PROGRAMS_FOR_COMMANDS)
    outcomes, found = fuzz.run(asked, 1)
    assert not found
    assert outcomes.total() == len(asked)
    assert any("all commands" in outcome for outcome in outcomes)


def test_figures_that_are_wrong_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }"
    monkeypatch.setattr(commands, "_lines", _only("stats", "calibrate"))
    x = np.array([3, -1, 0], np.float32)
    commands.run(text.encode(), [x], "fp8", figures=True)
    right = commands.values_of
    monkeypatch.setattr(
        commands,
        "values_of",
        lambda *given, **how: {k: 1.01 * v for k, v in right(*given, **how).items()},
    )
    with pytest.raises(FindingError, match="another figure"):
        commands.run(text.encode(), [x], "fp8", figures=True)


def test_a_command_that_ends_in_a_defect_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise TypeError("an element type that it can't cast")

    text = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }"
    monkeypatch.setattr(commands, "_lines", _only("calibrate"))
    monkeypatch.setattr("scalify_hlo.run.runner.structural_hash", broken)
    with pytest.raises(FindingError, match="a defect"):
        commands.run(text.encode(), [np.ones(3, np.float32)], "fp8", figures=False)


def _only(*names: str) -> Any:
    lines = commands._lines
    return lambda recipe: ((name, line) for name, line in lines(recipe) if name in names)


# What is drawn.


def test_all_kinds_of_steps_are_drawn() -> None:
    for module in (mlir_programs, jax_programs):
        drawn = [module.draw(Random(i)) for i in range(300)]
        assert set().union(*map(kinds_of, drawn)) == set(module.KINDS)


def test_programs_are_whole_when_a_step_goes() -> None:
    for seed in range(20):
        for steps in fewer(mlir_programs.draw(Random(seed))):
            assert parse(mlir_programs.text_of(steps, seed)).operation.verify()


def test_some_have_modules_and_donated_arguments() -> None:
    texts = [mlir_programs.text_of(mlir_programs.draw(Random(i)), i) for i in range(40)]
    for word in ("module @inner", "tf.aliasing_output", "jax.buffer_donor"):
        assert any(word in text for text in texts)


def test_a_case_is_the_same_each_time() -> None:
    assert [programs.draw(Random(f"{i}")) for i in range(20)] == [
        programs.draw(Random(f"{i}")) for i in range(20)
    ]


def test_a_file_is_the_same_from_everywhere() -> None:
    """Locations of jax say who called, and where a function was traced first."""

    def called() -> bytes:
        return files._exported(7)

    first = files._exported(7)
    files._exported.cache_clear()
    files._exported(11)
    assert called() == first


# That what is wrong is found.


def wrong_sum(op: ir.OpView, rewriter: ScaleRewriter) -> None:
    """Says that a sum has twice the scale it has."""
    op = RIGHT.apply(op, rewriter) or op
    form = rewriter.info(op.results[0])
    if isinstance(form, Scaled):
        rewriter.set(op.results[0], Scaled(form.scale.shift(1), form.level))


RIGHT = RULES["stablehlo.add"]


def found_in(cases: range) -> list[FindingError]:
    found = []
    for number in cases:
        try:
            programs.check(Random(f"0 program {number}"))
        except FindingError as finding:
            found.append(finding)
    return found


@pytest.mark.slow
def test_wrong_rules_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, "stablehlo.add", replace(RIGHT, apply=wrong_sum))
    finding = found_in(range(8))[0]
    assert finding.kind == "propagate: wrong value"
    assert "stablehlo.add" in finding.message


PRODUCT = """
func.func @main(%x: T, %y: T) -> T {
  %0 = stablehlo.multiply %x, %x : T
  %1 = stablehlo.dot_general %0, %y, contracting_dims = [1] x [0] : (T, T) -> T
  %2 = stablehlo.dot_general %1, %0, contracting_dims = [1] x [0] : (T, T) -> T
  return %2 : T
}""".replace("T", "tensor<3x3xf32>")


def judged(recipe: str, **settings: Any) -> bool:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((3, 3), np.float32) for _ in range(2)]
    settings = programs.every_matmul(recipe) | settings
    loaded = load_recipe(recipe, {**settings, "state.weight": "keep", "state.gradient": "keep"})
    return casts.assert_casts_are_numpys(PRODUCT, arrays, (3, -2), loaded)


@pytest.mark.parametrize("recipe", ["fp8", "fp16", "unit", "fp8-current", "bf16"])
def test_casts_are_numpys(recipe: str) -> None:
    assert judged(recipe)


def test_there_is_nothing_to_judge_in_wide_programs() -> None:
    assert not judged("propagate")


def test_subnormal_operands_stand_for_all_values_that_they_may() -> None:
    wide = np.array([11.5], np.float32)  # 2^-9, the smallest of E4M3, at both 2^12 and 2^13
    narrow = np.array([2.0**-9], np.float32)
    read = casts._dequantized(wide, narrow, "f8E4M3FN", 0)
    assert sorted(float(value[0]) for value in read) == [8.0, 16.0]


def test_other_casts_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = casts._cast

    def towards_zero(wide: Any, exponent: int, name: str) -> Any:
        near = right(wide, exponent, name)
        return np.where(np.abs(near) > np.abs(np.ldexp(wide, -exponent)), np.ldexp(near, -1), near)

    monkeypatch.setattr(casts, "_cast", towards_zero)
    with pytest.raises(AssertionError, match="operand 0 of matmul 0 is no cast to f8E4M3FN"):
        judged("fp8")


def test_what_fails_is_reduced() -> None:
    steps = next(
        steps
        for steps in (mlir_programs.draw(Random(i)) for i in range(100))
        if "sort" in kinds_of(steps) and len(steps) > 4
    )
    smaller = reduced(steps, lambda tried: "sort" in kinds_of(tried))
    assert kinds_of(smaller) <= {"sort", *mlir_programs.WITH_BODIES}
    assert len(smaller) == 1


def test_operands_stay_when_other_values_go() -> None:
    step, values = Step("add", 0, 7), [f"v{i}" for i in range(20)]
    picked = step.pick(0, values, str)
    others = [v for v in values if v != picked]
    for gone in others:
        assert step.pick(0, [v for v in values if v != gone], str) == picked


@pytest.mark.parametrize(
    "error",
    [
        InputError("two\nlines", location="file", hint="mend it"),
        InputError("no place", hint="mend it"),
        InputError("no cure", location="file"),
        UsageError(" ", hint="say something"),
        InputError("odd", location="file", hint="this is a fault of the rewriter"),
    ],
)
def test_other_errors_than_one_sentence_are_found(error: ScalifyError) -> None:
    with pytest.raises(FindingError):
        files.require_one_sentence(error)


def test_one_sentence_is_none() -> None:
    files.require_one_sentence(InputError("it is odd", location="file", hint="mend it"))


def test_litter_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(files, "_by_library", lambda *_: (tmp_path / "left").touch() or "refused")
    with pytest.raises(FindingError) as found:
        files.check(Random(0), 1)
    assert found.value.kind == "litter"


@pytest.mark.slow
def test_a_process_that_ends_is_found_and_replaced() -> None:
    first, second = answers([Case("neither", 0, 0), Case("file", SEED, 1)], 1)
    assert first.kind == "crash: exit code 1"
    assert "KeyError: 'neither'" in first.message
    assert not second.kind


def test_findings_name_the_command_that_repeats_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(fuzz.run([Case("neither", 3, 4)], 1)[1]) == 1
    assert "$ python -m benchmarks.fuzz --seed 3 --only neither:4" in capsys.readouterr().out


def test_one_case_runs_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["fuzz", "--seed", str(SEED), "--only", "program:2"])
    assert fuzz.main() == 0
    assert re.match("mlir|jax", capsys.readouterr().out)
