"""Case-insensitive patterns of names, such as ``*attention*``.

Case is ignored since packages capitalize names differently: ``attention``, ``SelfAttention_0``.
Brackets match themselves, as the names of arguments contain many.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

WILD: Final = frozenset("*?")
"""The characters that make a name a pattern."""


def is_like(pattern: str, name: str) -> bool:
    """Whether a pattern matches a name."""
    return _compiled(pattern).match(name.casefold()) is not None


def is_like_any(pattern: str, names: Iterable[str]) -> bool:
    """Whether a pattern matches one of several names."""
    return pattern == "*" or any(is_like(pattern, name) for name in names)


def matches(pattern: str, name: str, index: int) -> bool:
    """Whether a pattern matches an argument, by its name or as ``argN``."""
    return is_like(pattern, name) or is_like(pattern, f"arg{index}")


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(pattern.casefold().replace("[", "[[]")))
