"""Selection of the sites of a program by name."""

from __future__ import annotations

from collections.abc import Sequence

from scalify_hlo.dialect.patterns import (
    hint_of_roles,
    is_like_any,
    is_site_like,
    names_of_site,
)
from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.recipes.model import MatmulOptions


class Sites:
    """The patterns of a recipe, and the sites that they match.

    The names of a site are its name stack, and the names of the arguments that are operands. A
    pattern matches a site if it matches one of these names, or all of them with spaces between. It
    may end in roles; see `is_site_like`.

    Args:
        recipe: The recipe.
    """

    def __init__(self, recipe: MatmulOptions) -> None:
        self._recipe = recipe
        self._names: dict[str, None] = {}
        self._matched: set[str] = set()

    def selects(self, site: str, roles: Sequence[str]) -> bool:
        """Whether a site is included, and not excluded.

        Args:
            site: The site.
            roles: Its part and the roles of its operands.
        """
        self._names.update(dict.fromkeys(names_of_site(site)))
        included, excluded = (
            [pattern for pattern in patterns if is_site_like(pattern, site, roles)]
            for patterns in (self._recipe.include, self._recipe.exclude)
        )
        self._matched.update(included, excluded)
        return bool(included) and not excluded

    def refuse_unmatched(self) -> None:
        """Checks that every pattern matches a site.

        Raises:
            UsageError: A pattern matches no site.
        """
        for key in ("include", "exclude"):
            for pattern in getattr(self._recipe, key):
                if pattern not in self._matched and pattern != "*":
                    raise UsageError(
                        f"matmul.{key} {pattern!r} matches no matmul"
                        f"{nearest(pattern, list(self._names))}",
                        hint="`scalify-hlo inspect --matmuls` lists the matmuls; patterns are of "
                        "the names in their locations, and of the arguments they compute with"
                        f"{hint_of_roles(pattern)}",
                    )


def matching(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """Returns the patterns that match one of the names."""
    return [pattern for pattern in patterns if is_like_any(pattern, names)]
