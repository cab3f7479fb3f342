"""Finds the op from which the NaN and the infinities of a program come.

The first value in the order of execution that has NaN, of those from which a NaN flows to a result,
was made by its op from operands without NaN. For infinities, an op whose operands have some already
is left out, as those of masks are constants that are meant to be infinite.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from scalify_hlo.commands.nan.flow import Flow, Moment, Node
from scalify_hlo.commands.nan.nonfinite import Events

_GIVEN: Final[Moment] = (-2.0,)
"""The moment of constants, which are there before the arguments."""


class Origin(NamedTuple):
    """An op that makes elements of a kind, or an argument that has some.

    Attributes:
        number: The number of the node of its value.
        kind: ``nan`` or ``infinity``.
        from_constant: Whether it takes them from a constant.
    """

    number: int
    kind: str
    from_constant: bool = False


class Origins:
    """The origins of what is not finite.

    Args:
        flow: The data flow of the program.
        events: The events of each value, by its id.
    """

    def __init__(self, flow: Flow, events: Mapping[str, Events]) -> None:
        self._flow, self._events = flow, events

    def results(self, kind: str) -> list[int]:
        """Returns the numbers of the results that have elements of a kind."""
        return [
            i
            for i, number in enumerate(self._flow.results)
            if number is not None and self._has(self._flow.nodes[number], kind)
        ]

    def of_results(self, kinds: Collection[str]) -> list[Origin]:
        """Returns the origins of what is not finite in the results, the first first.

        Args:
            kinds: The kinds that are looked for. NaN in a result come before infinities.

        Returns:
            The first NaN, after the infinity that it comes from if there is one; or the first
            infinity. None if there are none but those of constants.
        """
        for kind, find in (("nan", self._first_nan), ("infinity", self._first_infinity)):
            nodes = self._flow.results
            starts = [n for n in map(nodes.__getitem__, self.results(kind)) if n is not None]
            if kind in kinds and starts:
                return self._with_cause(find(starts), kinds)
        return []

    def anywhere(self, kinds: Collection[str]) -> list[Origin]:
        """Returns the first origin of each kind in the whole program, the first first."""
        every = range(len(self._flow.nodes))
        finds = {"nan": self._first_nan, "infinity": self._first_infinity}
        found = [finds[kind](every) for kind in finds if kind in kinds]
        return sorted((o for o in found if o is not None), key=self._moment_of)

    def _with_cause(self, found: Origin | None, kinds: Collection[str]) -> list[Origin]:
        """A first NaN after the infinity that it comes from; an infinity alone."""
        if found is None:
            return []
        if found.kind == "infinity" or "infinity" not in kinds:
            return [found]
        moment = self._moment_of(found)
        infinite = [
            number
            for number in self._flow.sources(found.number)
            if self._is_before(number, "infinity", moment)
        ]
        cause = self._first_infinity(infinite)
        if cause is None or self._is_argument(cause.number):
            return [found]
        return [cause, found]

    def _first_nan(self, starts: Iterable[int]) -> Origin | None:
        found = [n for n in self._reached(starts, "nan") if not self._flow.nodes[n].given]
        if not found:
            return None
        first = min(found, key=lambda n: self._moment(n, "nan"))
        moment = self._moment(first, "nan")
        sources = self._flow.sources(first)
        return Origin(first, "nan", any(self._is_before(n, "nan", moment) for n in sources))

    def _first_infinity(self, starts: Iterable[int]) -> Origin | None:
        """The first infinity of finite operands; that of an argument if there is no other."""
        made, arguments = [], []
        for number in self._reached(starts, "infinity"):
            if self._is_argument(number):
                arguments.append(number)
            elif self._is_made(number):
                made.append(number)
        found = made or arguments
        if not found:
            return None
        return Origin(min(found, key=lambda n: self._moment(n, "infinity")), "infinity")

    def _is_made(self, number: int) -> bool:
        if self._flow.nodes[number].given:
            return False
        moment = self._moment(number, "infinity")
        sources = self._flow.sources(number)
        return not any(self._is_before(n, "infinity", moment) for n in sources)

    def _reached(self, starts: Iterable[int], kind: str) -> list[int]:
        """The values with elements of a kind that such elements of others may come from."""
        found = self._flow.reached(starts, lambda node: self._has(node, kind))
        nodes = self._flow.nodes
        return [number for number in sorted(found) if nodes[number].watched is not None]

    def _has(self, node: Node, kind: str) -> bool:
        return node.watched is not None and kind in self._events.get(node.watched.id, ())

    def _is_argument(self, number: int) -> bool:
        watched = self._flow.nodes[number].watched
        return watched is not None and watched.kind == "argument"

    def _is_before(self, number: int, kind: str, moment: Moment) -> bool:
        """Whether a value had elements of a kind before a moment."""
        return self._has(self._flow.nodes[number], kind) and self._moment(number, kind) < moment

    def _moment_of(self, origin: Origin) -> Moment:
        return self._moment(origin.number, origin.kind)

    def _moment(self, number: int, kind: str) -> Moment:
        node = self._flow.nodes[number]
        if node.given or node.watched is None:
            return _GIVEN
        return node.moment(self._events[node.watched.id][kind].turns)
