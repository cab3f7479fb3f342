"""Which results of a program are its arguments in the next call.

A step of a training takes its state and returns it. `scalify-roles` finds most of that, but runs
for recipes that ask for roles only, and looks for weights and moments. Scales need less: for each
result the argument that it takes the place of, whatever it is for. Three things tell:

1. names: ``result[0]['w']`` ends like ``params['w']``;
2. donation: the memory of an argument may go to the result;
3. data flow: elementwise ops make the result of the argument, in its shape and in degree 1.

Names that end alike count only where data flow agrees, since gradients are named like the
parameters they are of. Where the whole path of one argument is that of the result, as in
``{'x': a @ state['x']}``, any dependence is enough, but for what the backward pass makes. Donation
counts where the result depends on the argument at all, as memory may go to any of its type.
Data flow alone counts where the argument is a term of a sum, as in ``w - rate * g``, and only in
programs that name their arguments. A sum in the backward pass is of parts of a gradient: that of a
penalty of a weight is a term of it, and the weight is not. All other results of a function that is
no step stay as they are; one that is such a sum loses nothing by the scale of its term.
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
from scalify_hlo.dialect.functions import terminator
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
"""The ops whose result may be the next value of an operand, and the numbers of such operands."""

_SUMS: Final = traits.SUMS | traits.WRITES
"""The ops that put something new into a value."""

_PRODUCTS: Final = traits.PRODUCTS
_BARRIER: Final = "stablehlo.optimization_barrier"
_MOVES: Final = frozenset({"stablehlo.reshape", "stablehlo.transpose"})
_SEEN_THROUGH: Final = frozenset({_BARRIER, "stablehlo.convert"})
_ALIAS: Final = "tf.aliasing_output"
_DONOR: Final = "jax.buffer_donor"
_KEY: Final = re.compile(r"\[([^\]]*)\]|\.(\w+)")


class _Value(NamedTuple):
    """An argument or a result that may be state.

    Attributes:
        number: Its number among all arguments or results.
        type: Its MLIR type.
        path: The names of the nodes of the pytree that lead to it, the outermost first.
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
        arguments: The names of its arguments; None for those that are no pairs.
        results: The names of its results; None for those that are no pairs.
        known: The results that were found before, and the argument of each.
        frame: That of the function, which notes where the search ended at a limit.

    Returns:
        The number of the argument for each of these results, without those whose last op is a
        marker: their scale is what the marker says.
    """
    block = main.regions[0].blocks[0]
    taken = [
        _Value(i, value.type, _path(name))
        for i, (value, name) in enumerate(zip(block.arguments, arguments, strict=True))
        if name is not None and i not in known.values()
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
    """Finds results that a caller may give as an argument of their type, although nothing says so.

    Args:
        main: The function.
        arguments: See `carried_arguments`.
        results: See there.
        known: The results that it found.
        frame: See there.

    Returns:
        For each other result the arguments of its type, but for gradients and what a marker makes.
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
        """The arguments of its type that each result is made of, and whether in a sum."""
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
        """Matches arguments that name a result, and donated ones with what is made of them.

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
        """The results of its type that depend on each argument, by whatever ops."""
        block = self._main.regions[0].blocks[0]
        numbered = enumerate(arguments)
        bits = ValueMap((block.arguments[a.number], 1 << i) for i, a in numbered)
        for op in block.operations:
            found = 0
            for value in _read_by(op):
                found |= bits.get(value, 0)
            if found:
                bits.update(dict.fromkeys(op.results, found))
        returned = terminator(block).operands
        found_in: dict[int, list[int]] = {}
        for given in self._given:
            for i in numbers_in(bits.get(returned[given.number], 0)):
                if arguments[i].type == given.type:
                    found_in.setdefault(arguments[i].number, []).append(given.number)
        return found_in

    def _by_flow(self, reached: dict[int, dict[_Value, bool]]) -> None:
        """Matches results that are made of fewest arguments first.

        Of several arguments that one counts which fewest results are made of: new values of state
        are made of other state, and those of weights of all.
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
    """What an op reads, inside of it as well."""
    yield from op.operands
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _read_by(inner)


_Made: TypeAlias = tuple[str, list[Place]]
"""The op that makes a value, and the operands that the value may be the next one of."""


class _Parts(NamedTuple):
    """The values that another is made of.

    Attributes:
        all: Their numbers.
        summed: The numbers of those to which others are added.
    """

    all: frozenset[int] = frozenset()
    summed: frozenset[int] = frozenset()


_NO_PARTS: Final = _Parts()


class _Flow:
    """Which of several values others are of degree 1 in.

    Args:
        values: The values asked about.
    """

    def __init__(self, values: Sequence[Place]) -> None:
        self._known = {place: _Parts(frozenset((i,))) for i, place in enumerate(values)}
        self._most = len(values) + FLOW_VALUES

    def of(self, place: Place) -> Iterator[tuple[int, bool]]:
        """The numbers of those that a value is made of, and whether others are added to each."""
        parts = self._parts(place)
        for i in sorted(parts.all):
            yield i, i in parts.summed

    def _parts(self, place: Place) -> _Parts:
        """What a value is made of; nothing if there is too much to look at.

        Chains may be long, and calls that call twice are of any number of places.
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
    """What the result of an op is made of."""
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
    """The op that makes a value, and the operands that the value may be the next one of."""
    value, frame = place
    owner = value.owner
    if isinstance(owner, ir.Block):
        return "", frame.source_of_argument(value)
    name = owner.operation.name  # a view of a named computation has another one
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
    """Whether the last op that makes a value is a marker, casts aside."""
    while True:
        name, parts = _made(place)
        if name == markers.MARKER:
            return True
        if len(parts) != 1 or not (name in _SEEN_THROUGH or name in INSIDES):
            return False
        place = parts[0]


def _is_gradient(place: Place) -> bool:
    """Whether names say that the backward pass makes a value, but for elementwise ops and moves."""
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
    """Whether a result has the type and the whole path of an argument, by more than numbers.

    What a function returns may be a tuple, of which the path is in one of the elements.
    """
    path, wanted = result.path, argument.path[1:]
    if result.type != argument.type or all(key.isdigit() for key in wanted):
        return False
    return path == wanted or (path[:1] != () and path[0].isdigit() and path[1:] == wanted)


def _path(name: str) -> tuple[str, ...]:
    """The nodes that a name such as ``params['w'][0]`` leads through: ``params``, ``w``, ``0``."""
    root = re.split(r"[\[.]", name, maxsplit=1)[0]
    keys = [index or attribute for index, attribute in _KEY.findall(name[len(root) :])]
    return root, *(key.strip("'\"") for key in keys)


def _common_end(path: Sequence[str], other: Sequence[str]) -> int:
    """How many nodes at the ends of two paths are the same."""
    count = 0
    for a, b in zip(reversed(path), reversed(other), strict=False):
        if a != b:
            break
        count += 1
    return count
