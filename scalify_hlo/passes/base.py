"""What a pass is: a frozen dataclass whose fields are its options."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.passes.report import Report
from scalify_hlo.profile import Profile
from scalify_hlo.recipe import Recipe


@dataclass(frozen=True)
class Pass:
    """A pass over a module. Subclasses add their options as fields with defaults."""

    name: ClassVar[str]
    keeps_listing: ClassVar[bool] = False
    """Whether `Report.listing` is right when it is done: it adds and erases no op, or says so."""

    def apply(self, module: ir.Operation, report: Report) -> None:
        """Edits the module in place.

        Args:
            module: A ``builtin.module``.
            report: Where the pass says what it did.

        Raises:
            InputError: The module can't be rewritten.
        """
        raise NotImplementedError

    def __str__(self) -> str:
        """The pass as it stands in a pipeline, options that differ from their defaults shown."""
        options = [
            f"{f.name.replace('_', '-')}={_text(getattr(self, f.name))}"
            for f in fields(self)
            if getattr(self, f.name) != getattr(type(self)(), f.name)
        ]
        return f"{self.name}{{{' '.join(options)}}}" if options else self.name


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Recipe):
        return value.name
    if isinstance(value, Profile):
        return value.program
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def main_function(module: ir.Operation) -> ir.OpView | None:
    """The function that a program starts at."""
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name == "func.func" and op.attributes["sym_name"].value == "main":
            return op
    return None
