"""Ops of Shardy. Scales have rank 0, and are equal on every device."""

from __future__ import annotations

from scalify_hlo._compat import ir, sdy
from scalify_hlo.algebra.scale import Scaled
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.traits import BODIES
from scalify_hlo.ir.value_map import replace_op
from scalify_hlo.rules.devices import devices_of, replicated_after
from scalify_hlo.rules.families import keep, source
from scalify_hlo.rules.isolated import (
    add_parameters,
    drop_unused,
    finish,
    placeholder,
    runtimes,
    scale_operands,
    translated,
)
from scalify_hlo.rules.marked_ops import has_markers
from scalify_hlo.rules.registry import rule
from scalify_hlo.rules.scale_rewriter import ScaleRewriter

_MOVES = (
    "sdy.all_gather sdy.all_slice sdy.all_to_all sdy.collective_permute sdy.data_flow_edge "
    "sdy.propagation_barrier sdy.reshard sdy.sharding_constraint"
)
_SUMS = "sdy.all_reduce sdy.reduce_scatter sdy.replicated_to_unreduced sdy.sharded_to_unreduced"
rule(
    _MOVES.split(),
    keep,
    "the value is the same, with another sharding",
    "Y_d = X_d; Y_s = X_s; the sharding stays on the data",
)


def edge(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Keeps the op on the argument or the result of a call, as it refuses rescaled data."""
    owner = op.operands[0].owner
    if isinstance(owner, ir.Block) or owner.name == "func.call":
        keep(op, rewriter)
    else:
        rewriter.read(op, 0)


rule(
    "sdy.func_data_flow_edge",
    edge,
    "the value is the same; the op has function arguments and results as operands only",
    "Y_d = X_d; Y_s = X_s; for data that were rescaled, Y = X",
    family="keep",
)
rule(
    _SUMS.split(),
    keep,
    "the value is the same, split into parts whose sum it is, or summed from them",
    "Y_d = X_d; Y_s = X_s; the sharding stays on the data",
)
rule("sdy.constant", source, "no float operand")
rule("sdy.sharding_group", source, "reads no element", "the group stays on the data")


def body(op: ir.Operation, rewriter: ScaleRewriter) -> ir.Operation | None:
    """Rewrites the body with the scales of the operands; run-time scales are extra operands.

    These operands are replicated, so the scales in the body are equal on every device.

    Returns:
        The op that replaced this one, or None.
    """
    infos = rewriter.infos(list(op.operands))
    block, outside = op.regions[0].blocks[0], runtimes(infos)
    if not any(isinstance(info, Scaled) for info in infos) and not has_markers(block):
        return None
    top = placeholder(block)
    inner = rewriter.isolated(top, devices_of(op))
    parameters = add_parameters(block, infos, inner)
    inner.walk(block)
    inner.outward(block.operations[-1].operation)
    results = inner.infos(list(block.operations[-1].operands))
    finish(inner, top)
    taken = [outside[i] for i in drop_unused(block, len(outside))]
    rewriter.values.changed |= inner.values.changed
    if taken:
        op = _with_operands(op, scale_operands(block, taken, rewriter, op.operation))
    names = dict(zip(parameters, outside, strict=True))
    for result, info in zip(op.results, results, strict=True):
        rewriter.set(result, translated(info, rewriter, inner, names))
    return op


def _with_operands(op: ir.Operation, scales: list[ir.Value]) -> ir.Operation:
    """Returns the op with more operands, which are replicated; it takes the body."""
    where = emit.before(op)
    types = [result.type for result in op.results]
    operands = [*op.operands, *scales]
    marks = attributes.all_of(op)
    if "in_shardings" in marks:
        marks["in_shardings"] = replicated_after(marks["in_shardings"], [s.type for s in scales])
    if op.operation.name == "sdy.manual_computation":
        inherent = [marks[n] for n in ("in_shardings", "out_shardings", "manual_axes")]
        new = sdy.ManualComputationOp(types, operands, *inherent, **where)
    else:
        new = sdy.NamedComputationOp(types, marks["name"], operands, **where)
    for name, mark in marks.items():
        new.attributes[name] = mark
    op.regions[0].blocks[0].append_to(new.regions[0])
    replace_op(op, new.results)
    return new


rule(
    BODIES,
    body,
    "that of the ops in the body; every device has the scales",
    "the rules of the ops in its body; scales are replicated operands",
    family="control",
)
