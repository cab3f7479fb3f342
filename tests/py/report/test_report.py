"""The report of a rewrite: each matmul and convolution, what it became, and why if it is wide."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from scalify_hlo import MatmulReport, Report, dump_report, rewrite
from scalify_hlo.casts.selection import EXCLUDED
from scalify_hlo.ir.traits import MATMULS
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.summary import summary
from tests.py.shared.commands import call
from tests.py.shared.judge import parse, propagated, shaped, stablehlo_of
from tests.py.shared.schemas import faults

TEXT = """\
func.func public @main(%x: tensor<32x64xf32>, %w: tensor<64x16xf32>) -> tensor<32x16xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<32x64xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}
"""
RECIPES = ("fp8", "fp8-current", "fp8-delayed", "unit", "fp16", "bf16", "propagate")


def report_of(text: str, recipe: str = "fp8-current", **settings: Any) -> Report:
    given = {key.replace("__", "."): value for key, value in settings.items()}
    return rewrite(text, recipe=recipe, settings=given, report=True)[1]


def only(report: Report) -> MatmulReport:
    (matmul,) = report.matmuls
    return matmul


def layer(w: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ w)


def called(w: jax.Array, x: jax.Array) -> Any:
    again = jax.jit(layer)
    return jnp.asarray(again(w, again(w, again(w, x))))


def scanned(w: jax.Array, x: jax.Array) -> Any:
    return jax.lax.scan(lambda h, _: (layer(w, h), None), x, None, length=3)[0]


def branched(w: jax.Array, x: jax.Array) -> Any:
    return jax.lax.cond(x[0, 0] > 0, layer, lambda w, x: x @ w.T, w, x)


def in_a_condition(w: jax.Array, x: jax.Array) -> jax.Array:
    return jax.lax.while_loop(lambda h: jnp.sum(h @ w) > 0, lambda h: h - 1, x)


def small(w: jax.Array, x: jax.Array) -> jax.Array:
    return (x @ w)[:, :4] @ w[:4]


def training(w: jax.Array, x: jax.Array) -> Any:
    return w - jax.grad(lambda w: jnp.sum(called(w, x) ** 2))(w)


PROGRAMS = (layer, called, scanned, branched, in_a_condition, small, training)
ARGUMENTS = shaped(32, 32), shaped(16, 32)


def count(text: str) -> int:
    """The matmuls that stand in a program's text."""
    module = parse(text)
    return len(ops_in(module.operation, MATMULS))


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_every_matmul_is_listed(program: Callable[..., Any], recipe: str) -> None:
    text = stablehlo_of(program, *ARGUMENTS)
    report = report_of(text, recipe)
    assert len(report.matmuls) == count(text)
    for matmul in report.matmuls:
        narrow = any(format_ != "f32" for format_ in matmul.formats[:2])
        assert narrow == (matmul.wide is None)


@pytest.mark.parametrize("recipe", ["fp8", "fp8-current"])
def test_a_function_that_is_called_again_has_its_matmul_once(recipe: str) -> None:
    report = report_of(stablehlo_of(called, *ARGUMENTS), recipe)
    assert only(report).calls == 3
    taken = {"fp8": "0.67 statistics per layer", "fp8-current": "1.3 statistics per layer"}
    told = summary(report)
    assert told.startswith(f"{recipe}: 3 of 3 matmuls in FP8 (3 of 3 forward); ")
    assert told.endswith(taken[recipe])  # Of x and w, and for fp8-current of h twice.


def test_a_matmul_is_described() -> None:
    matmul = only(report_of(TEXT, "fp8"))
    assert (matmul.op, matmul.part) == ("stablehlo.dot_general", "forward")
    assert matmul.roles == ("activation", "weight")
    assert str(matmul.extent) == "32 x 16 x 64"
    assert matmul.formats == ("f8E4M3FN", "f8E4M3FN", "f32")


def test_source_lines_are_those_of_the_model() -> None:
    report = report_of(stablehlo_of(layer, *ARGUMENTS))
    line = json.loads(dump_report(report))["matmuls"][0]["location"]
    number = layer.__code__.co_firstlineno + 1
    assert line.startswith(f"{Path(__file__)}:{number}:")


def test_formats_are_those_of_the_matmul() -> None:
    """Also where the model is computed in another format after matmuls were chosen."""
    text = stablehlo_of(small, *ARGUMENTS)
    report = report_of(text, "fp8", compute="bf16")
    assert [m.formats[:2] for m in report.matmuls] == [("f8E4M3FN",) * 2, ("bf16",) * 2]
    told = "1 of 2 matmuls in FP8 (1 of 2 forward); 1 wide: too small (w)"
    assert told in summary(report)
    told = "; the rest of the model in BF16"
    assert summary(report).endswith(told)


def test_what_the_recipe_leaves_out_is_listed() -> None:
    report = report_of(stablehlo_of(layer, *ARGUMENTS), matmul__exclude="w")
    assert not report.remarks
    assert only(report).wide == EXCLUDED
    assert summary(report) == (
        "fp8-current: 0 of 1 matmul in low precision (0 of 1 forward); 1 wide: excluded (w); "
        "--set matmul.exclude=... changes this; no statistics"
    )


def test_a_recipe_that_narrows_nothing_lists_matmuls_as_they_are() -> None:
    text = stablehlo_of(training, *ARGUMENTS)
    plain, (listed, report) = propagated(text), propagated(text, report=True)
    assert plain == listed
    assert report.matmuls
    told = "nothing is scaled: give --input-scale or --signature scaled"
    assert summary(report) == f"propagate: 8 matmuls left as they are; {told}"


def test_a_report_is_json(tmp_path: Path) -> None:
    out, path = tmp_path / "out.mlir", tmp_path / "r.json"
    given = ["--recipe", "fp8", "--input-scale", "*=2^0"]
    result = call("rewrite", "-", "-o", out, "--report", path, *given, text=TEXT, code=0)
    assert result.stderr == "fp8: 1 of 1 matmul in FP8 (1 of 1 forward); no statistics\n"
    found = json.loads(path.read_text())
    assert faults(found, "rewrite") == []
    declared = {"origin": "declared", "scale": "2^0", "octaves": 0.5, "room": 3}
    assert found["matmuls"] == [
        {
            "name": "arg1@forward",
            "names": ["arg1"],
            "op": "stablehlo.dot_general",
            "location": "<stdin>:2:8",
            "part": "forward",
            "operands": ["activation", "weight"],
            "certainty": "data flow",
            "vocabulary": False,
            "m": 32,
            "n": 16,
            "k": 64,
            "batch": 1,
            "calls": 1,
            "flops": 2 * 32 * 16 * 64,
            "formats": {"lhs": "f8E4M3FN", "rhs": "f8E4M3FN", "result": "f32"},
            "scales": {
                "lhs": {**declared, "argument": "arg0"},
                "rhs": {**declared, "argument": "arg1"},
            },
            "statistics": 0,
            "wide": None,
            "remarks": [],
            "warnings": [],
        }
    ]


def test_the_summary_may_be_left_out() -> None:
    result = call("rewrite", "-", "--recipe", "fp8", "-q", text=TEXT)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "no matmul" in call("rewrite", "-", text="func.func @main() { return }").stderr


def test_a_report_that_cannot_be_written_is_an_error_before_the_work(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    missing = call("rewrite", "-", "-o", out, "--report", tmp_path / "no" / "r", text=TEXT, code=1)
    assert "cannot write the output" in missing.stderr
    both = call("rewrite", "-", "-o", out, "--report", out, text=TEXT, code=2)
    assert "give --report and -o different files" in both.stderr
    assert not list(tmp_path.iterdir())
