"""The sizes of activations and of their gradients, where these are predicted.

What is known of the ops that an activation is made of says little of the whole: an exact GELU is a
quotient of polynomials. `scalify-recognize` marks where inputs are read and where results are made.
"""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.rules.split import Split
from scalify_hlo.rules.unit_scaling import ACTIVATIONS, Activation
from scalify_hlo.scale import Form, Scaled
from scalify_hlo.uncertainty import least


class Activations:
    """The inputs of the activations that a walk has come to."""

    def __init__(self) -> None:
        self._inputs: dict[int, Form] = {}

    def concern(self, op: ir.Operation) -> bool:
        """Whether an op reads the input of activations, or ends one; few do."""
        present = op.attributes
        return attributes.LAYER_INPUT in present or attributes.LAYER_NUMBER in present

    def note(self, op: ir.Operation, split: Split) -> None:
        """Keeps what is known of an operand that is the input of activations."""
        present = op.attributes
        if attributes.LAYER_INPUT not in present:
            return
        numbers = [mark.value for mark in present[attributes.LAYER_INPUT]]
        for number, index in zip(numbers[::2], numbers[1::2], strict=True):
            self._inputs[number] = split.form(op.operands[index])

    def end(self, op: ir.Operation, split: Split) -> None:
        """Says how large the result of an op is that ends an activation, or its backward part."""
        present = op.attributes
        if attributes.LAYER_NUMBER not in present:
            return
        source = self._inputs.get(present[attributes.LAYER_NUMBER].value)
        form = split.form(op.results[0])
        if not (isinstance(source, Scaled) and isinstance(form, Scaled)):
            return
        certain = least((source.uncertainty, form.uncertainty))
        if not split.predicts:
            split.assume(op.results[0], form._replace(uncertainty=certain))
            return
        between = source.scale / form.scale
        if not between.static:
            return
        backward, activation = _activation(op)
        size = source.level + source.scale.exponent
        if activation is None:
            return
        size += activation.gradient_size if backward else activation.size(size) - size
        level = size - source.scale.exponent + between.exponent
        split.set(op.results[0], Scaled(form.scale, level, certain))


def _activation(op: ir.Operation) -> tuple[bool, Activation | None]:
    """Which activation an op ends, and whether it is its backward part."""
    present = op.attributes
    for mark in (attributes.LAYER, attributes.LAYER_GRADIENT):
        if mark in present:
            for name in attributes.texts(present[mark]):
                if name in ACTIVATIONS:
                    return mark == attributes.LAYER_GRADIENT, ACTIVATIONS[name]
    return False, None
