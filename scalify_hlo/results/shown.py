"""Results as Python shows them: the table of a command, a notebook's cell, rows of a data frame."""

from __future__ import annotations

import html
import json
from importlib import import_module
from typing import Any


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
            A dict for each row, with a key for each column. Objects of JSON in it are several
            columns, as in ``formats.lhs``.

        Example:
            >>> from scalify_hlo.profile.model import Profile
            >>> Profile("a program", 1, {}).rows()
            []
        """
        found: Any = self.to_dict()
        for key in self.ROWS.split("."):
            found = found[int(key) if key.isdigit() else key]
        return [_flat(row) for row in found]


def _function(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"scalify_hlo.{module}"), name)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in row.items():
        inner = _flat(value) if isinstance(value, dict) else {"": value}
        found |= {f"{key}.{name}" if name else key: each for name, each in inner.items()}
    return found
