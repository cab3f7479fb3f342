"""Commands: dataclasses whose fields are their arguments and options.

See `scalify_hlo.recipes.fields` for what a field says. For a command it may also say:

* ``metavar``: the placeholder of the value in the help text;
* ``argument``: that it is an argument, and not an option;
* ``flag`` and ``short``: the name of the option, if it is not that of the field, and a letter;
* ``reads`` and ``writes``: that it is the path of a file;
* ``of_text``: that it decides which text is printed, so that JSON has everything without it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, dataclass, fields
from typing import Any, Final, TypeVar, dataclass_transform, get_origin

import click

from scalify_hlo.errors import UsageError
from scalify_hlo.recipes.fields import Option, Values, option, options_of, values_of
from scalify_hlo.storage.files import STREAM, require_writable


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command, with the values of its options."""

    def start(self) -> None:
        """Checks the files that the command reads and writes, and runs it.

        Raises:
            ScalifyError: The command fails.
        """
        if list(self._paths("reads")).count(STREAM) > 1:
            raise UsageError(
                "only one of the inputs can be standard input", hint="give a path for the other"
            )
        for path in self._paths("writes"):
            require_writable(path)
        self.run()

    def run(self) -> None:
        """Does what the command is for."""
        raise NotImplementedError

    def _paths(self, use: str) -> Iterator[str]:
        """Yields the paths that were given for files of a use."""
        for name, each in options_of(type(self)).items():
            given = getattr(self, name) if each.said(use) else None
            yield from (given,) if isinstance(given, str) else given or ()


C = TypeVar("C", bound=Command)

HELP: Final = "`{} --help` shows the options and an example"
"""The note of an error on the options of a command."""

COMMANDS: Final[dict[str, click.Command]] = {}
"""The commands that were imported, by name."""


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(option,))
def command(example: str) -> Callable[[type[C]], type[C]]:
    """Returns a decorator that makes a class a command: its docstring and its fields are the help.

    Args:
        example: A call of the command, which begins with the name of the program and its own.
    """

    def describe(model: type[C]) -> type[C]:
        model = dataclass(frozen=True, kw_only=True)(model)
        name, own = example.split()[1], options_of(model)
        COMMANDS[name] = click.Command(
            name,
            help=(inspect.getdoc(model) or "").partition("\n\nAttributes:\n")[0],
            epilog=f"Example: {example}",
            params=[_parameter(own[field]) for field in _ordered(model)],
            callback=lambda **given: model(**given).start(),
        )
        return model

    return describe


def _ordered(model: type) -> Iterable[str]:
    """Returns the names of the fields of a class: its own, and then those of its bases."""
    known = [field.name for field in fields(model)]
    declared = (name for each in model.__mro__ for name in inspect.get_annotations(each))
    return [name for name in dict.fromkeys(declared) if name in known]


def _parameter(each: Option) -> click.Parameter:
    """Returns an option, or an argument, of the command line."""
    name, default, metavar = each.field.name, each.default, each.said("metavar")
    values, needed = values_of(each.hint), default is MISSING
    if each.said("argument"):
        given = {} if needed else {"default": default}
        return click.Argument([name], metavar=metavar, required=needed, **given)
    flag = each.said("flag") or f"--{name.replace('_', '-')}"
    names = [*filter(None, [each.said("short")]), flag, name]
    if each.hint is bool:
        return click.Option(names, is_flag=True, help=each.about)
    if get_origin(each.hint) is tuple:
        many = {"multiple": True, "required": needed}
        return click.Option(names, metavar=metavar, help=each.about, **many)
    is_path = each.said("reads") or each.said("writes")
    return click.Option(
        names,
        type=str if is_path else _Value(values),  # A path need not be UTF-8.
        metavar=metavar,
        help=each.about,
        required=needed,
        show_default=default not in (MISSING, None),
        **({} if needed else {"default": default}),
    )


class _Value(click.ParamType):  # type: ignore[type-arg]
    """The type of a value on the command line.

    Args:
        values: The values that the option takes.
    """

    name = "text"

    def __init__(self, values: Values) -> None:
        self._values = values

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str | None:
        """Returns the placeholder of a value in help texts; see `click.ParamType`."""
        del param, ctx
        values = self._values
        return f"[{'|'.join(values.names)}]" if values.names else values.unit or None

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Reads a value; see `click.ParamType`."""
        said = "" if param is None else param.opts[-1]
        hint = "" if ctx is None else HELP.format(ctx.command_path)
        return self._values.read(said, value, spelt=True, hint=hint)
