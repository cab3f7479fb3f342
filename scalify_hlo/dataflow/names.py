"""Name stacks of jax, and the part of a program that they tell."""

from __future__ import annotations

from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.frames import Frame, Place
from scalify_hlo.ir.functions import is_block

FORWARD: Final = "forward"
BACKWARD: Final = "backward"


def joined(outer: str, inner: str) -> str:
    """Returns the name stack of an op in a call."""
    return f"{outer}/{inner}" if outer and inner else outer or inner


def name_of(op: ir.OpView | ir.Operation) -> str:
    """Returns the name stack of an op in its function; empty if it has none."""
    location = op.location
    return str(location.name_str) if isinstance(location, ir.NameLoc) else ""


def part_of(name: str) -> str | None:
    """Returns the part of the program that a name stack tells; None if it tells none."""
    if "transpose(" in name:
        return FORWARD if "rematted_computation" in name else BACKWARD
    return FORWARD if "jvp(" in name else None


def is_backward(place: Place) -> bool:
    """Whether names say that the op that makes a value, or a call around it, is backward."""
    value, outer = place
    owner = value.owner
    names = [] if is_block(owner) else [name_of(owner)]
    frame: Frame | None = outer
    while frame is not None and frame.op is not None:
        names.append(name_of(frame.op))
        frame = frame.outer
    return part_of("/".join(reversed(names))) == BACKWARD
