"""Runs a program, and its rewrite if that is asked for, and returns statistics of their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from scalify_hlo.commands.stats.formats import Effects, effects, total
from scalify_hlo.commands.stats.prepare import Prepared, Programs, Selection
from scalify_hlo.commands.stats.readout import Readout
from scalify_hlo.commands.stats.record import FormatStats, OperandStats, StatsRecord, VariantStats
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.recipes.fields import Checked, Count, names
from scalify_hlo.run.given import Sample
from scalify_hlo.run.runner import Runner
from scalify_hlo.run.session import carried_state

Turns = Annotated[str, names("pooled", "each")]

Progress = Callable[[int, int], None]
"""Is told how many parts of the work are done, of how many."""


@dataclass(frozen=True)
class Request(Checked):
    """The options of a run.

    Attributes:
        steps: The number of steps that are run.
        carry: Whether results that are arguments of the next call are passed on to it.
        values: A pattern of the names of the values.
        turns: ``pooled`` or ``each``.
    """

    steps: Count = 1
    carry: bool = False
    values: str = "*"
    turns: Turns = "pooled"


def collect_stats(
    program: Any,
    samples: Sequence[Sample],
    request: Request | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> StatsRecord:
    """Runs a program with statistics; see `scalify_hlo.api.stats`.

    Args:
        program: As for `calibrate`, or a `Program`.
        samples: The arguments of the first step, and those of further steps.
        request: What is asked for.
        options: The options of a rewrite that runs too; None for the original alone.
        progress: Is told how far the work is.
    """
    collection = _Collection(program, samples, request or Request(), options)
    return collection.run(progress or (lambda _, __: None))


class _Collection:
    """Runs of an original and of its rewrite."""

    def __init__(
        self, program: Any, samples: Sequence[Sample], request: Request, options: Options | None
    ) -> None:
        self._request, self._options = request, options
        again = options is None or options.again
        self._runner = runner = Runner(program, samples, again=again)
        self._carried = carried_state(runner.module, runner.name) if request.carry else {}
        selection = Selection(request.values, each_turn=request.turns == "each")
        self._programs = Programs(runner.module, runner.name, selection)

    def run(self, progress: Progress) -> StatsRecord:
        """Runs all steps of all programs."""
        steps, options = self._request.steps, self._options
        prepared = [self._programs.original]
        if options is not None:
            prepared.append(self._programs.rewritten(options))
        whole, done = len(prepared) * (steps + 1), 0
        variants: list[VariantStats] = []
        found: list[dict[str, Effects]] = []
        remarks: dict[str, None] = {}
        for one in prepared:
            readout = Readout(one.instrumented, scaled=one.scaled)
            session = self._runner.session(one.module, one.instrumented.count)
            done += 1
            progress(done, whole)
            if session.state:
                session.converge(self._runner.values[0], forget=True)
            for step in session.steps(self._runner.values, steps, self._carried):
                readout.add(step.all)
                if not one.scaled:
                    found.append(effects_of(one, readout))
                done += 1
                progress(done, whole)
            variants.append(VariantStats(one.name, one.recipe, readout.values()))
            remarks |= dict.fromkeys(one.instrumented.remarks)
        operands = operand_stats(self._programs.original, found)
        return StatsRecord(
            self._runner.name,
            self._runner.hash,
            tuple(range(steps)),
            self._request.turns,
            tuple(variants),
            operands,
            tuple(remarks),
        )


def effects_of(one: Prepared, readout: Readout) -> dict[str, Effects]:
    """Returns the effects of formats on each sample of a run, by its key."""
    keys = dict.fromkeys(operand.sample for operand in one.operands)
    return {
        key: total(effects(rows, amax) for rows, amax in readout.samples.get(key, ()))
        for key in keys
    }


def operand_stats(
    one: Prepared, steps: Sequence[Mapping[str, Effects]]
) -> tuple[OperandStats, ...]:
    """Returns the statistics of the operands of matmuls over several steps.

    Args:
        one: The program.
        steps: The effects on each sample in each step.
    """
    return tuple(_operand(place, [step[place.sample] for step in steps]) for place in one.operands)


def _operand(place: Any, steps: Sequence[Effects]) -> OperandStats:
    keys = dict.fromkeys(key for step in steps for key in step)
    formats = tuple(
        FormatStats(
            format_,
            scaling,
            tuple(e.snr_db for e in found),
            tuple(e.flushed / max(e.nonzero, 1) for e in found),
            tuple(e.clipped / max(e.count, 1) for e in found),
        )
        for format_, scaling in keys
        for found in [[step[format_, scaling] for step in steps if step]]
    )
    sample = max((e.count for step in steps for e in step.values()), default=0)
    return OperandStats(
        place.name, place.value, place.op, place.location, place.part, place.role,
        place.contracted, sample, formats,
    )  # fmt: skip
