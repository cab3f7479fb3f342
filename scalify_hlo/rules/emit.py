"""Small builders: each makes one or a few StableHLO ops before a given op."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect.formats import is_complex


def splat_attribute(type_: ir.Type, value: float) -> ir.Attribute:
    """A dense attribute of a static float or integer tensor type, all elements `value`."""
    element = type_.element_type
    if isinstance(element, ir.FloatType):
        return ir.DenseElementsAttr.get_splat(type_, ir.FloatAttr.get(element, value))
    return ir.DenseElementsAttr.get_splat(type_, ir.IntegerAttr.get(element, int(value)))


def constant(type_: ir.Type, value: float, at: ir.Operation) -> ir.Value:
    """A splat constant of a static tensor type."""
    attribute = splat_attribute(type_, value)
    return ir.Operation.create(
        "stablehlo.constant",
        results=[type_],
        attributes={"value": attribute},
        loc=at.location,
        ip=ir.InsertionPoint(at),
    ).result


def scalar_type(element: ir.Type) -> ir.Type:
    """The rank-0 tensor type of an element type."""
    return ir.RankedTensorType.get([], element)


def elementwise(
    name: str, *operands: ir.Value, loc: ir.Location, ip: ir.InsertionPoint
) -> ir.Value:
    """An op whose result has the type of its operands, by its full name.

    Most of what a rewrite adds is made here. The generic builder, told the result's type, takes
    less than half the time of the ops' own, which infer it.
    """
    create = ir.Operation.create
    return create(name, results=[operands[0].type], operands=operands, loc=loc, ip=ip).result


def broadcast(
    type_: ir.Type,
    value: ir.Value,
    dims: ir.Attribute,
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> ir.Value:
    """A static broadcast_in_dim, made as `elementwise` makes ops."""
    return ir.Operation.create(
        "stablehlo.broadcast_in_dim",
        results=[type_],
        operands=[value],
        attributes={"broadcast_dimensions": dims},
        loc=loc,
        ip=ip,
    ).result


def multiply(lhs: ir.Value, rhs: ir.Value, at: ir.Operation) -> ir.Value:
    """The product of two tensors of one type."""
    where = {"loc": at.location, "ip": ir.InsertionPoint(at)}
    return elementwise("stablehlo.multiply", lhs, rhs, **where)


def convert(value: ir.Value, element: ir.Type, at: ir.Operation) -> ir.Value:
    """Converts elements; the value itself where they have that type already."""
    type_ = value.type
    if type_.element_type == element:
        return value
    result = ir.RankedTensorType.get(type_.shape, element, type_.encoding)
    return stablehlo.convert(result, value, loc=at.location, ip=ir.InsertionPoint(at))


def broadcast_scalar(scalar: ir.Value, like: ir.Value, at: ir.Operation) -> ir.Value:
    """Broadcasts a rank-0 tensor to the shape of `like`, which may be dynamic."""
    shaped = like.type
    if shaped.rank == 0:
        return scalar
    where = {"loc": at.location, "ip": ir.InsertionPoint(at)}
    element, result = scalar.type.element_type, shaped
    if element != shaped.element_type:
        result = ir.RankedTensorType.get(shaped.shape, element, shaped.encoding)
    if shaped.has_static_shape:
        return broadcast(result, scalar, _dims([]), **where)
    shape = _shape_of(like, at)
    return stablehlo.dynamic_broadcast_in_dim(result, scalar, shape, _dims([]), **where)


def _dims(dims: Sequence[int]) -> ir.Attribute:
    return ir.DenseI64ArrayAttr.get(list(dims))


def _shape_of(value: ir.Value, at: ir.Operation) -> ir.Value:
    where = {"loc": at.location, "ip": ir.InsertionPoint(at)}
    one = ir.RankedTensorType.get([1], ir.IntegerType.get_signless(32))
    sizes = [
        stablehlo.reshape(one, stablehlo.get_dimension_size(value, dim, **where), **where)
        for dim in range(value.type.rank)
    ]
    return stablehlo.concatenate(sizes, 0, **where)


def times(value: ir.Value, scalar: ir.Value, at: ir.Operation) -> ir.Value:
    """A tensor times a rank-0 tensor of its element type (of its parts' type if complex)."""
    return on_parts(value, lambda part: multiply(part, broadcast_scalar(scalar, part, at), at), at)


def times_power(value: ir.Value, exponent: int, at: ir.Operation) -> ir.Value:
    """A tensor times ``2^exponent``, which is a normal number of its format."""
    factor = 2.0**exponent

    def one(part: ir.Value) -> ir.Value:
        if part.type.has_static_shape:
            return multiply(part, constant(part.type, factor, at), at)
        scalar = constant(scalar_type(part.type.element_type), factor, at)
        return multiply(part, broadcast_scalar(scalar, part, at), at)

    return on_parts(value, one, at)


def on_parts(value: ir.Value, change: Callable[[ir.Value], ir.Value], at: ir.Operation) -> ir.Value:
    """Applies a change to a real tensor, or to both parts of a complex one.

    A complex product with a real factor would turn ``inf * 0`` into NaN.
    """
    if not is_complex(value.type):
        return change(value)
    where = {"loc": at.location, "ip": ir.InsertionPoint(at)}
    real, imag = stablehlo.real(value, **where), stablehlo.imag(value, **where)
    return stablehlo.complex(change(real), change(imag), **where)
