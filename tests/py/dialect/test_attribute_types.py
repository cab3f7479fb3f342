"""Attributes that MLIR verifies in no way, with values of every other type."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import product

import pytest

import scalify_hlo
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import InputError, UsageError

pytestmark = pytest.mark.slow

VALUES = (
    *(
        "unit",
        "true",
        "3 : i32",
        "-1 : i64",
        "0.5 : f64",
        '"text"',
        "[]",
        "[1]",
        "{}",
        "tensor<f32>",
    ),
    *("@main", "#stablehlo<comparison_direction GT>", "dense<1> : tensor<2xi64>", "array<i64: 1>"),
)
OURS = tuple(sorted(set(re.findall(r"``(scalify\.\w+)``", str(attributes.__doc__)))))
OF_VALUES = (
    *("jax.result_info", "tf.aliasing_output", "jax.buffer_donor", "mhlo.sharding"),
    *("mhlo.layout_mode", "mhlo.memory_kind", "sdy.sharding"),
    *OURS,
)
OF_MODULES = (
    *("mhlo.num_partitions", "mhlo.num_replicas", "jax.uses_shape_polymorphism", "mhlo.cross"),
    *("scalify.rewritten", "scalify.scaling", "scalify.other", *OURS),
)
OF_OPS = (*("mhlo.sharding", "mhlo.frontend_attributes", "sdy.sharding"), *OURS)

PROGRAM = """module attributes {{test.a = 1{module}}} {{
func.func public @main(%x: tensor<4x4xf32> {{test.a = 1{argument}}}, %w: tensor<4x4xf32>)
    -> (tensor<4x4xf32> {{test.a = 1{result}}}, tensor<4x4xf32>)
    attributes {{test.a = 1{function}}} {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {{test.a = 1{op}}}
     : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.subtract %w, %0 : tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}}
}}
"""
PLACES = {
    "argument": OF_VALUES,
    "result": OF_VALUES,
    "module": OF_MODULES,
    "function": OF_MODULES,
    "op": OF_OPS,
}
RECIPES = (("propagate", "same"), ("fp16-state", "scaled"))
CASES = [(place, name) for place, names in PLACES.items() for name in names]


@pytest.mark.parametrize(("place", "name"), CASES)
@pytest.mark.filterwarnings("ignore::scalify_hlo.ScalifyWarning")
def test_programs_are_rewritten_or_refused(place: str, name: str) -> None:
    for value, (recipe, signature) in product(VALUES, RECIPES):
        attribute = f", {name}" if value == "unit" else f", {name} = {value}"
        parts = dict.fromkeys(PLACES, "") | {place: attribute}
        text = PROGRAM.format(**parts)
        with suppress(InputError, UsageError):
            scalify_hlo.rewrite(text, recipe=recipe, signature=signature)
