"""The base class of passes: a frozen dataclass whose fields are its options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.errors import Remark, UsageError, nearest
from scalify_hlo.ir.functions import main_function
from scalify_hlo.ir.locations import remark
from scalify_hlo.profile.file import profile_of
from scalify_hlo.profile.model import Profile
from scalify_hlo.recipes.fields import Values, options_of, register
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.model import Report

register(Recipe, Values("a recipe", load_recipe))
register(Profile, Values("a profile", profile_of))
register(frozenset[int], Values("no text", lambda _: None))

REGISTERED: Final[dict[str, type[Pass]]] = {}
"""The passes that were imported, by name."""


@dataclass(frozen=True)
class Pass:
    """A pass over a module. Subclasses add their options as fields with defaults."""

    name: ClassVar[str]
    preserves: ClassVar[frozenset[str]] = frozenset()
    """The analyses of `ModuleIndex` that are still valid after the pass."""

    def __init_subclass__(cls) -> None:
        if "name" in vars(cls):
            REGISTERED[cls.name] = cls

    @classmethod
    def parse(cls, settings: Sequence[str]) -> Pass:
        """Returns the pass with options that are given as ``name=value``, or ``name`` for true.

        Raises:
            UsageError: An option is unknown, or does not take its value.
            InputError: The file of a recipe or of a profile is not valid.
        """
        options = {name.replace("_", "-"): each for name, each in options_of(cls).items()}
        values: dict[str, object] = {}
        for setting in settings:
            key, equals, text = setting.partition("=")
            if key not in options:
                raise UsageError(
                    f"pass {cls.name} has no option {key!r}{nearest(key, options)}",
                    hint=f"its options are: {', '.join(options)}",
                )
            each, said = options[key], f"option {key!r} of {cls.name}"
            values[each.field.name] = each.values.read(said, text if equals else "true", spelt=True)
        return cls(**values)

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
            f"{name.replace('_', '-')}={_text(getattr(self, name))}"
            for name, each in options_of(type(self)).items()
            if getattr(self, name) != each.default
        ]
        return f"{self.name}{{{' '.join(options)}}}" if options else self.name


class MainPass(Pass):
    """A pass over ``main``, which does nothing to a module without its body."""

    def apply(self, module: ir.Operation, index: ModuleIndex, report: Report) -> None:
        """See `Pass.apply`."""
        main = main_function(module)
        if main is not None and main.regions[0].blocks:
            self.edit(main, index, report)

    def edit(self, main: ir.OpView, index: ModuleIndex, report: Report) -> None:
        """Edits the module of ``main`` in place.

        Args:
            main: The function.
            index: See `Pass.apply`.
            report: See `Pass.apply`.

        Raises:
            InputError: The module cannot be rewritten.
        """
        raise NotImplementedError


def missed(op: ir.Operation, message: str, limits: Iterable[str], hint: str = "") -> list[Remark]:
    """Returns a remark for each limit at which a search ended.

    Args:
        op: The op that was searched.
        message: The consequence, with a placeholder ``{}`` for the limit.
        limits: The limits, as clauses.
        hint: The text of the note.
    """
    return [remark(op, message.format(limit), hint) for limit in sorted(limits)]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Recipe):
        return value.name
    if isinstance(value, Profile):
        return value.program
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
