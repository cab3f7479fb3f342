"""What the tool says to its user: located errors with a cure, and remarks."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable
from dataclasses import dataclass


class ScalifyError(Exception):
    """One located sentence that says what is wrong, and a note that names the cure.

    Args:
        message: The sentence, without a trailing full stop.
        location: Where, such as ``model.mlir:3:7`` or an argument's path.
        hint: What to do about it.
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
        prefix = f"{self.location}: " if self.location else ""
        note = f"\nnote: {self.hint}" if self.hint else ""
        return f"{prefix}error: {self.message}{note}"


class InputError(ScalifyError):
    """The input is at fault."""

    exit_code = 1


class UsageError(ScalifyError):
    """The command, or an argument of the call, is at fault."""

    exit_code = 2


class ScalifyWarning(UserWarning):
    """A rewrite went well, and left something as it was that it was asked to change."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something the user may want to know of a rewrite that went well.

    Attributes:
        message: One sentence.
        location: The source location of the op, as MLIR prints it.
        op: Name of the op, such as ``stablehlo.custom_call``.
        hint: What to do about it, if there is more to say than the message does.
    """

    message: str
    location: str
    op: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.location}: remark: {self.op}: {self.message}"


def nearest(name: str, candidates: Iterable[str]) -> str:
    """A question in brackets that offers the candidates most like `name`, or nothing."""
    close = difflib.get_close_matches(name, list(candidates), n=3, cutoff=0.5)
    if not close:
        return ""
    return f" (did you mean {' or '.join(repr(c) for c in close)}?)"


def caller() -> str:
    """File and line of the nearest caller outside of this package."""
    frame = inspect.currentframe()
    package = __name__.partition(".")[0]
    while frame is not None and frame.f_globals.get("__name__", "").startswith(f"{package}."):
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
