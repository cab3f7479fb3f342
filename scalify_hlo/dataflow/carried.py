"""The results of a program that are arguments of its next call.

A training step takes its state and returns it. `scalify-roles` finds most state, but it runs only
if a recipe needs roles, and looks for weights and moments. Scales need less: for each result, the
argument that it replaces, whatever the role. There are three kinds of evidence:

1. names: ``result[0]['w']`` ends like ``params['w']``;
2. donation: the memory of an argument may be reused for the result;
3. data flow: elementwise ops make the result from the argument, in its shape and in degree 1.

Equal ends of names need data flow too, since a gradient has the name of its parameter. If the whole
path of the result is that of one argument, as in ``{'x': a @ state['x']}``, any dependence is
enough, unless the backward pass makes the result. Donation needs any dependence on the argument, as
memory may be reused for any result of the type. Data flow alone is enough if the argument is a term
of a sum, as in ``w - rate * g``, and if arguments have names. A sum in the backward pass does not
count: its terms are parts of a gradient, one of which may be the gradient of a penalty of a weight.

A result of a function that is not a step may be such a sum too. The scale of its term does no harm.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.frames import Frame, Place
from scalify_hlo.dataflow.made_of import Flow, is_gradient, is_marked
from scalify_hlo.dataflow.reach import numbers_in
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.functions import terminator
from scalify_hlo.ir.value_map import ValueMap
from scalify_hlo.ir.walk import read_by

_ALIAS: Final = "tf.aliasing_output"
_DONOR: Final = "jax.buffer_donor"
_ROOT: Final = re.compile(r"[\[.]")
_KEY: Final = re.compile(r"(?<=\[)[^\]]*(?=\])|(?<=\.)\w+")


class _Value(NamedTuple):
    """An argument or a result that may be state.

    Attributes:
        number: The number among all arguments or results.
        type: The MLIR type.
        path: The names of the nodes of its path in the pytree, the outermost first.
    """

    number: int
    type: ir.Type
    path: tuple[str, ...]


def carried_arguments(
    main: ir.OpView,
    arguments: Sequence[str | None],
    results: Sequence[str | None],
    known: Mapping[int, int],
    frame: Frame,
) -> dict[int, int]:
    """Finds the results that are arguments of the next call.

    Args:
        main: The function.
        arguments: The names of the arguments; None for those that are not pairs.
        results: The names of the results; None for those that are not pairs.
        known: The results that were found before, and the argument of each.
        frame: The frame of the function, in which limits of the search are noted.

    Returns:
        The number of the argument for each of these results. Results whose last op is a marker are
        excluded, as the marker sets their scale.
    """
    block, replaced = main.regions[0].blocks[0], set(known.values())
    taken = [
        _Value(i, value.type, _path(name))
        for i, (value, name) in enumerate(zip(block.arguments, arguments, strict=True))
        if name is not None and i not in replaced
    ]
    types = {value.type for value in taken}
    returned = list(terminator(block).operands)
    given = [
        _Value(i, value.type, _path(name)[1:])
        for i, (value, name) in enumerate(zip(returned, results, strict=True))
        if name is not None and i not in known and value.type in types
    ]
    found = {**known, **_Matching(main, frame, taken, given).run()}
    return {
        result: argument
        for result, argument in found.items()
        if results[result] is not None
        and arguments[argument] is not None
        and not is_marked(frame.place(returned[result]))
    }


def may_come_back(
    main: ir.OpView,
    arguments: Sequence[str | None],
    results: Sequence[str | None],
    known: Mapping[int, int],
    frame: Frame,
) -> dict[int, list[int]]:
    """Finds results that a caller may pass as an argument of their type, without other evidence.

    Args:
        main: The function.
        arguments: See `carried_arguments`.
        results: See `carried_arguments`.
        known: The results that `carried_arguments` found.
        frame: See `carried_arguments`.

    Returns:
        For each other result the arguments of its type; gradients and results of markers are
        excluded.
    """
    block = main.regions[0].blocks[0]
    by_type: dict[ir.Type, list[int]] = {}
    for i, (value, name) in enumerate(zip(block.arguments, arguments, strict=True)):
        if name is not None:
            by_type.setdefault(value.type, []).append(i)
    found: dict[int, list[int]] = {}
    for i, (value, name) in enumerate(zip(terminator(block).operands, results, strict=True)):
        if name is None or i in known or value.type not in by_type:
            continue
        place = frame.place(value)
        if not is_marked(place) and not is_gradient(place):
            found[i] = by_type[value.type]
    return found


class _Matching:
    """Matches results with arguments of the same type, each at most once."""

    def __init__(
        self, main: ir.OpView, frame: Frame, taken: Sequence[_Value], given: Sequence[_Value]
    ) -> None:
        self._main, self._frame, self._taken, self._given = main, frame, taken, given
        block = main.regions[0].blocks[0]
        self._flow = Flow([frame.place(block.arguments[value.number]) for value in taken])
        self._returned = list(terminator(block).operands)
        self._found: dict[int, int] = {}
        self._free = {value.number for value in taken}

    def run(self) -> dict[int, int]:
        """Matches by names, then by donation, then by data flow alone."""
        self._by_name()
        self._by_path()
        self._by_donation()
        self._by_flow()
        return self._found

    def _place(self, result: int) -> Place:
        return self._frame.place(self._returned[result])

    def _take(self, result: int, argument: int) -> None:
        if result not in self._found and argument in self._free:
            self._found[result] = argument
            self._free.discard(argument)

    def _by_name(self) -> None:
        """Matches the longest common ends of paths first.

        The place of a result in the tuple that a function returns says nothing by itself.
        """
        whole = [(value, _inner(value.path)) for value in self._given]
        for common in range(max((len(path) for _, path in whole), default=0), 0, -1):
            given = [
                (value, path[-common:])
                for value, path in whole
                if len(path) >= common and value.number not in self._found
            ]
            for *_, result, argument, i in self._alike(given, common):
                both = result not in self._found and argument in self._free
                if both and self._flow.holds(self._place(result), i):
                    self._take(result, argument)

    def _alike(
        self, given: Sequence[tuple[_Value, tuple[str, ...]]], common: int
    ) -> list[tuple[int, bool, int, int, int]]:
        """Returns the results and the free arguments with the same ends of paths, best first."""
        by_end: dict[tuple[str, ...], list[int]] = {}
        for i, argument in enumerate(self._taken if given else ()):
            if argument.number in self._free and len(argument.path) >= common:
                by_end.setdefault(argument.path[-common:], []).append(i)
        alike = []
        for result, end in given:
            before = result.path[-common - 1 : -common]
            for i in self._flow.candidates(self._place(result.number), by_end.get(end, ())):
                argument = self._taken[i]
                if argument.type == result.type:
                    path, number = argument.path, argument.number
                    differs = not before or path[-common - 1 : -common] != before
                    alike.append((len(path), differs, result.number, number, i))
        return sorted(alike)

    def _by_path(self) -> None:
        """Matches results with the only argument of their whole path, if they depend on it."""
        same: dict[int, list[_Value]] = {}
        for result in self._given:
            if result.number not in self._found:
                found = [a for a in self._taken if a.number in self._free and _is_same(result, a)]
                if len(found) == 1:
                    same[result.number] = found
        if not same:
            return
        made_of = self._made_of([argument for found in same.values() for argument in found])
        for result_number, (argument,) in same.items():
            depends = result_number in made_of.get(argument.number, [])
            if depends and not is_gradient(self._place(result_number)):
                self._take(result_number, argument.number)

    def _by_donation(self) -> None:
        """Matches donated arguments with the result that they name, or that depends on them.

        The memory of an argument may go to any result of its type.
        """
        marks = attributes.argument_attributes(self._main)
        donated = [
            argument
            for argument in self._taken
            if argument.number in self._free
            and (_ALIAS in marks[argument.number] or _DONOR in marks[argument.number])
        ]
        if not donated:
            return
        made_of = self._made_of(donated)
        for argument in donated:
            mark, number = marks[argument.number], argument.number
            candidates = [n for n in made_of.get(number, []) if n not in self._found]
            if _ALIAS in mark:
                named = ir.IntegerAttr(mark[_ALIAS]).value
                candidates = [n for n in candidates if n == named]
            for result in candidates[:1]:
                self._take(result, number)

    def _made_of(self, arguments: Sequence[_Value]) -> dict[int, list[int]]:
        """Returns the results of its type that depend on each argument, by any ops."""
        block = self._main.regions[0].blocks[0]
        numbered = enumerate(arguments)
        bits = ValueMap((block.arguments[a.number], 1 << i) for i, a in numbered)
        for op in block.operations:
            found = 0
            for value in read_by(op):
                found |= bits.get(value, 0)
            for result in op.results if found else ():
                bits[result] = found
        found_in: dict[int, list[int]] = {}
        for given in self._given:
            for i in numbers_in(bits.get(self._returned[given.number], 0)):
                if arguments[i].type == given.type:
                    found_in.setdefault(arguments[i].number, []).append(given.number)
        return found_in

    def _by_flow(self) -> None:
        """Matches results that are made of the fewest arguments first.

        Of several arguments, that of the fewest results is chosen: new values of state are made of
        other state, and new weights of all state.
        """
        reached = {
            result.number: self._reached(result)
            for result in self._given
            if result.number not in self._found
        }
        if not any(map(self._summed, reached.values())):
            return
        all_reached = [reached.get(r.number) or self._reached(r) for r in self._given]
        often = Counter(a.number for arguments in all_reached for a in arguments)
        for result, arguments in sorted(reached.items(), key=lambda item: len(item[1])):
            free = self._summed(arguments)
            if free:
                self._take(result, min(free, key=often.__getitem__))

    def _reached(self, result: _Value) -> dict[_Value, bool]:
        """Returns the arguments of its type that a result is made of, and whether in a sum."""
        found = [
            (self._taken[i], summed) for i, summed in self._flow.of(self._place(result.number))
        ]
        return {a: summed for a, summed in found if a.type == result.type}

    def _summed(self, arguments: Mapping[_Value, bool]) -> list[int]:
        """Returns the free arguments with names to which others are added."""
        return [
            a.number
            for a, summed in arguments.items()
            if summed and a.number in self._free and a.path != (f"arg{a.number}",)
        ]


def _is_same(result: _Value, argument: _Value) -> bool:
    """Whether a result has the type and the whole path of an argument, and not only numbers.

    A function may return a tuple; the path is then that inside of one element.
    """
    path, wanted = result.path, argument.path[1:]
    if result.type != argument.type or all(key.isdigit() for key in wanted):
        return False
    return path == wanted or (path[:1] != () and path[0].isdigit() and path[1:] == wanted)


def _inner(path: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the path of a result inside of the tuple that a function returns, if it does."""
    return path[1:] if path and path[0].isdigit() else path


def _path(name: str) -> tuple[str, ...]:
    """Returns the nodes of a path such as ``params['w'][0]``: ``params``, ``w``, ``0``."""
    root = _ROOT.split(name, maxsplit=1)[0]
    return root, *[key.strip("'\"") for key in _KEY.findall(name, len(root))]
