"""Errors, warnings and remarks. An error has a location and a note that says what to do."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


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
        location: The source location of the op, as MLIR prints it.
        op: The name of the op, such as ``stablehlo.custom_call``.
        hint: What to do about it; empty if there is nothing to add to the message.
    """

    message: str
    location: str
    op: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{leading(self.location)}: remark: {shown(f'{self.op}: {self.message}')}"


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
    """Returns ``file:line`` of the nearest caller outside of this package and of jax."""
    frame = inspect.currentframe()
    inside = f"{__name__.partition('.')[0]}.", "jax."
    while frame is not None and frame.f_globals.get("__name__", "").startswith(inside):
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
