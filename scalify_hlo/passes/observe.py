"""scalify-observe: makes a program return statistics of the operands of its matmuls.

The bins of histograms are those of `scalify_hlo.profile.histogram`, 16 for each octave, and count
all elements. Infinities and NaN have their own bins, and are in no other statistic. The command
``stats`` takes coarser histograms, of samples, from which scales could not be chosen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, NamedTuple

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.casts.matmuls import ObservedTensor, members_of, tensors_of
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import InputError
from scalify_hlo.ir import emit
from scalify_hlo.ir.functions import main_function, terminator
from scalify_hlo.ir.locations import remark, source_location
from scalify_hlo.passes.base import Pass
from scalify_hlo.profile.histogram import BINS, FINITE_BINS, SHIFT
from scalify_hlo.report.model import Report
from scalify_hlo.rules.statistics import reduced, scatter_add, statistic
from scalify_hlo.transforms.hoist import Combine, add_results, lift
from scalify_hlo.transforms.inlining import inline_calls

_COMBINE: tuple[Combine, ...] = ("maximum", "add", "add")
"""The reductions that combine amax, squares and histograms of several iterations."""


@dataclass(frozen=True)
class ObservePass(Pass):
    """Returns amax, rms and a histogram of each operand of the matmuls that have roles.

    Each member of a sweep, and each expert, is a tensor besides. Functions that have matmuls are
    inlined. `main` gets three more results, for T tensors: the amax, f32 ``[T]``; the rms, f32
    ``[T]``; and the histograms, ui32 ``[T, 4096]``.
    ``report.tensors`` has the names of the tensors.
    """

    name: ClassVar[str] = "scalify-observe"

    def apply(self, module: ir.Operation, _: ModuleIndex, report: Report) -> None:
        """See `Pass.apply`."""
        for op in inline_calls(module, (attributes.ROLES,)):
            message = "its matmuls are not observed; observe the program without it"
            report.remarks.append(remark(op, message))
        main = main_function(module)
        tensors = [] if main is None else tensors_of(main)
        if main is None or not tensors:
            raise InputError(
                "the program has no matmul to observe",
                hint="run scalify-roles before, on a program that has matmuls or convolutions",
            )
        tensors += members_of(main)
        report.tensors = [names for tensor in tensors for names in tensor.rows]
        seen = [_observe(tensor) for tensor in tensors]
        columns: list[list[ir.Value]] = [list(column) for column in zip(*seen, strict=True)]
        combine = [how for how, column in zip(_COMBINE, columns, strict=True) for _ in column]
        lifted = iter(lift(main, [value for column in columns for value in column], combine))
        amax, squares, histograms = [list(islice(lifted, len(seen))) for _ in columns]
        last = terminator(main.regions[0].blocks[0])
        results = _stacked(amax, squares, histograms, last)
        add_results(main, results, ("observed.amax", "observed.rms", "observed.histogram"))


class _Seen(NamedTuple):
    """Statistics of a tensor in one iteration, or on one device: f32, f64, and ui32 ``[4096]``.

    Those of M members have the shapes ``[M]``, ``[M]`` and ``[M, 4096]``.
    """

    amax: ir.Value
    squares: ir.Value
    histogram: ir.Value


def _observe(tensor: ObservedTensor) -> _Seen:
    value, at, members = tensor.value, tensor.at, tensor.members
    if not value.type.has_static_shape:
        raise InputError(
            f"an operand of the matmul {tensor.names[0]!r} is of dynamic shape",
            location=source_location(at.location),
            hint="export the program with the shapes of the samples",
        )
    data = emit.convert(value, ir.F32Type.get(), at)
    amax = statistic(data, "max", at, wide=False, devices=None, kept=members)
    # The squares of f32 numbers are in the range of f64.
    rms = statistic(data, "l2", at, wide=True, devices=None, kept=members)
    mean = emit.multiply(rms, rms, at)
    size = math.prod(value.type.shape) // math.prod(value.type.shape[dim] for dim in members)
    squares = emit.multiply(mean, emit.constant(rms.type, size, at), at)
    if not members:
        return _Seen(amax, squares, _histogram(data, at))
    rows = [len(tensor.rows)]
    amax, squares = (emit.reshape(each, _shape(each, rows), at) for each in (amax, squares))
    return _Seen(amax, squares, _histogram(data, at, members))


def _shape(value: ir.Value, shape: Sequence[int]) -> ir.Type:
    return ir.RankedTensorType.get(shape, value.type.element_type)


def _histogram(data: ir.Value, at: ir.Operation, members: Sequence[int] = ()) -> ir.Value:
    """Returns the histogram of an f32 tensor, or of each of its members.

    One scatter makes them, which reads the tensor once.
    """
    where = emit.before(at)
    shape, size = data.type.shape, math.prod(data.type.shape)
    unsigned, signed = ir.IntegerType.get_unsigned(32), ir.IntegerType.get_signless(32)
    magnitude = emit.elementwise("stablehlo.abs", data, **where)
    bits = emit.bitcast(ir.RankedTensorType.get(shape, unsigned), magnitude, **where)
    shift = emit.constant(bits.type, SHIFT, at)
    bins = emit.elementwise("stablehlo.shift_right_logical", bits, shift, **where)
    count = 1
    for dim in reversed(members):
        index = emit.iota(shape, dim, unsigned, at)
        first = emit.multiply(index, emit.constant(bins.type, BINS * count, at), at)
        bins, count = emit.elementwise("stablehlo.add", bins, first, **where), count * shape[dim]
    flat = emit.reshape(bins, _shape(bins, [size, 1]), at)
    empty = emit.constant(ir.RankedTensorType.get([BINS * count], unsigned), 0, at)
    ones = emit.constant(ir.RankedTensorType.get([size], unsigned), 1, at)
    found = scatter_add(empty, emit.convert(flat, signed, at), ones, at)
    return emit.reshaped(found, [count, BINS], at) if members else found


def _stacked(
    amax: Sequence[ir.Value],
    squares: Sequence[ir.Value],
    histograms: Sequence[ir.Value],
    at: ir.Operation,
) -> tuple[ir.Value, ir.Value, ir.Value]:
    """Returns amax, rms and histogram of all tensors."""
    where = emit.before(at)
    table = _stack(histograms, at, 1)
    counts = _finite_counts(table, at)
    least = emit.constant(counts.type, 1.0, at)
    divisor = emit.elementwise("stablehlo.maximum", counts, least, **where)
    mean = emit.elementwise("stablehlo.divide", _stack(squares, at, 0), divisor, **where)
    rms = emit.elementwise("stablehlo.sqrt", mean, **where)
    return _stack(amax, at, 0), emit.convert(rms, ir.F32Type.get(), at), table


def _finite_counts(table: ir.Value, at: ir.Operation) -> ir.Value:
    """Returns the number of finite elements of each tensor, in f64."""
    ends, f64 = [table.type.shape[0], FINITE_BINS], ir.F64Type.get()
    finite = stablehlo.slice(table, [0, 0], ends, [1, 1], **emit.before(at))
    zero = emit.constant(emit.scalar_type(f64), 0.0, at)
    return reduced(emit.convert(finite, f64, at), zero, "stablehlo.add", [1], at)


def _stack(values: Sequence[ir.Value], at: ir.Operation, rank: int) -> ir.Value:
    """Returns tensors of a rank as the rows of one tensor; those of members are rows already."""
    rows = [
        value if value.type.rank > rank else emit.reshaped(value, [1, *value.type.shape], at)
        for value in values
    ]
    return stablehlo.concatenate(rows, 0, **emit.before(at))
