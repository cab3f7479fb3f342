"""The softmaxes that a walk has passed, and the values that were averaged with them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import ATTENTION_CONE, ATTENTION_VALUES
from scalify_hlo.algebra.search import Search
from scalify_hlo.ir.through import behind
from scalify_hlo.ir.traits import SAME_ORDER
from scalify_hlo.ir.value_map import ValueMap, ValueSet

_SPREADING = SAME_ORDER | {"stablehlo.convert"}


class Attended(NamedTuple):
    """A softmax with which values are averaged.

    Attributes:
        positions: The number of positions.
        mixed: Whether the values depend on means over positions; None if that is not known.
    """

    positions: int
    mixed: bool | None


class Attention:
    """The means over positions that a walk has reached, and their softmaxes."""

    def __init__(self) -> None:
        self._means = ValueSet()
        self._attended: ValueMap[Attended] = ValueMap()

    def average(self, op: ir.Operation, end: ir.Operation, values: ir.Value) -> None:
        """Notes a mean over positions.

        Args:
            op: The matmul that computes the mean.
            end: The last op of the softmax.
            values: The values that are averaged.
        """
        found = Attended(summed(end), self._is_mixed(values))
        # Gradients may be computed from the normalized result, and not from the probabilities.
        self._attended[end.results[0]] = self._attended[end.operands[0]] = found
        self._means.add(op.results[0])

    def behind(self, op: ir.Operation) -> Attended | None:
        """Returns the noted softmax from which the gradient of a score is computed, or None."""
        near = (self._attended.get(value) for value in _cone(op.operands, ATTENTION_VALUES))
        return next((attended for attended in near if attended is not None), None)

    def _is_mixed(self, values: ir.Value) -> bool | None:
        looked, known = 0, True
        for value in _cone([values], ATTENTION_CONE):
            looked += 1
            if value in self._means:
                return True
            known = known and (not isinstance(value.owner, ir.Block) or _is_main(value.owner))
        return False if known and looked < ATTENTION_CONE else None


def _cone(values: Iterable[ir.Value], most: int) -> Iterator[ir.Value]:
    """Yields values and the values from which they are made, the nearest first."""

    def made_of(value: ir.Value) -> Iterable[ir.Value]:
        return () if isinstance(value.owner, ir.Block) else value.owner.operands

    return islice(Search(values, made_of, seen=ValueSet(), nearest=True), most)


def _is_main(block: ir.Block) -> bool:
    function = block.owner
    present = function.attributes
    return "sym_name" in present and ir.StringAttr(present["sym_name"]).value == "main"


def summed(op: ir.Operation) -> int:
    """Returns the number of elements that are summed in the divisor of a quotient."""
    whole = op.results[0].type
    part = behind(op.operands[len(op.operands) - 1], _SPREADING).type
    if not (whole.has_static_shape and part.has_static_shape):
        return 0
    return int(math.prod(whole.shape) // max(math.prod(part.shape), 1))
