"""What the commands print: diagnostics on standard error, tables on standard output."""

from __future__ import annotations

import contextlib
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from scalify_hlo.diagnostics import Remark, ScalifyError
from scalify_hlo.files import standard_output

if TYPE_CHECKING:
    from scalify_hlo.program import Program

_COLOURS = {"error": "red", "remark": "blue", "note": "bright_black"}


def echo(text: str = "", *, nl: bool = True) -> None:
    """Prints a line, or a text without a line's end, to standard output.

    Raises:
        InputError: It is closed, or what is written does not go there.
    """
    with standard_output():
        click.echo(text, nl=nl)


def report_error(error: ScalifyError) -> None:
    """Prints a located error and its note."""
    _diagnose("error", error.message, error.location)
    if error.hint:
        _diagnose("note", error.hint, error.location)


def report_remarks(remarks: Iterable[Remark], name: str) -> None:
    """Prints remarks, each once, with how often it was made."""
    from scalify_hlo.dialect.locations import place_of_text

    first: dict[tuple[str, str], Remark] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for remark in remarks:
        key = (remark.op, remark.message)
        first.setdefault(key, remark)
        counts[key] += 1
    for key, remark in first.items():
        times = f" (and {counts[key] - 1} more)" if counts[key] > 1 else ""
        location = place_of_text(remark.location, name)
        _diagnose("remark", f"{remark.op}: {remark.message}{times}", location)
        if remark.hint:
            _diagnose("note", remark.hint, location)


def report_summary(text: str) -> None:
    """Prints what a command did, in one line on standard error."""
    _complain(text)


def show_rewrites(program: Program) -> None:
    """Prints a line for each rewrite that a program went through."""
    from scalify_hlo.passes.record import rewrites_of

    for done in rewrites_of(program.module):
        echo(f"{program.name}: rewritten by {done}")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns of text, as wide as they need to be, so that a pipe gets whole lines."""
    lines = [tuple(header), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join([_bold(texts[0]), *texts[1:]])


def heading(text: str) -> str:
    """A line above a table."""
    return _bold(text)


def _diagnose(kind: str, message: str, location: str | None) -> None:
    prefix = f"{location}: " if location else ""
    styled = _style(f"{kind}:", sys.stderr, fg=_COLOURS[kind], bold=True)
    _complain(f"{prefix}{styled} {message}")


def _complain(line: str) -> None:
    """Prints a line to standard error, if anything can be said there."""
    with contextlib.suppress(OSError):
        click.echo(line, err=True)


def _bold(text: str) -> str:
    return _style(text, sys.stdout, bold=True)


def _style(text: str, stream: object, *, fg: str | None = None, bold: bool = False) -> str:
    """Colours on a terminal only, and not where NO_COLOR asks for none."""
    is_terminal = getattr(stream, "isatty", lambda: False)()
    if not is_terminal or os.environ.get("NO_COLOR"):
        return text
    return click.style(text, fg=fg, bold=bold)
