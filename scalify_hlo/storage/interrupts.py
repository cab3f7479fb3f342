"""The end of the process by an interrupt: files in the making are removed, and nothing else runs.

A `KeyboardInterrupt` is not enough. It is lost in a callback of the garbage collector, packages
turn it into another error while they are imported, and the interpreter crashes if it is shut down
while XLA still has threads.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from typing import Final

STATUS: Final = 130
"""The exit status after an interrupt, as shells have it: 128 and the number of the signal."""

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


def end_on_interrupt() -> None:
    """Has an interrupt end the process, unless interrupts are ignored or have another handler."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def ignore_interrupts() -> None:
    """Ignores interrupts from now on, as the work is done and the process ends by itself."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _end(number: int, frame: object) -> None:
    del number, frame
    for undo in list(_UNDO.values()):
        with contextlib.suppress(Exception):
            undo()
    with contextlib.suppress(OSError):
        if os.isatty(_ERRORS):  # which shows ^C
            os.write(_ERRORS, b"\n")
    os._exit(STATUS)
