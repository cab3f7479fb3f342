"""The argument in which a training step counts its steps."""

from __future__ import annotations

from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.frames import Frame, Place
from scalify_hlo.ir.formats import element_type
from scalify_hlo.ir.functions import is_block, terminator
from scalify_hlo.ir.splats import integer_of
from scalify_hlo.ir.traits import CALLS

_ADD: Final = "stablehlo.add"


def step_count(main: ir.OpView) -> ir.Value | None:
    """Returns an argument that counts steps: an integer to which each step adds 1.

    A result is the sum, or the largest integer where that is reached, as in optax. Other counts do
    not differ in each step: those of micro-batches start again, and those of skipped steps stop.

    Args:
        main: The entry function.
    """
    if not main.regions[0].blocks:
        return None
    frame = Frame.of(main)
    try:
        for value in terminator(main.regions[0].blocks[0]).operands:
            if _counts(value.type):
                argument = _counted(frame.place(value))
                if argument is not None and argument.type == value.type:
                    return argument
        return None
    finally:
        frame.release()


def _counts(type_: ir.Type) -> bool:
    """Whether a value may be a count: an integer of rank 0."""
    element = element_type(type_)
    return isinstance(element, ir.IntegerType) and element.width > 1 and not type_.rank


def _counted(place: Place) -> ir.Value | None:
    """Returns the argument of the program to which 1 is added to make a value, or None."""
    value, frame = _traced(place)
    owner = value.owner
    if is_block(owner):
        return None
    if owner.name == "stablehlo.select":
        _, new, otherwise = owner.operands
        if not _is_largest(_traced(frame.place(otherwise)).value):
            return None
        value, frame = _traced(frame.place(new))
        owner = value.owner
    if is_block(owner) or owner.name != _ADD:
        return None
    terms = [_traced(frame.place(term)) for term in owner.operands]
    for argument, one in (terms, terms[::-1]):
        if (
            argument.frame.op is None
            and is_block(argument.value.owner)
            and integer_of(one.value) == 1
        ):
            return argument.value
    return None


def _traced(place: Place) -> Place:
    """Returns the value of which a value of calls is the same."""
    while True:
        value, frame = place
        owner = value.owner
        if is_block(owner):
            found = frame.source_of_argument(value)
        else:
            found = frame.sources(value, owner, owner.name) if owner.name in CALLS else []
        if not found:
            return place
        place = found[0]


def _is_largest(value: ir.Value) -> bool:
    """Whether a value is the largest integer of its type, signed or not."""
    number, width = integer_of(value), ir.IntegerType(value.type.element_type).width
    if number is None:
        return False
    return number % (1 << width) in ((1 << (width - 1)) - 1, (1 << width) - 1)
