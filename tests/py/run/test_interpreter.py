"""The reference interpreter gives ops the operands that they read, whatever others did before."""

from __future__ import annotations

import numpy as np
import pytest

from scalify_hlo.run import interpreter
from tests.py.shared import judge
from tests.py.shared.judge import parse

_SCATTER = """"stablehlo.scatter"(%z, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
    inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4xf32>, tensor<1x1xi32>, tensor<1xf32>) -> tensor<4xf32>"""
_UPDATE = (
    "stablehlo.dynamic_update_slice %z, %u, %i : "
    "(tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>"
)
_SORT = """"stablehlo.sort"(%z) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>"""


@pytest.mark.parametrize("evaluate", [interpreter.evaluate, judge.evaluate])
@pytest.mark.parametrize("op", [_SCATTER, _UPDATE, _SORT])
def test_no_op_writes_into_its_operand(op: str, evaluate: judge.Evaluate) -> None:
    """That of StableHLO 1.17 has scatters write into theirs."""
    module = parse(f"""func.func @main(%z: tensor<4xf32>, %at: tensor<1x1xi32>, %i: tensor<i32>,
        %u: tensor<1xf32>) -> (tensor<4xf32>, tensor<4xf32>) {{
      %0 = {op}
      %1 = stablehlo.add %z, %z : tensor<4xf32>
      return %1, %0 : tensor<4xf32>, tensor<4xf32>
    }}""")
    z = np.arange(4, dtype=np.float32)
    one = np.asarray(1, np.int32)
    after, _ = evaluate(module, [z, one.reshape(1, 1), one, np.asarray([9.0], np.float32)])
    np.testing.assert_array_equal(after, 2 * z)
