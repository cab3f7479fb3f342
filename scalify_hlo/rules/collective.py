"""Collectives, by which devices exchange data.

Scales are monomials of rank-0 values that are equal on all devices. So the data of all devices are
at one scale. A device that receives nothing has zeros, which are correct at any scale.
"""

from __future__ import annotations

import math

from scalify_hlo._compat import ir, sdy, stablehlo
from scalify_hlo.algebra.scale import Scaled, Splat
from scalify_hlo.ir.functions import around
from scalify_hlo.ir.monoid import monoid
from scalify_hlo.ir.traits import EXTREMES, GATHERS_FROM_DEVICES, where
from scalify_hlo.rules.devices import mesh_named
from scalify_hlo.rules.families import keep_each, opaque, rise, source
from scalify_hlo.rules.registry import rule
from scalify_hlo.rules.scale_rewriter import ScaleRewriter


def reduced(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Sums over a group of devices raise the level; maxima and minima keep it."""
    name = monoid(op.regions[0])
    if name == "stablehlo.add":
        return summed(op, rewriter)
    if name in EXTREMES:
        return keep_each(op, rewriter)
    return opaque(op, rewriter)


def summed(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Sums of one term for each device of a group."""
    raised = rise(group_size(op), rewriter)
    for operand, result in zip(op.operands, op.results, strict=True):
        info = rewriter.info(operand)
        if isinstance(info, Scaled):
            rewriter.set(result, info._replace(level=info.level + raised))
        elif not isinstance(info, Splat):
            rewriter.set(result, info)


def received(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Applies `keep_each`; as some devices receive zeros, the result is not a constant."""
    for operand, result in zip(op.operands, op.results, strict=True):
        if not isinstance(rewriter.info(operand), Splat):
            rewriter.pass_on(operand, result)


def reduced_for_one(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Applies `reduced`; all devices but one receive zeros."""
    if monoid(op.regions[0]) in EXTREMES:
        received(op, rewriter)
    else:
        reduced(op, rewriter)


def group_size(op: ir.Operation) -> int | None:
    """Returns the number of devices in a group; None if it depends on the execution."""
    groups = op.attributes["replica_groups"]
    if isinstance(groups, ir.DenseElementsAttr):
        return int(groups.type.shape[-1]) or None
    mesh = stablehlo.ReplicaGroupMeshAxesAttr(groups)
    sizes = _axis_sizes(op, mesh.mesh)
    axes = [stablehlo.AxisRefAttr(axis) for axis in mesh.axes]
    if not all(axis.name in sizes for axis in axes):
        return None
    parts = [(axis.sub_axis_info, sizes[axis.name]) for axis in axes]
    return math.prod(
        n if part is None else stablehlo.SubAxisInfoAttr(part).size for part, n in parts
    )


def _axis_sizes(op: ir.Operation, mesh: ir.Attribute) -> dict[str, int]:
    """Returns the sizes of the axes of a mesh, which is given inline or by its symbol."""
    if not isinstance(mesh, ir.FlatSymbolRefAttr):
        inline = map(stablehlo.MeshAxisAttr, stablehlo.MeshAttr(mesh).axes)
        return {axis.name: axis.size for axis in inline}
    named = mesh_named(mesh.value, around(op, "builtin.module"))
    axes = () if named is None else map(sdy.MeshAxisAttr, named.axes)
    return {axis.name: axis.size for axis in axes}


rule(
    ("all_reduce", "reduce_scatter"),
    reduced,
    "sums, maxima and minima are homogeneous of degree 1; every device has the scale",
    "Y_d = {op}(X_d); Y_s = X_s; a sum over n devices: Y_d/k, Y_s*k with "
    "k = 2^floor(log2(sqrt(n))); other regions: unscaled around",
    family="reduce",
)
rule(
    "collective_reduce",
    reduced_for_one,
    "as all_reduce; zeros fit any scale",
    "as all_reduce",
    family="reduce",
)
rule(
    "cross-replica-sum",
    summed,
    "linear; every device has the scale",
    "Y_d = sum(X_d)/k; Y_s = X_s*k; k = 2^floor(log2(sqrt(n))) for n devices",
    family="reduce",
)
rule(
    GATHERS_FROM_DEVICES,
    keep_each,
    "data movement; every device has the scale",
    "Y_d = {op}(X_d); Y_s = X_s, for each operand",
)
rule(
    where("exchange"),
    received,
    "data movement; every device has the scale, and zeros fit any",
    family="keep",
)
rule(("partition_id", "replica_id"), source, "no float operand")
