"""A compiled program: the original or a rewrite, and its steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from scalify_hlo.choose.casts import Cast
from scalify_hlo.choose.delayed import COUNT
from scalify_hlo.io.tensors import Array
from scalify_hlo.observe.feeding import Feeding
from scalify_hlo.report.model import Report
from scalify_hlo.run.check import Match, Run
from scalify_hlo.run.packed import value_of_pair


@dataclass(frozen=True)
class Step:
    """A step of a program.

    Attributes:
        all: All results of the program.
        values: The results of the original, or what they are in the rewrite: data times scale.
        fed: The arguments of the original, as values, as the program was given them.
        state: The state of delayed scales after the step.
    """

    all: list[Array]
    values: list[Array]
    fed: list[Array]
    state: list[Array]


class Running:
    """A compiled program.

    Args:
        run: Runs it.
        feeding: Its arguments in each step.

    Attributes:
        feeding: See the argument.
    """

    def __init__(self, run: Run, feeding: Feeding) -> None:
        self._run, self.feeding = run, feeding
        self._state: list[Array] = []

    def carrying(self, carried: dict[int, int]) -> Running:
        """Returns the same program with steps that take over state.

        Args:
            carried: The results that are arguments of the next step.
        """
        return Running(self._run, replace(self.feeding, carried=carried))

    def settle(
        self,
        values: Sequence[Array],
        first: Callable[[Callable[[Sequence[Array]], Sequence[Array]]], list[Array]],
    ) -> None:
        """Finds the first state of delayed scales, by steps on the inputs."""
        fed = self.feeding.first(values)
        count = self._results

        def run(state: Sequence[Array]) -> list[Array]:
            return self._run([*fed, *state])[count : count + COUNT]

        self._state = first(run)

    @property
    def _results(self) -> int:
        """The number of results that belong to those of the original."""
        results = self.feeding.match[1]
        return sum(1 if scale is None else 2 for scale in results.scales)

    def step(self, values: Sequence[Array], before: Step | None = None) -> Step:
        """Runs a step.

        Args:
            values: The arguments of the original.
            before: The step before; None for the first.
        """
        state = self._state if before is None else before.state
        fed = (
            self.feeding.first(values)
            if before is None
            else self.feeding.next(values, before.all[: self._results])
        )
        all_ = self._run([*fed, *state])
        count = self._results
        arguments, results = self.feeding.match
        kept = list(all_[count : count + len(state)])
        return Step(all_, values_of(results, all_[:count]), values_of(arguments, fed), kept)


@dataclass(frozen=True)
class Rewritten:
    """A compiled rewrite.

    Attributes:
        report: The report of the rewrite.
        running: Runs it.
        casts: The casts whose errors it returns.
    """

    report: Report
    running: Running
    casts: list[Cast]


def values_of(matched: Match, arrays: Sequence[Array]) -> list[Array]:
    """Returns arguments or results of a rewrite as values of the original, in f64 if scaled.

    Args:
        matched: The correspondence to those of the original.
        arrays: The arguments or results; a pair is data and scale.
    """
    rest = iter(arrays)
    found: list[Array] = []
    for tensor, scale in zip(matched.data, matched.scales, strict=True):
        data = next(rest)
        found.append(data if scale is None else value_of_pair(data, next(rest), tensor))
    return found
