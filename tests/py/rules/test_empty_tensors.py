"""Tensors without elements, and of rank 0."""

from __future__ import annotations

import numpy as np
import pytest

from scalify_hlo._compat import ir
from tests.py.programs import PROGRAMS
from tests.py.programs.dynamic import inputs
from tests.py.programs.program import Sizes, texts
from tests.py.rules.test_dynamic_shapes import is_program
from tests.py.shared.judge import (
    Array,
    assert_invariant,
    assert_same_bits,
    evaluate,
    evaluate_with_xla,
    floats,
    parse,
    rewritten,
    run_plain,
    run_scaled,
)

EMPTY = texts("""
matmul_of_no_terms
%x: tensor<2x0xf32>, %y: tensor<0x3xf32>, %z: tensor<2x3xf32>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.add %0, %z : tensor<2x3xf32>

sum
%x: tensor<0x3xf32>, %y: tensor<3xf32>
  %c = stablehlo.constant dense<1.5> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0]
    : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = stablehlo.add %0, %y : tensor<3xf32>

product_of_none
%x: tensor<0x3xf32>
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.multiply across dimensions = [0]
    : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>

maximum
%x: tensor<0x3xf32>, %m: tensor<f32>
  %0 = stablehlo.reduce(%x init: %m) applies stablehlo.maximum across dimensions = [0]
    : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>

concatenate
%x: tensor<0x3xf32>, %y: tensor<2x3xf32>
  %0 = stablehlo.concatenate %x, %y, %x, dim = 0
    : (tensor<0x3xf32>, tensor<2x3xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>

pad
%x: tensor<0x3xf32>, %p: tensor<f32>
  %0 = stablehlo.pad %x, %p, low = [1, 0], high = [3, 0], interior = [2, 0]
    : (tensor<0x3xf32>, tensor<f32>) -> tensor<4x3xf32>
""")
SCALARS = texts("""
broadcast
%x: tensor<f32>, %y: tensor<f32>
  %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.add %0, %y : tensor<f32>

reduce
%x: tensor<f32>, %y: tensor<f32>
  %0 = stablehlo.reduce(%x init: %y) applies stablehlo.add across dimensions = []
    : (tensor<f32>, tensor<f32>) -> tensor<f32>

product_of_one
%x: tensor<f32>
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.multiply across dimensions = []
    : (tensor<f32>, tensor<f32>) -> tensor<f32>

dot_general
%x: tensor<f32>, %y: tensor<f32>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [] x []
    : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.subtract %0, %y : tensor<f32>

moved
%x: tensor<f32>, %p: tensor<f32>
  %0 = stablehlo.transpose %x, dims = [] : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reverse %0, dims = [] : tensor<f32>
  %2 = "stablehlo.slice"(%1) <{start_indices = array<i64>, limit_indices = array<i64>,
    strides = array<i64>}> : (tensor<f32>) -> tensor<f32>
  %3 = "stablehlo.pad"(%2, %p) <{edge_padding_low = array<i64>, edge_padding_high = array<i64>,
    interior_padding = array<i64>}> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %4 = "stablehlo.dynamic_update_slice"(%3, %p) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %5 = stablehlo.add %4, %3 : tensor<f32>

gather
%x: tensor<3xf32>, %i: tensor<1xi32>, %y: tensor<f32>
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>,
    indices_are_sorted = false, slice_sizes = array<i64: 1>
  }> : (tensor<3xf32>, tensor<1xi32>) -> tensor<f32>
  %1 = stablehlo.add %0, %y : tensor<f32>

select
%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>
  %0 = stablehlo.select %p, %x, %y : tensor<i1>, tensor<f32>
  %c = stablehlo.constant dense<3.0> : tensor<f32>
  %1 = stablehlo.add %0, %c : tensor<f32>
""")


def arrays_of(text: str) -> list[Array]:
    """Floats that are no powers of two, and ones."""
    return [
        np.resize(np.asarray([1.3, -0.7, 2.9], np.float32), t.shape)
        if isinstance(t.element_type, ir.FloatType)
        else np.ones(t.shape, np.bool_ if str(t.element_type) == "i1" else np.int32)
        for t in inputs(parse(text))
    ]


@pytest.mark.parametrize("name", [*EMPTY, *SCALARS])
def test_tensors_without_elements_and_of_rank_0(name: str) -> None:
    """The former on XLA: the interpreter aborts on some of them."""
    text, run = (EMPTY[name], evaluate_with_xla) if name in EMPTY else (SCALARS[name], evaluate)
    arrays = arrays_of(text)
    assert_invariant(text, arrays, [3, -2, 1][: len(arrays)], run=run)


def test_a_product_of_no_factors_is_one_whatever_the_scale() -> None:
    text, x = EMPTY["product_of_none"], np.zeros((0, 3), np.float32)
    (pair,) = run_scaled(text, [x], [40])
    (plain,) = run_plain(text, [x], [40])
    assert not isinstance(pair, np.ndarray)
    assert_same_bits(pair.value.astype(np.float32), plain)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(0, 0, 0), (0, 3, 4), (2, 3, 0)], ids=str)
def test_the_catalogue_without_elements(sizes: Sizes) -> None:
    """Whatever is a program at size zero is rewritten under both signatures, and verifies."""
    done = 0
    for program in PROGRAMS:
        text = program.text(sizes)
        if program.name == "chlo_scan" or not is_program(text):
            continue  # StableHLO cannot expand a scan of no turns
        rewritten(text, "scaled")
        scales = {f"arg{i}": 8.0 for i, is_float in enumerate(floats(text)) if is_float}
        rewritten(text, "same", input_scale=scales)
        done += 1
    assert done > 400
