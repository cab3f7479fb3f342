"""The report on what is not finite in a program, as data, and its JSON form.

`docs/nan.md` describes the format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from scalify_hlo.commands.nan.flow import Node
from scalify_hlo.results.kinds import Count, Part, one_of
from scalify_hlo.results.model import dump, result
from scalify_hlo.results.shown import Shown

WORDS: Final = {"nan": ("NaN", "NaN"), "infinity": ("infinity", "infinities")}
"""The names of kinds of elements: of one element, and of several."""


@dataclass(frozen=True, slots=True)
class LoopTurn:
    """A turn of a loop.

    Attributes:
        name: The name stack of the loop.
        location: Its source location as ``file:line:column``; empty if unknown.
        turn: The number of the turn, counted from 0.
        turns: How many turns the loop has; None if that is not known before it runs.
    """

    name: str
    location: str
    turn: Count
    turns: Count | None

    def __str__(self) -> str:
        of = "" if self.turns is None else f" of {self.turns}"
        place = self.location or self.name
        return f"turn {self.turn}{of} of the loop{f' at {place}' if place else ''}"


@dataclass(frozen=True, slots=True)
class ValueRange:
    """The range of a tensor in one turn of the loops around it, and on one device.

    Attributes:
        op: The op that makes the tensor; empty for an argument of the program or of a body.
        name: The name stack of the op, or the name of the argument.
        location: The source location of the op; empty if unknown.
        dtype: The name of its element type in MLIR.
        shape: Its sizes; in a per-device computation, those of the part of one device.
        smallest: The smallest finite element; None if there is none, or if it is not measured: of
            tensors that have no floats or no elements.
        largest: The largest finite element; None as above.
        zeros: The number of zeros; None if it is not measured.
        infinities: The number of ±inf; None if it is not measured.
        nans: The number of NaN; None if it is not measured.
    """

    op: str
    name: str
    location: str
    dtype: str
    shape: tuple[Count, ...]
    smallest: float | None = None
    largest: float | None = None
    zeros: Count | None = None
    infinities: Count | None = None
    nans: Count | None = None

    @property
    def type(self) -> str:
        """The element type and the sizes, as text."""
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True)
class NonFiniteOp:
    """An op whose result is not finite, or an argument of the program that is not.

    Attributes:
        kind: The kind of the elements: ``nan`` or ``infinity``.
        source: Where they come from: ``operands`` if the op makes them, ``constant`` if it takes
            them from a constant, and ``argument`` for an argument of the program.
        op: The op; empty for an argument.
        name: The name stack of the op, or the name of the argument.
        location: Its source location as ``file:line:column``; empty if unknown.
        part: ``forward``, ``backward`` or ``other``.
        loops: The turn of each loop around it, from the outside in.
        device: The number of the device among those of the per-device computations around it; None
            if there are none.
        operands: The ranges of its operands.
        result: The range of its result.
    """

    kind: Annotated[str, one_of(WORDS)]
    source: Annotated[str, one_of(["operands", "constant", "argument"])]
    op: str
    name: str
    location: str
    part: Part
    loops: tuple[LoopTurn, ...]
    device: Count | None
    operands: tuple[ValueRange, ...]
    result: ValueRange

    @property
    def sentence(self) -> str:
        """The op and its result in one sentence, without its location."""
        count = self.result.nans if self.kind == "nan" else self.result.infinities
        one, several = WORDS[self.kind]
        number = several if count is None else f"{count} {one if count == 1 else several}"
        where = [f"in {turn}" for turn in reversed(self.loops)]
        where += [] if self.device is None else [f"on device {self.device}"]
        return ", ".join([self._made(number), *where])

    def _made(self, number: str) -> str:
        if self.source == "argument":
            return f"the argument {self.name!r} has {number}"
        if self.source == "constant":
            return f"{self.op} takes {number} from a constant"
        return f"{self.op} makes {number} from {self._operands()}"

    def _operands(self) -> str:
        if any(each.infinities for each in self.operands):
            return "infinities" if self.kind == "nan" else "operands with infinities"
        return "its operands" if self.result.nans is None else "finite operands"


@result("scalify-hlo-nan", version=1, indent=2)
@dataclass(frozen=True, slots=True)
class NanReport(Shown):
    """The origin of the NaN and infinities of a program.

    Attributes:
        program: The name of the program.
        hash: Its structural hash, as in a profile.
        recipe: The rewrite in words if the program was rewritten for the run; empty otherwise.
        steps: The number of steps that ran.
        step: The number of the step with the origins, counted from 0; None if there are none.
        results: The number of float results of the program.
        nan_results: The names of the results that have NaN in the last step that ran.
        infinite_results: The names of the results that have infinities then.
        origins: The op that made the first NaN, after the op that made the infinity that it comes
            from, if there is one; or the op that made the first infinity. Empty if all results are
            finite, or infinite by constants alone.
        elsewhere: The first ops that make elements which flow to no result that is not finite; the
            ranges of their operands are not measured.
    """

    DUMP = "commands.nan.nan_report.dump_nan_report"
    LINES = "cli.bisect_nan.lines"
    ROWS = "origins"

    program: str
    hash: str
    recipe: str
    steps: Count
    step: Count | None
    results: Count
    nan_results: tuple[str, ...]
    infinite_results: tuple[str, ...]
    origins: tuple[NonFiniteOp, ...]
    elsewhere: tuple[NonFiniteOp, ...] = ()

    def __repr__(self) -> str:
        return f"NanReport(program={self.program!r}, {self.summary})"

    @property
    def first(self) -> NonFiniteOp | None:
        """The first origin; None if there is none."""
        return self.origins[0] if self.origins else None

    @property
    def summary(self) -> str:
        """The results in one sentence."""
        lists = {"NaN": self.nan_results, "infinities": self.infinite_results}
        there = [f"{_listed(names)} with {what}" for what, names in lists.items() if names]
        ran = "" if self.steps == 1 else f" in {self.steps} steps"
        if there:
            return f"results that are not finite{ran}: {'; '.join(there)}"
        return f"all {self.results} float results are finite{ran}"


def _listed(names: tuple[str, ...], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def loops_of(node: Node, turns: Sequence[int]) -> tuple[LoopTurn, ...]:
    """Returns the loops around a value in given turns, from the outside in.

    Args:
        node: The value.
        turns: The turn of each loop.
    """
    loops = [around for around in node.around if around.is_loop]
    return tuple(
        LoopTurn(each.name, each.location, turn, each.turns)
        for each, turn in zip(loops, turns, strict=True)
    )


def dump_nan_report(report: NanReport) -> str:
    """Returns a report as JSON text.

    Args:
        report: The report.
    """
    return dump(report)
