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
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import FLOW_VALUES, GRADIENT_VALUES
from scalify_hlo.analysis.frames import INSIDES, Frame, Place
from scalify_hlo.analysis.names import is_backward
from scalify_hlo.analysis.reach import numbers_in
from scalify_hlo.dialect import attributes, markers, traits
from scalify_hlo.dialect.functions import is_block, terminator
from scalify_hlo.dialect.value_map import ValueMap

_OPERANDS: Final = {
    **dict.fromkeys(
        (
            *traits.ROUNDS,
            *traits.WRITES,
            *("sdy.sharding_constraint", "stablehlo.negate"),
        ),
        (0,),
    ),
    **dict.fromkeys(traits.BINARY, (0, 1)),
    "stablehlo.clamp": (1,),
    "stablehlo.select": (1, 2),
}
"""The ops whose result may be the next value of an operand, with the numbers of such operands."""

_SUMS: Final = traits.SUMS | traits.WRITES
"""The ops that write a new part into a value."""

_PRODUCTS: Final = traits.PRODUCTS
_BARRIER: Final = "stablehlo.optimization_barrier"
_MOVES: Final = frozenset({"stablehlo.reshape", "stablehlo.transpose"})
_SEEN_THROUGH: Final = frozenset({_BARRIER, "stablehlo.convert"})
_ALIAS: Final = "tf.aliasing_output"
_DONOR: Final = "jax.buffer_donor"
_ROOT: Final = re.compile(r"[\[.]")
_KEY: Final = re.compile(r"\[([^\]]*)\]|\.(\w+)")


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
        and not _is_marked(frame.place(returned[result]))
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
        if not _is_marked(place) and not _is_gradient(place):
            found[i] = by_type[value.type]
    return found


class _Matching:
    """Matches results with arguments of the same type, each at most once."""

    def __init__(
        self, main: ir.OpView, frame: Frame, taken: Sequence[_Value], given: Sequence[_Value]
    ) -> None:
        self._main, self._frame, self._taken, self._given = main, frame, taken, given
        self._found: dict[int, int] = {}
        self._free = {value.number for value in taken}

    def run(self) -> dict[int, int]:
        """Matches by names, then by donation, then by data flow alone."""
        reached = dict(self._reached())
        self._by_name(reached)
        self._by_path()
        self._by_donation()
        self._by_flow(reached)
        return self._found

    def _reached(self) -> Iterator[tuple[int, dict[_Value, bool]]]:
        """Returns the arguments of its type that each result is made of, and whether in a sum."""
        block, frame = self._main.regions[0].blocks[0], self._frame
        flow = _Flow([frame.place(block.arguments[value.number]) for value in self._taken])
        returned = terminator(block).operands
        for result in self._given:
            place = frame.place(returned[result.number])
            found = [(self._taken[i], summed) for i, summed in flow.of(place)]
            yield result.number, {a: summed for a, summed in found if a.type == result.type}

    def _take(self, result: int, argument: int) -> None:
        if result not in self._found and argument in self._free:
            self._found[result] = argument
            self._free.discard(argument)

    def _by_name(self, reached: dict[int, dict[_Value, bool]]) -> None:
        """Matches the longest common ends of paths first.

        The place of a result in the tuple that a function returns says nothing by itself.
        """
        alike: list[tuple[int, ...]] = []
        for result in self._given:
            inner = result.path[1:] if result.path and result.path[0].isdigit() else result.path
            for argument in reached[result.number]:
                common = _common_end(inner, argument.path)
                if common:
                    rest = len(argument.path) - common
                    whole = _common_end(result.path, argument.path)
                    alike.append((-common, rest, -whole, result.number, argument.number))
        for *_, result_number, argument_number in sorted(alike):
            self._take(result_number, argument_number)

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
        returned = terminator(self._main.regions[0].blocks[0]).operands
        for result_number, (argument,) in same.items():
            depends = result_number in made_of.get(argument.number, [])
            if depends and not _is_gradient(self._frame.place(returned[result_number])):
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
            for value in _read_by(op):
                found |= bits.get(value, 0)
            for result in op.results if found else ():
                bits[result] = found
        returned = terminator(block).operands
        found_in: dict[int, list[int]] = {}
        for given in self._given:
            for i in numbers_in(bits.get(returned[given.number], 0)):
                if arguments[i].type == given.type:
                    found_in.setdefault(arguments[i].number, []).append(given.number)
        return found_in

    def _by_flow(self, reached: dict[int, dict[_Value, bool]]) -> None:
        """Matches results that are made of the fewest arguments first.

        Of several arguments, that of the fewest results is chosen: new values of state are made of
        other state, and new weights of all state.
        """
        often = Counter(a.number for arguments in reached.values() for a in arguments)
        for result, arguments in sorted(reached.items(), key=lambda item: len(item[1])):
            free = [
                a.number
                for a, summed in arguments.items()
                if summed and a.number in self._free and a.path != (f"arg{a.number}",)
            ]
            if free:
                self._take(result, min(free, key=often.__getitem__))


def _read_by(op: ir.OpView) -> Iterator[ir.Value]:
    """Yields the values that an op reads, in its regions too."""
    yield from op.operands
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _read_by(inner)


_Made: TypeAlias = tuple[str, list[Place]]
"""Returns the op that makes a value, and the operands whose next value it may be."""


class _Parts(NamedTuple):
    """The values that another value is made of.

    Attributes:
        all: The numbers of these values.
        summed: The numbers of the values to which others are added.
    """

    all: frozenset[int] = frozenset()
    summed: frozenset[int] = frozenset()


_NO_PARTS: Final = _Parts()


class _Flow:
    """Finds the values in which other values are of degree 1.

    Args:
        values: The values in which degrees are asked for.
    """

    def __init__(self, values: Sequence[Place]) -> None:
        self._known = {place: _Parts(frozenset((i,))) for i, place in enumerate(values)}
        self._most = len(values) + FLOW_VALUES

    def of(self, place: Place) -> Iterator[tuple[int, bool]]:
        """Yields the numbers of those that a value is made of, and whether others are added."""
        parts = self._parts(place)
        for i in sorted(parts.all):
            yield i, i in parts.summed

    def _parts(self, place: Place) -> _Parts:
        """Returns the values that a value is made of; none if the search reaches its limit.

        Chains may be long, and nested calls may multiply the number of values.
        """
        known = self._known
        waiting: list[tuple[Place, _Made | None]] = [(place, None)]
        while waiting and len(known) < self._most:
            here, made = waiting.pop()
            if made is not None:
                name, made_of = made
                known[here] = _combined(name, [known.get(part, _NO_PARTS) for part in made_of])
            elif here not in known:
                name, made_of = _made(here)
                if not made_of or (name in _SUMS and is_backward(here)):
                    known[here] = _NO_PARTS
                    continue
                waiting.append((here, (name, made_of)))
                waiting += [(part, None) for part in made_of if part not in known]
        if waiting:
            place[1].ended.add(f"more than {FLOW_VALUES} values lead to one")
        return known.get(place, _NO_PARTS)


def _combined(name: str, parts: Sequence[_Parts]) -> _Parts:
    """Returns the values that the result of an op is made of."""
    if name in _PRODUCTS:
        first, second = parts
        if not second.all:
            return first
        return second if name == "stablehlo.multiply" and not first.all else _NO_PARTS
    found = [part for part in parts if part.all]
    if not found:
        return _NO_PARTS
    one = found[0] if len(found) == 1 else _Parts(*map(_union, zip(*found, strict=True)))
    return _Parts(one.all, one.all) if name in _SUMS and one.all != one.summed else one


def _union(sets: Sequence[frozenset[int]]) -> frozenset[int]:
    return frozenset().union(*sets)


def _made(place: Place) -> _Made:
    """Returns the op that makes a value, and the operands whose next value it may be."""
    value, frame = place
    owner = value.owner
    if is_block(owner):
        return "", frame.source_of_argument(value)
    name = owner.operation.name  # The view of a named computation has another name.
    numbers = _OPERANDS.get(name)
    if numbers is not None:
        operands = owner.operands
        return name, [frame.place(operands[i]) for i in numbers]
    if name == _BARRIER:
        if markers.MARKER in owner.attributes:
            return markers.MARKER, []
        return name, [frame.place(owner.operands[ir.OpResult(value).result_number])]
    return name, frame.sources(value, owner, name) if name in INSIDES else []


def _is_marked(place: Place) -> bool:
    """Whether the last op that makes a value, except casts, is a marker."""
    while True:
        name, parts = _made(place)
        if name == markers.MARKER:
            return True
        if len(parts) != 1 or not (name in _SEEN_THROUGH or name in INSIDES):
            return False
        place = parts[0]


def _is_gradient(place: Place) -> bool:
    """Whether names say that a value is backward, up to elementwise ops and data movement."""
    waiting, seen = [place], {place}
    while waiting and len(seen) < GRADIENT_VALUES:
        here = waiting.pop()
        if is_backward(here):
            return True
        name, made_of = _made(here)
        if name in _MOVES:
            made_of = [here.frame.place(here.value.owner.operands[0])]
        waiting += [part for part in made_of if part not in seen]
        seen.update(made_of)
    return False


def _is_same(result: _Value, argument: _Value) -> bool:
    """Whether a result has the type and the whole path of an argument, and not only numbers.

    A function may return a tuple; the path is then that inside of one element.
    """
    path, wanted = result.path, argument.path[1:]
    if result.type != argument.type or all(key.isdigit() for key in wanted):
        return False
    return path == wanted or (path[:1] != () and path[0].isdigit() and path[1:] == wanted)


def _path(name: str) -> tuple[str, ...]:
    """Returns the nodes of a path such as ``params['w'][0]``: ``params``, ``w``, ``0``."""
    root = _ROOT.split(name, maxsplit=1)[0]
    keys = [index or attribute for index, attribute in _KEY.findall(name, len(root))]
    return root, *(key.strip("'\"") for key in keys)


def _common_end(path: Sequence[str], other: Sequence[str]) -> int:
    """Returns the number of nodes at the ends of two paths that are equal."""
    count = 0
    for a, b in zip(reversed(path), reversed(other), strict=False):
        if a != b:
            break
        count += 1
    return count
