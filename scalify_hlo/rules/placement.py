"""Shardings of values, shared by the ops that move them to other scales."""

from __future__ import annotations

from scalify_hlo._compat import ir, sdy

SDY, MHLO = "sdy.sharding", "mhlo.sharding"


def share_sharding(value: ir.Value, moved: ir.Value) -> None:
    """Gives what a value was moved to, by an op of one result, the sharding of the value.

    Some of Shardy's ops refuse an operand that has none.
    """
    if isinstance(moved.owner, ir.Block):
        return
    if isinstance(value.owner, ir.Block):
        marks = _argument_marks(value)
        sharding = marks[SDY] if marks is not None and SDY in marks else None
    else:
        marks = value.owner.attributes
        number = ir.OpResult(value).result_number
        each = sdy.TensorShardingPerValueAttr(marks[SDY]).shardings if SDY in marks else None
        sharding = each[number] if each is not None else None
    if sharding is not None:
        moved.owner.attributes[SDY] = sdy.TensorShardingPerValueAttr.get([sharding])
    if marks is not None and MHLO in marks and _alone(value):
        moved.owner.attributes[MHLO] = marks[MHLO]


def _alone(value: ir.Value) -> bool:
    return isinstance(value.owner, ir.Block) or len(value.owner.results) == 1


def _argument_marks(value: ir.Value) -> ir.DictAttr | None:
    """The attributes of a function's argument; None for an argument of another block."""
    function = value.owner.owner
    if function.operation.name != "func.func" or "arg_attrs" not in function.attributes:
        return None
    number = ir.BlockArgument(value).arg_number
    marks = ir.ArrayAttr(function.attributes["arg_attrs"])
    return ir.DictAttr(marks[number]) if number < len(marks) else None
