"""Runs a program, and its rewrite if that is asked for, and returns statistics of their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from scalify_hlo.dialect.structure import structural_hash
from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.io.artifact import copy_module
from scalify_hlo.io.tensors import Array, interface
from scalify_hlo.observe.feeding import Feeding, carried_state
from scalify_hlo.observe.formats import Effects, effects, total
from scalify_hlo.observe.prepare import Prepared, Programs, Selection
from scalify_hlo.observe.readout import Readout
from scalify_hlo.observe.record import FormatStats, OperandStats, StatsRecord, VariantStats
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.passes.record import refuse_rewritten
from scalify_hlo.run.check import Run, compile_module, match
from scalify_hlo.run.given import Sample, exported_of, flat_arguments, readable
from scalify_hlo.run.many_devices import BY_HAND, run_on_devices
from scalify_hlo.run.refinement import refined

if TYPE_CHECKING:
    from scalify_hlo._compat import ir

TURNS: Final = ("pooled", "each")
_HINT: Final = "run the program as it is exported for the CPU"

Progress = Callable[[int, int], None]
"""Is told how many parts of the work are done, of how many."""


@dataclass(frozen=True)
class Request:
    """The options of a run.

    Attributes:
        steps: The number of steps that are run.
        carry: Whether results that are arguments of the next call are passed on to it.
        values: A pattern of the names of the values.
        turns: ``pooled`` or ``each``.
    """

    steps: int = 1
    carry: bool = False
    values: str = "*"
    turns: str = "pooled"

    def __post_init__(self) -> None:
        """Checks the numbers.

        Raises:
            UsageError: One of them is not possible.
        """
        if self.steps < 1:
            raise UsageError(
                f"{self.steps} steps cannot be run", hint="give a whole number of at least 1"
            )
        if self.turns not in TURNS:
            raise UsageError(
                f"turns cannot be {self.turns!r}{nearest(self.turns, TURNS)}",
                hint=f"they are: {', '.join(TURNS)}",
            )


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
        read = readable(program)
        self._exported = exported_of(program) or read.exported
        self._name, module = read.name, read.module
        self._hash = structural_hash(module)
        if options is not None and not options.again:
            refuse_rewritten(module, self._name)
        described = interface(module, self._name, dynamic=True)
        if not samples:
            raise UsageError(
                "there are no inputs to run the program with",
                hint="give an array for each argument",
            )
        each = [
            flat_arguments(described, exported_of(program), sample, _named(i, len(samples)))
            for i, sample in enumerate(samples)
        ]
        self._values = each
        if not all(tensor.static for tensor in described.arguments):
            _require_alike(each)
            module = refined(copy_module(module), [array.shape for array in each[0]])
        self._interface = interface(module, self._name)
        self._carried = carried_state(module, self._name) if request.carry else {}
        selection = Selection(request.values, each_turn=request.turns == "each")
        self._programs = Programs(module, self._name, selection)

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
            run = self._compiled(one.module)
            feeding = self._feeding(one)
            results: list[Array] = []
            for step in range(steps):
                done += 1
                progress(done, whole)
                values = self._values[step % len(self._values)]
                fed = feeding.next(values, results) if step else feeding.first(values)
                results = run(fed)
                readout.add(results)
                if not one.scaled:
                    found.append(effects_of(one, readout))
            done += 1
            progress(done, whole)
            variants.append(VariantStats(one.name, one.recipe, readout.values()))
            remarks |= dict.fromkeys(one.instrumented.remarks)
        operands = operand_stats(self._programs.original, found)
        return StatsRecord(
            self._name,
            self._hash,
            tuple(range(steps)),
            self._request.turns,
            tuple(variants),
            operands,
            tuple(remarks),
        )

    def _compiled(self, module: ir.Module) -> Run:
        if not _divides(module):
            return compile_module(module, self._name, hint=_HINT)
        return run_on_devices(self._exported, module, self._name)

    def _feeding(self, one: Prepared) -> Feeding:
        original = self._interface
        after = interface(one.module, self._name)
        count = len(after.results) - one.instrumented.count
        after = type(after)(after.arguments, after.results[:count])
        if one.report is not None and one.report.scaling_state is not None:
            raise UsageError(
                f"the recipe {one.name} carries scales from step to step, of which a run knows "
                "none at first",
                location=self._name,
                hint="give a recipe that takes scales from the step itself, such as fp8-current",
            )
        if one.report is None:
            return Feeding.same(original, self._carried)
        return Feeding(match(original, after, self._name), self._carried)


def _named(number: int, count: int) -> str:
    return "the inputs" if count == 1 else f"inputs {number + 1}"


def _require_alike(samples: Sequence[Sequence[Array]]) -> None:
    """Refuses inputs of several shapes, for which there would be several programs."""
    shapes = [[array.shape for array in sample] for sample in samples]
    for number, each in enumerate(shapes[1:], 2):
        if each != shapes[0]:
            raise UsageError(
                f"inputs {number} have other shapes than the first",
                hint="give inputs of the same shapes, or run each by itself",
            )


def _divides(module: ir.Module) -> bool:
    """Whether a program divides its data by hand among devices."""
    from scalify_hlo._compat import ir as mlir

    found: list[str] = []

    def visit(op: mlir.Operation) -> mlir.WalkResult:
        if op.name == BY_HAND:
            found.append(op.name)
            return mlir.WalkResult.INTERRUPT
        return mlir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return bool(found)


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
