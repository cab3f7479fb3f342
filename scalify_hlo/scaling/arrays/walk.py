"""The walk that moves the factors of blocks through a program; see `factors` and `rules`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from scalify_hlo._compat import ir
from scalify_hlo.dialect.functions import callee_of, terminator
from scalify_hlo.scaling.arrays.factors import Factors
from scalify_hlo.scaling.arrays.rules import RULES
from scalify_hlo.transforms.inlining import inline_call

_LOOP, _CALL = "stablehlo.while", "func.call"


def walk(block: ir.Block, factors: Factors, kept: Collection[int] = ()) -> None:
    """Visits the ops of a block in order; those that have no rule read values.

    Args:
        block: The block, which is edited.
        factors: The factors of its arguments and of what it captures.
        kept: The numbers of the operands of its terminator that have factors outside too.
    """
    ops = [op.operation for op in block.operations]
    _visit_all(ops, factors)
    end = ops[-1]
    for index in factors.held(end):
        if index not in kept:
            factors.apply(end, index)


def _visit_all(ops: Sequence[ir.Operation], factors: Factors) -> None:
    """Visits all ops of a sequence but the last."""
    for op, following in pairwise(ops):
        factors.next = following
        _visit(op, following, factors)


def _visit(op: ir.Operation, following: ir.Operation, factors: Factors) -> None:
    held = factors.held(op)
    if op.name == _LOOP:
        _loop(op, factors)
        return
    if held and op.name == _CALL and not len(op.attributes) > 1:
        callee = factors.functions[callee_of(op)]
        _visit_all([*inline_call(op, callee), following], factors)
        return
    rule = RULES.get(op.name)
    if held and not (rule is not None and rule(op, factors)):
        for index in held:
            factors.apply(op, index)
    for region in op.regions:
        for block in region.blocks:
            walk(block, factors)


def _loop(op: ir.Operation, factors: Factors) -> None:
    """Visits a loop; carries that no turn changes keep their factors."""
    condition, body = (region.blocks[0] for region in op.regions)
    returned = terminator(body).operands
    kept = {i for i in factors.held(op) if returned[i] == body.arguments[i]}
    for index, value in enumerate(op.operands):
        if index not in kept:
            factors.apply(op, index)
            continue
        for same in (condition.arguments[index], body.arguments[index], op.results[index]):
            factors.set(same, factors.of(value))
    walk(condition, factors)
    walk(body, factors, kept)
