"""Steps of training by a program and by its rewrite, from the same state: losses and updates.

One step tells little of a recipe that trains well: an element of an update may be small and wrong.
So losses are compared over some steps, and state by how far it moved from its start.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from scalify_hlo.algebra.limits import LOSS_APART, STATE_MOVED
from scalify_hlo.errors import UsageError
from scalify_hlo.program.arrays import StoredArray
from scalify_hlo.program.program import Program
from scalify_hlo.program.tensors import Array, interface
from scalify_hlo.results.kinds import Count, Finite
from scalify_hlo.results.model import keys
from scalify_hlo.run.runner import Backend, Runner, at_inputs, compiled
from scalify_hlo.run.session import Session, carried_state


@keys("name first last apart passed")
@dataclass(frozen=True, slots=True)
class Loss:
    """A loss over the steps: a scalar result that is no argument of the next step.

    Attributes:
        name: The pytree path of the result.
        first: That of the original in the first step.
        last: Those of the original and of the rewrite in the last step.
        apart: The largest difference in a step, as a share of the first.
    """

    name: str
    first: Finite
    last: tuple[Finite, Finite]
    apart: Finite

    @property
    def passed(self) -> bool:
        """Whether the difference is within chance of training."""
        return self.apart <= LOSS_APART


@keys("name moved error passed")
@dataclass(frozen=True, slots=True)
class Update:
    """The change of a tensor of state over the steps.

    Attributes:
        name: The pytree path of the argument.
        moved: The l2 norm of its change by the rewrite, over that of its change by the original.
        error: The l2 norm of the difference of the changes, over that of the original's.
    """

    name: str
    moved: Finite
    error: Finite

    @property
    def passed(self) -> bool:
        """Whether the rewrite moves it about as far."""
        return 1 / STATE_MOVED <= self.moved <= STATE_MOVED


@keys("steps losses updates")
@dataclass(frozen=True)
class Training:
    """Steps of training by a program and by its rewrite.

    Attributes:
        steps: Their number.
        losses: The losses, the worst first.
        updates: The tensors of state, the worst first.
    """

    steps: Count
    losses: Sequence[Loss]
    updates: Sequence[Update]

    @property
    def count(self) -> int:
        """The number of losses and of tensors of state."""
        return len(self.losses) + len(self.updates)

    @property
    def failed(self) -> list[str]:
        """The names of the losses and of the state that exceed the bounds."""
        lost = [each.name for each in self.losses if not each.passed]
        return lost + [each.name for each in self.updates if not each.passed]


def trained(
    original: Program,
    rewritten: Program,
    inputs: Sequence[Mapping[str, Array | StoredArray]],
    steps: int,
    backend: Backend = "xla",
) -> Training:
    """Runs steps of training by a program and by its rewrite.

    Args:
        original: The program before the rewrite. It returns state that it takes, and a loss.
        rewritten: The rewritten program.
        inputs: The arguments of each step by name; the first follow on the last. State is that of
            the first, and then what the step before returned.
        steps: The number of steps.
        backend: As for `checked`.

    Raises:
        InputError: As for `checked`.
        UsageError: The inputs do not fit, or the program returns no state or no loss.
    """
    runner = Runner(original)
    values = [runner.flat(each, "the inputs") for each in inputs]
    original, rewritten = at_inputs(runner, rewritten, values[0])
    before = interface(original.module, original.name)
    carried = carried_state(original.module, original.name)
    losses = [
        i for i, t in enumerate(before.results) if i not in carried and t.inexact and not t.shape
    ]
    if not losses:
        raise UsageError(
            "the program returns no loss: no scalar that is not state",
            location=original.name,
            hint="leave --steps out, or return the loss of the step",
        )
    courses = [
        _course(program, before, carried, values, steps, backend)
        for program in (original, rewritten)
    ]
    (first, last), (other, end) = courses
    found = [
        _loss(before.results[i].name, [s[i] for s in first], [s[i] for s in other]) for i in losses
    ]
    updates = [
        _update(before.arguments[a].name, values[0][a], last[r], end[r])
        for r, a in carried.items()
        if before.arguments[a].inexact
    ]
    return Training(
        steps,
        sorted(found, key=lambda each: -each.apart),
        sorted(updates, key=lambda each: -each.error),
    )


def _course(
    program: Program,
    before: Any,
    carried: Mapping[int, int],
    values: Sequence[Sequence[Array]],
    steps: int,
    backend: Backend,
) -> tuple[list[list[float]], list[Array]]:
    """Returns the scalars of all steps, NaN in place of tensors, and the results of the last."""
    run = partial(compiled, program, backend)
    session = Session(run, before, program.module, program.name)
    if session.state:
        session.converge(values[0], forget=True)
    scalars, last = list[list[float]](), list[Array]()
    for step in session.steps(values, steps, carried):
        last = step.values
        scalars.append([float(np.real(v)) if not v.shape else math.nan for v in last])
    return scalars, last


def _loss(name: str, first: Sequence[float], other: Sequence[float]) -> Loss:
    with np.errstate(all="ignore"):
        gaps = np.abs(np.subtract(first, other))
    same = np.isnan(first) & np.isnan(other) | np.equal(first, other)
    apart = _share(float(np.where(same, 0, gaps).max()), abs(first[0]))
    return Loss(name, first[0], (first[-1], other[-1]), apart)


def _update(name: str, start: Array, last: Array, end: Array) -> Update:
    with np.errstate(all="ignore"):
        change, other = (
            np.asarray(each, np.float64) - np.asarray(start, np.float64) for each in (last, end)
        )
        norms = [float(np.linalg.norm(each)) for each in (change, other, other - change)]
    return Update(name, _share(norms[1], norms[0], 1.0), _share(norms[2], norms[0]))


def _share(part: float, whole: float, none: float = 0.0) -> float:
    """Returns a part of a whole; infinity if it is not finite, or there is a part of nothing."""
    if part == whole == 0:
        return none
    share = part / whole if whole else math.inf
    return share if math.isfinite(share) else math.inf
