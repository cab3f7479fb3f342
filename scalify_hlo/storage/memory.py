"""The memory of this machine, for sizes that are checked before they are allocated."""

from __future__ import annotations

import os
import sys
from functools import cache

from scalify_hlo.errors import InputError


def require_memory(needed: int, name: str) -> None:
    """Refuses what needs more bytes than this machine has.

    Args:
        needed: The number of bytes.
        name: The place of what needs them, for the error.

    Raises:
        InputError: There are not as many.
    """
    has = _memory()
    if needed > has:
        raise InputError(
            f"this needs {needed / 2**30:,.1f} GiB of memory, and the machine has "
            f"{has / 2**30:,.1f} GiB",
            location=name,
            hint="use smaller arrays, such as those of a smaller batch",
        )


@cache
def _memory() -> int:
    if not hasattr(os, "sysconf"):
        return sys.maxsize
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
