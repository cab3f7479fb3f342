"""The end of the process by a signal: files in the making are removed, and nothing else runs.

A `KeyboardInterrupt` is not enough. It is lost in a callback of the garbage collector, packages
turn it into another error while they are imported, and the interpreter crashes if it is shut down
while XLA still has threads.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Final

STATUS: Final = 130
"""The exit status after an interrupt, as shells have it: 128 and the number of the signal."""

_ENDING: Final = [each for each in signal.Signals if each.name in ("SIGTERM", "SIGHUP")]
"""The signals besides interrupts that end the process: a request to end, and a closed terminal."""

_ERRORS: Final = 2
"""The file number of standard error."""

_UNDO: Final[dict[object, Callable[[], None]]] = {}
"""Functions that undo unfinished work, which are called if the process ends now."""


@contextlib.contextmanager
def undone_by_interrupt(undo: Callable[[], None]) -> Iterator[None]:
    """Has something undone if an interrupt ends the process inside of the context.

    Args:
        undo: Undoes it; it takes no lock, since the interrupt may come at any time.
    """
    key = object()
    _UNDO[key] = undo
    try:
        yield
    finally:
        del _UNDO[key]


@contextlib.contextmanager
def undone_by_signals(undo: Callable[[], None]) -> Iterator[None]:
    """Has something undone by interrupts and by other signals, unless these have a handler.

    They end the process at the next step of Python, so that long work of XLA is done elsewhere.

    Args:
        undo: As for `undone_by_interrupt`.
    """
    main = threading.current_thread() is threading.main_thread()
    own = [each for each in _ENDING if main and signal.getsignal(each) is signal.SIG_DFL]
    with undone_by_interrupt(undo):
        for each in own:
            signal.signal(each, _end_by)
        try:
            yield
        finally:
            for each in own:
                signal.signal(each, signal.SIG_DFL)


def end_on_interrupt() -> None:
    """Has an interrupt end the process, unless interrupts are ignored or have another handler."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def ignore_interrupts() -> None:
    """Ignores interrupts from now on, as the work is done and the process ends by itself."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _undo_all() -> None:
    """Undoes all unfinished work, the last first."""
    for undo in reversed(list(_UNDO.values())):
        with contextlib.suppress(Exception):
            undo()


def _end_by(number: int, frame: object) -> None:
    del frame
    _undo_all()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def _end(number: int, frame: object) -> None:
    del number, frame
    _undo_all()
    with contextlib.suppress(OSError):
        if os.isatty(_ERRORS):  # which shows ^C
            os.write(_ERRORS, b"\n")
    os._exit(STATUS)
