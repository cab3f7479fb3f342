"""Tensors that are filled with one number."""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.dialect.formats import is_complex
from scalify_hlo.dialect.functions import is_block


def splat_of(value: ir.Value) -> ir.DenseElementsAttr | None:
    """Returns the elements of a constant that are all the same; None for other values.

    The bindings of MLIR cannot read constants of complex numbers, which are other values.
    """
    owner = value.owner
    if is_block(owner) or owner.name != "stablehlo.constant" or is_complex(value.type):
        return None
    elements = owner.attributes["value"]
    return elements if isinstance(elements, ir.DenseElementsAttr) and elements.is_splat else None


def is_filled(value: ir.Value) -> bool:
    """Whether a constant or a broadcast fills a tensor with one number."""
    if splat_of(value) is not None:
        return True
    owner = value.owner
    spreads = not is_block(owner) and owner.name == "stablehlo.broadcast_in_dim"
    return spreads and not owner.operands[0].type.rank


def is_one_number(value: ir.Value) -> bool:
    """Whether all elements of a value are one number, which may be computed at run time."""
    return not value.type.rank or is_filled(value)
