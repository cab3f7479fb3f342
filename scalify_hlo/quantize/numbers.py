"""Numbers of the matmuls and gradients that a recipe narrows.

Where the recipe keeps untrusted operands wide, propagation finds out which these are, after their
matmuls were narrowed. The program is rewritten once more then, and leaves those matmuls alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.value_map import erase
from scalify_hlo.recipes.model import WIDE, Recipe


class Numbers:
    """Counts what is narrowed, in the order in which a recipe is applied.

    Args:
        recipe: Says whether numbers matter.
        wide: The numbers of what stays as it is.
    """

    def __init__(self, recipe: Recipe, wide: Collection[int]) -> None:
        self._counts, self._wide = recipe.untrusted == WIDE, wide
        self._last = -1

    def narrow(self, matmul: ir.Operation | None) -> bool:
        """Whether the next is narrowed; writes its number on a matmul that is."""
        if not self._counts:
            return True
        self._last += 1
        if self._last in self._wide:
            return False
        if matmul is not None:
            self.write(matmul)
        return True

    def write(self, op: ir.Operation) -> None:
        """Writes the last number on an op."""
        if self._counts:
            i64 = ir.IntegerType.get_signless(64)
            op.attributes[attributes.NUMBER] = ir.IntegerAttr.get(i64, self._last)


def rewritten_wide(module: ir.Module, rewrite: Callable[[frozenset[int]], Collection[int]]) -> None:
    """Rewrites a module until no operand that is left narrow is untrusted.

    Args:
        module: Edited in place.
        rewrite: Rewrites it, but for what has some numbers; gives those of untrusted operands.
    """
    original = module.operation.clone()
    wide: frozenset[int] = frozenset()
    while not (found := frozenset(rewrite(wide))) <= wide:
        wide |= found  # which ends: there are so many matmuls
        _restore(module, original)


def _restore(module: ir.Module, original: ir.OpView) -> None:
    """Puts clones of a module's original ops in the place of its ops."""
    for op in list(module.body.operations):
        erase(op)
    for op in original.regions[0].blocks[0].operations:
        op.operation.clone(ip=ir.InsertionPoint(module.body))


def clear_numbers(module: ir.Operation) -> None:
    """Removes the numbers from the ops of a module."""

    def visit(op: ir.Operation) -> ir.WalkResult:
        if attributes.NUMBER in op.attributes:
            del op.attributes[attributes.NUMBER]
        return ir.WalkResult.ADVANCE

    module.walk(visit)
