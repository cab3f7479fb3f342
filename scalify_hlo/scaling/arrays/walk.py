"""The walk that moves the factors of blocks through a program; see `factors` and `rules`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import markers
from scalify_hlo.ir.calls import CALL
from scalify_hlo.ir.functions import callee_of, terminator
from scalify_hlo.ir.traits import LOOP
from scalify_hlo.ir.value_map import ValueMap
from scalify_hlo.scaling.arrays.factors import Factors, Leaving
from scalify_hlo.scaling.arrays.rules import RULES
from scalify_hlo.transforms.inlining import inline_call


def is_rescaled(op: ir.Operation) -> bool:
    """Whether an op is a marker that rescales its operands by a statistic."""
    here = markers.MARKER in op.attributes
    return here and bool(op.attributes[markers.MARKER].value == markers.DYNAMIC_RESCALE)


class Walk:
    """A walk over a function.

    Args:
        factors: The factors of its values.
        leaving: The factors with which it returns values, at casts and rescalings of state.
        functions: The functions of the program by name, whose calls are inlined.
    """

    def __init__(
        self,
        factors: Factors,
        leaving: ValueMap[Leaving],
        functions: Mapping[str, ir.Operation],
    ) -> None:
        self._factors, self._leaving, self._functions = factors, leaving, functions

    def block(self, block: ir.Block, kept: Collection[int] = ()) -> None:
        """Visits the ops of a block in order; those that have no rule read values.

        Args:
            block: The block, which is edited.
            kept: The numbers of the operands of its terminator that have factors outside too.
        """
        ops = [op.operation for op in block.operations]
        self._visit_all(ops)
        for index in self._factors.held(ops[-1]):
            if index not in kept:
                self._factors.apply(ops[-1], index)

    def _visit_all(self, ops: Sequence[ir.Operation]) -> None:
        """Visits all ops of a sequence but the last."""
        for op, following in pairwise(ops):
            self._factors.next = following
            self._visit(op, following)

    def _visit(self, op: ir.Operation, following: ir.Operation) -> None:
        held = self._factors.held(op)
        if op.name == LOOP:
            self._loop(op)
        elif held and op.name == CALL and len(op.attributes) == 1:
            self._call(op, following)
        elif not self._of_state(op):
            rule = RULES.get(op.name)
            if held and not (rule is not None and rule(op, self._factors)):
                for index in held:
                    self._factors.apply(op, index)
            for region in op.regions:
                for block in region.blocks:
                    self.block(block)

    def _of_state(self, op: ir.Operation) -> bool:
        """Visits a rescaling or a cast of state, and returns whether the op is one."""
        found = [self._leaving.get(result) for result in op.results]
        if is_rescaled(op) and any(found):
            for index, leaving in enumerate(found):
                value = op.operands[index]
                arrays = self._factors.of(value)
                if leaving is not None:
                    op.operands[index] = leaving.divide(value, self._factors, op)
                    arrays = leaving.found
                self._factors.set(op.results[index], arrays)
            return True
        leaving = found[0] if found else None
        if leaving is None or attributes.CAST not in op.attributes or not leaving.found:
            return False
        if self._factors.of(op.operands[0]) != leaving.found:
            return False
        self._factors.set(op.results[0], leaving.found)
        return True

    def _call(self, op: ir.Operation, following: ir.Operation) -> None:
        """Inlines a call, and visits the ops that take its place."""
        self._visit_all([*inline_call(op, self._functions[callee_of(op)]), following])

    def _loop(self, op: ir.Operation) -> None:
        """Visits a loop; carries that no turn changes keep their factors."""
        factors = self._factors
        condition, body = (region.blocks[0] for region in op.regions)
        returned = terminator(body).operands
        kept = {i for i in factors.held(op) if returned[i] == body.arguments[i]}
        for index, value in enumerate(op.operands):
            if index not in kept:
                factors.apply(op, index)
                continue
            for same in (condition.arguments[index], body.arguments[index], op.results[index]):
                factors.set(same, factors.of(value))
        self.block(condition)
        self.block(body, kept)
