"""Predicted sizes of recognized layers, which do not follow from their ops one by one."""

from __future__ import annotations

from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import NEAR_UNIT
from scalify_hlo.algebra.scale import Scaled, Splat
from scalify_hlo.algebra.uncertainty import NORMALIZED
from scalify_hlo.dialect import attributes
from scalify_hlo.rules import attention
from scalify_hlo.rules.scale_rewriter import ScaleRewriter

DIVIDE: Final = "stablehlo.divide"
DOT: Final = "stablehlo.dot_general"
_GRADIENTS = frozenset({"stablehlo.multiply", "stablehlo.subtract"})
ENDS: Final = _GRADIENTS | {DIVIDE, DOT}
"""The ops to which `layered` applies."""

_ADD = "stablehlo.add"


def layered(op: ir.Operation, name: str, rewriter: ScaleRewriter) -> None:
    """Sets the size of the result of a layer, after the rule of its last op."""
    if name == DIVIDE and attention.is_softmax(op.operation):
        attention.probabilities(op, rewriter)
    elif name == DOT:
        attention.weighted(op, rewriter)
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
