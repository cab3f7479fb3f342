"""Scalars that the program computes, such as a loss scale: their size is known at run time."""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import READER_STEPS
from scalify_hlo.algebra.runtime_size import powers_of
from scalify_hlo.algebra.scale import ANY, ONE, Scaled, Splat
from scalify_hlo.algebra.uncertainty import CERTAIN
from scalify_hlo.dialect.formats import format_of
from scalify_hlo.dialect.functions import is_block
from scalify_hlo.dialect.traits import CONTRACTIONS
from scalify_hlo.rules.families import NEUTRAL, keep
from scalify_hlo.rules.placement import in_block
from scalify_hlo.rules.scale_rewriter import ScaleRewriter


def spread(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Keeps the scale; a scalar has the size that it has at run time, and no predicted one.

    The amax of a scalar is the scalar, so that its size costs a few ops on scalars. Those that are
    sums of tensors have predicted sizes, as the tensors have.
    """
    value = op.operands[0]
    if not value.type.rank and rewriter.narrow and (at := _place(value, op, rewriter)) is not None:
        info = rewriter.info(value)
        if info is not ANY and not isinstance(info, Splat) and not _is_known(value, info):
            known = info if isinstance(info, Scaled) else Scaled(ONE)
            depth = 0 if at.block == rewriter.runtime_scales.block else rewriter.depth
            level = rewriter.runtime_scales.size_of_scalar(value, float(known.level), at, depth)
            rewriter.assume(value, known._replace(level=level, uncertainty=CERTAIN))
    keep(op, rewriter)


NEUTRAL.add(spread)


def _place(value: ir.Value, op: ir.Operation, rewriter: ScaleRewriter) -> ir.Operation | None:
    """Returns the op before which the size of a scalar is built; None in a loop's body.

    A size that depends on the iteration could not leave the loop with its carries.
    """
    top = rewriter.runtime_scales.block
    block = value.owner if is_block(value.owner) else value.owner.operation.block
    if block == top:
        return in_block(op, top)
    return None if any(scope.loop is not None for scope in rewriter.values.scopes) else op


def _is_known(value: ir.Value, info: object) -> bool:
    """Whether a size follows from measured ones, or from tensors."""
    if format_of(value.type) is None or (isinstance(info, Scaled) and powers_of(info.level)):
        return True
    return _is_sum(value, READER_STEPS)


def _is_sum(value: ir.Value, steps: int) -> bool:
    """Whether a scalar is made of sums of tensors of floats."""
    if is_block(value.owner) or format_of(value.type) is None or not steps:
        return False
    op = value.owner.operation
    if op.name in CONTRACTIONS or (op.name == "stablehlo.reduce" and op.operands[0].type.rank):
        return True
    return any(_is_sum(each, steps // 2) for each in op.operands)
