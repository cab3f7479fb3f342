"""Access to the functions of a module, to the ends of their blocks, and to owners of values."""

from __future__ import annotations

from collections.abc import Container
from itertools import count
from typing import TypeGuard

from scalify_hlo._compat import ir
from scalify_hlo.errors import InputError
from scalify_hlo.ir.traits import CALLS, REFERENCES, STANDING


def main_function(module: ir.Operation) -> ir.OpView | None:
    """Returns the function `main`, at which a program starts; None if there is none."""
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name == "func.func" and symbol_of(op) == "main":
            return op
    return None


def entry(module: ir.Module | ir.Operation) -> ir.OpView:
    """Returns the function `main` of a program, which one that was read has for certain.

    Raises:
        InputError: There is none.
    """
    main = main_function(module.operation)
    if main is None:
        raise InputError(
            "the module has no function @main",
            hint="export a program with jax.export, or rename its entry function to main",
        )
    return main


def is_private(function: ir.OpView) -> bool:
    """Whether a function can only be called inside of the module."""
    visibility = function.attributes
    return "sym_visibility" in visibility and visibility["sym_visibility"].value == "private"


def callee_of(op: ir.Operation | ir.OpView) -> str:
    """Returns the function to which a call or a composite refers."""
    return str(op.attributes[CALLS[op.operation.name]].value)


def target_of(op: ir.Operation | ir.OpView) -> str:
    """Returns the name for which a composite or a custom call stands; empty for other ops."""
    attribute = STANDING.get(op.operation.name)
    return str(op.attributes[attribute].value) if attribute else ""


def symbol_of(op: ir.Operation | ir.OpView) -> str:
    """Returns the name of a function, or of another op that a symbol refers to."""
    return str(op.attributes["sym_name"].value)


def around(op: ir.Operation | ir.OpView, name: str) -> ir.Operation:
    """Returns the op of some name that an op is or is in; the outermost op if there is none."""
    found = op.operation
    while found.name != name and found.parent is not None:
        found = found.parent.operation
    return found


def fresh_name(name: str, taken: Container[str], start: int = 0) -> str:
    """Returns the first of ``name_0``, ``name_1`` and so on, that no function has.

    Args:
        name: The name.
        taken: The names of functions.
        start: The number to begin with.
    """
    names = (f"{name}_{number}" for number in count(start))
    return next(each for each in names if each not in taken)


def copied(function: ir.OpView, name: str) -> ir.OpView:
    """Returns a private copy of a function under another name, before the function."""
    copy = function.operation.clone(ip=ir.InsertionPoint(function)).opview
    copy.attributes["sym_name"] = ir.StringAttr.get(name)
    copy.attributes["sym_visibility"] = ir.StringAttr.get("private")
    return copy


def referred_by(op: ir.Operation) -> list[str]:
    """Returns the functions to which an op refers that is no call."""
    name = REFERENCES.get(op.name)
    if name is None or name not in op.attributes:
        return []
    named = op.attributes[name]
    symbols = named if isinstance(named, ir.ArrayAttr) else [named]
    return [ir.FlatSymbolRefAttr(symbol).value for symbol in symbols]


def terminator(block: ir.Block) -> ir.Operation:
    """Returns the last op of a block that has a terminator.

    That is `block.operations[-1]`, which goes through all ops of the block twice.
    """
    end: ir.Operation = ir.InsertionPoint.at_block_terminator(block).ref_operation
    return end


def block_of(value: ir.Value) -> ir.Block:
    """Returns the block in which a value is defined."""
    owner = value.owner
    return owner if is_block(owner) else owner.operation.block


def maker(value: ir.Value) -> ir.Operation | None:
    """Returns the op that makes a value; None for an argument of a block."""
    owner = value.owner
    return None if is_block(owner) else owner.operation


def in_block(op: ir.Operation, block: ir.Block) -> ir.Operation | None:
    """Returns the op of a block that is an op or contains it; None if there is none."""
    while op.block != block:
        if op.name == "func.func" or op.parent is None:
            return None
        op = op.parent.operation
    return op


def is_block(owner: object) -> TypeGuard[ir.Block]:
    """Whether the owner of a value is a block, and not an op.

    Analyses ask this for each value, and `isinstance` takes long for classes of the bindings.

    Args:
        owner: The attribute ``owner`` of a value.
    """
    return type(owner) is ir.Block
