"""Builders of one or a few StableHLO ops before a given op."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.ir.formats import is_complex, with_element
from scalify_hlo.ir.functions import is_block
from scalify_hlo.ir.value_map import ValueCache, ValueMap


def before(at: ir.Operation) -> dict[str, Any]:
    """Returns the location of an op and the place before it, as keywords for builders of ops."""
    return {"loc": at.location, "ip": ir.InsertionPoint(at)}


def location_of(value: ir.Value) -> ir.Location:
    """Returns the location of an argument, or of the op that makes a value."""
    owner = value.owner
    return value.location if is_block(owner) else owner.location


def after(value: ir.Value) -> dict[str, Any]:
    """Returns the location of a value and the place right after its definition, as `before`."""
    owner = value.owner
    point = ir.InsertionPoint
    ip = point.at_block_begin(owner) if is_block(owner) else point.after(owner)
    return {"loc": location_of(value), "ip": ip}


def op(
    at: ir.Operation,
    name: str,
    results: Sequence[ir.Type],
    operands: Sequence[ir.Value] = (),
    attributes: Mapping[str, ir.Attribute] | None = None,
    *,
    regions: int = 0,
) -> ir.Operation:
    """Builds an op before another one, with its location."""
    return ir.Operation.create(
        name,
        results=results,
        operands=operands,
        attributes=attributes,
        regions=regions,
        **before(at),
    )


def taking_regions(
    op_: ir.Operation,
    results: Sequence[ir.Type],
    operands: Sequence[ir.Value],
    attributes: Mapping[str, ir.Attribute],
) -> ir.Operation:
    """Builds an op again before it, which takes its regions, of one block each."""
    new = op(op_, op_.name, results, operands, attributes, regions=len(op_.regions))
    for old, region in zip(op_.regions, new.regions, strict=True):
        old.blocks[0].append_to(region)
    return new


def composite(
    at: ir.Operation,
    name: str,
    results: Sequence[ir.Type],
    operands: Sequence[ir.Value],
    given: Mapping[str, ir.Attribute],
    decomposition: str,
    version: int = 1,
) -> ir.Operation:
    """Builds a composite before an op; a function of the module is its decomposition."""
    attributes = {
        "name": ir.StringAttr.get(name),
        "composite_attributes": ir.DictAttr.get(dict(given)),
        "decomposition": ir.FlatSymbolRefAttr.get(decomposition),
        "version": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), version),
    }
    return op(at, "stablehlo.composite", results, operands, attributes)


def made(
    name: str,
    type_: ir.Type,
    operands: Sequence[ir.Value],
    attributes: Mapping[str, ir.Attribute] | None = None,
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> ir.Value:
    """Builds an op of one result, by its full name.

    Most ops that a rewrite adds are built here. The generic builder with the type of the result
    takes less than half the time of the builders that infer it.
    """
    create = ir.Operation.create
    given = None if attributes is None else dict(attributes)
    return create(name, [type_], operands, attributes=given, loc=loc, ip=ip).result


def splat_attribute(type_: ir.Type, value: float) -> ir.Attribute:
    """Returns a splat attribute of a static float or integer tensor type."""
    element = type_.element_type
    if isinstance(element, ir.FloatType):
        return ir.DenseElementsAttr.get_splat(type_, ir.FloatAttr.get(element, value))
    return ir.DenseElementsAttr.get_splat(type_, ir.IntegerAttr.get(element, int(value)))


def constant(
    type_: ir.Type, value: float, at: ir.Operation, splats: Splats | None = None
) -> ir.Value:
    """Builds a splat constant of a static tensor type, or returns the shared one."""
    if splats is not None:
        return splats.number(type_, value, at)
    return constant_of(type_, splat_attribute(type_, value), **before(at))


def integers(
    type_: ir.Type, value: int, at: ir.Operation, splats: Splats | None = None
) -> ir.Value:
    """As `constant`, of integers; unsigned ones of 64 bits are included."""
    if splats is not None:
        return splats.integer(type_, value, at)
    signed = value - (1 << 64) if value >> 63 else value
    number = ir.IntegerAttr.get(type_.element_type, signed)
    elements = ir.DenseElementsAttr.get_splat(type_, number)
    return constant_of(type_, elements, **before(at))


class Splats:
    """Splat constants, of which each block has one of a kind, at its start.

    A rewrite that builds the same ops many times needs the same constants. Most of its ops would be
    these, and each costs time to build, to verify and to print.
    """

    def __init__(self) -> None:
        self._made: ValueMap[ValueCache[ir.Value]] = ValueMap()  # by block, type and value

    def lead(self, op: ir.Operation) -> None:
        """Moves an op that was built at the start of its block behind the constants there.

        Each constant is built at the start, so that the oldest one is the last.
        """
        oldest = next(iter((self._made.get(op.block) or {}).values()), None)
        if oldest is not None:
            op.move_after(oldest.owner.operation)

    def number(self, type_: ir.Type, value: float, at: ir.Operation) -> ir.Value:
        """Returns a splat constant of a static float type, for ops in the block of an op."""
        return self._get(type_, repr(value), at, lambda first: constant(type_, value, first))

    def integer(self, type_: ir.Type, value: int, at: ir.Operation) -> ir.Value:
        """Returns a splat constant of a static type of integers, as `integers` builds it."""
        return self._get(type_, str(value), at, lambda first: integers(type_, value, first))

    def _get(
        self,
        type_: ir.Type,
        value: str,
        at: ir.Operation,
        build: Callable[[ir.Operation], ir.Value],
    ) -> ir.Value:
        block = at.block
        known = self._made.get(block)
        if known is None:
            known = self._made[block] = ValueCache()
        made = known.get((type_, value))
        if made is None:
            made = known[type_, value] = build(block.operations[0])
        return made


def constant_of(
    type_: ir.Type, elements: ir.Attribute, *, loc: ir.Location, ip: ir.InsertionPoint
) -> ir.Value:
    """Builds a constant of given elements."""
    return made("stablehlo.constant", type_, (), {"value": elements}, loc=loc, ip=ip)


def scalar_type(element: ir.Type) -> ir.Type:
    """Returns the rank-0 tensor type of an element type."""
    return ir.RankedTensorType.get([], element)


def elementwise(
    name: str, *operands: ir.Value, loc: ir.Location, ip: ir.InsertionPoint
) -> ir.Value:
    """Builds an op, by its full name, whose result has the type of its operands."""
    return made(name, operands[0].type, operands, loc=loc, ip=ip)


def bitcast(
    type_: ir.Type, value: ir.Value, *, loc: ir.Location, ip: ir.InsertionPoint
) -> ir.Value:
    """Builds a bitcast_convert."""
    return made("stablehlo.bitcast_convert", type_, [value], loc=loc, ip=ip)


def broadcast(
    type_: ir.Type,
    value: ir.Value,
    dims: ir.Attribute,
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> ir.Value:
    """Builds a static broadcast_in_dim."""
    given = {"broadcast_dimensions": dims}
    return made("stablehlo.broadcast_in_dim", type_, [value], given, loc=loc, ip=ip)


def rebuilt(op: ir.Operation, operands: Sequence[ir.Value]) -> ir.Value:
    """Builds an op of one result again before it, of other operands of the same types."""
    given = {name: op.attributes[name] for name in op.attributes}
    return made(op.name, op.results[0].type, operands, given, **before(op))


Binary: TypeAlias = Callable[[ir.Value, ir.Value, ir.Operation], ir.Value]
"""Builds an op of two tensors of one type before another op."""


def multiply(lhs: ir.Value, rhs: ir.Value, at: ir.Operation) -> ir.Value:
    """Builds the product of two tensors of one type."""
    return elementwise("stablehlo.multiply", lhs, rhs, **before(at))


def convert(value: ir.Value, element: ir.Type, at: ir.Operation) -> ir.Value:
    """Converts elements; returns the value itself if they have the type already."""
    type_ = value.type
    if type_.element_type == element:
        return value
    return made("stablehlo.convert", with_element(type_, element), [value], **before(at))


def reshape(
    value: ir.Value, type_: ir.Type, at: ir.Operation, sizes: Sequence[ir.Value] = ()
) -> ir.Value:
    """Reshapes a tensor before an op.

    Args:
        value: The tensor.
        type_: The new type.
        at: The op.
        sizes: The new sizes, as of `sizes_of`; they are read if the type is dynamic.
    """
    where = before(at)
    if not type_.has_static_shape:
        shape = stablehlo.concatenate(sizes, 0, **where)
        return stablehlo.dynamic_reshape(type_, value, shape, **where)
    return made("stablehlo.reshape", type_, [value], **where)


def reshaped(value: ir.Value, shape: Sequence[int], at: ir.Operation) -> ir.Value:
    """Reshapes a static tensor; returns the value itself if it has the shape."""
    if list(value.type.shape) == list(shape):
        return value
    return reshape(value, ir.RankedTensorType.get(shape, value.type.element_type), at)


def spread(
    value: ir.Value, dims: Iterable[int], shape: Sequence[int], at: ir.Operation
) -> ir.Value:
    """Broadcasts a tensor to a static shape, of which its dimensions are given, before an op."""
    type_ = ir.RankedTensorType.get(shape, value.type.element_type)
    return broadcast(type_, value, ir.DenseI64ArrayAttr.get(list(dims)), **before(at))


def iota(shape: Sequence[int], dim: int, element: ir.Type, at: ir.Operation) -> ir.Value:
    """Builds the indices of a static tensor along a dimension."""
    return stablehlo.iota(ir.RankedTensorType.get(shape, element), dim, **before(at))


def compare(lhs: ir.Value, rhs: ir.Value, direction: str, at: ir.Operation) -> ir.Value:
    """Compares two tensors of one type, and returns an i1 for each element."""
    attribute = stablehlo.ComparisonDirectionAttr.get(direction)
    return stablehlo.compare(lhs, rhs, attribute, **before(at))


def transpose(value: ir.Value, permutation: Sequence[int], at: ir.Operation) -> ir.Value:
    """Transposes a tensor of static shape, before an op."""
    type_ = value.type
    shape = [type_.shape[dim] for dim in permutation]
    result = ir.RankedTensorType.get(shape, type_.element_type)
    given = {"permutation": ir.DenseI64ArrayAttr.get(list(permutation))}
    return made("stablehlo.transpose", result, [value], given, **before(at))


def broadcast_scalar(scalar: ir.Value, like: ir.Value, at: ir.Operation) -> ir.Value:
    """Broadcasts a rank-0 tensor to the shape of `like`, which may be dynamic.

    If the shape is dynamic and `like` is NaN, the result is NaN too. This does no harm: `like` is
    multiplied by the result, or the result replaces a constant.
    """
    shaped = like.type
    if shaped.rank == 0:
        return scalar
    where = before(at)
    element = scalar.type.element_type
    if shaped.has_static_shape:
        result = with_element(shaped, element)
        return broadcast(result, scalar, ir.DenseI64ArrayAttr.get([]), **where)
    # XLA has no dynamic_broadcast_in_dim for bounded sizes. A clamp between f and f is f.
    shape = convert(like, element, at)
    return stablehlo.clamp(scalar, shape, scalar, results=[shape.type], **where)


def shape_of(value: ir.Value, at: ir.Operation) -> ir.Value:
    """Builds the sizes of a tensor of dynamic shape, as a tensor of i32."""
    return stablehlo.concatenate(sizes_of(value, at), 0, **before(at))


def sizes_of(value: ir.Value, at: ir.Operation) -> list[ir.Value]:
    """Builds each size of a tensor of dynamic shape, as a tensor of one i32."""
    where = before(at)
    one = ir.RankedTensorType.get([1], ir.IntegerType.get_signless(32))
    return [
        stablehlo.reshape(one, stablehlo.get_dimension_size(value, d, **where), **where)
        for d in range(value.type.rank)
    ]


def filled(
    like: ir.Value, value: float, at: ir.Operation, splats: Splats | None = None
) -> ir.Value:
    """Builds a constant of the type of `like`, which may have a dynamic shape."""
    type_ = like.type
    if type_.has_static_shape:
        return constant(type_, value, at, splats)
    return broadcast_scalar(constant(scalar_type(type_.element_type), value, at), like, at)


def where_finite(
    data: ir.Value, value: ir.Value, at: ir.Operation, splats: Splats | None = None
) -> ir.Value:
    """Returns a value where data of its type are finite, and zero elsewhere."""
    where = before(at)
    found = stablehlo.is_finite(data, **where)
    static = value.type.has_static_shape
    like = value if static else convert(found, value.type.element_type, at)
    zero = filled(like, 0.0, at, splats)
    return stablehlo.select(found, value, zero, **where)


def saturate(
    value: ir.Value, most: float, at: ir.Operation, splats: Splats | None = None
) -> ir.Value:
    """Clamps a tensor to ``±most``."""
    scalar = scalar_type(value.type.element_type)
    low, high = (constant(scalar, end, at, splats) for end in (-most, most))
    return clamp(low, value, high, at)


def clamp(low: ir.Value, value: ir.Value, high: ir.Value, at: ir.Operation) -> ir.Value:
    """Clamps a tensor between tensors of rank 0."""
    return made("stablehlo.clamp", value.type, [low, value, high], **before(at))


def divide(lhs: ir.Value, rhs: ir.Value, at: ir.Operation) -> ir.Value:
    """Builds a quotient before an op."""
    return elementwise("stablehlo.divide", lhs, rhs, **before(at))


def times(
    value: ir.Value, scalar: ir.Value, at: ir.Operation, build: Binary = multiply
) -> ir.Value:
    """Builds a tensor times a rank-0 tensor of its element type, real if it is complex.

    Args:
        value: The tensor.
        scalar: The rank-0 tensor.
        at: The op before which it is built.
        build: `multiply`, or `divide` for a quotient.
    """
    return on_parts(value, lambda part: build(part, broadcast_scalar(scalar, part, at), at), at)


def times_power(value: ir.Value, exponent: int, at: ir.Operation) -> ir.Value:
    """Builds a tensor times ``2^exponent``, which is a normal number of its format."""
    type_ = value.type
    if type_.has_static_shape and isinstance(type_.element_type, ir.FloatType):
        return multiply(value, constant(type_, 2.0**exponent, at), at)
    return on_parts(value, lambda part: multiply(part, filled(part, 2.0**exponent, at), at), at)


def on_parts(value: ir.Value, change: Callable[[ir.Value], ir.Value], at: ir.Operation) -> ir.Value:
    """Applies a change to a real tensor, or to both parts of a complex one.

    A complex product with a real factor would turn ``inf * 0`` into NaN.
    """
    if not is_complex(value.type):
        return change(value)
    where = before(at)
    real, imag = stablehlo.real(value, **where), stablehlo.imag(value, **where)
    return stablehlo.complex(change(real), change(imag), **where)
