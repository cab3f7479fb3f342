"""Numbers of the matmuls and gradients that a recipe quantizes.

With ``untrusted = "wide"``, propagation finds the untrusted operands after their matmuls were
quantized. The program is then rewritten again without quantizing those matmuls.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.value_map import erase
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.recipes.model import WIDE, Recipe


class Numbers:
    """Counts quantized matmuls and gradients, in the order of the passes.

    Args:
        recipe: The recipe, which says whether numbers are needed.
        wide: The numbers of the matmuls and gradients that are not quantized.
    """

    def __init__(self, recipe: Recipe, wide: Collection[int]) -> None:
        self._counts, self._wide = recipe.untrusted == WIDE, wide
        self._last = -1

    def narrow(self, matmul: ir.Operation | None) -> bool:
        """Whether the next one is quantized; if it is a matmul, its number is written on it."""
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
            op.attributes[attributes.NUMBER] = attributes.integer(self._last)


def rewritten_wide(module: ir.Module, rewrite: Callable[[frozenset[int]], Collection[int]]) -> None:
    """Rewrites a module until no quantized operand is untrusted.

    Args:
        module: The module, which is edited in place.
        rewrite: Rewrites the module without quantizing some numbers, and returns the numbers of
            untrusted operands.
    """
    original = module.operation.clone()
    wide: frozenset[int] = frozenset()
    while not (found := frozenset(rewrite(wide))) <= wide:
        wide |= found  # This ends, as the number of matmuls is finite.
        _restore(module, original)


def _restore(module: ir.Module, original: ir.OpView) -> None:
    """Replaces the ops of a module by clones of its original ops."""
    for op in list(module.body.operations):
        erase(op)
    for op in original.regions[0].blocks[0].operations:
        op.operation.clone(ip=ir.InsertionPoint(module.body))


def clear_numbers(module: ir.Operation) -> None:
    """Removes the numbers from the ops of a module."""
    for op in ops_in(module, where=lambda op: attributes.NUMBER in op.attributes):
        del op.attributes[attributes.NUMBER]
