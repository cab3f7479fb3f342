"""Measures the sizes of arguments on which casts depend, with one short chain of ops for all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import INPUT_BOUND
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import is_scalar
from scalify_hlo.ir.value_map import ValueMap, erase, replace_uses
from scalify_hlo.report.model import MEASURED, SiteReport
from scalify_hlo.rules.emitter import Emitter
from scalify_hlo.rules.isolated import scale_element
from scalify_hlo.rules.runtime_scales import Awaited
from scalify_hlo.rules.statistics import statistic, sum_of_squares

_STATISTIC: Final = "l2"


def measure(main: ir.OpView, awaited: ValueMap[Awaited]) -> list[SiteReport]:
    """Replaces the numbers that stand for sizes of arguments by powers of two next to their rms.

    Args:
        main: The function.
        awaited: The argument for each number.

    Returns:
        A site for each argument that is measured; scalars are known without a statistic.
    """
    pairs = list(awaited.items())
    names = attributes.argument_names(main) if pairs else []
    for wide in (False, True):
        some = [p for p in pairs if _is_f64(p[1].argument) == wide]
        if some:
            at = main.regions[0].blocks[0].operations[0].operation
            for (number, _), size in zip(some, _sizes([a for _, a in some], at, wide), strict=True):
                replace_uses(number, size)
                erase(number.owner)
    numbers = sorted(
        ir.BlockArgument(each.argument).arg_number
        for _, each in pairs
        if not is_scalar(each.argument.type)
    )
    return [SiteReport(MEASURED, names[i], _STATISTIC, 1) for i in numbers]


def _is_f64(value: ir.Value) -> bool:
    return isinstance(scale_element(value.type), ir.F64Type)


def _sizes(awaited: Sequence[Awaited], at: ir.Operation, wide: bool) -> list[ir.Value]:
    """Returns the power of two next to the rms of each argument, of rank 0.

    It is the least power for an argument of zeros, and 1 if the rms is NaN. The powers are behind a
    common barrier, as XLA copies scalar ops into each fusion.
    """
    where = emit.before(at)
    splats = emit.Splats()
    sums = [_sum(each, at, splats, wide=wide) for each in awaited]
    emitter = Emitter(at, wide=wide, shape=[len(sums)])
    one = ir.RankedTensorType.get([1], sums[0].type.element_type)
    rows = stablehlo.concatenate([emit.reshape(each, one, at) for each in sums], 0, **where)
    counts = [1.0 / _count(each.argument) for each in awaited]
    rows = stablehlo.sqrt(emit.multiply(rows, emitter.numbers(counts), at), **where)
    bits = 11 if wide else 8
    powers = emitter.finite(stablehlo.reduce_precision(rows, bits, 0, **where))
    powers = emitter.kept(emitter.clamped(powers, INPUT_BOUND[wide]))
    return [
        emit.reshape(stablehlo.slice(powers, [i], [i + 1], [1], **where), sums[0].type, at)
        for i in range(len(sums))
    ]


def _sum(awaited: Awaited, at: ir.Operation, splats: emit.Splats, *, wide: bool) -> ir.Value:
    """Returns the sum of squares; the mean of squares if the number of elements is dynamic."""
    argument = awaited.argument
    if awaited.far:
        argument = emit.times_power(argument, -awaited.far, at)
    if argument.type.has_static_shape:
        return sum_of_squares(argument, at, splats, wide=wide)
    rms = statistic(argument, _STATISTIC, at, wide=wide, devices=None)
    return emit.multiply(rms, rms, at)


def _count(argument: ir.Value) -> int:
    return max(1, math.prod(argument.type.shape)) if argument.type.has_static_shape else 1
