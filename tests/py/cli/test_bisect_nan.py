"""The command `bisect-nan`, and the JSON form of its report."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import scalify_hlo
from scalify_hlo.api import find_nan
from scalify_hlo.commands.nan.nan_report import dump_nan_report
from tests.py.shared import commands
from tests.py.shared.judge import program_of
from tests.py.shared.schemas import faults

PAGE = Path(__file__).resolve().parents[3] / "docs" / "nan.md"


def step(w: jax.Array, x: jax.Array) -> Any:
    def body(c: jax.Array, row: jax.Array) -> Any:
        return c + jnp.log(row), c

    return lax.scan(body, w, x)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    w, x = np.ones(2, np.float32), np.ones((3, 2), np.float32)
    x[1, 0] = -4.0
    program, inputs = tmp_path / "step.jax_export", tmp_path / "x.npz"
    program.write_bytes(program_of(step, w, x).serialize())
    np.savez(inputs, w=w, x=x)
    return str(program), str(inputs)


run = partial(commands.call, "bisect-nan")


def test_a_finite_program_is_one_line(files: tuple[str, str], tmp_path: Path) -> None:
    program, _ = files
    inputs = tmp_path / "ones.npz"
    np.savez(inputs, w=np.ones(2, np.float32), x=np.ones((3, 2), np.float32))
    done = run(program, "--inputs", inputs, code=0)
    assert done.output == "all 2 float results are finite\n"


def test_json_is_the_report_of_the_function(files: tuple[str, str]) -> None:
    program, inputs = files
    done = run(program, "--inputs", inputs, "--format", "json", code=1)
    whole = json.loads(done.stdout)
    assert not faults(whole, "bisect-nan")
    exported = scalify_hlo.deserialize(Path(program).read_bytes())
    with np.load(inputs) as arrays:
        report = find_nan(exported, [dict(arrays)])
    expected = json.loads(dump_nan_report(report))
    assert {**whole, "program": ""} == {**expected, "program": ""}


def test_reports_without_an_op_fit_the_schema() -> None:
    text = "func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"
    for value in (0.0, np.inf, np.nan):
        whole = json.loads(dump_nan_report(find_nan(text, [[np.float32(value)]])))
        assert not faults(whole, "bisect-nan")
    wrong = {**whole, "version": 2}
    assert faults(wrong, "bisect-nan")
