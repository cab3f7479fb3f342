"""Matmuls of functions that have no scales of their own."""

from __future__ import annotations

from scalify_hlo.casts.matmuls import MARKS
from scalify_hlo.casts.strategies import _leave
from scalify_hlo.dialect import attributes
from scalify_hlo.report.model import Report
from tests.py.shared.judge import main_of, parse

PROGRAM = """
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {{
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] {{{marks}}}
    : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @f(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}}
func.func private @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {{
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] {{{marks}}}
    : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}}
"""


def test_they_are_left_wide_with_a_remark() -> None:
    marks = ", ".join(f'{mark} = "?"' for mark in {*MARKS, attributes.ROLES})
    module, report = parse(PROGRAM.format(marks=marks)), Report()
    main = main_of(module)
    with module.context:
        matmul, call, _ = main.regions[0].blocks[0].operations
        inner = module.body.operations[1].regions[0].blocks[0].operations[0]
        _leave(module.operation, main, [], report)
        assert set(MARKS) <= set(inner.attributes.keys())
        assert not report.remarks
        _leave(module.operation, main, [call.operation], report)
        assert not set(MARKS) & set(inner.attributes.keys())
        assert set(MARKS) <= set(matmul.attributes.keys())
        assert [remark.op for remark in report.remarks] == ["func.call"]
