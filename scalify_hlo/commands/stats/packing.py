"""Values that an instrumented program returns too, and builders that pack them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.ir import emit
from scalify_hlo.ir.functions import terminator
from scalify_hlo.program.tensors import Array
from scalify_hlo.rules.devices import devices_of
from scalify_hlo.rules.probes import Probed
from scalify_hlo.transforms.hoist import Combine, add_results, lift

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


class Added:
    """Values that a program returns after its own results, and that are read from those of a run.

    Numbers of 64 bits are returned as pairs of 32-bit integers, which JAX takes in any mode.
    """

    def __init__(self) -> None:
        self._values: list[ir.Value] = []
        self._combine: list[Combine] = []
        self._dtypes: list[type[np.generic] | None] = []

    @property
    def count(self) -> int:
        """The number of values."""
        return len(self._dtypes)

    def add(self, value: ir.Value, how: Combine) -> int:
        """Adds a value, which may be in a loop, and returns its number; see `lift`."""
        self._values.append(value)
        self._combine.append(how)
        self._dtypes.append(_HALVED.get(str(value.type.element_type)))
        return self.count - 1

    def finish(self, main: ir.OpView) -> None:
        """Makes the function of the values return them."""
        lifted = lift(main, self._values, self._combine)
        last = terminator(main.regions[0].blocks[0])
        pairs = zip(lifted, self._dtypes, strict=True)
        results = [value if dtype is None else _as_halves(value, last) for value, dtype in pairs]
        add_results(main, results, [_RESULT] * self.count)
        self._values.clear()

    def read(self, results: Sequence[Array]) -> list[Array]:
        """Returns the values in a run, of which all results are given."""
        pairs = zip(results[len(results) - self.count :], self._dtypes, strict=True)
        return [
            array if dtype is None else np.ascontiguousarray(array).view(dtype)[..., 0]
            for array, dtype in pairs
        ]


_RESULT: Final = "measured"
_HALVED: Final[Mapping[str, type[np.generic]]] = {"f64": np.float64, "ui64": np.uint64}


def _as_halves(value: ir.Value, at: ir.Operation) -> ir.Value:
    type_ = ir.RankedTensorType.get([*value.type.shape, 2], ir.IntegerType.get_unsigned(32))
    return stablehlo.bitcast_convert(type_, value, **emit.before(at))


def log2_of(scale: Probed, at: ir.Operation) -> ir.Value:
    """Returns log2 of a scale as an f64 of rank 0, built before an op."""
    where = emit.before(at)
    total = emit.constant(emit.scalar_type(ir.F64Type.get()), float(scale.exponent or 0), at)
    for factor, power in scale.factors:
        log = stablehlo.log(emit.convert(factor, ir.F64Type.get(), at), **where)
        times = emit.constant(total.type, power / math.log(2), at)
        total = emit.elementwise("stablehlo.add", total, emit.multiply(log, times, at), **where)
    return total
