"""Case-insensitive patterns of names, such as ``*attention*``.

Case is ignored since packages capitalize names differently: ``attention``, ``SelfAttention_0``.
Brackets match themselves, as the names of arguments contain many.

A pattern that names a layer or a weight matches all matmuls of it. One that ends in a tag, as in
``encoder/mlp@wgrad``, matches those of them that have the tag.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final

WILD: Final = frozenset("*?")
"""The characters that make a name a pattern."""


DGRAD: Final = "dgrad"
"""The tag of a matmul for the gradient of an activation."""

WGRAD: Final = "wgrad"
"""The tag of a matmul for the gradient of a weight."""

USES: Final = ("forward", DGRAD, WGRAD, "other")
"""The tags of what matmuls compute for a layer: each has one, with which its name ends."""

VOCABULARY: Final = "vocabulary"
"""The tag of a matmul that projects to a vocabulary."""

PRODUCT: Final = "product"
"""The tag of matmuls without a weight, as the products of attention, and their backward ones."""

TAGS: Final = (*USES, "backward", VOCABULARY, PRODUCT)
"""The tags by which patterns select matmuls."""

MARK: Final = "@"
"""The character before a tag."""


def is_like(pattern: str, name: str) -> bool:
    """Whether a pattern matches a name."""
    return _compiled(pattern).match(name.casefold()) is not None


def is_like_any(pattern: str, names: Iterable[str]) -> bool:
    """Whether a pattern matches one of several names."""
    return pattern == "*" or any(is_like(pattern, name) for name in names)


def is_matmul_like(pattern: str, names: Collection[str], tags: Collection[str]) -> bool:
    """Whether a pattern matches a matmul, by a name, or by a name and tags after it.

    Args:
        pattern: The pattern, as in ``*mlp*`` or ``*mlp*@wgrad``.
        names: The names of the matmul: those of its layer and of its weight.
        tags: Its tags, some of `TAGS`.
    """
    while not is_like_any(pattern, names):
        pattern, _, tag = pattern.rpartition(MARK)
        if tag.casefold() not in tags:
            return False
    return True


def part_of_use(use: str) -> str:
    """Returns the part of the program of a matmul: ``backward`` for both kinds of gradients."""
    return "backward" if use in (DGRAD, WGRAD) else use


def tags_of(use: str, roles: Collection[str], *, vocabulary: bool) -> list[str]:
    """Returns the tags of a matmul.

    Args:
        use: What it computes for its layer, one of `USES`.
        roles: The roles of its operands.
        vocabulary: Whether it projects to a vocabulary.
    """
    found = [use, part_of_use(use), *[VOCABULARY] * vocabulary]
    weighted = use in (WGRAD, "other") or "weight" in roles
    return found if weighted else [*found, PRODUCT]


def hint_of_tags(pattern: str) -> str:
    """Returns what to add to a hint about a pattern that has tags; empty if it has none."""
    if MARK not in pattern:
        return ""
    return f"; what follows {MARK} is one of: {', '.join(TAGS)}"


def matches(pattern: str, name: str, index: int) -> bool:
    """Whether a pattern matches an argument, by its name, by its path, or as ``argN``."""
    return is_like_any(pattern, (name, path_of(name), f"arg{index}"))


def path_of(name: str) -> str:
    """Returns the path of an argument in its pytree.

    Example:
        >>> path_of("state[0].mu['base']['kernel']")
        'state/0/mu/base/kernel'
    """
    return _STEP.sub(lambda step: f"/{step[1] or step[2]}", name)


_STEP: Final = re.compile(r"""\[['"]?([^\]]*?)['"]?\]|\.([^.\[]+)""")
"""A step from a node of a pytree to one inside it, as jax writes it."""


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(pattern.casefold().replace("[", "[[]")))
