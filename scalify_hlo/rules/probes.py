"""Probes: ops that say which scale each value of a rewritten program has.

They are custom calls with a side effect, which nothing removes. Statistics of a rewritten program
read them, and erase them; no program with probes is written to a file.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import ONE, Scaled, Splat
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import format_of
from scalify_hlo.ir.functions import target_of
from scalify_hlo.ir.traits import BRANCHES, LOOP, STANDING
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.rules.scale_rewriter import ScaleRewriter

_CALL: Final = "stablehlo.custom_call"
_TARGET: Final = "scalify.scale_of"
_POWERS: Final = "scalify.powers"
"""The attribute with log2 of the static factor, and the power of each run-time scale; it is absent
if the value can have any scale."""


class Probed(NamedTuple):
    """The scale of a value.

    Attributes:
        exponent: log2 of the static factor; None if the value can have any scale.
        factors: The run-time scales, of rank 0, each with its power.
    """

    exponent: int | None
    factors: tuple[tuple[ir.Value, int], ...] = ()


def probe_block(block: ir.Block, rewriter: ScaleRewriter) -> None:
    """Inserts a probe for each value of a block that has a scale, those in regions included.

    Regions that have a rewriter of their own are left out.

    Args:
        block: The block, which was walked.
        rewriter: Its rewriter.
    """
    ops = [op.operation for op in block.operations]
    for argument in block.arguments:
        _probe(argument, ops[0], rewriter)
    for op, following in pairwise(ops):
        for result in op.results:
            _probe(result, following, rewriter)
        if op.name == LOOP or op.name in BRANCHES:
            for region in op.regions:
                probe_block(region.blocks[0], rewriter)


def is_probe(op: ir.Operation) -> bool:
    """Whether an op is a probe."""
    return target_of(op) == _TARGET


def probes_of(main: ir.OpView) -> list[ir.Operation]:
    """Returns the probes of a function, in program order."""
    return ops_in(main, where=is_probe)


def probed(op: ir.Operation) -> tuple[ir.Value, Probed]:
    """Returns the value that a probe is of, and its scale."""
    value, *factors = op.operands
    if _POWERS not in op.attributes:
        return value, Probed(None)
    exponent, *powers = ir.DenseI64ArrayAttr(op.attributes[_POWERS])
    return value, Probed(exponent, tuple(zip(factors, powers, strict=True)))


def _probe(value: ir.Value, following: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Inserts the probe of a value before an op, or as soon as its run-time scales are there."""
    info = rewriter.info(value)
    scale = info.scale if isinstance(info, Scaled) else None
    if scale == ONE or info is None or isinstance(info, Splat) or format_of(value.type) is None:
        return
    factors = [rewriter.runtime_scales.value(g) for g, _ in scale.powers] if scale else []
    attributes = {STANDING[_CALL]: ir.StringAttr.get(_TARGET)}
    attributes["has_side_effect"] = ir.BoolAttr.get(True)
    if scale is not None:
        powers = [scale.exponent, *(k for _, k in scale.powers)]
        attributes[_POWERS] = ir.DenseI64ArrayAttr.get(powers)
    emit.op(_after(following, factors), _CALL, [], [value, *factors], attributes)
    rewriter.values.changed = True


def _after(place: ir.Operation, factors: list[ir.Value]) -> ir.Operation:
    """The op before which all of some values of its block, or of blocks around it, are known."""
    for factor in factors:
        owner = factor.owner
        if isinstance(owner, ir.Block) or owner.operation.block != place.block:
            continue
        if not owner.operation.is_before_in_block(place):
            ops = [each.operation for each in place.block.operations]
            place = ops[ops.index(owner.operation) + 1]
    return place
