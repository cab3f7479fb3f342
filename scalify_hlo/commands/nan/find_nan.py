"""Finds the op that makes the first NaN or infinity of a program, in two compiled runs.

The first program returns a flag of each value. The second returns the ranges of the operands of the
ops that were found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Final

from scalify_hlo._compat import ir
from scalify_hlo.commands.nan.flow import Flow
from scalify_hlo.commands.nan.nan_report import NanReport, NonFiniteOp, ValueRange, loops_of
from scalify_hlo.commands.nan.nonfinite import Events, Flagged, flag_values, measure_ranges
from scalify_hlo.commands.nan.origins import Origin, Origins
from scalify_hlo.commands.stats.numbering import inline_numbered, number_ops
from scalify_hlo.commands.stats.prepare import for_module
from scalify_hlo.commands.stats.values import Scan, Watched, name_and_place
from scalify_hlo.ir.functions import entry
from scalify_hlo.ir.value_map import ValueMap
from scalify_hlo.passes.legalize import LegalizePass
from scalify_hlo.passes.pipeline import Options, rewrite_module, run_passes
from scalify_hlo.program.artifact import copy_module
from scalify_hlo.program.record import described
from scalify_hlo.program.tensors import Array, interface
from scalify_hlo.program.wellformed import located
from scalify_hlo.recipes.fields import Checked, Count, names
from scalify_hlo.run.given import Sample
from scalify_hlo.run.runner import Progress, Runner, untold
from scalify_hlo.run.session import carried_state

ONLY: Final = {"any": ("nan", "infinity"), "nan": ("nan",), "inf": ("infinity",)}
"""The kinds of elements that a search is for, by the name of the option."""
Only = Annotated[str, names(*ONLY)]


@dataclass(frozen=True)
class Search(Checked):
    """The options of a search.

    Attributes:
        steps: The most steps that are run; the search ends at the first with an origin.
        carry: Whether results that are arguments of the next call are passed on to it.
        only: ``any``, ``nan`` or ``inf``.
        anywhere: Whether ops are found too whose NaN and infinities flow to no result.
    """

    steps: Count = 1
    carry: bool = False
    only: Only = "any"
    anywhere: bool = False


def find_nan(
    program: Any,
    samples: Sequence[Sample],
    search: Search | None = None,
    options: Options | None = None,
    progress: Progress = untold,
) -> NanReport:
    """Finds the first NaN or infinity; see `scalify_hlo.api.find_nan`.

    Args:
        program: As for `calibrate`, or a `Program`.
        samples: The arguments of the first step, and those of further steps.
        search: What is looked for.
        options: The options of a rewrite, whose values are searched; None for the program itself.
        progress: Is told how far the work is.
    """
    again = options is None or options.again
    search = search or Search()
    finding = _Finding(Runner(program, samples, search.steps, again=again), search, options)
    return finding.run(progress)


class _Finding:
    """A search in one program.

    Args:
        runner: The program and its arguments.
        search: What is looked for.
        options: The options of a rewrite; None for none.
    """

    def __init__(self, runner: Runner, search: Search, options: Options | None) -> None:
        self._runner, self._search = runner, search
        self._recipe = "" if options is None else described(options)
        self._carried = carried_state(runner.module, runner.name) if search.carry else {}
        module = copy_module(runner.module)
        if options is not None:
            with located(runner.name):
                rewrite_module(module, for_module(options, runner.hash, module))
        self._names = [tensor.name for tensor in interface(module, runner.name).results]
        number_ops(module, runner.name)
        inline_numbered(module, runner.name)
        self._base = module

    def run(self, progress: Progress) -> NanReport:
        """Runs steps until one has an origin, and describes it."""
        steps, kinds = self._search.steps, ONLY[self._search.only]
        runner = self._runner
        flagging = Instrumented(self._base, runner.name)
        flagged = flagging.flag()
        session = runner.session(flagging.module, flagged.added.count)
        progress(0, steps + 1)
        for number, step in enumerate(session.steps(runner.values, steps, self._carried)):
            origins = Origins(flagging.flow, events := flagged.read(step.all))
            found = origins.of_results(kinds)
            elsewhere = [] if found else origins.anywhere(kinds)
            if found or (elsewhere and self._search.anywhere):
                break
            progress(number + 1, steps + 1)
        progress(steps, steps + 1)
        ops = [flagging.described(origin, events) for origin in found or elsewhere]
        if found or self._search.anywhere:
            measuring = Instrumented(self._base, runner.name)
            ops = measuring.measured(found or elsewhere, ops, step.taken, runner)
        return NanReport(
            program=runner.name,
            hash=runner.hash,
            recipe=self._recipe,
            steps=number + 1,
            step=number if found or (elsewhere and self._search.anywhere) else None,
            results=sum(number is not None for number in flagging.flow.results),
            nan_results=self._named(origins.results("nan")),
            infinite_results=self._named(origins.results("infinity")),
            origins=tuple(ops) if found else (),
            elsewhere=() if found else tuple(ops),
        )

    def _named(self, numbers: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._names[number] for number in numbers)


class Instrumented:
    """A copy of a program, its values, and their data flow.

    Args:
        base: The program, in which all calls were inlined.
        name: Its name in diagnostics.

    Attributes:
        module: The copy.
        flow: The data flow of the copy, as it was before it was edited.
    """

    def __init__(self, base: ir.Module, name: str) -> None:
        self.module, self._name = copy_module(base), name
        self._main = main = entry(self.module)
        with self.module.context, ir.Location.unknown():
            every = Scan(main, name).values()
            # The arguments of bodies are values before them, of which the flags are known.
            self._values = [one for one in every if one.kind != "carry"]
            self._known = ValueMap((one.value, one) for one in every)
            self.flow = Flow(main, name, self._values)

    def flag(self) -> Flagged:
        """Makes the program return the flags of its values."""
        with self.module.context, ir.Location.unknown():
            flagged = flag_values(self._main, self._values)
        self._legalize()
        return flagged

    def _legalize(self) -> None:
        with located(self._name):
            run_passes(self.module, [LegalizePass()])

    def described(self, origin: Origin, events: Mapping[str, Events]) -> NonFiniteOp:
        """Describes an origin without ranges."""
        node = self.flow.nodes[origin.number]
        one = self._watched(origin)
        event = events[one.id][origin.kind]
        source = "argument" if one.kind == "argument" else "operands"
        devices = any(around.devices > 1 for around in node.around)
        return NonFiniteOp(
            kind=origin.kind,
            source="constant" if origin.from_constant else source,
            op=one.op,
            name=one.name,
            location=one.location,
            part=one.part,
            loops=loops_of(node, event.turns),
            device=event.device if devices else None,
            operands=(),
            result=ValueRange(one.op, one.name, one.location, one.dtype, one.shape),
        )

    def _watched(self, origin: Origin) -> Watched:
        found = self.flow.nodes[origin.number].watched
        if found is None:
            raise LookupError(f"nothing is known of node {origin.number}")
        return found

    def measured(
        self,
        found: Sequence[Origin],
        ops: Sequence[NonFiniteOp],
        fed: Sequence[Array],
        runner: Runner,
    ) -> list[NonFiniteOp]:
        """Runs the program on arguments, and returns ops with the ranges of their operands.

        Args:
            found: The origins.
            ops: Their descriptions.
            fed: The arguments.
            runner: The original.
        """
        with self.module.context, ir.Location.unknown():
            watched = [self._watched(origin) for origin in found]
            tensors = [[*_operands(one), one.value] for one in watched]
            plain = [[self._range(value) for value in values] for values in tensors]
            asked = list(zip(watched, (o.kind for o in found), tensors, strict=True))
            ranged = measure_ranges(self._main, asked)
        self._legalize()
        results = runner.compiled(self.module)(fed)
        measured = []
        for number, op in enumerate(ops):
            pairs = zip(plain[number], ranged.read(results, number, op.device or 0), strict=True)
            *operands, result = (v if e is None else replace(v, **asdict(e)) for v, e in pairs)
            measured.append(replace(op, operands=tuple(operands), result=result))
        return measured

    def _range(self, value: ir.Value) -> ValueRange:
        """A value without its range."""
        dtype, shape = str(value.type), ()
        if isinstance(value.type, ir.RankedTensorType):
            dtype, shape = str(value.type.element_type), tuple(value.type.shape)
        one = self._known.get(value)
        if one is not None:
            made = "" if one.kind == "carry" else one.op
            return ValueRange(made, one.name, one.location, dtype, shape)
        if isinstance(value.owner, ir.Block):
            return ValueRange("", "", "", dtype, shape)
        op = value.owner.operation
        return ValueRange(op.name, *name_and_place(op, self._name), dtype, shape)


def _operands(one: Watched) -> list[ir.Value]:
    owner = one.value.owner
    return [] if isinstance(owner, ir.Block) else list(owner.operation.operands)
