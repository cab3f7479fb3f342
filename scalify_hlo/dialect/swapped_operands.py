"""Attributes of matmuls whose operands are swapped."""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.algorithms import swapped_algorithm
from scalify_hlo.ir.contraction import NUMBERS, contraction_of

_ALGORITHM, _PRECISION = "algorithm", "precision_config"


def swapped_attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    """Returns the attributes of a ``dot_general`` for swapped operands."""
    kept = attributes.all_of(op)
    kept[NUMBERS] = contraction_of(op).swapped.attribute
    if _ALGORITHM in kept:
        kept[_ALGORITHM] = swapped_algorithm(kept[_ALGORITHM])
    if _PRECISION in kept:
        kept[_PRECISION] = ir.ArrayAttr.get(list(ir.ArrayAttr(kept[_PRECISION]))[::-1])
    return kept
