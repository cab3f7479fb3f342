"""Attributes of matmuls whose operands are swapped."""

from __future__ import annotations

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.algorithms import swapped_algorithm

NUMBERS = "dot_dimension_numbers"
_ALGORITHM, _PRECISION = "algorithm", "precision_config"


def swapped_numbers(numbers: ir.Attribute) -> ir.Attribute:
    """Returns the dimension numbers of a matmul for swapped operands."""
    of = stablehlo.DotDimensionNumbers(numbers)
    return stablehlo.DotDimensionNumbers.get(
        list(of.rhs_batching_dimensions),
        list(of.lhs_batching_dimensions),
        list(of.rhs_contracting_dimensions),
        list(of.lhs_contracting_dimensions),
    )


def swapped_attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    """Returns the attributes of a ``dot_general`` for swapped operands."""
    kept = attributes.all_of(op)
    kept[NUMBERS] = swapped_numbers(kept[NUMBERS])
    if _ALGORITHM in kept:
        kept[_ALGORITHM] = swapped_algorithm(kept[_ALGORITHM])
    if _PRECISION in kept:
        kept[_PRECISION] = ir.ArrayAttr.get(list(ir.ArrayAttr(kept[_PRECISION]))[::-1])
    return kept
