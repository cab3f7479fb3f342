"""Finds the op that makes the first NaN or infinity of a program, in two compiled runs.

The first program returns a flag of each value. The second returns the ranges of the operands of the
ops that were found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from scalify_hlo._compat import ir
from scalify_hlo.analysis.depth import levels_of
from scalify_hlo.deep import run_deep
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.dialect.structure import structural_hash
from scalify_hlo.dialect.value_map import ValueMap
from scalify_hlo.errors import InputError, require_choice, require_count
from scalify_hlo.io.artifact import copy_module
from scalify_hlo.io.tensors import Array, interface
from scalify_hlo.io.wellformed import located
from scalify_hlo.observe.feeding import Feeding, carried_state
from scalify_hlo.observe.flow import Flow
from scalify_hlo.observe.nan_report import NanReport, NonFiniteOp, ValueRange, loops_of
from scalify_hlo.observe.nonfinite import Events, Flagged, flag_values
from scalify_hlo.observe.numbering import inline_numbered, number_ops
from scalify_hlo.observe.origins import Origin, Origins
from scalify_hlo.observe.ranges import Extent, measurable, measure_ranges
from scalify_hlo.observe.source import Source
from scalify_hlo.observe.values import Scan, Watched, name_and_place
from scalify_hlo.passes.legalize import LegalizePass
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import Options, rewrite_module, run_passes
from scalify_hlo.passes.record import described, refuse_rewritten
from scalify_hlo.run.added import first_state, with_state, without_state
from scalify_hlo.run.check import match
from scalify_hlo.run.given import Sample

ONLY: Final = {"any": ("nan", "infinity"), "nan": ("nan",), "inf": ("infinity",)}
"""The kinds of elements that a search is for, by the name of the option."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Search:
    """The options of a search.

    Attributes:
        steps: The most steps that are run; the search ends at the first with an origin.
        carry: Whether results that are arguments of the next call are passed on to it.
        only: ``any``, ``nan`` or ``inf``.
        anywhere: Whether ops are found too whose NaN and infinities flow to no result.
    """

    steps: int = 1
    carry: bool = False
    only: str = "any"
    anywhere: bool = False

    def __post_init__(self) -> None:
        """Checks the options.

        Raises:
            UsageError: One of them is not possible.
        """
        require_count("steps", self.steps)
        require_choice("only", self.only, ONLY)


def find_nan(
    program: Any,
    samples: Sequence[Sample],
    search: Search | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> NanReport:
    """Finds the first NaN or infinity; see `scalify_hlo.api.find_nan`.

    Args:
        program: As for `calibrate`, or a `Program`.
        samples: The arguments of the first step, and those of further steps.
        search: What is looked for.
        options: The options of a rewrite, whose values are searched; None for the program itself.
        progress: Is told how far the work is.
    """
    finding = _Finding(Source(program, samples), search or Search(), options)
    return finding.run(progress or (lambda _, __: None))


class _Finding:
    """A search in one program.

    Args:
        source: The program and its arguments.
        search: What is looked for.
        options: The options of a rewrite; None for none.
    """

    def __init__(self, source: Source, search: Search, options: Options | None) -> None:
        self._source, self._search = source, search
        self._recipe = "" if options is None else described(options)
        carried = carried_state(source.module, source.name) if search.carry else {}
        module = copy_module(source.module)
        self._state: dict[int, Array] = {}
        if options is not None:
            self._rewrite(module, options)
        after = interface(module, source.name)
        plain = without_state(after, self._state)
        self._feeding = Feeding(match(source.interface, plain, source.name), dict(carried))
        self._names = [tensor.name for tensor in after.results]
        self._base = flat(module, source.name)

    def _rewrite(self, module: ir.Module, options: Options) -> None:
        source, profile = self._source, options.profile
        if not options.again:
            refuse_rewritten(module, source.name)
        if profile is not None:
            profile.require(source.hash)
            profile = replace(profile, program=structural_hash(module))
        with located(source.name):
            rewrite_module(module, replace(options, profile=profile))
        self._state = first_state(module, interface(module, source.name))

    def run(self, progress: Progress) -> NanReport:
        """Runs steps until one has an origin, and describes it."""
        steps, kinds = self._search.steps, ONLY[self._search.only]
        flagging = Instrumented(self._base, self._source.name)
        flagged = flagging.flag()
        run = self._source.compiled(flagging.module)
        results: list[Array] = []
        for step in range(steps):
            progress(step, steps + 1)
            fed = self._fed(step, results)
            results = run(fed)
            origins = Origins(flagging.flow, events := flagged.read(results))
            found = origins.of_results(kinds)
            elsewhere = [] if found else origins.anywhere(kinds)
            if found or (elsewhere and self._search.anywhere):
                break
        progress(steps, steps + 1)
        ops = flagging.describe(found or elsewhere, events)
        if found or self._search.anywhere:
            ops = self._measured(found or elsewhere, ops, fed)
        return NanReport(
            program=self._source.name,
            hash=self._source.hash,
            recipe=self._recipe,
            steps=step + 1,
            step=step if found or (elsewhere and self._search.anywhere) else None,
            results=sum(number is not None for number in flagging.flow.results),
            nan_results=self._named(origins.results("nan")),
            infinite_results=self._named(origins.results("infinity")),
            origins=tuple(ops) if found else (),
            elsewhere=() if found else tuple(ops),
        )

    def _named(self, numbers: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._names[number] for number in numbers)

    def _fed(self, step: int, results: Sequence[Array]) -> list[Array]:
        """The arguments of a step; the state of delayed scales is in its place among them."""
        values = self._source.values[step % len(self._source.values)]
        fed = self._feeding.next(values, results) if step else self._feeding.first(values)
        if step and self._state:
            count = len(self._names)
            new = results[count - len(self._state) : count]
            self._state = dict(zip(sorted(self._state), new, strict=True))
        return with_state(fed, self._state)

    def _measured(
        self, found: Sequence[Origin], ops: Sequence[NonFiniteOp], fed: Sequence[Array]
    ) -> list[NonFiniteOp]:
        """The ops with the ranges of their operands, from the second run."""
        measuring = Instrumented(self._base, self._source.name)
        return measuring.measured(found, ops, fed, self._source)


def flat(module: ir.Module, name: str) -> ir.Module:
    """Inlines the calls of a program, which is edited, and returns it.

    Args:
        module: The program.
        name: Its name in diagnostics.

    Raises:
        InputError: A function calls itself.
    """
    with located(name):
        run_passes(module, [NormalizePass()])

    def inline() -> None:
        with module.context, ir.Location.unknown():
            number_ops(module.operation)
            inline_numbered(module.operation)

    run_deep(inline, levels_of(module.operation))
    return module


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
        main = main_function(self.module.operation)
        if main is None or not main.regions[0].blocks:
            raise InputError("the module has no function `main`", location=name)
        self._main = main
        with self.module.context, ir.Location.unknown():
            count = len(attributes.function_type(main).inputs)
            every = Scan(main, name, {}, [f"arg{i}" for i in range(count)]).values()
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

    def describe(self, found: Sequence[Origin], events: Mapping[str, Events]) -> list[NonFiniteOp]:
        """Describes origins without ranges."""
        return [self._described(origin, events) for origin in found]

    def _described(self, origin: Origin, events: Mapping[str, Events]) -> NonFiniteOp:
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
        source: Source,
    ) -> list[NonFiniteOp]:
        """Runs the program on arguments, and returns ops with the ranges of their operands.

        Args:
            found: The origins.
            ops: Their descriptions.
            fed: The arguments.
            source: The original.
        """
        with self.module.context, ir.Location.unknown():
            watched = [self._watched(origin) for origin in found]
            tensors = [[*_operands(one), one.value] for one in watched]
            plain = [[self._range(value) for value in values] for values in tensors]
            measurable_ = [[v for v in values if measurable(v)] for values in tensors]
            kept = [[measurable(v) for v in values] for values in tensors]
            asked = list(zip(watched, (o.kind for o in found), measurable_, strict=True))
            ranged = measure_ranges(self._main, asked)
        self._legalize()
        results = source.compiled(self.module)(fed)
        measured = []
        for number, op in enumerate(ops):
            extents = ranged.read(results, number, op.device or 0)
            *operands, result = _filled(plain[number], kept[number], extents)
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


def _filled(
    plain: Sequence[ValueRange], kept: Sequence[bool], extents: Sequence[Extent] | None
) -> list[ValueRange]:
    """Values with the ranges of those that were measured."""
    rest = iter(extents or ())
    found = []
    for value, measured in zip(plain, kept, strict=True):
        extent = next(rest, None) if measured else None
        if extent is None:
            found.append(value)
            continue
        found.append(
            replace(
                value,
                smallest=extent.smallest,
                largest=extent.largest,
                zeros=extent.zeros,
                infinities=extent.infinities,
                nans=extent.nans,
            )
        )
    return found
