"""Results as Python shows them: the table of a command, a notebook's cell, rows of a data frame."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterable
from importlib import import_module
from typing import Any, Final


class Shown:
    """A result that Python prints as its command does.

    Attributes:
        DUMP: The function that returns it as JSON text, as ``module.function``.
        LINES: The function that yields its lines, given how many rows a table has.
        ROWS: The path to its rows in the object of JSON.
    """

    __slots__ = ()
    DUMP, LINES, ROWS = "", "", ""

    def __str__(self) -> str:
        """Returns the lines that the command prints, with ten rows of each table."""
        text = "\n".join(map(str, _function(self.LINES)(self, 10)))
        return text.replace("--rows 0 prints all", "rows() returns all")

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """Returns the object of JSON that the command writes, as a dict."""
        found: dict[str, Any] = json.loads(_function(self.DUMP)(self))
        return found

    def rows(self) -> list[dict[str, Any]]:
        """Returns the rows of its table, such as one for each matmul, for `pandas.DataFrame`.

        Returns:
            A dict for each row, with a key for each column. An object of JSON is several columns,
            as in ``formats.lhs``, unless no row has it; a histogram is one. A ratio in dB is
            infinite where JSON has ``exact``, and minus infinity where it has ``lost``.

        Example:
            >>> from scalify_hlo.profile.model import Profile
            >>> Profile("a program", 1, {}).rows()
            []
        """
        found: Any = self.to_dict()
        for key in self.ROWS.split("."):
            found = found[int(key) if key.isdigit() else key]
        return flattened(found)


_RATIOS: Final = {"exact": math.inf, "lost": -math.inf}


def flattened(objects: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows of a data frame for objects of JSON; see `Shown.rows`."""
    rows = [_flat(each) for each in objects]
    inner = {key[:end] for row in rows for key in row for end in _ends(key)}
    return [{key: cell for key, cell in row.items() if key not in inner} for row in rows]


def _ends(key: str) -> list[int]:
    return [i for i, letter in enumerate(key) if letter == "."]


def _function(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"scalify_hlo.{module}"), name)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict) and not all(map(str.isdigit, value)):
            found |= {f"{key}.{name}": each for name, each in _flat(value).items()}
        else:
            is_word = key.endswith("_db") and isinstance(value, str)
            found[key] = _RATIOS[value] if is_word else value
    return found


def size_text(count: int) -> str:
    """Returns a number of bytes as text, in MiB or GiB."""
    gib = count / 2**30
    return f"{gib:,.2f} GiB" if gib >= 1 else f"{count / 2**20:,.2f} MiB"
