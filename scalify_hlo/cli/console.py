"""Output of the commands: diagnostics on standard error, tables on standard output."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import textwrap
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from scalify_hlo.errors import Remark, ScalifyError, UsageError, callers_of_text, leading, shown
from scalify_hlo.storage.files import STREAM, standard_output
from scalify_hlo.storage.interrupts import undone_by_interrupt

if TYPE_CHECKING:
    from rich.progress import Progress

    from scalify_hlo.program.program import Program

_PATIENCE = 2.0
"""Seconds that work takes before a progress bar appears."""

KINDS = 5
"""The most kinds of remarks that are printed."""

_RESTORE = b"\r\x1b[2K\x1b[?25h"
"""The control sequences that erase a line and show the cursor."""

_COLOURS = {"error": "red", "remark": "blue", "note": "bright_black"}


class Heading(str):
    """A line that is bold on a terminal."""

    __slots__ = ()


def printed(lines: Iterable[str]) -> str:
    """Returns lines as text. Names in a line neither end it nor control the terminal."""
    return "".join(f"{part}\n" for line in lines for part in _printed(line))


def _printed(line: str) -> list[str]:
    bold = isinstance(line, Heading)
    return [_style(p, sys.stdout) if bold else p for p in _wrapped(shown(line), sys.stdout)]


def _wrapped(text: str, stream: object) -> list[str]:
    """Returns the lines of a text in the width of a terminal; one that fits is kept as it is.

    In a pipe or a file a sentence is one line, so that it is found whole.
    """
    most = width()
    if not _is_terminal(stream) or len(text) <= most:
        return [text]
    return textwrap.wrap(text, most, subsequent_indent="  ", break_on_hyphens=False)


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


def counted_remarks(remarks: Iterable[Remark], *, apart: bool = False) -> list[tuple[Remark, str]]:
    """Returns the first remark of each kind, with the number of others as text.

    Args:
        remarks: The remarks.
        apart: Whether remarks on different ops are different kinds.
    """
    kinds: dict[object, list[Remark]] = {}
    for each in remarks:
        kinds.setdefault(each if apart else (each.op, each.message), []).append(each)
    return [
        (first, f" (and {len(others)} more)" if others else "") for first, *others in kinds.values()
    ]


def report_remarks(
    remarks: Iterable[Remark], name: str, *, verbose: bool = False, most: int = KINDS
) -> None:
    """Prints the first remark of each kind, with the number of others.

    Args:
        remarks: The remarks.
        name: The name of the program, for locations without a file.
        verbose: Whether all remarks are printed, with the callers of their ops.
        most: The most kinds of remarks that are printed otherwise.
    """
    kinds = counted_remarks(remarks, apart=verbose)
    most, told = len(kinds) if verbose else most, set[str]()
    for first, times in kinds[:most]:
        _diagnose("remark", f"{first.sentence}{times}", first.place(name))
        callers = callers_of_text(first.location, name)
        chain = f"the op is in {', called in '.join(callers)}" if verbose and callers else ""
        for note in filter(None, (first.hint, chain)):
            if note not in told:
                _diagnose("note", note, first.place(name))
            told.add(note)
    if len(kinds) > most:
        left = len(kinds) - most
        _diagnose("note", f"{left} more kind{'s' * (left > 1)} of remarks; -v prints all", name)


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
        from rich.progress import MofNCompleteColumn, Progress

        with self._lock:
            if self._ended:
                return
            text, bar, _, left = Progress.get_default_columns()
            columns = text, bar, MofNCompleteColumn(), left  # A percentage would hide the number.
            self._shown = Progress(*columns, console=Console(stderr=True), transient=True)
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


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    most: int = 0,
    *,
    less: Sequence[str] = (),
) -> list[str]:
    """Returns the lines of a table of left-aligned columns, in the width of `width`.

    Args:
        header: The names of the columns.
        rows: The cells of each row, the worst or largest first.
        most: How many rows to print; 0 for all.
        less: The names of columns that are left out first where they do not fit.
    """
    every = [(leading(first), *map(shown, others)) for first, *others in (header, *rows)]
    lines, left_out = _fitted(every[: most + 1] if most else every, width(), less)
    widths = _widths(lines)
    texts = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    left = len(every) - len(lines)
    more = [f"{left} more; --rows 0 prints all"] if left else []
    if _is_terminal(sys.stdout):
        more += [f"wider terminals have: {', '.join(left_out)}"] if left_out else []
    elif _widths(every[: len(lines)]) != widths:
        whole = sum(_widths(every)) + 2 * (len(header) - 1)
        more.append(f"cut to {width()} columns; COLUMNS={whole} prints all of each row")
    return [Heading(texts[0]), *texts[1:], *more]


def _widths(lines: Sequence[Sequence[str]]) -> list[int]:
    """Returns the widths of columns."""
    return [max(map(len, column)) for column in zip(*lines, strict=True)]


def described(header: tuple[str, str], rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yields the lines of a table of names and sentences, which are wrapped and not cut."""
    every = [header, *rows]
    room = max(len(name) for name, _ in every) + 2
    for i, (name, sentence) in enumerate(every):
        lines = textwrap.wrap(sentence, max(width() - room, _LEAST_ROOM), break_on_hyphens=False)
        names = [name, *[""] * (len(lines) - 1)]
        texts = [f"{a.ljust(room)}{b}" for a, b in zip(names, lines, strict=True)]
        yield from map(Heading, texts) if i == 0 else texts


def titled(
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    most: int = 0,
    *,
    less: Sequence[str] = (),
) -> Iterator[str]:
    """Yields an empty line, a heading, and a table unless it has no rows; see `table`."""
    yield from ("", Heading(title))
    if rows:
        yield from table(header, rows, most, less=less)


def listing(columns: str, models: Iterable[object], most: int = 0) -> list[str]:
    """Returns the lines of a table with a row for each model; see `cells` and `table`."""
    from scalify_hlo.results.model import cells, headers

    return table(headers(columns), [cells(each, columns) for each in models], most)


def width() -> int:
    """Returns the width of tables: ``COLUMNS``, or that of the terminal, or 80 for pipes."""
    return shutil.get_terminal_size().columns


def _fitted(
    lines: Sequence[Sequence[str]], most: int, less: Sequence[str]
) -> tuple[Sequence[Sequence[str]], list[str]]:
    """Returns the lines of a table in a width, and the names of columns for which it has no room.

    Columns are left out, those of `less` before the last but one, until the others fit with
    shortened names. Then the widest columns are shortened.
    """
    columns, left_out = list(zip(*lines, strict=True)), list[str]()

    def over(longest: int) -> int:
        widths = (min(max(map(len, column)), longest) for column in columns)
        return sum(widths) + 2 * (len(columns) - 1) - most

    while len(columns) > 2 and over(_LEAST_ROOM) > 0:
        heads = [column[0] for column in columns]
        first = next((heads.index(head) for head in less if head in heads), -2)
        left_out.append(columns.pop(first)[0])
    room = max(len(cell) for column in columns for cell in column)
    while over(room) > 0 and room > 1:
        room -= 1
    fitted = ([shortened(cell, room) for cell in column] for column in columns)
    return list(zip(*fitted, strict=True)), left_out


_LEAST_ROOM = 28
"""The width to which names are shortened before columns are left out."""


def shortened(text: str, width: int) -> str:
    """Returns a text of at most a width: its beginning and its end, which tell most of a name."""
    if len(text) <= width:
        return text
    head = (width - 1) // 2
    return f"{text[:head]}…{text[len(text) - max(width - 1 - head, 0) :]}"


def _diagnose(kind: str, message: str, location: str | None) -> None:
    prefix = f"{leading(location)}: " if location else ""
    styled = _style(f"{kind}:", sys.stderr, fg=_COLOURS[kind])
    _complain(f"{prefix}{kind}: {shown(message)}", f"{kind}:", styled)


def _complain(line: str, kind: str = "", styled: str = "") -> None:
    """Prints a line to standard error, in the width of a terminal; a failed write is ignored."""
    lines = _wrapped(line, sys.stderr)
    with contextlib.suppress(OSError):
        click.echo("\n".join(lines).replace(kind, styled, bool(kind)), err=True)


def _style(text: str, stream: object, *, fg: str | None = None) -> str:
    """Returns bold text with a color, if the stream is a terminal and NO_COLOR is not set."""
    if not _is_terminal(stream) or os.environ.get("NO_COLOR"):
        return text
    return click.style(text, fg=fg, bold=True)


def _is_terminal(stream: object) -> bool:
    """Whether a standard stream is a terminal; it is None if it is closed."""
    return bool(getattr(stream, "isatty", lambda: False)())
