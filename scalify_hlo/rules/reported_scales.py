"""The scales of the casts of matmul operands, for the report.

A pass that casts an operand writes the readers of the cast on it, if a report is asked for.
Propagation finds the scale later, and notes where it comes from.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.runtime_size import RuntimeSize
from scalify_hlo.algebra.scale import Scaled, ScaleInfo
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.functions import symbol_of
from scalify_hlo.ir.splats import is_constant
from scalify_hlo.ir.through import behind
from scalify_hlo.ir.traits import COPIES, LAYOUT, PRODUCTS, ROUNDS

_OF_INPUTS: Final = COPIES | LAYOUT | PRODUCTS | ROUNDS
"""Ops between an argument and its cast: those that move data, and the division by its scale."""


class CastScale(NamedTuple):
    """The scale of a cast of matmul operands.

    Attributes:
        readers: The operands: twice the number of the matmul in the report, plus one for the right
            operand.
        origin: The origin of the scale: ``input``, ``predicted``, ``propagated``, ``measured`` or
            ``constant``.
        scale: The scale as text.
        octaves: The uncertainty of the size of the operand in octaves, as one standard deviation;
            None if it is measured or known.
        room: The error of the size, in octaves, above which accuracy decreases.
        remark: The remark on the cast; empty if there is none.
        argument: For ``input``, the name of the argument that is cast.
    """

    readers: tuple[int, ...]
    origin: str
    scale: str = ""
    octaves: float | None = None
    room: int | None = None
    remark: str = ""
    argument: str = ""


def write_reader(cast: ir.Operation, number: int, side: int) -> None:
    """Writes on a cast that its result is an operand of a matmul.

    Args:
        cast: The convert.
        number: The number of the matmul in the report.
        side: 0 for the left operand, 1 for the right one.
    """
    readers = [*_readers(cast), 2 * number + side]
    cast.attributes[attributes.READERS] = ir.DenseI64ArrayAttr.get(readers)


def take_readers(cast: ir.Operation) -> tuple[int, ...]:
    """Removes the readers of a cast from it, and returns them."""
    readers = _readers(cast)
    if readers:
        del cast.attributes[attributes.READERS]
    return readers


def _readers(cast: ir.Operation) -> tuple[int, ...]:
    if attributes.READERS not in cast.attributes:
        return ()
    return tuple(ir.DenseI64ArrayAttr(cast.attributes[attributes.READERS]))


def of_size(
    readers: tuple[int, ...],
    value: ir.Value,
    info: ScaleInfo,
    octaves: float,
    room: int,
) -> CastScale:
    """Returns the record of a cast at the scale of the predicted size of its operand.

    Args:
        readers: The operands that it makes.
        value: The value that is cast.
        info: The scale information of the value.
        octaves: The uncertainty of its size, in octaves.
        room: The octaves by which it may be wrong.
    """
    argument = _argument_of(value)
    sized = isinstance(info, Scaled) and isinstance(info.level, RuntimeSize)
    if sized and argument:
        return CastScale(readers, "measured")
    static = not isinstance(info, Scaled) or (info.scale.static and not sized)
    if isinstance(info, Scaled) and _is_own_statistic(info):
        return CastScale(readers, "measured")
    origin = "propagated" if not static else "input" if argument else "predicted"
    return CastScale(readers, origin, "", octaves, room, argument=argument)


def _is_own_statistic(info: Scaled) -> bool:
    """Whether data are at the scale of their own statistic, as after a rescaling."""
    if info.level or info.scale.exponent or len(info.scale.powers) != 1:
        return False
    runtime, power = info.scale.powers[0]
    return power == 1 and not runtime.state and not info.uncertainty.degrees


def _argument_of(value: ir.Value) -> str:
    """Returns the name of the argument of ``main`` that a value is, at any scale; else empty."""
    while not isinstance(value.owner, ir.Block):
        op = value.owner
        # The factors of scales are one number.
        divides = op.name not in PRODUCTS or is_constant(behind(op.operands[1], LAYOUT))
        if op.name not in _OF_INPUTS or not divides:
            return ""
        value = op.operands[0]
    function = value.owner.owner.operation
    if function.name != "func.func" or symbol_of(function) != "main":
        return ""
    location = value.location
    number = ir.BlockArgument(value).arg_number
    return str(location.name_str) if isinstance(location, ir.NameLoc) else f"arg{number}"
