"""The option `--verify-diagnostics`, which compares diagnostics with comments in the input."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scalify_hlo.errors import InputError, Remark, ScalifyError
from scalify_hlo.ir.locations import place_of_text

_COMMENT = re.compile(
    r"//\s*expected-(?P<kind>error|remark|note)\s*(@(?P<at>[+-]?\d+|unknown))?\s*\{\{(?P<text>.*?)\}\}"
)
Diagnostic = tuple[str, int, str]
"""The kind, the line (0 if there is none) and the message of a diagnostic."""


def verify(text: str, name: str, remarks: Sequence[Remark], error: ScalifyError | None) -> None:
    """Compares the diagnostics of one module with the comments in its text.

    A comment is ``// expected-error@+1 {{part of the message}}``, or ``remark`` or ``note`` instead
    of ``error``. A line with a sign is relative to the line of the comment; ``@unknown`` is for
    diagnostics without a line.

    Args:
        text: The text of the module.
        name: The name of the module in diagnostics.
        remarks: The remarks on the module.
        error: The error, if there is one.

    Raises:
        InputError: A diagnostic is missing, or was not expected.
    """
    wanted = _wanted(text)
    given = _given(name, remarks, error)
    for diagnostic in given:
        hit = next((w for w in wanted if _fits(w, diagnostic)), None)
        if hit is None:
            kind, line, message = diagnostic
            raise _mismatch(f"unexpected {kind}: {message}", name, line)
        wanted.remove(hit)
    if wanted:
        kind, line, message = wanted[0]
        raise _mismatch(f"expected {kind} was not given: {message}", name, line)


def _wanted(text: str) -> list[Diagnostic]:
    return [
        (match["kind"], _line(number, match["at"]), match["text"])
        for number, line in enumerate(text.splitlines(), start=1)
        for match in _COMMENT.finditer(line)
    ]


def _line(own: int, at: str | None) -> int:
    if at == "unknown":
        return 0
    if at is None:
        return own
    return own + int(at) if at[0] in "+-" else int(at)


def _given(name: str, remarks: Sequence[Remark], error: ScalifyError | None) -> list[Diagnostic]:
    given = [
        ("remark", _line_of(place_of_text(r.location, name), name), f"{r.op}: {r.message}")
        for r in remarks
    ]
    if error is not None:
        given.append(("error", _line_of(error.location or "", name), error.message))
    return given


def _line_of(location: str, name: str) -> int:
    rest = location.removeprefix(name).lstrip(":").partition(":")[0]
    return int(rest) if rest.isdigit() else 0


def _fits(wanted: Diagnostic, given: Diagnostic) -> bool:
    return wanted[:2] == given[:2] and wanted[2] in given[2]


def _mismatch(message: str, name: str, line: int) -> InputError:
    return InputError(
        message,
        location=f"{name}:{line}" if line else name,
        hint="change the expected-* comment, or the pass",
    )
