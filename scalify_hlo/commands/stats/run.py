"""Runs a program, or a function that is called, and returns statistics of their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

from scalify_hlo.commands.stats.formats import Effects, effects, total
from scalify_hlo.commands.stats.prepare import Prepared, Programs, Selection
from scalify_hlo.commands.stats.readout import Readout
from scalify_hlo.commands.stats.record import FormatStats, OperandStats, StatsRecord, VariantStats
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.program.tensors import Array
from scalify_hlo.recipes.fields import Checked, Count, names, values_of
from scalify_hlo.run.given import Sample
from scalify_hlo.run.runner import Progress, Runner, untold
from scalify_hlo.run.session import carried_state

Turns = Annotated[str, names("pooled", "each")]


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
    progress: Progress = untold,
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
    return collection.run(progress)


class _Collection:
    """Runs of an original and of its rewrite."""

    def __init__(
        self, program: Any, samples: Sequence[Sample], request: Request, options: Options | None
    ) -> None:
        self._request, self._options = request, options
        again = options is None or options.again
        self._runner = runner = Runner(program, samples, request.steps, again=again)
        self._carried = carried_state(runner.module, runner.name) if request.carry else {}
        selection = Selection(request.values, each_turn=request.turns == "each")
        self._programs = Programs(runner.module, runner.name, selection, runner.hash)

    def run(self, progress: Progress) -> StatsRecord:
        """Runs all steps of all programs."""
        steps, options = self._request.steps, self._options
        prepared = [self._programs.original]
        if options is not None:
            prepared.append(self._programs.rewritten(options))
        whole, done = len(prepared) * (steps + 1), 0
        progress(done, whole)
        variants: list[VariantStats] = []
        found: list[dict[str, Effects]] = []
        remarks: dict[str, None] = {}
        for one in prepared:
            readout = Readout(one.instrumented, scaled=one.scaled)
            session = self._runner.session(one.module, one.instrumented.added.count)
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
    keys = dict.fromkeys(key for _, key in one.operands)
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
    return tuple(_operand(found, [step[key] for step in steps]) for found, key in one.operands)


def _operand(operand: OperandStats, steps: Sequence[Effects]) -> OperandStats:
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
    return replace(operand, sample=sample, formats=formats)


_EVERY: Final = 100


class Stats:
    """Collects statistics of the values of a function every few of its calls.

    It is an argument of `scalify`. The calls that are measured run another program, which returns
    statistics as well; it is compiled when it runs first. All other calls run the program that runs
    without statistics.
    Calls inside of another trace, such as in a function under `jax.jit`, are not measured.

    Args:
        every: The interval: calls 0, `every`, 2 · `every` ... are measured.
        values: A pattern of name stacks and of argument names, such as ``*attention*``.
        turns: ``pooled`` if the turns of a loop share a record; ``each`` if each has its own.
        sink: Called with each new record; None to only keep it.
        keep: The number of the last records that are kept; None for all.

    Attributes:
        records: The records, the last call last. Each has one variant, the rewritten function, and
            its ``steps`` has the number of the call.
        calls: The number of calls so far.

    Raises:
        UsageError: An argument is not possible.

    Example:
        >>> stats = Stats(every=2)
        >>> double = scalify(lambda x: x + x, stats=stats)
        >>> for _ in range(4):
        ...     y = double(as_scaled_array(jnp.float32([3.0, 4.0])))
        >>> [record.steps for record in stats.records]
        [(0,), (2,)]
        >>> stats.records[-1].variants[0].values[-1].amax
        (4.0,)
    """

    def __init__(
        self,
        every: int = _EVERY,
        *,
        values: str = "*",
        turns: str = "pooled",
        sink: Callable[[StatsRecord], None] | None = None,
        keep: int | None = None,
    ) -> None:
        for name, number in (("every", every), ("keep", keep)):
            if number is not None:
                values_of(Count).read(name, number, spelt=False)
        request = Request(values=values, turns=turns)
        self.selection = Selection(values, each_turn=request.turns == "each")
        self.records: list[StatsRecord] = []
        self.calls = 0
        self._every, self._turns, self._sink, self._keep = every, turns, sink, keep

    @property
    def is_due(self) -> bool:
        """Whether the next call is measured."""
        return self.calls % self._every == 0

    def add(self, about: tuple[Prepared, str, str], results: Sequence[Array]) -> None:
        """Adds the record of a call.

        Args:
            about: The program that ran, the name of the function, and the structural hash of the
                function.
            results: The results with statistics.
        """
        prepared, name, hash_ = about
        readout = Readout(prepared.instrumented, scaled=True)
        readout.add(results)
        record = StatsRecord(
            name,
            hash_,
            (self.calls,),
            self._turns,
            (VariantStats(prepared.name, prepared.recipe, readout.values()),),
            operand_stats(prepared, [effects_of(prepared, readout)]),
            tuple(prepared.instrumented.remarks),
        )
        self.records = [*self.records, record][-(self._keep or 0) :]
        if self._sink is not None:
            self._sink(record)
