"""The floating-point formats of MLIR types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS as FORMATS
from scalify_hlo.algebra.formats import FloatFormat as FloatFormat
from scalify_hlo.algebra.formats import float_format as float_format
from scalify_hlo.ir.walk import ops_in

REDUCE_PRECISION: Final = "stablehlo.reduce_precision"


def element_of(name: str) -> ir.Type:
    """Returns the MLIR element type with the name of a format."""
    return ir.Type.parse(name)


def with_element(type_: ir.Type, element: ir.Type) -> ir.Type:
    """Returns a tensor type with another element type."""
    return ir.RankedTensorType.get(type_.shape, element, type_.encoding)


def element_type(type_: ir.Type) -> ir.Type | None:
    """Returns the element type of a ranked tensor type; None for any other type."""
    return type_.element_type if isinstance(type_, ir.RankedTensorType) else None


def floats(values: Iterable[ir.Value]) -> list[ir.Value]:
    """Returns the values that are tensors of real floats."""
    return [v for v in values if isinstance(element_type(v.type), ir.FloatType)]


def is_complex(type_: ir.Type) -> bool:
    """Whether a type is a tensor of complex numbers."""
    return isinstance(element_type(type_), ir.ComplexType)


def is_real(type_: ir.Type) -> bool:
    """Whether a type is a tensor of real numbers in a floating-point format."""
    element = element_type(type_)
    return isinstance(element, ir.FloatType) and str(element) in FORMATS


def is_scalar(type_: ir.Type) -> bool:
    """Whether a type is a tensor of one element."""
    if not isinstance(type_, ir.RankedTensorType) or not type_.has_static_shape:
        return False
    return all(size == 1 for size in type_.shape)


def format_of(type_: ir.Type) -> FloatFormat | None:
    """Returns the format of a tensor's elements, or of their real parts if they are complex.

    Returns:
        The format; None for types that are not ranked tensors, and for tensors of elements without
        sign, fraction and zero: integers, booleans and the scale format f8E8M0FNU.
    """
    element = element_type(type_)
    if isinstance(element, ir.ComplexType):
        element = element.element_type
    return FORMATS.get(str(element)) if isinstance(element, ir.FloatType) else None


def is_wide(type_: ir.Type) -> bool:
    """Whether a type is a tensor in a format with the range of f32 or more."""
    format_ = format_of(type_)
    return format_ is not None and format_.wide


def is_small(type_: ir.Type) -> bool:
    """Whether a type is a tensor of floats of at most 8 bits."""
    format_ = format_of(type_)
    return format_ is not None and format_.small


def is_narrow(type_: ir.Type) -> bool:
    """Whether a type is a tensor of floats that have less range than f32."""
    format_ = format_of(type_)
    return format_ is not None and not format_.wide


def is_f64(type_: ir.Type) -> bool:
    """Whether a type is a tensor of f64, or of complex numbers of two."""
    return format_of(type_) is FORMATS["f64"]


def are_floats(types: Sequence[ir.Type]) -> list[bool]:
    """Returns, for each type, whether it has a format; each distinct type is looked up once."""
    known = {type_: format_of(type_) is not None for type_ in set(types)}
    return [known[type_] for type_ in types]


def cuts_range(op: ir.Operation) -> bool:
    """Whether a `reduce_precision` rounds to a format with less range than f32."""
    return int(op.attributes["exponent_bits"].value) < FORMATS["f32"].exponent_bits


def has_narrow(module: ir.Operation) -> bool:
    """Whether an op of a module rounds to a format with less range than f32."""
    types: dict[ir.Type, bool] = {}
    cut = False
    for op in ops_in(module):
        cut = cut or (op.name == REDUCE_PRECISION and cuts_range(op))
        blocks = (block for region in op.regions for block in region.blocks)
        for value in (*op.results, *(argument for block in blocks for argument in block.arguments)):
            if value.type not in types:
                types[value.type] = is_narrow(value.type)
    return cut or any(types.values())
