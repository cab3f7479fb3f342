"""Errors, warnings, remarks, and the places in source code that they name.

An error has a location and a note that says what to do.
"""

from __future__ import annotations

import difflib
import inspect
import os
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Final, NamedTuple


class ScalifyError(Exception):
    """The base class of all errors that this package raises on purpose.

    Args:
        message: One sentence that states the fault, without a trailing full stop.
        location: The location of the fault, such as ``model.mlir:3:7`` or an argument's path.
        hint: The text of the note, which says what to do about the fault.
    """

    exit_code = 1

    def __init__(
        self, message: str, *, location: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.hint = hint

    def __str__(self) -> str:
        prefix = f"{leading(self.location)}: " if self.location else ""
        note = f"\nnote: {shown(self.hint)}" if self.hint else ""
        return f"{prefix}error: {shown(self.message)}{note}"


class InputError(ScalifyError):
    """An error in the input, such as the program, a recipe file or a profile."""

    exit_code = 1


class UsageError(ScalifyError):
    """An error in the command line, or in an argument of a call."""

    exit_code = 2


class ScalifyWarning(UserWarning):
    """A call succeeded, but did not do or use something that it was given."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A message to the user about a rewrite that succeeded.

    Attributes:
        message: One sentence.
        location: The source locations of the op and of its callers, which `place` reads.
        op: The name of the op, such as ``stablehlo.custom_call``.
        hint: What to do about it; empty if there is nothing to add to the message.
        layer: The name of the layer that the op is part of; empty if it is not known.
    """

    message: str
    location: str
    op: str
    hint: str = ""
    layer: str = ""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def __str__(self) -> str:
        return f"{leading(self.place('<program>'))}: remark: {shown(self.sentence)}"

    @property
    def sentence(self) -> str:
        """The layer, the op and the message."""
        return ": ".join(filter(None, (self.layer, self.op, self.message)))

    def place(self, name: str) -> str:
        """Returns the line of the user's code from which the op is, as ``file:line``.

        Args:
            name: The name of the program, for locations without a file.
        """
        return shown_place(place_of_text(self.location, name), name)


def shown(text: str) -> str:
    r"""Returns text for people, on one line: characters that print nothing are escaped as in JSON.

    Such characters in a name of a program could set the title of a terminal, begin a line, or turn
    the text around them.

    Example:
        >>> shown("\x1b[2J\n")
        '\\u001b[2J\\u000a'
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _escape(ord(each)) for each in text)


def _escape(code: int) -> str:
    return f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


def leading(name: str) -> str:
    """Returns a name that begins a line, in quotation marks if it reads like a diagnostic.

    Example:
        >>> leading("model.mlir: error: none")
        '"model.mlir: error: none"'
    """
    text = shown(name)
    return f'"{text}"' if _DIAGNOSTIC.search(text) else text


_DIAGNOSTIC = re.compile(r":(?: |$)")


def refuse_without(given: Mapping[str, object], recipe: str) -> None:
    """Refuses options of a rewrite that is not done, as there is no recipe.

    Args:
        given: The options by name; those that were given are true.
        recipe: The name of the option for the recipe.

    Raises:
        UsageError: One was given.
    """
    for name, value in given.items():
        if value:
            raise UsageError(
                f"{name} is for a rewrite, and there is no {recipe}",
                hint=f"give {recipe}, or leave {name} out",
            )


def nearest(name: str, candidates: Iterable[str]) -> str:
    """Returns " (did you mean ...?)" with the candidates most like `name`, or an empty string."""
    close = difflib.get_close_matches(name, list(candidates), n=3, cutoff=0.5)
    if not close:
        return ""
    return f" (did you mean {' or '.join(repr(c) for c in close)}?)"


def caller() -> str:
    """Returns ``file:line`` of the nearest caller outside of this package and of libraries."""
    frame = _outside()
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def warn(message: str) -> None:
    """Issues a `ScalifyWarning` at the line that `caller` returns.

    Args:
        message: The warning, in one line.
    """
    frame = _outside()
    if frame is None:
        warnings.warn(message, ScalifyWarning, stacklevel=2)
        return
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    place = frame.f_code.co_filename, frame.f_lineno
    warnings.warn_explicit(message, ScalifyWarning, *place, registry=registry)


def _outside() -> FrameType | None:
    """Returns the frame of the nearest caller outside of this package and of libraries."""
    frame = inspect.currentframe()
    inside = f"{__name__.partition('.')[0]}.", "jax.", "flax.", "equinox."
    while frame is not None and frame.f_globals.get("__name__", "").startswith(inside):
        frame = frame.f_back
    return frame


UNNAMED: Final = "-"
"""The file name that MLIR gives to a source that is not a file."""

_FRAME: Final = re.compile(r'"([^"]*)":(\d+):(\d+)')
"""A source location as MLIR prints it; of a range, the start is matched."""

_NAME: Final = re.compile(r'loc\("([^"]*)"[()]')
"""The name of an op, before its source location."""

_LIBRARY: Final = re.compile(
    r"[/\\](?:(?:site|dist)-packages|lib[/\\]python3\.\d+|jax[/\\]_src"
    r"|flax[/\\](?:core|linen|nnx)|scalify_hlo[/\\]jax_api)[/\\]"
)
"""The folders of libraries: installed ones, the standard one, and copies of jax and of Flax."""


class Frame(NamedTuple):
    """A source location.

    Attributes:
        file: The path of the file; `UNNAMED` for the program itself.
        line: The number of the line, from 1.
        column: The number of the column, from 1.
    """

    file: str
    line: str
    column: str


def frames_of_text(location: str) -> list[Frame]:
    """Returns the source locations of an op and of its callers, from the inside out.

    Args:
        location: The location, as `ir.locations.source_location` writes it.
    """
    return [Frame(*match.groups()) for match in _FRAME.finditer(location)]


def name_of_text(location: str) -> str:
    """Returns the name of the op, which is its name stack in jax; empty if it has none."""
    found = _NAME.match(location)
    return found[1] if found else ""


def place_of_text(location: str, name: str) -> str:
    """Returns the line of the user's code from which an op is, as ``file:line:column``.

    This is the innermost frame outside of libraries; if there is none, the innermost one.

    Args:
        location: The location, as `ir.locations.source_location` writes it.
        name: The name of the program, for locations without a file.

    Example:
        >>> place_of_text('loc("/lib/python3.11/flax.py":9:2 at "train.py":3:7 to :9)', "step")
        'train.py:3:7'
    """
    frames = frames_of_text(location)
    frame = next((each for each in frames if not _LIBRARY.search(each.file)), None)
    return _place(frame or frames[0], name) if frames else name


def _place(frame: Frame, name: str) -> str:
    return ":".join((name if frame.file == UNNAMED else frame.file, *frame[1:]))


def shown_place(place: str, name: str) -> str:
    """Returns a place as people read it: ``file:line``, from the working folder if it is inside.

    Places in the program itself, which a machine may have written, keep the column.

    Args:
        place: The place, as ``file:line:column``.
        name: The name of the program.
    """
    if place.startswith(f"{name}:"):
        return place
    here = os.path.join(os.getcwd(), "")
    return place.removeprefix(here).rpartition(":")[0] or place


def callers_of_text(location: str, name: str) -> list[str]:
    """Returns the whole chain of an op: its source location and those of its callers.

    Args:
        location: See `place_of_text`.
        name: See `place_of_text`.
    """
    return [shown_place(_place(frame, name), name) for frame in frames_of_text(location)]
