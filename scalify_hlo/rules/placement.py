"""The shardings of values, and the ops of a block that use them."""

from __future__ import annotations

from scalify_hlo._compat import ir, sdy

SDY, MHLO = "sdy.sharding", "mhlo.sharding"
_FRONTEND = "mhlo.frontend_attributes"
"""Attributes for XLA, among them the shardings of Shardy in programs that were exported for XLA."""
_PARTITIONS, _MESH = "mhlo.num_partitions", "sdy.mesh"


def partitions_of(module: ir.Operation) -> int:
    """Returns the number of devices among which a program is divided; 1 if it does not say."""
    marks = module.attributes
    if _PARTITIONS not in marks or not isinstance(marks[_PARTITIONS], ir.IntegerAttr):
        return 1
    return max(1, int(marks[_PARTITIONS].value))


def on_one_device(module: ir.Operation) -> bool:
    """Whether a program is for one device; reshapes may lose the shardings of other programs."""
    if _PARTITIONS in module.attributes:
        partitions = module.attributes[_PARTITIONS]
        return isinstance(partitions, ir.IntegerAttr) and partitions.value == 1
    return not any(op.operation.name == _MESH for op in module.regions[0].blocks[0].operations)


def share_sharding(value: ir.Value, moved: ir.Value) -> None:
    """Copies the sharding of a value to the op that rescales it.

    Some ops of Shardy refuse operands without a sharding.
    """
    maker = value.owner
    given = isinstance(maker, ir.Block)
    marks = _argument_marks(value) if given else maker.attributes
    if marks is None or not (SDY in marks or MHLO in marks):
        return
    owner = moved.owner
    if isinstance(owner, ir.Block):
        return
    if SDY in marks:
        sharding = marks[SDY]
        if not given:
            each = sdy.TensorShardingPerValueAttr(sharding).shardings
            sharding = each[ir.OpResult(value).result_number]
        owner.attributes[SDY] = sdy.TensorShardingPerValueAttr.get([sharding])
    if MHLO in marks and (given or len(maker.results) == 1):
        owner.attributes[MHLO] = marks[MHLO]


def is_placed(op: ir.Operation) -> bool:
    """Whether an attribute of an op places the dimensions of its results on devices."""
    marks = op.attributes
    return SDY in marks or MHLO in marks or (_FRONTEND in marks and SDY in str(marks[_FRONTEND]))


def argument_sharding(value: ir.Value) -> ir.Attribute | None:
    """Returns the sharding by Shardy of an argument of a function; None if it has none."""
    marks = _argument_marks(value)
    return marks[SDY] if marks is not None and SDY in marks else None


def divided(sharding: ir.Attribute) -> set[int]:
    """Returns the dimensions that a sharding by Shardy divides among devices."""
    dims = sdy.TensorShardingAttr(sharding).dimension_shardings
    return {i for i, dim in enumerate(dims) if len(sdy.DimensionShardingAttr(dim).axes)}


def _argument_marks(value: ir.Value) -> ir.DictAttr | None:
    """Returns the attributes of a function's argument; None for arguments of other blocks."""
    function = value.owner.owner
    if function.operation.name != "func.func" or "arg_attrs" not in function.attributes:
        return None
    number = ir.BlockArgument(value).arg_number
    marks = ir.ArrayAttr(function.attributes["arg_attrs"])
    return ir.DictAttr(marks[number]) if number < len(marks) else None
