"""The entry function of a program. While a program is rewritten or run, it is named `main`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from scalify_hlo._compat import func, ir
from scalify_hlo.errors import InputError, nearest
from scalify_hlo.ir.functions import fresh_name, is_private

MAIN: Final = "main"


class Entry(NamedTuple):
    """The entry function of a program.

    Attributes:
        name: Its own name.
        other: The name that another function `main` of the module has meanwhile; None without one.
    """

    name: str = MAIN
    other: str | None = None


AS_IT_IS: Final = Entry()
"""A function that is named `main`."""


def as_main(module: ir.Module, asked: str | None, place: str) -> Entry:
    """Names the entry function of a module `main`.

    Args:
        module: The module; its other functions keep their names, except another `main`.
        asked: The name of the function. By default it is `main`, or the only public function.
        place: The name of the module in diagnostics.

    Raises:
        InputError: There is no such function, or there are several.
    """
    every = {op.sym_name.value: op for op in module.body.operations if isinstance(op, func.FuncOp)}
    name = asked or (MAIN if MAIN in every else _only(every, place))
    if name not in every:
        raise InputError(
            f"the module has no function `{name}`{nearest(name, every)}",
            location=place,
            hint=f"its functions are: {listed(_public(every))}",
        )
    if name == MAIN:
        return AS_IT_IS
    other = fresh_name(MAIN, every) if MAIN in every else None
    if other is not None:
        _rename(module, MAIN, other)
    _rename(module, name, MAIN)
    return Entry(name, other)


def renamed(module: ir.Module, entry: Entry) -> ir.Module:
    """Gives the functions of a module their own names, and returns it."""
    for now, before in _names(entry):
        _rename(module, now, before)
    return module


@contextmanager
def under_own_names(module: ir.Module, entry: Entry) -> Iterator[None]:
    """Gives the functions of a module their own names for a while, to write it."""
    renamed(module, entry)
    try:
        yield
    finally:
        for now, before in reversed(_names(entry)):
            _rename(module, before, now)


def _names(entry: Entry) -> list[tuple[str, str]]:
    """Returns the present and the own names of functions, in the order in which they change."""
    names = [] if entry.name == MAIN else [(MAIN, entry.name)]
    return names if entry.other is None else [*names, (entry.other, MAIN)]


def _rename(module: ir.Module, old: str, new: str) -> None:
    with module.context:
        ir.SymbolTable.replace_all_symbol_uses(old, new, module.operation)
        for op in module.body.operations:
            if isinstance(op, func.FuncOp) and op.sym_name.value == old:
                op.attributes["sym_name"] = ir.StringAttr.get(new)


def _only(every: dict[str, func.FuncOp], place: str) -> str:
    """Returns the name of the only public function."""
    public = _public(every)
    if len(public) == 1:
        return public[0]
    if not public:
        raise InputError(
            "the module has no public function",
            location=place,
            hint="make the function at which the program starts public",
        )
    raise InputError(
        f"the module has {len(public)} public functions, and none is named `{MAIN}`",
        location=place,
        hint=f"name one with --entry, or with entry= of scalify_hlo.rewrite: {listed(public)}",
    )


def _public(every: dict[str, func.FuncOp]) -> list[str]:
    return [name for name, op in every.items() if not (is_private(op) or op.is_external)]


def listed(names: Sequence[str]) -> str:
    """Returns names for an error, which has the first of them if there are many."""
    shown = names[:_SHOWN]
    return ", ".join(shown) + (f" and {len(names) - _SHOWN} more" if names[_SHOWN:] else "")


_SHOWN: Final = 10
"""The most functions or programs that an error names."""
