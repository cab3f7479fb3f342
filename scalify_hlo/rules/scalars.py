"""Scalars that the program computes, such as a loss scale: their size is known at run time.

A scalar is a tensor of one element, of any rank.
"""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import READER_STEPS
from scalify_hlo.algebra.runtime_size import powers_of
from scalify_hlo.algebra.scale import ANY, ONE, Scaled, Splat
from scalify_hlo.algebra.uncertainty import CERTAIN
from scalify_hlo.ir.formats import format_of, is_scalar
from scalify_hlo.ir.functions import in_block, is_block
from scalify_hlo.ir.traits import CONTRACTIONS
from scalify_hlo.rules.families import keep
from scalify_hlo.rules.registry import of_family
from scalify_hlo.rules.saturation import unsaturated
from scalify_hlo.rules.scale_rewriter import ScaleRewriter


@of_family("keep", neutral=True)
def spread(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Keeps the scale; a scalar has the size that it has at run time, and no predicted one.

    The amax of a scalar is the scalar, so that its size costs a few ops on scalars. Those that are
    sums of tensors have predicted sizes, as the tensors have.
    """
    measure(op.operands[0], op, rewriter)
    keep(op, rewriter)


def measure(value: ir.Value, op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Makes the size of a scalar that an op reads a measured one, if it is a computed scalar.

    Args:
        value: Any operand.
        op: A broadcast, or a call.
        rewriter: The rewriter.
    """
    if not rewriter.narrow:
        return
    info = rewriter.info(value)
    if info is ANY or isinstance(info, Splat) or not is_scalar(value.type):
        return
    if _is_known(value, info, rewriter):
        return
    top = rewriter.runtime_scales.block
    outer = in_block(op, top) if _block_of(value) == top else None
    at: ir.Operation | None
    at, depth = (op, rewriter.depth) if outer is None else (outer, 0)
    if value.owner == top:
        at = None  # The op may stand before the top, where it enters a pair.
    known = info if isinstance(info, Scaled) else Scaled(ONE)
    level = rewriter.runtime_scales.size_of_scalar(value, float(known.level), at, depth)
    rewriter.assume(value, known._replace(level=level, uncertainty=CERTAIN))


def _block_of(value: ir.Value) -> ir.Block:
    return value.owner if is_block(value.owner) else value.owner.operation.block


def _is_known(value: ir.Value, info: object, rewriter: ScaleRewriter) -> bool:
    """Whether a size follows from measured ones, from constants, or from tensors."""
    if format_of(value.type) is None:
        return True
    if isinstance(info, Scaled) and (powers := powers_of(info.level)):
        own = any(rewriter.runtime_scales.is_size_of(value, each) for each in powers)
        return own or not _is_chosen(value, READER_STEPS)
    return _is_constant(value, READER_STEPS) or _is_sum(value, READER_STEPS, rewriter)


def _is_chosen(value: ir.Value, steps: int) -> bool:
    """Whether a scalar is made of one of several scalars, the sizes of which may differ."""
    value = unsaturated(value)
    if is_block(value.owner) or not steps or not is_scalar(value.type):
        return False
    op = value.owner.operation
    return _chooses(op) or any(_is_chosen(each, steps // 2) for each in op.operands)


def _chooses(op: ir.Operation) -> bool:
    """Whether a result may be any of several scalars: a select, or a call with a predicate."""
    return any(map(_is_predicate, op.operands))


def _is_predicate(value: ir.Value) -> bool:
    return is_scalar(value.type) and str(value.type.element_type) == "i1"


def _is_constant(value: ir.Value, steps: int) -> bool:
    """Whether a scalar is made of constants alone."""
    if is_block(value.owner) or not steps:
        return False
    return all(_is_constant(each, steps // 2) for each in value.owner.operation.operands)


def _is_sum(value: ir.Value, steps: int, rewriter: ScaleRewriter) -> bool:
    """Whether a scalar is made of sums of tensors, or of what a function is called with.

    Scalars are measured where they are passed; an element of a tensor that is passed is not.
    Integers are mostly constants, such as the degrees of freedom of a variance.
    """
    value = unsaturated(value)
    if not steps or _is_predicate(value):
        return False
    if is_block(value.owner):
        function = value.owner.owner.operation.attributes
        called = "sym_name" in function and function["sym_name"].value != "main"
        return called and (is_scalar(value.type) or format_of(value.type) is None)
    op = value.owner.operation
    if _chooses(op):
        return False
    sums = op.name == "stablehlo.reduce" and not is_scalar(op.operands[0].type)
    if sums or op.name in CONTRACTIONS:
        return True
    made_of: list[ir.Value] = list(op.operands)
    if format_of(value.type) is not None and len(made_of) > 1:  # Others are indices.
        made_of = [each for each in made_of if format_of(each.type) is not None]
    return any(_is_sum(each, steps // 2, rewriter) for each in made_of)
