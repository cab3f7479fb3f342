"""Work that recurses deeply runs in a thread with a stack that is large enough for it."""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

from scalify_hlo.diagnostics import InputError

T = TypeVar("T")

SHALLOW: Final = 40
"""How many levels the stack and the recursion limit that every thread has are enough for."""
DEEPEST: Final = 1500
"""How many levels MLIR's own parser and printer can do on a stack of 8 MiB, with a margin."""

_FRAMES: Final = 60
"""Calls of Python for each level, at most."""
_BYTES: Final = 1 << 18
"""Stack for each level, at most."""
_LOCK: Final = threading.Lock()
_INSIDE: Final = threading.local()


def run_deep(work: Callable[[], T], levels: int) -> T:
    """What `work` returns or raises, which recurses into this many levels of a program.

    Python's recursion limit is one of the process: it is raised while the work runs.

    Raises:
        InputError: They are too many.
    """
    if levels <= SHALLOW or getattr(_INSIDE, "deep", False):
        return work()
    if levels > DEEPEST:
        raise InputError(
            f"ops nest {levels} levels deep, calls included, and {DEEPEST} is the most",
            location="loc(unknown)",
            hint="write the nested loops, branches or calls as one loop, or inline them",
        )
    with _LOCK:
        return _in_thread(work, levels)


def _in_thread(work: Callable[[], T], levels: int) -> T:
    outcome: dict[str, Any] = {}
    context = contextvars.copy_context()

    def run() -> None:
        _INSIDE.deep = True
        try:
            outcome["result"] = context.run(work)
        except BaseException as error:
            outcome["error"] = error

    limit, stack = sys.getrecursionlimit(), threading.stack_size(levels * _BYTES)
    sys.setrecursionlimit(max(limit, levels * _FRAMES))
    try:
        thread = threading.Thread(target=run, name="scalify-hlo-deep", daemon=True)
        thread.start()
    finally:
        threading.stack_size(stack)
    try:
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
    if "error" in outcome:
        raise outcome["error"]
    result: T = outcome["result"]
    return result
