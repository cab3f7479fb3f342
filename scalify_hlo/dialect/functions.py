"""Access to the functions of a module, to the ends of their blocks, and to owners of values."""

from __future__ import annotations

from typing import TypeGuard

from scalify_hlo._compat import ir


def main_function(module: ir.Operation) -> ir.OpView | None:
    """Returns the function `main`, at which a program starts; None if there is none."""
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name == "func.func" and op.attributes["sym_name"].value == "main":
            return op
    return None


def terminator(block: ir.Block) -> ir.Operation:
    """Returns the last op of a block that has a terminator.

    That is `block.operations[-1]`, which goes through all ops of the block twice.
    """
    end: ir.Operation = ir.InsertionPoint.at_block_terminator(block).ref_operation
    return end


def is_block(owner: object) -> TypeGuard[ir.Block]:
    """Whether the owner of a value is a block, and not an op.

    Analyses ask this for each value, and `isinstance` takes long for classes of the bindings.

    Args:
        owner: The attribute ``owner`` of a value.
    """
    return type(owner) is ir.Block
