"""Runs deeply recursive work in a thread with a large stack."""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

from scalify_hlo.errors import InputError

T = TypeVar("T")

SHALLOW: Final = 40
"""The number of levels for which the default stack and recursion limit are enough."""
DEEPEST: Final = 1500
"""The number of levels that MLIR's parser and printer handle on a stack of 8 MiB, with a margin."""

_FRAMES: Final = 60
"""The most Python frames per level."""
_BYTES: Final = 1 << 18
"""The most bytes of stack per level."""
_LOCK: Final = threading.Lock()
_INSIDE: Final = threading.local()


def run_deep(work: Callable[[], T], levels: int) -> T:
    """Runs work that recurses into the nested ops of a program.

    Python's recursion limit belongs to the whole process; it is raised while the work runs.

    Args:
        work: The work, without arguments.
        levels: The number of nested levels into which the work recurses.

    Returns:
        The result of the work; an error of the work is raised as it is.

    Raises:
        InputError: There are more levels than `DEEPEST`.
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
