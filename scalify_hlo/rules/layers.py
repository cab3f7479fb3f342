"""What is known of layers that were recognized, and does not follow from their ops one by one."""

from __future__ import annotations

from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import Scaled, Splat
from scalify_hlo.algebra.uncertainty import NORMALIZED
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.traits import LAYOUT, SLICES
from scalify_hlo.rules import attention
from scalify_hlo.rules.scale_rewriter import ScaleRewriter

DIVIDE: Final = "stablehlo.divide"
DOT: Final = "stablehlo.dot_general"
_GRADIENTS = frozenset({"stablehlo.multiply", "stablehlo.subtract"})
ENDS: Final = _GRADIENTS | {DIVIDE, DOT}
"""The ops that `layered` has something to say of."""

_ADD, _CLAMP = "stablehlo.add", "stablehlo.clamp"
_GRADIENT = "f8E5M2"
_MOVING = (
    (SLICES - {"stablehlo.real_dynamic_slice"})
    | (LAYOUT - {"stablehlo.broadcast_in_dim"})
    | {"stablehlo.convert", "stablehlo.optimization_barrier"}
    | {"stablehlo.clamp", "stablehlo.multiply"}
)
"""What stands between a weight and a matmul: casts, the factors for them, and data movement."""


def layered(op: ir.Operation, name: str, rewriter: ScaleRewriter) -> None:
    """Says what is known of the result of an op that ends a layer, after its own rule."""
    if name == DIVIDE and attention.is_softmax(op.operation):
        attention.probabilities(op, rewriter)
    elif name == DOT:
        attention.weighted(op, rewriter)
        _backward(op, rewriter)
    elif name in _GRADIENTS and attention.is_softmax(op.operation, attributes.LAYER_GRADIENT):
        attention.of_scores(op, rewriter)


def certain(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Says that the size of a normalized value, or of a softmax, is certain."""
    if attributes.LAYER not in op.attributes:
        return
    names = attributes.texts(op.attributes[attributes.LAYER])
    info = rewriter.info(op.results[0])
    if isinstance(info, Scaled) and not _CERTAIN.isdisjoint(names):
        rewriter.assume(op.results[0], info._replace(uncertainty=NORMALIZED))


_CERTAIN: Final = frozenset(
    {"layer_norm", "rms_norm", "group_norm", "instance_norm", "batch_norm"}
    | {"softmax", "log_softmax", "logsumexp"}
)
"""The layers whose results have a size that does not depend on that of their inputs."""


def _backward(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """The gradient of what a weight was multiplied with, where both are FP8: one octave more.

    Behind a statistic, gradients are rounded down to a power of two, and so are weights: both are
    half an octave above unit on average. Later on gradients are largest where weights are. Where
    there is no statistic, errors add up from layer to layer in any case, and nothing is said.
    """
    info = rewriter.info(op.results[0])
    if rewriter.predicts or not isinstance(info, Scaled) or info.scale.static:
        return
    lhs, rhs = op.operands[0], op.operands[1]
    pairs = ((lhs, rhs), (rhs, lhs))
    if any(_is_gradient(g, rewriter) and _is_weight(w) for g, w in pairs):
        rewriter.set(op.results[0], info._replace(level=info.level + 1))


def _is_gradient(value: ir.Value, rewriter: ScaleRewriter) -> bool:
    """Whether a value has the format of FP8 that is for gradients."""
    format_ = rewriter.format(value)
    return format_ is not None and format_.name == _GRADIENT


def _is_weight(value: ir.Value) -> bool:
    """Whether a value is an argument, cast or moved about, or a part of one."""
    owner = value.owner
    while not isinstance(owner, ir.Block):
        name = owner.name
        if name not in _MOVING:
            return False
        owner = owner.operands[1 if name == _CLAMP else 0].owner
    return True


def epsilon_on_data(op: ir.Operation, rewriter: ScaleRewriter) -> bool:
    """``Y_d = V_d + eps; Y_s = V_s``: the paper's approximation (appendix C.2).

    The data of a variance are near unit, whatever it is, and so is what epsilon guards against.
    It is an approximation of ``V_d + eps/V_s``.

    Args:
        op: Adds the epsilon of a normalization.
        rewriter: Knows the scales of values.

    Returns:
        Whether that is what the op does: one operand is scaled, and the other a constant.
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
