"""Steps of a program or of a rewrite, with the arguments and the state that the rewrite added."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import SCALING_RUNS
from scalify_hlo.casts.delayed import Described, described
from scalify_hlo.dataflow.carried import carried_arguments
from scalify_hlo.dataflow.frames import Frame
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import UsageError
from scalify_hlo.ir.functions import main_function
from scalify_hlo.program.tensors import Array, Interface, interface, paired
from scalify_hlo.run.given import fit
from scalify_hlo.run.pairs import Match, is_packed, match, split

Run: TypeAlias = Callable[[Sequence[Array]], list[Array]]
"""Runs a program: a function from the flat list of its arguments to that of its results."""

State: TypeAlias = list[Array]
"""The state of delayed scales, in the order of `LEAVES`; empty for other programs."""


def described_state(module: ir.Module) -> Described | None:
    """Returns the description of the state of delayed scales; None if a program has none."""
    with module.context:
        return described(module.operation)


def first_state(about: Described, length: int) -> State:
    """Returns the state before the first step, as `init_scaling_state` does.

    Args:
        about: The description of the state.
        length: The length of the history, in steps.
    """
    amax = np.zeros(len(about.names), np.float32)
    return state_after(about, length, amax, about.first_scales())


def state_after(about: Described, length: int, amax: Array, scales: Array | float) -> State:
    """Returns the state after one step, of which the amax of each tensor is known.

    Args:
        about: The description of the state.
        length: The length of the history, in steps.
        amax: The amax of each tensor.
        scales: The scales of tensors whose amax is zero.
    """
    history = np.zeros((length, len(about.names)), np.float32)
    history[:1] = amax  # An automatic scale of the loss has none.
    scale = np.where(amax > 0, about.scales(amax), np.asarray(scales, np.float32))
    return [history, scale, np.asarray(0, np.int32)]


def converged(state: State, run: Callable[[State], State]) -> tuple[State, State]:
    """Runs a program until its delayed scales do not change, but not too often.

    Args:
        state: The first state.
        run: Runs a step with a state, and returns the next state.

    Returns:
        The state of the last run, and the state after it.
    """
    for _ in range(SCALING_RUNS):
        used, state = state, run(state)
        if np.array_equal(used[1], state[1]):
            break
    return used, state


def with_added(module: ir.Module, program: Interface, sample: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a rewritten program from those of its original.

    An argument whose scale is not given is divided by the power of two at or below its rms, which
    becomes its scale. State of delayed scales that is not given is that before the first step.

    Args:
        module: The program.
        program: Its arguments and results.
        sample: Arrays by argument name, or ``arr_0``, ``arr_1`` ...
    """
    given = dict(sample)
    arguments, about = program.arguments, described_state(module)
    if about is not None:
        numbers = program.state
        state = first_state(about, arguments[numbers[0]].shape[0])
        for number, array in zip(numbers, state, strict=True):
            if not {arguments[number].name, f"arr_{number}"} & given.keys():
                given[arguments[number].name] = array
    for tensor, scale in paired(arguments):
        if scale is not None and scale.name not in given and tensor.name in given:
            wide = is_packed(scale) or scale.shape
            like = replace(tensor, dtype=np.dtype(np.float32)) if wide else tensor
            pair = split(fit(given[tensor.name], like), tensor, scale)
            given[tensor.name], given[scale.name] = pair
    return given


def carried_state(module: ir.Module, name: str, *, required: bool = True) -> dict[int, int]:
    """Returns the results of a program that are arguments of its next call.

    Args:
        module: The program.
        name: Its name in diagnostics.
        required: Whether there has to be one.

    Returns:
        The number of the argument for the number of each such result.

    Raises:
        UsageError: There is none.
    """
    with module.context:
        main = main_function(module.operation)
        found: dict[int, int] = {}
        if main is not None:
            names = attributes.argument_names(main)
            results = attributes.result_names(attributes.result_attributes(main))
            found = carried_arguments(main, names, results, {}, Frame.of(main))
    if required and not found:
        raise UsageError(
            "no result of the program is an argument of its next call",
            location=name,
            hint="state is found by names as params['w'], by donation and by data flow; run one "
            "step, or export a step that returns its state",
        )
    return found


@dataclass(frozen=True)
class Step:
    """A step of a program.

    Attributes:
        matched: The correspondence of its arguments and results to those of the original.
        fed: The arguments without state of delayed scales.
        used: The state of delayed scales with which it ran.
        taken: All arguments, with the state in its place.
        all: All results: those of the rewrite, the new state, and those that were added.
    """

    matched: tuple[Match, Match]
    fed: list[Array]
    used: State
    taken: list[Array]
    all: list[Array]

    @property
    def state(self) -> State:
        """The state of delayed scales after the step."""
        end = self.matched[1].count
        return self.all[end : end + len(self.used)]

    @property
    def values(self) -> list[Array]:
        """The results as those of the original: data times scale."""
        return self.matched[1].joined(self.all[: self.matched[1].count])

    @property
    def given(self) -> list[Array]:
        """The arguments as those of the original, as the program was given them."""
        return self.matched[0].joined(self.fed)


class Session:
    """A program or a rewrite of it, step by step.

    Args:
        compile_: Compiles the program, when it is run first.
        original: The arguments and results of the original.
        module: The program. State of delayed scales is an argument like any other if the original
            has it too.
        name: The name of the program in diagnostics.
        added: The number of its last results that are no results of a rewrite.

    Attributes:
        matched: The correspondence of its arguments and results to those of the original.
        state: The state of delayed scales of the first step.

    Raises:
        InputError: The program does not fit the original.
    """

    def __init__(
        self,
        compile_: Callable[[], Run],
        original: Interface,
        module: ir.Module,
        name: str,
        added: int = 0,
    ) -> None:
        self._compile, own = compile_, interface(module, name, dynamic=True)
        more = len(own.arguments) > len(original.arguments)
        self._about, self._at = described_state(module) if more else None, range(0)
        self.state: State = []
        if self._about is not None:
            self._at = own.state
            self._length = own.arguments[self._at.start].shape[0]
            self.state = first_state(self._about, self._length)
        arguments = tuple(t for i, t in enumerate(own.arguments) if i not in self._at)
        results = own.results[: len(own.results) - len(self._at) - added]
        self.matched = match(original, Interface(arguments, results), name)

    def shapes(self, values: Sequence[Array]) -> list[tuple[int, ...]]:
        """Returns the shapes of all arguments of the program for those of the original."""
        start, state = self._at.start, [each.shape for each in self.state]
        scales = self.matched[0].scales
        fed = [
            shape
            for value, scale in zip(values, scales, strict=True)
            for shape in ([value.shape] if scale is None else [value.shape, scale.shape])
        ]
        return [*fed[:start], *state, *fed[start:]]

    @cached_property
    def _run(self) -> Run:
        return self._compile()

    def steps(
        self,
        values: Sequence[Sequence[Array]],
        count: int,
        carried: Mapping[int, int] | None = None,
    ) -> Iterator[Step]:
        """Runs steps, and yields each.

        Args:
            values: The arguments of the original in each step; the first follow on the last.
            count: The number of steps.
            carried: See `step`.
        """
        last: Step | None = None
        for number in range(count):
            last = self.step(values[number % len(values)], last, carried)
            yield last

    def step(
        self,
        values: Sequence[Array],
        before: Step | None = None,
        carried: Mapping[int, int] | None = None,
    ) -> Step:
        """Runs a step.

        Args:
            values: The arguments of the original, and any for those that are taken over.
            before: The step before, whose delayed scales are taken over; None for the first step.
            carried: The results of the step before that are taken over, each with its argument.
        """
        arguments, results = self.matched
        groups: list[Sequence[Array]] = [*arguments.split(values)]
        if before is not None:
            last = results.grouped(before.all)
            for result, argument in (carried or {}).items():
                if len(last[result]) == len(groups[argument]):
                    groups[argument] = last[result]
        return self.run(_flat(groups), self.state if before is None else before.state)

    def run(self, fed: list[Array], state: State) -> Step:
        """Runs a step with arguments of the program, and with a state of delayed scales."""
        start = self._at.start
        taken = [*fed[:start], *state, *fed[start:]]
        return Step(self.matched, fed, state, taken, self._run(taken))

    def converge(
        self,
        values: Sequence[Array],
        draw: Callable[[], float] | None = None,
        *,
        forget: bool = False,
    ) -> Step:
        """Runs steps on the same arguments until delayed scales do not change.

        The state after them is that of the first step from then on.

        Args:
            values: The arguments of the original.
            draw: Returns the scale of a pair; see `split`.
            forget: Whether a step has no other history than that of the step before.

        Returns:
            The last step; the only one if the program has no delayed scales.
        """
        fed = _flat(self.matched[0].split(values, draw))
        about = self._about
        if about is None:
            return self.run(fed, [])
        steps: list[Step] = []

        def run(state: State) -> State:
            steps[:] = [self.run(fed, state)]
            after = steps[0].state
            forgets = forget and self._length > 0
            return state_after(about, self._length, after[0][0], state[1]) if forgets else after

        _, self.state = converged(self.state, run)
        return steps[0]


def _flat(groups: Sequence[Sequence[Array]]) -> list[Array]:
    return [array for group in groups for array in group]
