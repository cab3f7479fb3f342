"""The floating-point formats of the types in a program."""

from __future__ import annotations

from collections.abc import Sequence

from scalify_hlo._compat import ir
from scalify_hlo.formats import FORMATS as FORMATS
from scalify_hlo.formats import FloatFormat as FloatFormat


def element_of(name: str) -> ir.Type:
    """The element type that a format's name means in MLIR."""
    return ir.Type.parse(name)


def element_type(type_: ir.Type) -> ir.Type | None:
    """The element type of a ranked tensor type; None for any other type."""
    return type_.element_type if isinstance(type_, ir.RankedTensorType) else None


def is_complex(type_: ir.Type) -> bool:
    """Whether a type is a tensor of complex numbers."""
    return isinstance(element_type(type_), ir.ComplexType)


def is_real(type_: ir.Type) -> bool:
    """Whether a type is a tensor of numbers of a floating-point format."""
    element = element_type(type_)
    return isinstance(element, ir.FloatType) and str(element) in FORMATS


def format_of(type_: ir.Type) -> FloatFormat | None:
    """The format of a tensor's elements, or of their parts if they are complex.

    Returns:
        None for tensors of anything that has no sign, fraction and zero (integers, booleans,
        the scale format f8E8M0FNU) and for types that are no ranked tensor.
    """
    element = element_type(type_)
    if isinstance(element, ir.ComplexType):
        element = element.element_type
    return FORMATS.get(str(element)) if isinstance(element, ir.FloatType) else None


def are_floats(types: Sequence[ir.Type]) -> list[bool]:
    """Which of several types have a format; few types are many times the same."""
    known = {type_: format_of(type_) is not None for type_ in set(types)}
    return [known[type_] for type_ in types]
