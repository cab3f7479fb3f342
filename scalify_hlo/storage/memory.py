"""The memory that there is, for sizes that are checked before they are allocated."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from functools import cache

from scalify_hlo.errors import InputError

_BOUND: list[int] = []
"""The bounds that contexts set, the innermost last."""


def require_memory(needed: int, name: str) -> None:
    """Refuses what needs more bytes than there are.

    Args:
        needed: The number of bytes.
        name: The place of what needs them, for the error.

    Raises:
        InputError: There are not as many.
    """
    if needed > available():
        has = f"and the {'limit is' if _BOUND else 'machine has'} {available() / 2**30:,.1f} GiB"
        raise InputError(
            f"this needs {needed / 2**30:,.1f} GiB of memory, {has}",
            location=name,
            hint="use smaller arrays, such as those of a smaller batch",
        )


def available() -> int:
    """Returns the bytes of memory that may be taken."""
    return min([_machine(), *_BOUND])


@contextlib.contextmanager
def bounded(most: int | None) -> Iterator[None]:
    """Has no more memory be taken inside of the context.

    Args:
        most: The most bytes; None for all that the machine has.
    """
    _BOUND.extend([] if most is None else [most])
    try:
        yield
    finally:
        del _BOUND[len(_BOUND) - (most is not None) :]


def bound_process(most: int | None) -> None:
    """Has this process take no more memory from now on, besides what it takes already.

    Args:
        most: The most bytes; None for all that the machine has.
    """
    _BOUND[:] = [] if most is None else [most]
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        more = min(available() + _taken(), sys.maxsize)
        resource.setrlimit(
            resource.RLIMIT_DATA, (more, resource.getrlimit(resource.RLIMIT_DATA)[1])
        )


@cache
def _taken() -> int:
    """Returns the bytes that this process took when it was first bounded."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")


@cache
def _machine() -> int:
    if not hasattr(os, "sysconf"):
        return sys.maxsize
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
