"""Predicted sizes of recognized layers, which do not follow from their ops one by one."""

from __future__ import annotations

from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import NEAR_UNIT
from scalify_hlo.algebra.scale import Scaled, Splat
from scalify_hlo.algebra.uncertainty import NORMALIZED
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.functions import is_block
from scalify_hlo.dialect.traits import LAYOUT, PRODUCTS, SLICES
from scalify_hlo.rules import attention
from scalify_hlo.rules.saturation import unsaturated
from scalify_hlo.rules.scale_rewriter import ScaleRewriter

DIVIDE: Final = "stablehlo.divide"
DOT: Final = "stablehlo.dot_general"
_GRADIENTS = frozenset({"stablehlo.multiply", "stablehlo.subtract"})
ENDS: Final = _GRADIENTS | {DIVIDE, DOT}
"""The ops to which `layered` applies."""

_ADD = "stablehlo.add"
_GRADIENT = "f8E5M2"
_MOVING = (
    (SLICES - {"stablehlo.real_dynamic_slice"})
    | (LAYOUT - {"stablehlo.broadcast_in_dim"})
    | PRODUCTS
    | {"stablehlo.convert", "stablehlo.optimization_barrier"}
)
"""The ops between a weight and a matmul: casts, the factors for them, and data movement."""


def layered(op: ir.Operation, name: str, rewriter: ScaleRewriter) -> None:
    """Sets the size of the result of a layer, after the rule of its last op."""
    if name == DIVIDE and attention.is_softmax(op.operation):
        attention.probabilities(op, rewriter)
    elif name == DOT:
        attention.weighted(op, rewriter)
        _backward(op, rewriter)
    elif name in _GRADIENTS and attention.is_softmax(op.operation, attributes.LAYER_GRADIENT):
        attention.of_scores(op, rewriter)


def certain(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Sets the uncertainty of a normalized value, or of a softmax, to a small one.

    It is that of the input if an epsilon is larger than the variance, and the result is small.
    """
    if attributes.LAYER not in op.attributes:
        return
    names = attributes.texts(op.attributes[attributes.LAYER])
    info = rewriter.info(op.results[0])
    if not isinstance(info, Scaled):
        return
    if "softmax" not in names and info.scale.static and info.level < -NEAR_UNIT:
        return
    if not _CERTAIN.isdisjoint(names):
        rewriter.assume(op.results[0], info._replace(uncertainty=NORMALIZED))


_CERTAIN: Final = frozenset(
    {"layer_norm", "rms_norm", "group_norm", "instance_norm", "batch_norm"}
    | {"softmax", "log_softmax", "logsumexp"}
)
"""The layers whose results have a size that does not depend on the inputs."""


def _backward(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Raises the size of the gradient of an operand, from FP8 gradient and weight, by one octave.

    After a statistic, the scales of gradients and of weights are rounded down to powers of two. So
    both are half an octave above unit on average. In training, gradients become largest where
    weights are. Without a statistic, errors add up from layer to layer anyway, and the size is
    kept.
    """
    info = rewriter.info(op.results[0])
    if rewriter.predicts or not isinstance(info, Scaled) or info.scale.passing:
        return
    lhs, rhs = op.operands[0], op.operands[1]
    pairs = ((lhs, rhs), (rhs, lhs))
    if any(_is_gradient(g, rewriter) and _is_weight(w) for g, w in pairs):
        known = info.uncertainty
        rest = known.drift - min(max(known.drift, 0.0), 1.0)
        raised = info._replace(level=info.level + 1, uncertainty=known.drifting(rest))
        rewriter.set(op.results[0], raised)


def _is_gradient(value: ir.Value, rewriter: ScaleRewriter) -> bool:
    """Whether a value has the FP8 format for gradients."""
    format_ = rewriter.format(value)
    return format_ is not None and format_.name == _GRADIENT


def _is_weight(value: ir.Value) -> bool:
    """Whether a value is an argument, or a part of one, cast or moved."""
    while not is_block((value := unsaturated(value)).owner):
        if value.owner.name not in _MOVING:
            return False
        value = value.owner.operands[0]
    return True


def epsilon_on_data(op: ir.Operation, rewriter: ScaleRewriter) -> bool:
    """Adds epsilon to data, ``Y_d = V_d + eps; Y_s = V_s`` (Scalify paper, appendix C.2).

    This is an approximation of ``V_d + eps/V_s``. The data of a variance are near unit, so that
    epsilon is small against them.

    Args:
        op: The op that adds the epsilon of a normalization.
        rewriter: The rewriter.

    Returns:
        Whether the op was rewritten: one operand has to be scaled, and the other a constant.
    """
    if op.operation.name != _ADD:
        return False
    infos = rewriter.infos(list(op.operands))
    for index, (info, other) in enumerate(zip(infos, reversed(infos), strict=True)):
        if isinstance(info, Scaled) and isinstance(other, Splat):
            value = rewriter.normalize(op.operands[index], op.operation)
            rewriter.replace(op, index, value)
            rewriter.result(op, info.normalized)
            return True
    return False
