"""Names of matmuls in locations, for programs that are compiled to see what becomes of them.

XLA keeps the name of a location as the ``op_name`` of an instruction.
"""

from __future__ import annotations

import re
from typing import Final

from scalify_hlo._compat import ir

_NAME: Final = "scalify.matmul.{}"
_NUMBER: Final = re.compile(r"\bscalify\.matmul\.(\d+)\b")


def named(number: int, location: ir.Location) -> ir.Location:
    """Returns a location with the name of the matmul that has a number in the report."""
    return ir.Location.name(_NAME.format(number), location)


def number_in(name: str) -> int | None:
    """Returns the number of the matmul in an ``op_name`` of XLA; None if there is none."""
    found = _NUMBER.search(name)
    return int(found[1]) if found else None


def number_at(location: ir.Location) -> int | None:
    """Returns the number of the matmul in a location; None if there is none."""
    return number_in(location.name_str) if isinstance(location, ir.NameLoc) else None
