"""Slices of stacked weights in loops, in the order of their dimensions.

FP8 matmuls of GPUs read both operands along the summed dimension, and XLA passes that order on to
what a weight is cast from. In a loop, where a turn takes a slice of the weights of all layers, it
transposes the whole stack before the loop, and holds the copy until the end. Behind a barrier that
a slice passes as a list of numbers, it transposes the slice as it casts it.
"""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.casts.casts import barrier_in_order
from scalify_hlo.dataflow.stacks import body_of, start_of
from scalify_hlo.ir.formats import element_type, is_small
from scalify_hlo.ir.functions import is_block
from scalify_hlo.ir.traits import LOOP
from scalify_hlo.ir.value_map import redirect, uses_of
from scalify_hlo.ir.walk import ops_in


def keep_slices_in_order(module: ir.Operation) -> None:
    """Puts barriers behind the matrices that loops slice from arguments of the program.

    Args:
        module: A ``builtin.module``, which is edited in place.
    """
    for loop in ops_in(module, [LOOP]):
        for op in [op.operation for op in body_of(loop).operations]:
            if op.name == "stablehlo.dynamic_slice" and _is_matrix(op) and _is_given(op, loop):
                uses = uses_of(op.results[0])
                redirect(uses, barrier_in_order(op.results[0]))


def _is_matrix(op: ir.Operation) -> bool:
    type_ = op.results[0].type
    element = element_type(type_)
    wide = isinstance(element, ir.FloatType) and not is_small(type_)
    return wide and sum(size > 1 for size in type_.shape) > 1


def _is_given(op: ir.Operation, loop: ir.Operation) -> bool:
    """Whether an op slices an argument of the program, which a loop carries unchanged."""
    stack = op.operands[0]
    if not is_block(stack.owner) or stack.owner != body_of(loop):
        return False
    start = start_of(loop, ir.BlockArgument(stack).arg_number)
    return start is not None and is_block(start.owner)
