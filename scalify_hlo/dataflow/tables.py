"""Tables: weights in which rows are looked up, such as embeddings."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dataflow.origins import Origin


class Table(NamedTuple):
    """A weight of which a program reads rows.

    Attributes:
        origin: The tensor.
        rows: The number of rows.
        columns: The number of elements of a row.
    """

    origin: Origin
    rows: int
    columns: int

    def is_of(self, origin: Origin) -> bool:
        """Whether a tensor is the table, or comes from the same argument."""
        if origin is self.origin:
            return True
        return origin.argument is not None and origin.argument == self.origin.argument


def table_of(op: ir.Operation, name: str, origin: Origin) -> Table | None:
    """Returns the table of a lookup.

    Args:
        op: An op in `traits.LOOKUPS`.
        name: The name of the op.
        origin: The tensor of its operand.

    Returns:
        The table; None if the operand is not a weight, or the op does not read whole rows.
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
"""The least rank of a tensor with rows."""


def _indexed(op: ir.Operation, name: str) -> list[int]:
    """Returns the dimensions of the operand of a lookup that are indexed."""
    if name == "stablehlo.torch_index_select":
        return [ir.IntegerAttr(op.attributes["dim"]).value]
    numbers = stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    return list(numbers.start_index_map)
