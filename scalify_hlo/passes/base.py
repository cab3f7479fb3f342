"""The base class of passes: a frozen dataclass whose fields are its options."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.analysis.index import ModuleIndex
from scalify_hlo.errors import Remark
from scalify_hlo.profile.model import Profile
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.model import Report


@dataclass(frozen=True)
class Pass:
    """A pass over a module. Subclasses add their options as fields with defaults."""

    name: ClassVar[str]
    preserves: ClassVar[frozenset[str]] = frozenset()
    """The analyses of `ModuleIndex` that are still valid after the pass."""

    def apply(self, module: ir.Operation, index: ModuleIndex, report: Report) -> None:
        """Edits the module in place.

        Args:
            module: A ``builtin.module``.
            index: Analyses of the module, which the pass reads and may add to.
            report: The report, to which the pass adds what it did.

        Raises:
            InputError: The module cannot be rewritten.
        """
        raise NotImplementedError

    def __str__(self) -> str:
        """Returns the pass in pipeline syntax, with the options that differ from their defaults."""
        options = [
            f"{f.name.replace('_', '-')}={_text(getattr(self, f.name))}"
            for f in fields(self)
            if getattr(self, f.name) != getattr(type(self)(), f.name)
        ]
        return f"{self.name}{{{' '.join(options)}}}" if options else self.name


def missed(op: ir.Operation, message: str, limits: Iterable[str], hint: str = "") -> list[Remark]:
    """Returns a remark for each limit at which a search ended.

    Args:
        op: The op that was searched.
        message: The consequence, with a placeholder ``{}`` for the limit.
        limits: The limits, as clauses.
        hint: The text of the note.
    """
    return [
        Remark(message.format(limit), str(op.location), op.name, hint) for limit in sorted(limits)
    ]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Recipe):
        return value.name
    if isinstance(value, Profile):
        return value.program
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
