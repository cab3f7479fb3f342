"""The formats in which a training step keeps its state between steps."""

from __future__ import annotations

from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.formats import element_of
from scalify_hlo.passes.casts import Casts, convert_after
from scalify_hlo.recipe import KEEP, State
from scalify_hlo.scale import MOMENT_HEADROOM

_KEPT = State()
"""All state as it is, unless it is marked."""

_RESULT_MARKS = (attributes.STORED, attributes.RESCALED)

_KINDS = {"second_moment": attributes.SECOND}


def narrow_arguments(main: ir.OpView, recipe: State) -> None:
    """Gives what a step carries in the formats in which it is kept between steps."""
    if recipe == _KEPT and not attributes.any_argument_has(main, attributes.STORED):
        return
    arguments = list(main.regions[0].blocks[0].arguments)
    marks = attributes.argument_attributes(main)
    for argument, mark in zip(arguments, marks, strict=True):
        role, format_ = _state_format(mark, recipe)
        if format_ == KEEP:
            continue
        wide = argument.type
        uses = [(use.owner, use.operand_number) for use in argument.uses]
        element = element_of(format_)
        argument.set_type(ir.RankedTensorType.get(wide.shape, element, wide.encoding))
        widened = convert_after(argument, wide.element_type)
        for owner, index in uses:
            owner.operands[index] = widened
        if role != "weight":
            mark[attributes.FOLLOWS] = ir.UnitAttr.get()
    attributes.set_argument_attributes(main, marks)


def narrow_results(main: ir.OpView, recipe: State, casts: Casts) -> bool:
    """Gives back what a step carries in the formats in which it is kept between steps.

    Returns:
        Whether there may be any of that kind.
    """
    if recipe == _KEPT and not attributes.any_result_has(main, *_RESULT_MARKS):
        return False
    block = main.regions[0].blocks[0]
    returned, marks = block.operations[-1], attributes.result_attributes(main)
    for index, mark in enumerate(marks):
        role, format_ = _state_format(mark, recipe)
        rescaled = mark.pop(attributes.RESCALED, None) is not None
        if format_ != KEEP:
            kind = attributes.STATE if rescaled else _KINDS.get(role, attributes.STATE)
            returned.operands[index] = casts.cast(returned.operands[index], format_, kind)
    attributes.set_result_attributes(main, marks)
    types = [value.type for value in returned.operands]
    attributes.set_function_type(main, [a.type for a in block.arguments], types)
    return True


class Carried(NamedTuple):
    """A pair that a step takes and returns.

    Attributes:
        result: The number of the result.
        argument: The number of the argument.
        headroom: log2 of how far below the data's size their scale is put.
    """

    result: int
    argument: int
    headroom: int


def rescaled_state(main: ir.OpView, recipe: State) -> list[Carried]:
    """What a step carries to the next as pairs, which are marked as ones that it rescales."""
    taken, returned = attributes.argument_attributes(main), attributes.result_attributes(main)
    found: list[Carried] = []
    for i, mark in enumerate(returned):
        role, format_ = _state_format(dict(mark), recipe)
        if attributes.PAIR not in mark or attributes.CARRIES not in mark or role not in _CARRIED:
            continue
        number = ir.IntegerAttr(mark[attributes.CARRIES]).value
        narrow_second = role == "second_moment" and format_ != KEEP
        found.append(Carried(i, number, MOMENT_HEADROOM if narrow_second else 0))
        mark[attributes.RESCALED] = ir.UnitAttr.get()
        if role != "weight" and attributes.PAIR in taken[number]:
            taken[number][attributes.RESCALED] = ir.UnitAttr.get()
    attributes.set_argument_attributes(main, taken)
    attributes.set_result_attributes(main, returned)
    return found


def _role(mark: attributes.Attributes) -> str:
    return ir.StringAttr(mark[attributes.ROLE]).value if attributes.ROLE in mark else ""


def _state_format(mark: attributes.Attributes, recipe: State) -> tuple[str, str]:
    """The role of a pair that is carried, and the format it is kept in; `mark` loses that."""
    stored = mark.pop(attributes.STORED, None)
    role = _role(mark)
    if attributes.PAIR not in mark:
        return role, KEEP
    if stored is not None:
        return role, ir.StringAttr(stored).value
    return role, getattr(recipe, role, KEEP) if role in _CARRIED else KEEP


_CARRIED = frozenset({"weight", "first_moment", "second_moment"})
