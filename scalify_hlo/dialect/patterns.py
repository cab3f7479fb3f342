"""Patterns of names, such as ``*attention*``: they match without regard to case.

Packages name a layer ``attention`` or ``SelfAttention_0``: who writes a pattern should not have to
know how a name is capitalised. Brackets stand for themselves, as names of arguments are full of
them.
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


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(pattern.casefold().replace("[", "[[]")))
