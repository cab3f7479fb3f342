"""Case-insensitive patterns of names, such as ``*attention*``.

Case is ignored since packages capitalize names differently: ``attention``, ``SelfAttention_0``.
Brackets match themselves, as the names of arguments contain many.

Both backward matmuls of a layer may have one name. A pattern of matmuls may therefore end in roles,
as in ``*attention*@gradient@weight``.
"""

from __future__ import annotations

import fnmatch
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

WILD: Final = frozenset("*?")
"""The characters that make a name a pattern."""


VOCABULARY: Final = "vocabulary"
"""The role of a matmul that projects to a vocabulary."""

ROLES: Final = (*("forward", "backward", "other", "activation", "weight", "gradient", VOCABULARY),)
"""The parts and roles by which matmuls can be selected."""

ROLE_MARK: Final = "@"
"""The character before each role in a pattern."""


def is_like(pattern: str, name: str) -> bool:
    """Whether a pattern matches a name."""
    return _compiled(pattern).match(name.casefold()) is not None


def is_like_any(pattern: str, names: Iterable[str]) -> bool:
    """Whether a pattern matches one of several names."""
    return pattern == "*" or any(is_like(pattern, name) for name in names)


def names_of_site(site: str) -> list[str]:
    """Returns the names of a matmul that patterns match: the whole site, and each of its parts."""
    return [site, *site.split()]


def is_site_like(pattern: str, site: str, roles: Sequence[str]) -> bool:
    """Whether a pattern matches a matmul, by a name, or by a name and roles after it.

    Args:
        pattern: The pattern, as in ``*mlp*`` or ``*mlp*@gradient@weight``. A matmul has to have as
            many operands of a role as the pattern has this role.
        site: The names of the matmul with spaces between.
        roles: Its part and the roles of its operands, some of `ROLES`.
    """
    names, left = names_of_site(site), Counter(roles)
    while not is_like_any(pattern, names):
        pattern, mark, role = pattern.rpartition(ROLE_MARK)
        left[role.casefold()] -= 1
        if not mark or left[role.casefold()] < 0:
            return False
    return True


def hint_of_roles(pattern: str) -> str:
    """Returns what to add to a hint about a pattern that has roles; empty if it has none."""
    if ROLE_MARK not in pattern:
        return ""
    return f"; a role after {ROLE_MARK} is one of: {', '.join(ROLES)}"


def matches(pattern: str, name: str, index: int) -> bool:
    """Whether a pattern matches an argument, by its name or as ``argN``."""
    return is_like(pattern, name) or is_like(pattern, f"arg{index}")


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(pattern.casefold().replace("[", "[[]")))
