"""The numbers of positions that masks keep, by which losses and means are divided.

The loss of a masked language model, or of a padded batch, is a sum over some positions, divided by
their number. Its gradient is zero at all others (Unit Scaling paper, appendix H.5). If a mask keeps
a share s of n positions, the gradient has the rms ``sqrt(s) / (s * n)``. The share is not known
when a program is rewritten. For an eighth, this is ``2^1.5 / n``. For shares from 1/32 to 1 it is
at most an octave larger, and 1.5 octaves smaller, as a cast has more room below than above. A mask
counts as 1 here, so that its sum is ``n / 2^1.5``. A sum of n independent terms would be sqrt(n).
"""

from __future__ import annotations

import math
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.uncertainty import Uncertainty, of_root
from scalify_hlo.ir.functions import is_block, maker, symbol_of
from scalify_hlo.ir.monoid import monoid
from scalify_hlo.ir.through import behind, readers
from scalify_hlo.ir.traits import BROADCASTS, LAYOUT, RESHAPES, ROUNDS, SLICES
from scalify_hlo.rules.choices import one_hot

_FEWER: Final = 1.5
"""The octaves by which the sum of a mask is below the number of its elements: a root of 8."""

_MOVES: Final = LAYOUT | SLICES | ROUNDS | {"stablehlo.convert"}

_TO_DIVISOR: Final = BROADCASTS | RESHAPES | ROUNDS | {"stablehlo.add", "stablehlo.maximum"}
"""The ops from a count to a divisor: a count may be kept above zero first."""


def size_of_count(value: ir.Value) -> float | None:
    """Returns log2 of the number of positions that a mask keeps.

    Args:
        value: The result of a sum, in floats or integers.

    Returns:
        The size; None if the value is not the sum of a mask, or if nothing is divided by it.
    """
    op = maker(value)
    if op is None or op.name != "stablehlo.reduce" or len(op.results) > 1:
        return None
    shape, dims = op.operands[0].type.shape, list(op.attributes["dimensions"])
    count = math.prod(shape[d] for d in dims)
    if count < 1 or any(shape[d] < 0 for d in dims) or monoid(op.regions[0]) != "stablehlo.add":
        return None
    if not (_is_mask(op.operands[0]) and _divides(value)):
        return None
    return math.log2(count) - _FEWER


def uncertainty_of_count() -> Uncertainty:
    """Returns the uncertainty of the number of positions that a mask of booleans keeps."""
    return of_root(_FEWER)


def _is_mask(value: ir.Value) -> bool:
    """Whether elements are 0 or 1: booleans, but no one-hot ones, or an argument of the program."""
    source = behind(value, _MOVES)
    if source.type.element_type == ir.IntegerType.get_signless(1):
        return one_hot(source) is None
    if is_block(source.owner):
        return _is_given(source)
    return source.owner.name == "stablehlo.multiply" and all(map(_is_mask, source.owner.operands))


def _is_given(argument: ir.Value) -> bool:
    """Whether a value is an argument of the program."""
    around = argument.owner.owner.operation
    return around.name == "func.func" and symbol_of(around) == "main"


def _divides(value: ir.Value) -> bool:
    """Whether something is divided by a value."""
    found = readers(value, _TO_DIVISOR)
    return any(op.name == "stablehlo.divide" and index == 1 for op, index in found)
