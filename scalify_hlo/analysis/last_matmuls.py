"""The last matmuls of a forward pass, from whose results the loss is computed.

A model in bf16 returns logits in bf16, and its loss is computed in f32: the sum of the exponentials
of a row has to be exact, or every gradient is off by the same factor. The values from the last
matmuls of the forward pass to the first matmuls of the backward pass are that loss and its
gradient. A matmul is among the last if no other matmul of the forward pass depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

from scalify_hlo._compat import ir
from scalify_hlo.analysis.frames import CALLS
from scalify_hlo.analysis.matmuls import MATMULS
from scalify_hlo.analysis.names import BACKWARD, name_of
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.value_map import ValueSet

_RECOMPUTED = "rematted_computation"
"""The part of a name stack that tells that `jax.checkpoint` computes an op again."""


class LastMatmuls:
    """Finds the last matmuls of forward passes.

    Args:
        functions: The functions of the module by name.
    """

    def __init__(self, functions: Mapping[str, ir.OpView]) -> None:
        self._functions = functions
        self._called: dict[str, frozenset[bool]] = {}

    def of(self, ops: Sequence[ir.Operation]) -> ValueSet:
        """Returns the results of the last forward matmuls, or of the calls and loops with them.

        Args:
            ops: The ops of a block, or some of them, in program order.
        """
        found, before = ValueSet(), ValueSet()
        kinds = [self._kinds(op) for op in ops]
        forward = list(takewhile(lambda pair: True not in pair[1], zip(ops, kinds, strict=True)))
        for op, inside in reversed(forward):
            results = op.results
            leads = any(results[i] in before for i in range(len(results)))
            if inside and not leads and _RECOMPUTED not in name_of(op):
                found.add_all(results)
            if inside or leads:
                before.add_operands(op)
        return found

    def has_both(self, ops: Sequence[ir.Operation]) -> bool:
        """Whether there are forward and backward matmuls among some ops, or inside of them."""
        return len(frozenset().union(*map(self._kinds, ops))) > 1

    def _kinds(self, op: ir.Operation) -> frozenset[bool]:
        """Returns whether the matmuls in an op are backward ones; both if there are both."""
        name = op.name
        if name in MATMULS:
            return frozenset((is_backward_matmul(op),))
        if name in CALLS:
            return self._in_function(op.attributes[CALLS[name]].value)
        blocks = (block for region in op.regions for block in region.blocks)
        inner = (self._kinds(each.operation) for block in blocks for each in block.operations)
        return frozenset().union(*inner)

    def _in_function(self, name: str) -> frozenset[bool]:
        if name not in self._called:
            self._called[name] = frozenset()  # a function that calls itself
            function = self._functions.get(name)
            if function is not None:
                self._called[name] = self._kinds(function.operation)
        return self._called[name]


def is_backward_matmul(op: ir.Operation) -> bool:
    """Whether a matmul is marked as one of the backward pass."""
    if attributes.PART not in op.attributes:
        return False
    return bool(ir.StringAttr(op.attributes[attributes.PART]).value == BACKWARD)
