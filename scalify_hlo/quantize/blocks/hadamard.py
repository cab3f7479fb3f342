"""A random Hadamard transform of both operands of a matmul, along its contracted dimension.

Each 16 terms x of an operand become x H, with H = diag(s) W / 4, random signs s that are the same
for all matmuls, and the Walsh-Hadamard matrix W of 1 and -1. H is orthogonal, so that

    sum over k of A[m, k] B[n, k] = sum over k of (A H)[m, k] (B H)[n, k]

A single large term is spread over 16, and takes less precision from the others. All entries of H
are 1/4 or -1/4, exact in every format (arXiv 2509.25149, section 4.2).
"""

from __future__ import annotations

import numpy as np

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import HADAMARD
from scalify_hlo.dialect.contraction import dot_numbers
from scalify_hlo.quantize.blocks.layout import reshaped
from scalify_hlo.quantize.encoding import Array
from scalify_hlo.rules import emit


def matrix() -> Array:
    """Returns H, of shape ``[16, 16]`` in f32."""
    walsh = np.ones((1, 1), np.float32)
    while len(walsh) < HADAMARD:
        walsh = np.block([[walsh, walsh], [walsh, -walsh]])
    signs = np.random.default_rng(0).choice(np.asarray([-1, 1], np.float32), (HADAMARD, 1))
    scaled: Array = signs * walsh / np.float32(np.sqrt(HADAMARD))
    return scaled


def transformed(value: ir.Value, at: ir.Operation) -> ir.Value:
    """Returns an operand times H along its last dimension.

    Args:
        value: An f32 tensor, whose last dimension is a multiple of 16.
        at: The op before which it is computed.
    """
    shape = list(value.type.shape)
    where = emit.before(at)
    pieces = reshaped(value, [*shape[:-1], shape[-1] // HADAMARD, HADAMARD], at)
    square = ir.RankedTensorType.get([HADAMARD, HADAMARD], value.type.element_type)
    elements = ir.DenseElementsAttr.get(matrix())
    factor = emit.constant_of(square, elements, **where)
    last = len(shape)
    exact = stablehlo.PrecisionAttr.get("HIGHEST")
    product = emit.op(
        at,
        "stablehlo.dot_general",
        [pieces.type],
        [pieces, factor],
        {
            "dot_dimension_numbers": dot_numbers([last], [0]),
            "precision_config": ir.ArrayAttr.get([exact, exact]),
        },
    )
    return reshaped(product.result, shape, at)
