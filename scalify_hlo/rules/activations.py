"""The sizes of activations and of their gradients, where these are predicted.

What is known of the ops that an activation is made of says little of the whole: an exact GELU is a
quotient of polynomials. `scalify-recognize` marks where inputs are read and where results are made.
"""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import Scaled, ScaleInfo
from scalify_hlo.algebra.uncertainty import least
from scalify_hlo.dialect import attributes
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.rules.unit_scaling import ACTIVATIONS, ActivationSize


class Activations:
    """The inputs of the activations that a walk has come to."""

    def __init__(self) -> None:
        self._inputs: dict[int, ScaleInfo] = {}

    def concern(self, op: ir.Operation) -> bool:
        """Whether an op reads the input of activations, or ends one; few do."""
        present = op.attributes
        return attributes.LAYER_INPUT in present or attributes.LAYER_NUMBER in present

    def note(self, op: ir.Operation, rewriter: ScaleRewriter) -> None:
        """Keeps what is known of an operand that is the input of activations."""
        present = op.attributes
        if attributes.LAYER_INPUT not in present:
            return
        numbers = [mark.value for mark in present[attributes.LAYER_INPUT]]
        for number, index in zip(numbers[::2], numbers[1::2], strict=True):
            self._inputs[number] = rewriter.info(op.operands[index])

    def end(self, op: ir.Operation, rewriter: ScaleRewriter) -> None:
        """Says how large the result of an op is that ends an activation, or its backward part."""
        present = op.attributes
        if attributes.LAYER_NUMBER not in present:
            return
        source = self._inputs.get(present[attributes.LAYER_NUMBER].value)
        info = rewriter.info(op.results[0])
        if not (isinstance(source, Scaled) and isinstance(info, Scaled)):
            return
        drift = info.uncertainty.drift
        certain = least((source.uncertainty, info.uncertainty)).drifting(drift)
        if not rewriter.predicts:
            rewriter.assume(op.results[0], info._replace(uncertainty=certain))
            return
        between = source.scale / info.scale
        if not between.static:
            return
        backward, activation = _activation(op)
        size = source.level + source.scale.exponent
        if activation is None:
            return
        size += activation.gradient_size if backward else activation.size(size) - size
        level = size - source.scale.exponent + between.exponent
        rewriter.set(op.results[0], Scaled(info.scale, level, certain))


def _activation(op: ir.Operation) -> tuple[bool, ActivationSize | None]:
    """Which activation an op ends, and whether it is its backward part."""
    present = op.attributes
    for mark in (attributes.LAYER, attributes.LAYER_GRADIENT):
        if mark in present:
            for name in attributes.texts(present[mark]):
                if name in ACTIVATIONS:
                    return mark == attributes.LAYER_GRADIENT, ACTIVATIONS[name]
    return False, None
