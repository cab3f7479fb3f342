"""Bounds on what a rewrite did: `rewrite --require`, and `Report.require`."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest

from scalify_hlo import InputError, UsageError, rewrite
from scalify_hlo.report.matmuls import ORIGINS
from scalify_hlo.report.totals import BOUNDS, QUANTITIES
from tests.py.shared import commands

TEXT = """\
func.func public @main(%x: tensor<32x64xf32>, %w: tensor<64x64xf32>, %v: tensor<64x8xf32>)
    -> tensor<32x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
  %1 = stablehlo.dot_general %0, %v, contracting_dims = [1] x [0]
    : (tensor<32x64xf32>, tensor<64x8xf32>) -> tensor<32x8xf32>
  return %1 : tensor<32x8xf32>
}
"""
"""One matmul that FP8 takes, and one that is too small."""

EMPTY = "func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }"
PAGE = (Path(__file__).parents[3] / "docs/reports.md").read_text()


call = partial(
    commands.call, "rewrite", "-", "--recipe", "fp8-current", "-q", "--require", text=TEXT
)


@pytest.mark.parametrize(
    "required",
    [
        "narrow==0.5",
        "narrow>=0.5,wide<=1,matmuls==2",
        " narrow-forward > 0.4 , statistics <= 1 ",
        "narrow-flops>0.88,narrow-flops<0.89",  # 64 of 72 columns
        "statistics-total==2,assumed==0",
        "remarks<2",
    ],
)
def test_bounds_that_hold(required: str) -> None:
    result = call(required)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "f8E4M3FN" in result.stdout


@pytest.mark.parametrize(
    ("required", "told"),
    [
        (
            "narrow>=0.9",
            "narrow>=0.9 is required, and the share of matmuls in low precision is 0.5",
        ),
        ("wide<1", "wide<1 is required, and the number of matmuls that stay wide is 1"),
        ("statistics<0.5", "the number of statistics for each layer is 1"),
        ("narrow-backward>0", "narrow-backward is undefined: there are no such matmuls"),
        ("state-bytes<=0.5", "state-bytes is undefined: no state of a training step is found"),
        ("narrow>=0.9,wide<1", "is 0.5; wide<1 is required"),
    ],
)
def test_bounds_that_do_not_hold(required: str, told: str, tmp_path: Path) -> None:
    out, report = tmp_path / "out.mlir", tmp_path / "r.json"
    result = call(required, "-o", out, "--report", report, code=1)
    assert told in result.stderr
    assert result.stderr.startswith("<stdin>: error: ")
    assert "note: `scalify-hlo inspect --wide`" in result.stderr
    assert not out.exists()
    assert json.loads(report.read_text())["totals"]["matmuls"]["narrow"] == 1


def test_a_program_without_matmuls_has_no_share_of_them() -> None:
    result = call("narrow>=0", text=EMPTY, code=1)
    assert "narrow is undefined: there are no such matmuls" in result.stderr
    call("statistics<=0,matmuls==0", text=EMPTY, code=0)


@pytest.mark.parametrize(
    ("required", "told"),
    [
        ("narow>=0.9", "no quantity is named 'narow' (did you mean 'narrow'"),
        ("narrow", "'narrow' is not a requirement"),
        ("narrow=>0.9", "'narrow=>0.9' is not a requirement"),
        ("narrow>=most", "'narrow>=most' is not a requirement"),
        ("narrow>=nan", "'narrow>=nan' is not a requirement"),
        ("narrow>=0.9,", "'' is not a requirement"),
        ("", "'' is not a requirement"),
    ],
)
def test_bounds_that_are_none(required: str, told: str, tmp_path: Path) -> None:
    result = call(required, "-o", tmp_path / "out", code=2)
    assert told in result.stderr
    assert len(result.stderr.splitlines()) == 2
    assert not list(tmp_path.iterdir())


def test_in_python() -> None:
    _, report = rewrite(TEXT, recipe="fp8-current", report=True)
    report.require("narrow>=0.5")
    with pytest.raises(InputError, match=r"narrow>=0\.9 is required"):
        report.require("narrow>=0.9")
    with pytest.raises(UsageError, match="no quantity is named"):
        report.require("narow>=0.9")


def test_requirements_are_read_back() -> None:
    assert [str(r) for r in BOUNDS.parse("narrow >= 0.9,wide<3")] == ["narrow>=0.9", "wide<3"]


@pytest.mark.parametrize("name", QUANTITIES)
def test_quantities_are_documented(name: str) -> None:
    assert f"| `{name}` | {QUANTITIES[name].description} |" in PAGE
    help_ = commands.call("rewrite", "--help").stdout
    assert re.search(rf"\b{name}\b", help_)


@pytest.mark.parametrize("origin", ORIGINS)
def test_origins_are_documented(origin: str) -> None:
    assert f"| `{origin}` | {ORIGINS[origin]} |" in PAGE
