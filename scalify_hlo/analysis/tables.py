"""Tables: weights that rows are looked up in, such as embeddings."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.analysis.origins import Origin


class Table(NamedTuple):
    """A weight of which a program takes rows.

    Attributes:
        origin: The tensor.
        rows: How many rows it has.
        columns: How many elements each of them has.
    """

    origin: Origin
    rows: int
    columns: int

    def is_of(self, origin: Origin) -> bool:
        """Whether a tensor is the table, or made of the same argument of the program."""
        if origin is self.origin:
            return True
        return origin.argument is not None and origin.argument == self.origin.argument


def table_of(op: ir.Operation, name: str, origin: Origin) -> Table | None:
    """The table of a lookup.

    Args:
        op: One of `traits.LOOKUPS`.
        name: Its name.
        origin: The tensor that its operand is.

    Returns:
        None where the operand is no weight, or what is taken are no rows of a known number.
    """
    shape = list(op.operands[0].type.shape)
    if (origin.argument is None and not origin.constant) or len(shape) < _MATRIX:
        return None
    dims = _indexed(op, name)
    if len(dims) != 1 or min(shape) < 0:
        return None
    rows = shape[dims[0]]
    return Table(origin, rows, math.prod(shape) // rows) if rows else None


_MATRIX: Final = 2
"""The rank from which on a tensor has rows."""


def _indexed(op: ir.Operation, name: str) -> list[int]:
    """The dimensions of the operand of a lookup that indices are of."""
    if name == "stablehlo.torch_index_select":
        return [ir.IntegerAttr(op.attributes["dim"]).value]
    numbers = stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    return list(numbers.start_index_map)
