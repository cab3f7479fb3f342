"""Output of the commands: diagnostics on standard error, tables on standard output."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from scalify_hlo.errors import Remark, ScalifyError, UsageError, callers_of_text, leading, shown
from scalify_hlo.results.model import cells, headers
from scalify_hlo.storage.files import STREAM, standard_output
from scalify_hlo.storage.interrupts import undone_by_interrupt

if TYPE_CHECKING:
    from rich.progress import Progress

    from scalify_hlo.program.program import Program

_PATIENCE = 2.0
"""Seconds that work takes before a progress bar appears."""

_KINDS = 5
"""The most kinds of remarks that are printed."""

_RESTORE = b"\r\x1b[2K\x1b[?25h"
"""The control sequences that erase a line and show the cursor."""

_COLOURS = {"error": "red", "remark": "blue", "note": "bright_black"}


class Heading(str):
    """A line that is bold on a terminal."""

    __slots__ = ()


def printed(lines: Iterable[str]) -> str:
    """Returns lines as text. Names in a line neither end it nor control the terminal."""
    return "".join(f"{_printed(line)}\n" for line in lines)


def _printed(line: str) -> str:
    text = shown(line)
    return _style(text, sys.stdout) if isinstance(line, Heading) else text


def echo(text: str) -> None:
    """Prints text to standard output.

    Args:
        text: JSON, or what `printed` returned.

    Raises:
        InputError: Standard output is closed, or a write to it fails.
    """
    with standard_output():
        click.echo(text, nl=False)


def refuse_terminal(output: str, *, text: bool = False) -> None:
    """Refuses to print a binary output to a terminal.

    Args:
        output: The path of the output.
        text: Whether the output is text, which is not refused.

    Raises:
        UsageError: It is standard output, and that is a terminal.
    """
    if output == STREAM and not text and sys.stdout.isatty():
        raise UsageError("the output is binary", hint="name a file with -o, or use a pipe")


def report_error(error: ScalifyError) -> None:
    """Prints an error with its location and its note."""
    _diagnose("error", error.message, error.location)
    if error.hint:
        _diagnose("note", error.hint, error.location)


def report_remarks(remarks: Iterable[Remark], name: str, *, verbose: bool = False) -> None:
    """Prints the first remark of each kind, with the number of others.

    Args:
        remarks: The remarks.
        name: The name of the program, for locations without a file.
        verbose: Whether all remarks are printed, with the callers of their ops.
    """
    kinds: dict[object, list[Remark]] = {}
    for remark in remarks:
        kinds.setdefault(remark if verbose else (remark.op, remark.message), []).append(remark)
    most, told = len(kinds) if verbose else _KINDS, set[str]()
    for first, *others in list(kinds.values())[:most]:
        times = f" (and {len(others)} more)" if others else ""
        _diagnose("remark", f"{first.sentence}{times}", first.place(name))
        callers = callers_of_text(first.location, name)
        chain = f"the op is in {', called in '.join(callers)}" if verbose and callers else ""
        for note in filter(None, (first.hint, chain)):
            if note not in told:
                _diagnose("note", note, first.place(name))
            told.add(note)
    if len(kinds) > most:
        _diagnose("note", f"{len(kinds) - most} kinds of remarks are left out; -v prints all", name)


def report_summary(text: str) -> None:
    """Prints the summary of a command, which is one line, to standard error."""
    _complain(shown(text))


def rewrites(program: Program) -> Iterator[str]:
    """Yields a line for each earlier rewrite that the module of a program records."""
    from scalify_hlo.program.record import rewrites_of

    for done in rewrites_of(program.module):
        yield f"{leading(program.name)}: rewritten by {done}"


@contextlib.contextmanager
def progress(what: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Shows a progress bar on standard error if the work takes longer than two seconds.

    Args:
        what: The work, in one word.
        quiet: Whether no bar is shown.

    Yields:
        A function that is told how many parts are done, of how many. It does nothing if standard
        error is not a terminal.
    """
    if quiet or not _is_terminal(sys.stderr):
        yield lambda _, __: None
        return
    bar = _Bar(what)
    timer = threading.Timer(_PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        with undone_by_interrupt(bar.abandon):
            yield bar.update
    finally:
        timer.cancel()
        bar.stop()


class _Bar:
    """A progress bar that another thread starts, unless the work has ended by then.

    Args:
        what: The work, in one word.
    """

    def __init__(self, what: str) -> None:
        self._what, self._lock = what, threading.Lock()
        self._parts: tuple[int, int | None] = (0, None)
        self._shown: Progress | None = None
        self._ended = False

    def start(self) -> None:
        """Shows the bar."""
        from rich.console import Console
        from rich.progress import Progress

        with self._lock:
            if self._ended:
                return
            self._shown = Progress(console=Console(stderr=True), transient=True)
            done, total = self._parts
            self._shown.add_task(self._what, total=total, completed=done)
            self._shown.start()

    def update(self, done: int, total: int) -> None:
        """Sets how many parts are done, of how many."""
        with self._lock:
            self._parts = done, total
            if self._shown is not None:
                self._shown.update(self._shown.task_ids[0], completed=done, total=total)

    def abandon(self) -> None:
        """Shows the cursor again, and erases the line of the bar."""
        if self._shown is not None:
            os.write(2, _RESTORE)

    def stop(self) -> None:
        """Removes the bar."""
        with self._lock:
            self._ended = True
            if self._shown is not None:
                self._shown.stop()


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, fit: bool = False) -> list[str]:
    """Returns the lines of a table of left-aligned columns.

    Args:
        header: The names of the columns.
        rows: The cells of each row.
        fit: Whether the last column is shortened to the width of a terminal. In a pipe or a file,
            nothing is cut.
    """
    lines = [(leading(first), *map(shown, others)) for first, *others in (header, *rows)]
    if fit and (room := _room(lines)) is not None:
        lines = [(*line[:-1], shortened(line[-1], room)) for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return [Heading(texts[0]), *texts[1:]]


def titled(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]], *, fit: bool = False
) -> Iterator[str]:
    """Yields an empty line, a heading, and a table unless it has no rows; see `table`."""
    yield from ("", Heading(title))
    if rows:
        yield from table(header, rows, fit=fit)


def listing(columns: str, models: Iterable[object]) -> list[str]:
    """Returns the lines of a table with a row for each model; see `cells` and `table`."""
    return table(headers(columns), [cells(each, columns) for each in models], fit=True)


def _room(lines: Sequence[Sequence[str]]) -> int | None:
    """The width that a terminal leaves for the last column; None if there is no terminal."""
    if not _is_terminal(sys.stdout):
        return None
    others = list(zip(*lines, strict=True))[:-1]
    used = sum(max(map(len, column)) + 2 for column in others)
    return max(shutil.get_terminal_size().columns - used, _LEAST_ROOM)


_LEAST_ROOM = 16
"""The least width of a column that is shortened."""


def shortened(text: str, width: int) -> str:
    """Returns a text of at most a width: its first word and its end, which tell most of a name."""
    if len(text) <= width:
        return text
    first = text.partition(" ")[0] + " "
    head = first if len(first) < width // 2 + 4 else ""
    return f"{head}…{text[len(text) - max(width - len(head) - 1, 0) :]}"


def _diagnose(kind: str, message: str, location: str | None) -> None:
    prefix = f"{leading(location)}: " if location else ""
    styled = _style(f"{kind}:", sys.stderr, fg=_COLOURS[kind])
    _complain(f"{prefix}{styled} {shown(message)}")


def _complain(line: str) -> None:
    """Prints a line to standard error; a failed write is ignored."""
    with contextlib.suppress(OSError):
        click.echo(line, err=True)


def _style(text: str, stream: object, *, fg: str | None = None) -> str:
    """Returns bold text with a color, if the stream is a terminal and NO_COLOR is not set."""
    if not _is_terminal(stream) or os.environ.get("NO_COLOR"):
        return text
    return click.style(text, fg=fg, bold=True)


def _is_terminal(stream: object) -> bool:
    """Whether a standard stream is a terminal; it is None if it is closed."""
    return bool(getattr(stream, "isatty", lambda: False)())
