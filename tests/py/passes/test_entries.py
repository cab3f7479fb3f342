"""Public functions beside `main`: what a program calls is rewritten, what others call is not."""

import numpy as np
import pytest

import scalify_hlo as sh
from tests.py.shared import judge
from tests.py.shared.judge import propagated

M = "tensor<64x64xf32>"
BODY = f"""(%x: {M}, %w: {M}) -> {M} {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({M}, {M}) -> {M}
  return %0 : {M}
}}"""
TEXT = f"""func.func public @main(%x: {M}, %w: {M}) -> {M} {{
  %0 = call @outer(%x, %w) : ({M}, {M}) -> {M}
  %1 = stablehlo.multiply %0, %0 : {M}
  %2 = call @inner(%1, %w) : ({M}, {M}) -> {M}
  return %2 : {M}
}}
func.func public @outer(%x: {M}, %w: {M}) -> {M} {{
  %0 = call @inner(%x, %w) : ({M}, {M}) -> {M}
  return %0 : {M}
}}
func.func @inner{BODY}
func.func private @inner_0{BODY}
"""
SCALES = {"arg0": 1.0, "arg1": 1.0}
PUBLIC = "@inner(%arg0: tensor<64x64xf32>, %arg1: tensor<64x64xf32>) -> tensor<64x64xf32> {"


@pytest.mark.parametrize("recipe", ["propagate", "fp8", "fp8-current", "fp16", "unit"])
@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_calls_of_public_functions_are_rewritten(recipe: str, signature: str) -> None:
    given = SCALES if signature == "same" else None
    text = sh.rewrite(TEXT, recipe=recipe, signature=signature, input_scale=given)
    assert f"func.func public {PUBLIC}" in text or f"func.func {PUBLIC}" in text
    main = text[text.index("@main") : text.index("return")]
    if recipe != "propagate":
        assert "@inner(" not in main
        assert "@outer(" not in main


def test_the_result_is_the_same() -> None:
    x = np.random.RandomState(0).randn(64, 64).astype(np.float32)
    (plain,) = judge.evaluate(judge.parse(TEXT), [x, x])
    text = propagated(TEXT, input_scale={"arg0": 8.0, "arg1": 0.25})
    (found,) = judge.evaluate(judge.parse(text), [x, x])
    assert np.array_equal(plain, found)
