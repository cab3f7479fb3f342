"""Access to the functions of a module."""

from __future__ import annotations

from scalify_hlo._compat import ir


def main_function(module: ir.Operation) -> ir.OpView | None:
    """Returns the function `main`, at which a program starts; None if there is none."""
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name == "func.func" and op.attributes["sym_name"].value == "main":
            return op
    return None
