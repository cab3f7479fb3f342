"""Builders that pack scalars and vectors into the results of an instrumented program."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.ir import emit
from scalify_hlo.program.tensors import Array
from scalify_hlo.rules.devices import devices_of
from scalify_hlo.rules.probes import Probed

PER_DEVICE: Final = "sdy.manual_computation"


def devices_in(op: ir.Operation) -> int:
    """Returns the number of devices among which an op divides its data; 1 for most ops."""
    devices = devices_of(op.opview, nested=False) if op.name == PER_DEVICE else None
    return 1 if devices is None else devices.count


def devices_around(block: ir.Block) -> int:
    """Returns the number of devices that run a block, each by itself."""
    return math.prod(map(devices_in, ops_around(block)))


def ops_around(block: ir.Block) -> list[ir.Operation]:
    """Returns the ops around a block, but the function, from the inside out."""
    found = []
    op = block.owner.operation
    while op.name != "func.func":
        found.append(op)
        op = op.parent.operation
    return found


def u64() -> ir.Type:
    """Returns the type of unsigned 64-bit integers."""
    return ir.IntegerType.get_unsigned(64)


def row_of(value: ir.Value, at: ir.Operation) -> ir.Value:
    """Returns a tensor with one more dimension, of size 1, before the others."""
    type_ = ir.RankedTensorType.get([1, *value.type.shape], value.type.element_type)
    return emit.reshape(value, type_, at)


def joined(scalars: Sequence[ir.Value], at: ir.Operation) -> ir.Value:
    """Returns scalars of one type as a tensor of rank 1."""
    return concatenated([row_of(scalar, at) for scalar in scalars], 0, at)


def concatenated(values: Sequence[ir.Value], dimension: int, at: ir.Operation) -> ir.Value:
    """Returns tensors one after another along a dimension."""
    if len(values) == 1:
        return values[0]
    where = emit.before(at)
    return stablehlo.concatenate(values, dimension, **where)


def as_halves(value: ir.Value, at: ir.Operation) -> ir.Value:
    """Returns 64-bit numbers as pairs of 32-bit integers, which JAX takes in any mode."""
    element = value.type.element_type
    if not isinstance(element, (ir.F64Type, ir.IntegerType)) or element.width != 64:
        return value
    type_ = ir.RankedTensorType.get([*value.type.shape, 2], ir.IntegerType.get_unsigned(32))
    return stablehlo.bitcast_convert(type_, value, **emit.before(at))


def from_halves(halves: Array, dtype: type[np.generic]) -> Array:
    """Returns 64-bit numbers from pairs of 32-bit integers."""
    whole: Array = np.ascontiguousarray(halves).view(dtype)[..., 0]
    return whole


def log2_of(scale: Probed, at: ir.Operation) -> ir.Value:
    """Returns log2 of a scale as an f64 of rank 0, built before an op."""
    where = emit.before(at)
    total = emit.constant(emit.scalar_type(ir.F64Type.get()), float(scale.exponent or 0), at)
    for factor, power in scale.factors:
        log = stablehlo.log(emit.convert(factor, ir.F64Type.get(), at), **where)
        times = emit.constant(total.type, power / math.log(2), at)
        total = emit.elementwise("stablehlo.add", total, emit.multiply(log, times, at), **where)
    return total
