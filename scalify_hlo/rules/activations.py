"""Predicted sizes of activations and of their gradients.

The sizes of the ops of an activation say little about the whole: an exact GELU is a quotient of
polynomials. `scalify-recognize` marks the ops that read the inputs and make the results.
"""

from __future__ import annotations

from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import OPS_OF_LAYER
from scalify_hlo.algebra.runtime_size import alike, powers_of
from scalify_hlo.algebra.scale import ONE, Scaled, ScaleInfo, Splat
from scalify_hlo.algebra.uncertainty import NORMALIZED, least
from scalify_hlo.dialect import attributes
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.rules.unit_scaling import ACTIVATIONS, ActivationSize


class Activations:
    """The inputs of the activations that a walk has reached."""

    def __init__(self) -> None:
        self._inputs: dict[int, ScaleInfo] = {}

    def concern(self, op: ir.Operation) -> bool:
        """Whether an op reads the input of an activation, or ends one; few ops do."""
        present = op.attributes
        return any(mark in present for mark in _MARKS)

    def note(self, op: ir.Operation, rewriter: ScaleRewriter) -> None:
        """Notes the scale information of an operand that is the input of activations."""
        present = op.attributes
        if attributes.LAYER_INPUT not in present:
            return
        numbers = [mark.value for mark in present[attributes.LAYER_INPUT]]
        for number, index in zip(numbers[::2], numbers[1::2], strict=True):
            self._inputs[number] = rewriter.info(op.operands[index])

    def end(self, op: ir.Operation, rewriter: ScaleRewriter) -> None:
        """Sets the size of the result of an activation or its backward part, or of a state."""
        if attributes.LAYER_NUMBER in op.attributes:
            self._end(op, rewriter)
        if attributes.CELL_STATE in op.attributes:
            _bound(op, rewriter)

    def _end(self, op: ir.Operation, rewriter: ScaleRewriter) -> None:
        present = op.attributes
        source = self._inputs.get(present[attributes.LAYER_NUMBER].value)
        if isinstance(source, Splat):  # The gradient of a mean is a constant.
            source = Scaled(ONE, rewriter.size(source))
        info = rewriter.info(op.results[0])
        if not (isinstance(source, Scaled) and isinstance(info, Scaled)):
            return
        backward, activation = _activation(op)
        gate = activation if activation is not None and activation.bounded else None
        found = least((source.uncertainty, info.uncertainty))
        if gate is not None and gate.mean and not backward:
            found = NORMALIZED  # A sigmoid is between 0 and 1, however large its input is.
        level = _level(op, source, info, rewriter)
        if level is None and gate is None:
            found = info.uncertainty  # Of a sum of terms whose sizes may not be known.
        certain = found.drifting(info.uncertainty.drift)
        if rewriter.predicts:
            if level is not None:
                rewriter.set(op.results[0], Scaled(info.scale, level, certain))
            return
        if level is not None:
            apart = float(level - info.level)
            if abs(apart) > OPS_OF_LAYER or not alike((level, info.level)):
                info = info._replace(level=round(level))
                apart = float(level - info.level)
            if gate is None:
                certain = certain.drifting(source.uncertainty.drift + apart)
        if gate is not None:
            # Each gate makes values smaller than predicted, and a recurrent network has many.
            size = gate.gradient_size if backward else gate.size()
            certain = certain.with_bias(abs(size))
        rewriter.set(op.results[0], info._replace(uncertainty=certain))


_MARKS: Final = (attributes.LAYER_INPUT, attributes.LAYER_NUMBER, attributes.CELL_STATE)

_LEAST, _STATE = -2.5, -1.0
"""log2 of the sizes of the states of recurrent cells that are trained: the size that is predicted
for them, and the least of which a cast at that scale keeps all but few elements."""


def _bound(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Sets the size of a state between -1 and 1, which grows as a cell learns to keep it.

    A state that is expected to be smaller by far, as its inputs are, is not one that is trained.
    """
    info = rewriter.info(op.results[0])
    if not rewriter.predicts or not isinstance(info, Scaled) or powers_of(info.level):
        return
    if info.scale.static and _LEAST <= info.level + info.scale.exponent < _STATE:
        rewriter.set(op.results[0], info._replace(level=_STATE - info.scale.exponent))


def _level(op: ir.Operation, source: Scaled, info: Scaled, rewriter: ScaleRewriter) -> float | None:
    """Returns the level of the result of an activation, or of its backward part, if it is known.

    Args:
        op: The op that makes it.
        source: The scale information of the input, or of the gradient of the output.
        info: The scale information of the result.
        rewriter: The rewriter.
    """
    between = source.scale / info.scale
    if not (between.static or (between.passing and source.scale.passing)):
        return None
    backward, activation = _activation(op)
    size = source.level + _size(source)
    if activation is None:
        return None
    if backward:
        return size + activation.gradient_size - _size(info)
    if activation.bounded and powers_of(size):
        return None
    return rewriter.sizes.of_activation(activation, size) - _size(info)


def _size(info: Scaled) -> float:
    """Returns log2 of a scale without the run-time scales at which data stay."""
    return info.scale.size if info.scale.passing else info.scale.exponent


def _activation(op: ir.Operation) -> tuple[bool, ActivationSize | None]:
    """Returns whether an op ends a backward part, and the activation that it ends."""
    present = op.attributes
    for mark in (attributes.LAYER, attributes.LAYER_GRADIENT):
        if mark in present:
            for name in attributes.texts(present[mark]):
                if name in ACTIVATIONS:
                    return mark == attributes.LAYER_GRADIENT, ACTIVATIONS[name]
    return False, None
