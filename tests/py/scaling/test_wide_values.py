"""Formats are not asked for in functions that the listing of ops shows to have wide floats only."""

from __future__ import annotations

from typing import Any

import pytest

from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.scaling.propagation import Propagation
from tests.py.shared.judge import parse

LOOP = """
func.func @main(%x: tensor<4xT>, %n: tensor<i32>) -> tensor<4xT> {
  %0:2 = stablehlo.while(%a = %x, %i = %n) : tensor<4xT>, tensor<i32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %c = stablehlo.constant dense<0.5> : tensor<4xC>
      %d = stablehlo.convert %c : (tensor<4xC>) -> tensor<4xT>
      %e = stablehlo.multiply %a, %d : tensor<4xT>
      stablehlo.return %e, %i : tensor<4xT>, tensor<i32>
    }
  return %0#0 : tensor<4xT>
}"""


@pytest.mark.parametrize(
    ("floats", "constants", "wide"),
    [("f32", "f32", True), ("f16", "f16", False), ("f32", "f16", False), ("f32", "bf16", True)],
)
def test_narrow_floats_in_regions_count(
    monkeypatch: pytest.MonkeyPatch, floats: str, constants: str, wide: bool
) -> None:
    made: list[Any] = []
    create = Propagation._rewriter

    def watched(self: Propagation, *given: Any, **named: Any) -> Any:
        made.append(create(self, *given, **named))
        return made[-1]

    monkeypatch.setattr(Propagation, "_rewriter", watched)
    text = LOOP.replace("xT>", f"x{floats}>").replace("xC>", f"x{constants}>")
    rewrite_module(parse(text), Options(signature="scaled"))
    assert made[0].values.wide is wide
