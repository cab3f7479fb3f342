"""Elements of constants, and tensors that are filled with one number."""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.ir.formats import element_type, is_complex
from scalify_hlo.ir.functions import is_block


def is_constant(value: ir.Value) -> bool:
    """Whether a value is a constant."""
    owner = value.owner
    return not is_block(owner) and owner.name == "stablehlo.constant"


def dense_of(value: ir.Value) -> ir.DenseElementsAttr | None:
    """Returns the elements of a constant; None for other values.

    Constants whose elements the bindings of MLIR cannot read are other values: those of complex
    numbers, of which not even the attribute can be read, and those in resources.
    """
    if not is_constant(value) or is_complex(value.type):
        return None
    elements = value.owner.attributes["value"]
    return elements if isinstance(elements, ir.DenseElementsAttr) else None


def splat_of(value: ir.Value) -> ir.DenseElementsAttr | None:
    """Returns the elements of a constant that are all the same; None for other values."""
    elements = dense_of(value)
    return elements if elements is not None and elements.is_splat else None


def filled_with(value: ir.Value) -> float | None:
    """Returns the number that is each element of a constant, exactly; None for other values."""
    elements = splat_of(value)
    if elements is None:
        return None
    number: float = elements.get_splat_value().value
    return number


def integer_of(value: ir.Value) -> int | None:
    """Returns the integer that is each element of a constant of integers; None for other values."""
    is_integer = isinstance(element_type(value.type), ir.IntegerType)
    number = filled_with(value) if is_integer else None
    return None if number is None else int(number)


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
