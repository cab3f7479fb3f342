"""Ops of CHLO: left alone where nothing is scaled, and expanded where a scale goes through them."""

from __future__ import annotations

import numpy as np
import pytest

from scalify_hlo._compat import ir
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.program.artifact import write_artifact
from scalify_hlo.program.program import read_program
from scalify_hlo.rules.table import RULES
from scalify_hlo.run.runner import compile_module
from tests.py.programs import PROGRAMS, Program
from tests.py.shared.judge import parse, propagated, rewritten

CHLO = [program for program in PROGRAMS if program.op.startswith("chlo.")]
EVERY_OP = pytest.mark.parametrize("program", CHLO, ids=lambda program: program.name)

HALF_SCALED = """
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>, %z: tensor<2x3xf32>) -> (
    tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = chlo.erf %x : tensor<3xf32> -> tensor<3xf32>
  %1 = chlo.erf %y : tensor<3xf32> -> tensor<3xf32>
  %2 = chlo.square %x : tensor<3xf32> -> tensor<3xf32>
  %3 = chlo.broadcast_add %x, %z : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = chlo.broadcast_multiply %y, %z : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3, %4 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>,
    tensor<2x3xf32>
}"""
"""Scaled with an input scale for `y` alone."""


def names(module: ir.Module) -> list[str]:
    """The ops of CHLO in a module."""
    return [op.name for op in ops_in(module.operation) if op.name.startswith("chlo.")]


@EVERY_OP
def test_an_op_without_scaled_operands_is_left_alone(program: Program) -> None:
    module, _ = rewritten(program.text())
    assert str(module) == str(parse(program.text()))


INTEGERS = {f"broadcast_{name}" for name in ("and", "or", "xor", "shift_left")} | {
    *("broadcast_shift_right_arithmetic", "broadcast_shift_right_logical", "mulhi"),
}
"""Ops that take no floats, so no scales."""


@EVERY_OP
def test_functions_of_scaled_values_stay_and_others_are_expanded(program: Program) -> None:
    module, _ = rewritten(program.text(), "scaled")
    left = {name for name in names(module) if RULES[name].family == "expanded"}
    assert left == ({program.op} if program.op.removeprefix("chlo.") in INTEGERS else set())


def test_ops_of_one_program_are_expanded_where_a_scale_reaches_them() -> None:
    module, _ = rewritten(HALF_SCALED, input_scale={"arg1": 4.0})
    left = names(module)
    assert left == ["chlo.erf", "chlo.erf", "chlo.square", "chlo.broadcast_add"]


def test_erf_keeps_its_precision() -> None:
    text = """func.func @main(%x: tensor<4096xf32>) -> tensor<4096xf32> {
      %0 = chlo.erf %x : tensor<4096xf32> -> tensor<4096xf32>
      return %0 : tensor<4096xf32>
    }"""
    x = np.random.default_rng(0).standard_normal(4096, np.float32)
    [expected] = compile_module(text)([x])
    scaled = propagated(text, input_scale={"arg0": 0.25})
    stored = read_program(write_artifact(parse(text), "current")).module
    for module in (scaled, stored):
        [found] = compile_module(module)([x])
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


@EVERY_OP
def test_artifacts_hold_no_chlo(program: Program) -> None:
    module = parse(program.text())
    text = str(module)
    artifact = write_artifact(module, "current")
    assert str(module) == text
    assert not names(read_program(artifact).module)


def test_a_portable_program_holds_no_chlo() -> None:
    text = HALF_SCALED
    assert not names(parse(propagated(text, settings={"target": "portable"})))
