"""The walk that splits every float value of a module into data and scale.

It walks over each function in program order. It visits an op if the scale of an operand is
known. The rule of the op edits it in place, and sets the scales of its results. A private function
is copied for each combination of scales of its calls. Run-time scales become extra arguments, and
the scales of results are monomials of them, without any IR.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.algebra.runtime_size import powers_of
from scalify_hlo.algebra.scale import ONE, RuntimeScale, Scaled, ScaleInfo
from scalify_hlo.casts.numbers import clear_numbers
from scalify_hlo.dataflow.frames import Named, operations, with_end
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.formats import has_narrow
from scalify_hlo.ir.functions import (
    callee_of,
    copied,
    fresh_name,
    target_of,
    terminator,
)
from scalify_hlo.ir.ragged import is_composite
from scalify_hlo.ir.traits import BODIES, CALLS, ROUNDS, SOURCES, WITH_REGIONS
from scalify_hlo.ir.value_map import erase, function_tables, run_native
from scalify_hlo.recipes.model import WIDE, Recipe
from scalify_hlo.report.model import Report, kind_of
from scalify_hlo.rules import custom, layers, marked_ops, scalars
from scalify_hlo.rules import marker_ops as markers
from scalify_hlo.rules.activations import Activations
from scalify_hlo.rules.chlo import CONSTANTS, EXPANDED
from scalify_hlo.rules.families import opaque
from scalify_hlo.rules.isolated import finish, placeholder, runtimes, translated
from scalify_hlo.rules.parameters import Parameters, parameters_of, returned
from scalify_hlo.rules.recurrence import has_narrow_values, make_narrow_values, writing_functions
from scalify_hlo.rules.registry import CUSTOM_CALLS, NEUTRAL, Apply
from scalify_hlo.rules.scale_rewriter import Notes, ScaleRewriter, Settings
from scalify_hlo.rules.statistics import Devices
from scalify_hlo.rules.table import RULES
from scalify_hlo.rules.untrusted import rescaled_by_rms
from scalify_hlo.scaling.boundary import Boundary
from scalify_hlo.scaling.callees import (
    Callee,
    casting_functions,
    drop_untaken,
    marked_functions,
    new_call,
    return_scales,
    runs_of,
    take_scales,
)
from scalify_hlo.scaling.input_sizes import measure
from scalify_hlo.scaling.last_ops import LastOps
from scalify_hlo.transforms.chlo import expand_one

Key: TypeAlias = tuple[Hashable, ...]
"""The name of a function, the devices that run it, and the scales of its operands, in which
run-time scales are numbered."""

Watch: TypeAlias = Callable[[ir.Operation, ScaleRewriter], None]


class Propagation:
    """The walk over a module.

    If data become narrow, values that were read at scale 1 are assumed to be near unit, and sizes
    are predicted from them.

    Args:
        module: A ``builtin.module``.
        recipe: The options of the rewrite.
        index: Analyses of the module.
        report: The report, which the walk fills.
        annotate: Whether each op gets a ``scalify.forms`` attribute; see `PropagatePass`.
        probe: Whether the program gets probes; see `PropagatePass`.
        watch: A function that is called after the rule of each op that has a ``scalify.value``.
    """

    def __init__(
        self,
        module: ir.Operation,
        recipe: Recipe,
        index: ModuleIndex,
        report: Report,
        annotate: bool = False,
        probe: bool = False,
        watch: Watch | None = None,
    ) -> None:
        narrow = recipe.narrow_data
        self._narrow, self._probe, self._watch = narrow, probe, watch
        self._listing = index.listing
        self._functions = functions_in(module)
        self._marked = marked_functions(self._functions, index)
        casting = narrow or bool(self._marked) or (bool(index.own) and index.asked)
        # The rules of these ops check whether scales are known.
        neutral = {name for name, rule in RULES.items() if rule.apply in NEUTRAL}
        # Constants, and ops whose regions may capture values, are always visited.
        self._always = neutral.union(WITH_REGIONS, SOURCES, BODIES | ROUNDS if casting else ())
        self._expanded = {name for name, rule in RULES.items() if rule.family == EXPANDED}
        self._recipe = recipe
        self._index, self._report = index, report
        self._annotate = annotate
        self._on_data = recipe.epsilon == "data"
        self._activations = Activations() if narrow else None
        marks = RULES.keys() if index.marked is None else index.marked | {layers.DOT}
        self._sized = frozenset(marks if narrow else ())  # Ops whose size a layer determines.
        self._callees: dict[Key, Callee] = {}
        self._casting = casting_functions(self._functions)
        self._settings = Settings(
            recipe,
            narrow=narrow,
            tracks_uncertainty=narrow or bool(self._casting),
            marked=self._marked,
            casting=self._casting,
            writing=writing_functions(self._functions),
            probed=probe,
            own=has_narrow(module) if index.own is None else index.own,
        )
        self._notes = Notes(report.remarks, report.given_up, report.untrusted, report.casts)
        self._module = module

    @function_tables()
    def main(self, function: ir.OpView) -> None:
        """Rewrites the entry function."""
        block = function.regions[0].blocks[0]
        wide = False
        if not self._settings.tracks_uncertainty:
            narrow = self._has_narrow_values(block)
            # Without a listing, the formats of the arguments were not looked at.
            wide = self._listing is not None and not narrow
            self._settings = replace(self._settings, tracks_uncertainty=narrow)
        pairs = attributes.any_argument_has(function, attributes.PAIR)
        self._settings = replace(self._settings, asked=pairs or self._index.asked)
        top = placeholder(block)
        rewriter = self._rewriter(top, self._notes)
        rewriter.values.wide = wide
        boundary = Boundary(function, rewriter, top)
        boundary.enter()
        rewriter.set_input_uncertainty()
        if self._annotate or self._narrow or self._marked or boundary.scaled or self._probe:
            self._walk_main(function, rewriter)
        boundary.leave()
        finish(rewriter, top)
        measured = measure(function, rewriter.runtime_scales.awaited)
        self._report.sites += measured
        self._drop_replaced()
        if self._recipe.untrusted == WIDE:
            clear_numbers(self._module)
        if self._marked:
            marked_ops.drop(self._module)
        self._notes.take_called()
        self._report.statistics += runs_of(self._notes.statistics, self._module)
        self._report.statistics += len(measured)
        self._report.arguments = boundary.arguments
        self._report.results = boundary.results
        self._callees.clear()  # Their rewriters refer to this walk, which would be a cycle.

    def _has_narrow_values(self, main: ir.Block) -> bool:
        """Whether `main` itself computes with narrow floats; its callees do not count."""
        if self._listing is None:
            return has_narrow_values([main])
        self._listing.note_formats()
        if not self._listing.wide:
            return True
        nests = (nest for nest in self._listing.nests if nest.name not in CALLS)
        return make_narrow_values(named for nest in nests for named in nest.inner)

    def _rewriter(
        self, top: ir.Operation, notes: Notes, devices: Devices | None = None
    ) -> ScaleRewriter:
        return ScaleRewriter(top, self._settings, notes, self._walk, devices=devices)

    def _walk_main(self, main: ir.OpView, rewriter: ScaleRewriter) -> None:
        """Visits the ops up to the last cast, and those after it whose operands are scaled."""
        ops = self._ops(main.regions[0].blocks[0])
        sized = any(attributes.result_pairs(main)) or self._annotate
        if sized or self._probe or self._watch or not self._narrow:
            self._visit_all(ops, rewriter)
            return
        wide = self._listing.wide_behind if self._listing is not None else 0
        after = LastOps(ops, self._functions, rewriter, wide)
        self._visit_all(ops[: after.start + 1], rewriter)
        if rewriter.runtime_scales.holds:
            self._visit_all(ops[after.start :], rewriter)
        else:
            after.walk(self._visit)

    def _walk(self, block: ir.Block, rewriter: ScaleRewriter) -> None:
        self._visit_all(with_end(block), rewriter)

    def _visit_all(self, ops: Sequence[Named], rewriter: ScaleRewriter) -> None:
        """Visits all ops of a sequence but the last."""
        for (name, op), (_, following) in pairwise(ops):
            self._visit(name, op, following, rewriter)

    def _ops(self, main: ir.Block) -> list[Named]:
        """Returns the ops of `main` and its terminator."""
        listed = self._listing.ops if self._listing is not None else []
        if not listed:
            return with_end(main)
        # The ops that divide arguments were inserted before the listed ops.
        before = operations(main, listed[0][1])
        end = terminator(main)
        return [*((op.name, op) for op in before), *listed, (end.name, end)]

    def _visit(
        self, name: str, op: ir.Operation, following: ir.Operation, rewriter: ScaleRewriter
    ) -> None:
        """Applies the rule of an op, given with its name and the next op."""
        rewriter.next = following
        if name in CALLS:
            self._call(op, rewriter)
            return
        if name == marked_ops.BARRIER and marked_ops.is_marked(op):
            markers.marked(op, rewriter)
            return
        if name in self._expanded and self._expand(name, op, following, rewriter):
            return
        if name in self._always or rewriter.concerns(op):
            if self._on_data and self._guards(op, rewriter):
                return
            numbered = self._probe or self._watch
            number = op.attributes.get(attributes.VALUE_NUMBER) if numbered else None
            if name in self._sized and len(op.attributes):
                op = self._visit_layer(name, op, rewriter)
            else:
                op = _apply(name, op, rewriter)
            while rewriter.unsure:
                rescaled_by_rms(rewriter.unsure.pop(), rewriter)
            if number is not None:
                op.attributes[attributes.VALUE_NUMBER] = number
                if self._watch:
                    self._watch(op, rewriter)
        if self._annotate:
            self._note(op, rewriter)

    def _expand(
        self, name: str, op: ir.Operation, following: ir.Operation, rewriter: ScaleRewriter
    ) -> bool:
        """Expands an op of CHLO with a scaled operand, or a constant, and visits the new ops."""
        if name not in CONSTANTS and not any(
            isinstance(info, Scaled) for info in rewriter.infos(list(op.operands))
        ):
            return False
        new = [(inner.name, inner) for inner in expand_one(op)]
        self._visit_all([*new, (following.name, following)], rewriter)
        return True

    def _visit_layer(self, name: str, op: ir.Operation, rewriter: ScaleRewriter) -> ir.Operation:
        """Applies the rule of an op that may be part of a layer, and the sizes of that layer."""
        activations = self._activations
        ends = activations if activations and activations.concern(op) else None
        if ends:
            ends.note(op, rewriter)
        op = _apply(name, op, rewriter)
        if name in layers.ENDS:
            layers.layered(op, name, rewriter)
        layers.certain(op, rewriter)
        if ends:
            ends.end(op, rewriter)
        return op

    def _guards(self, op: ir.Operation, rewriter: ScaleRewriter) -> bool:
        """Whether an op adds an epsilon to data near unit; if so, the op is rewritten."""
        return attributes.EPSILON in op.attributes and layers.epsilon_on_data(op, rewriter)

    def _note(self, op: ir.Operation, rewriter: ScaleRewriter) -> None:
        """Writes the scales of its results on an op, and counts them."""
        if rewriter.notes.trial:
            return
        infos = rewriter.infos(list(op.results))
        floats = [
            f for f, r in zip(infos, op.results, strict=True) if rewriter.format(r) is not None
        ]
        self._report.values.update(map(kind_of, floats))
        if any(info is not None for info in infos):
            texts = [ir.StringAttr.get("unscaled" if f is None else str(f)) for f in infos]
            op.attributes[attributes.FORMS] = ir.ArrayAttr.get(texts)

    def _call(self, op: ir.Operation, rewriter: ScaleRewriter) -> None:
        """Calls the copy of a function for the scales of the operands."""
        if custom.is_custom(op.operation):
            if rewriter.concerns(op.operation):
                custom.custom_scale(op, rewriter)
                return
            op = custom.plain(op)
        operands = list(op.operands)
        if self._narrow:
            for operand in operands:
                scalars.measure(operand, op.operation, rewriter)
        infos = rewriter.infos(operands)
        if self._narrow:
            infos = [f.roughly if isinstance(f, Scaled) else f for f in infos]
        scaled = any(isinstance(info, Scaled) for info in infos)
        rule = self._own_rule(op)
        if rule is not None or not (scaled or self._narrow or callee_of(op) in self._marked):
            if rule is not None:
                rule(op, rewriter)
            if self._annotate:
                self._note(op, rewriter)
            return
        callers = runtimes(infos)
        passed = parameters_of(infos, casting=callee_of(op) in self._casting)
        numbers = {runtime: i for i, runtime in enumerate(callers)}
        given = tuple(_key(info, numbers) for info in passed.infos)
        key = (callee_of(op), rewriter.devices, passed.key, given)
        if key not in self._callees:
            self._callees[key] = self._copy(callee_of(op), passed, rewriter.devices)
        callee = self._callees[key]
        rewriter.notes.called.append(callee.rewriter.notes)
        call = new_call(op, callee, rewriter, callers)
        back = dict(zip(callee.parameters, callers, strict=True))
        scales = list(call.results)[len(callee.results) :]
        inside = [Scaled(ONE, inner.size, inner.uncertainty) for inner in callee.computed]
        found = returned([*callee.results, *inside], callee.passed, passed)
        results, sizes = found[: len(callee.results)], found[len(callee.results) :]
        for inner, scale, size in zip(callee.computed, scales, sizes, strict=True):
            back[inner] = rewriter.runtime_scales.returned(
                scale, inner, size, depth=rewriter.depth, at=rewriter.next
            )
        for result, info in zip(call.results, results, strict=False):
            rewriter.set(result, translated(info, rewriter, callee.rewriter, back))
        if self._annotate:
            self._note(call, rewriter)

    def _own_rule(self, op: ir.Operation) -> Apply | None:
        """Returns the rule of a callee that is not rewritten itself; None for other callees.

        A function without a body is opaque. A composite may have the name of an op with a rule: jax
        writes ``chlo.erf`` as a composite of a polynomial, and ``chlo.ragged_dot`` too.
        """
        if op.operation.name == "stablehlo.composite":
            if len(op.operation.regions):  # Regions may capture values.
                return opaque
            name = target_of(op)
            if name in CUSTOM_CALLS:
                return CUSTOM_CALLS[name]
            entry = RULES.get(name)
            if entry is not None and (entry.family == "read" or is_composite(op.operation)):
                return entry.apply
        return None if self._functions[callee_of(op)].regions[0].blocks else opaque

    @function_tables()
    def _copy(self, name: str, passed: Parameters, devices: Devices | None) -> Callee:
        original = self._functions[name]
        own = fresh_name(f"{name}_scaled", self._functions, len(self._callees))
        copy = copied(original, own)
        top = placeholder(copy.regions[0].blocks[0])
        rewriter = self._rewriter(top, Notes(), devices)
        parameters = take_scales(copy, passed.infos, rewriter)
        block = copy.regions[0].blocks[0]
        self._walk(block, rewriter)
        leave = rewriter.forget_sizes if rewriter.values.changed else rewriter.outward
        leave(terminator(block).operation)
        results = tuple(rewriter.infos(list(terminator(block).operands)))
        computed = return_scales(copy, results, rewriter)
        finish(rewriter, top)
        taken = drop_untaken(copy, len(parameters))
        changed = rewriter.values.changed
        if changed:
            self._functions[own] = copy
        else:
            erase(copy)
        function = copy if changed else original
        return Callee(function, rewriter, parameters, passed, taken, results, computed, changed)

    def _drop_replaced(self) -> None:
        """Erases the functions of which only copies are called."""
        if any(callee.copied for callee in self._callees.values()):
            run_native("builtin.module(symbol-dce)", self._module, verify=False)


def _apply(name: str, op: ir.Operation, rewriter: ScaleRewriter) -> ir.Operation:
    """Applies the rule of an op, and returns the op that replaces it."""
    entry = RULES.get(name)
    return (entry.apply if entry else opaque)(op, rewriter) or op


def _key(info: ScaleInfo, numbers: Mapping[RuntimeScale, int]) -> Hashable:
    """Returns the key of a value by which calls share a copy; run-time scales are numbered."""
    if not isinstance(info, Scaled):
        return info
    powers = frozenset(
        (numbers[g], g.state, g.bound, round(g.size), round(g.uncertainty.octaves), k)
        if not g.of_size
        else (numbers[g], g.bound, k)
        for g, k in info.scale.powers
    )
    measured = powers_of(info.level)
    rest = float(info.level) - sum([k * g.size for g, k in measured.items()])
    sizes = frozenset((numbers[g], g.bound, k) for g, k in measured.items())
    return info.scale.exponent, rest, info.right, sizes, powers
