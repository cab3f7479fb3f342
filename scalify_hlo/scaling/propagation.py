"""The walk that splits every float value of a module into data and scale.

One walk over each function in program order. An op is visited if something is known of an operand;
its rule edits it in place and says what its results are. A private function is copied for each
combination of scales that it is called with; run-time scales go in as extra arguments, and the
scales of its results come back as monomials, without any IR.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import RuntimeScale, Scaled, ScaleInfo
from scalify_hlo.analysis.frames import BODIES, Named, functions_in, operations, with_end
from scalify_hlo.analysis.index import ModuleIndex
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.functions import terminator
from scalify_hlo.dialect.ragged import is_composite
from scalify_hlo.dialect.value_map import erase, function_tables, run_native
from scalify_hlo.errors import InputError
from scalify_hlo.quantize.numbers import clear_numbers
from scalify_hlo.recipes.model import WIDE, Recipe
from scalify_hlo.report.model import Report, kind_of
from scalify_hlo.rules import custom, layers
from scalify_hlo.rules import marker_ops as markers
from scalify_hlo.rules.activations import Activations
from scalify_hlo.rules.chlo import CONSTANTS, EXPANDED
from scalify_hlo.rules.families import NEUTRAL, opaque
from scalify_hlo.rules.isolated import (
    finish,
    placeholder,
    runtimes,
    translated,
)
from scalify_hlo.rules.parameters import Parameters, parameters_of, returned
from scalify_hlo.rules.recurrence import has_narrow_values, writing_functions
from scalify_hlo.rules.registry import WITH_REGIONS, Apply
from scalify_hlo.rules.scale_rewriter import Notes, ScaleRewriter, Settings
from scalify_hlo.rules.statistics import Devices
from scalify_hlo.rules.table import RULES
from scalify_hlo.scaling.after_casts import AfterCasts
from scalify_hlo.scaling.boundary import Boundary
from scalify_hlo.scaling.callees import (
    CALLS,
    Callee,
    called_by,
    callee_of,
    drop_untaken,
    is_private,
    new_call,
    return_scales,
    runs_of,
    take_scales,
)
from scalify_hlo.scaling.reaching import casting_functions, marked_functions
from scalify_hlo.transforms.chlo import expand_one

_NESTING = WITH_REGIONS | BODIES
_ALWAYS = WITH_REGIONS | {"stablehlo.constant"}
"""The ops visited whatever is known of their operands: constants, and regions that may capture."""

_APART = CALLS | {markers.BARRIER}
"""The ops that may stand for something else than their rule says."""

_CASTING = (BODIES - {"sdy.named_computation"}) | {"stablehlo.convert", "stablehlo.iota"}
"""The ops visited as well where data are narrow: casts, what may have them inside, and counts."""


Key: TypeAlias = tuple[Hashable, ...]
"""A function's name, the devices that run it, and what is known of its operands,
run-time scales numbered as they appear."""


class Propagation:
    """The walk over a module.

    Where data are going to be narrow, values that were read at scale 1 are taken to be near unit,
    and their sizes are followed from there.

    Args:
        module: A ``builtin.module``.
        recipe: The options of the rewrite.
        index: Analyses of the module.
        report: Takes what is done.
        annotate: Whether each op gets a ``scalify.forms`` attribute; see `PropagatePass`.
        observe: Whether `main` returns the sizes of casts; see `PropagatePass`.
    """

    def __init__(
        self,
        module: ir.Operation,
        recipe: Recipe,
        index: ModuleIndex,
        report: Report,
        *,
        annotate: bool,
        observe: bool,
    ) -> None:
        narrow = recipe.narrow_data
        self._narrow, self._observe = narrow, observe
        self._listing = index.listing
        self._functions = functions_in(module.regions[0].blocks[0].operations)
        self._marked = marked_functions(self._functions, index)
        casting = narrow or bool(self._marked)
        # These find out by themselves whether anything is known.
        neutral = {name for name, rule in RULES.items() if rule.apply in NEUTRAL}
        self._always = neutral | (_ALWAYS | _CASTING if casting else _ALWAYS)
        self._expanded = {name for name, rule in RULES.items() if rule.family == EXPANDED}
        self._recipe = recipe
        self._index, self._report = index, report
        self._annotate = annotate
        self._on_data = recipe.epsilon == "data"
        self._activations = Activations() if narrow else None
        marks = RULES.keys() if index.marked is None else index.marked | {layers.DOT}
        self._sized = frozenset(marks if narrow else ())  # ops of which layers say the size
        self._callees: dict[Key, Callee] = {}
        self._active = ["main"]
        self._kept: set[str] = set()
        self._casting = casting_functions(self._functions)
        self._settings = Settings(
            recipe,
            narrow=narrow,
            doubts=narrow or bool(self._casting),
            marked=self._marked,
            casting=self._casting,
            writing=writing_functions(self._functions),
        )
        self._notes = Notes(report.remarks, report.given_up, report.untrusted, report.casts)
        self._module = module

    @function_tables()
    def main(self, function: ir.OpView) -> None:
        """Splits the function that the program starts at."""
        block = function.regions[0].blocks[0]
        if not self._settings.doubts:
            doubts = self._has_narrow_values(block)
            self._settings = replace(self._settings, doubts=doubts)
        top = placeholder(block)
        rewriter = self._rewriter(top, observe=self._observe)
        boundary = Boundary(function, rewriter, top, self._index.result_marks)
        boundary.enter()
        rewriter.doubt_inputs()
        if self._annotate or self._narrow or self._marked or boundary.scaled:
            self._walk_main(function, rewriter)
        boundary.leave()
        finish(rewriter, top)
        self._drop_replaced()
        if self._recipe.untrusted == WIDE:
            clear_numbers(self._module)
        if self._marked:
            markers.drop(self._module)
        self._report.statistics += runs_of(self._notes.statistics, self._module)
        self._report.observed = [o.name for o in rewriter.observed or ()]
        self._report.arguments = boundary.arguments
        self._report.results = boundary.results
        self._callees.clear()  # Their rewriters know this walk; else the collector looks for them.

    def _has_narrow_values(self, main: ir.Block) -> bool:
        """Whether `main` computes with narrow floats, as far as no function does that it calls."""
        if self._listing is None:
            return has_narrow_values([main])
        self._listing.note_formats()
        if not self._listing.wide:
            return True
        bodies = (op for name, op in self._listing.ops if name in _NESTING)
        return has_narrow_values(b for op in bodies for r in op.regions for b in r.blocks)

    def _rewriter(
        self, top: ir.Operation, devices: Devices | None = None, *, observe: bool = False
    ) -> ScaleRewriter:
        return ScaleRewriter(
            top, self._settings, self._notes, self._walk, devices=devices, observe=observe
        )

    def _walk_main(self, main: ir.OpView, rewriter: ScaleRewriter) -> None:
        """Walks the ops to the last cast, and on as far as scales ask for it."""
        ops = self._ops(main.regions[0].blocks[0])
        sized = any(attributes.result_pairs(main)) or self._annotate or self._observe
        if sized or not self._narrow:
            self._visit_all(ops, rewriter)
            return
        wide = self._listing.wide_behind if self._listing is not None else 0
        after = AfterCasts(ops, self._functions, rewriter, wide)
        self._visit_all(ops[: after.start + 1], rewriter)
        if rewriter.runtime_scales.count:
            self._visit_all(ops[after.start :], rewriter)
        else:
            after.walk(self._visit)

    def _walk(self, block: ir.Block, rewriter: ScaleRewriter) -> None:
        self._visit_all(with_end(block), rewriter)

    def _visit_all(self, ops: Sequence[Named], rewriter: ScaleRewriter) -> None:
        """Visits all of some ops but the last."""
        for (name, op), (_, following) in pairwise(ops):
            self._visit(name, op, following, rewriter)

    def _ops(self, main: ir.Block) -> list[Named]:
        """The ops of `main` and its terminator."""
        listed = self._listing.ops if self._listing is not None else []
        if not listed:
            return with_end(main)
        # What divides arguments was put before the ops that were listed.
        before = operations(main, listed[0][1])
        end = terminator(main)
        return [*((op.name, op) for op in before), *listed, (end.name, end)]

    def _visit(
        self, name: str, op: ir.Operation, following: ir.Operation, rewriter: ScaleRewriter
    ) -> None:
        """Applies its rule to an op, given with its name and with the next."""
        rewriter.next = following
        if name in _APART:
            if name in CALLS:
                self._call(op, rewriter)
                return
            if markers.is_marked(op):
                markers.marked(op, rewriter)
                return
        if name in self._expanded and self._expand(name, op, following, rewriter):
            return
        if name in self._always or rewriter.concerns(op):
            if self._on_data and self._guards(op, rewriter):
                return
            if name in self._sized and len(op.attributes):
                op = self._visit_layer(name, op, rewriter)
            else:
                op = _apply(name, op, rewriter)
        if self._annotate:
            self._note(op, rewriter)

    def _expand(
        self, name: str, op: ir.Operation, following: ir.Operation, rewriter: ScaleRewriter
    ) -> bool:
        """Expands an op of CHLO that takes a scaled value, or is a constant, and visits it so."""
        if name not in CONSTANTS and not any(
            isinstance(info, Scaled) for info in rewriter.infos(list(op.operands))
        ):
            return False
        new = [(inner.name, inner) for inner in expand_one(op)]
        self._visit_all([*new, (following.name, following)], rewriter)
        return True

    def _visit_layer(self, name: str, op: ir.Operation, rewriter: ScaleRewriter) -> ir.Operation:
        """Applies its rule to an op that may be part of a layer, and what is known of that."""
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
        """Whether an op adds an epsilon to data, and did it."""
        return attributes.EPSILON in op.attributes and layers.epsilon_on_data(op, rewriter)

    def _note(self, op: ir.Operation, rewriter: ScaleRewriter) -> None:
        """Writes on an op what was found of its results, and counts it."""
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
        """Calls the copy of a function that fits what is known of the operands."""
        if custom.is_custom(op.operation):
            if rewriter.concerns(op.operation):
                self._kept.add(custom.rule_of(op.operation))
                custom.custom_scale(op, rewriter)
                return
            op = custom.plain(op)
        operands = list(op.operands)
        infos = rewriter.infos(operands)
        if self._narrow:
            infos = [f.roughly if isinstance(f, Scaled) else f for f in infos]
        scaled = any(isinstance(info, Scaled) for info in infos)
        rule = self._own_rule(op)
        if rule is not None or not (scaled or self._narrow or callee_of(op) in self._marked):
            self._kept.add(callee_of(op))
            if rule is not None:
                rule(op, rewriter)
            if self._annotate:
                self._note(op, rewriter)
            return
        callers = runtimes(infos)
        passed = parameters_of(infos, casting=callee_of(op) in self._casting)
        callee = self._specialized(op, passed, callers, rewriter)
        call = new_call(op, callee, rewriter, callers)
        self._kept.add(callee_of(call))
        back = dict(zip(callee.parameters, callers, strict=True))
        scales = list(call.results)[len(callee.results) :]
        for runtime, scale in zip(callee.computed, scales, strict=True):
            at = rewriter.next
            back[runtime] = rewriter.runtime_scales.define(scale, depth=rewriter.depth, at=at)
        results = returned(callee.results, callee.passed, passed)
        for result, info in zip(call.results, results, strict=False):
            rewriter.set(result, translated(info, rewriter, callee.rewriter, back))
        if self._annotate:
            self._note(call, rewriter)

    def _own_rule(self, op: ir.Operation) -> Apply | None:
        """The rule of what is called, if it is not looked into.

        Functions declared elsewhere are opaque. A composite may be named for an op that has a rule:
        jax writes ``chlo.erf`` so, with a polynomial for a body, and ``chlo.ragged_dot``.
        """
        if op.operation.name == "stablehlo.composite":
            if len(op.operation.regions):  # which may capture values
                return opaque
            entry = RULES.get(op.attributes["name"].value)
            if entry is not None and (entry.family == "read" or is_composite(op.operation)):
                return entry.apply
        return None if self._functions[callee_of(op)].regions[0].blocks else opaque

    def _specialized(
        self,
        op: ir.Operation,
        passed: Parameters,
        callers: Sequence[RuntimeScale],
        rewriter: ScaleRewriter,
    ) -> Callee:
        name = callee_of(op)
        numbers = {runtime: i for i, runtime in enumerate(callers)}
        infos = tuple(_key(info, numbers) for info in passed.infos)
        key = (name, rewriter.devices, passed.key, infos)
        if key not in self._callees:
            if name in self._active:
                raise InputError(
                    f"function @{name} calls itself",
                    location=str(op.location),
                    hint="StableHLO programs have no recursion; use stablehlo.while",
                )
            self._active.append(name)
            self._callees[key] = self._copy(name, passed, rewriter.devices)
            self._active.pop()
        return self._callees[key]

    @function_tables()
    def _copy(self, name: str, passed: Parameters, devices: Devices | None) -> Callee:
        original = self._functions[name]
        copy = original.operation.clone(ip=ir.InsertionPoint(original)).opview
        copy.attributes["sym_name"] = ir.StringAttr.get(self._fresh(name))
        copy.attributes["sym_visibility"] = ir.StringAttr.get("private")
        top = placeholder(copy.regions[0].blocks[0])
        rewriter = self._rewriter(top, devices)
        parameters = take_scales(copy, passed.infos, rewriter)
        block = copy.regions[0].blocks[0]
        self._walk(block, rewriter)
        results = tuple(rewriter.infos(list(terminator(block).operands)))
        computed = return_scales(copy, results, rewriter)
        finish(rewriter, top)
        taken = drop_untaken(copy, len(parameters))
        if not rewriter.values.changed:
            erase(copy)
            return Callee(
                original, rewriter, parameters, passed, taken, results, computed, copied=False
            )
        self._functions[copy.attributes["sym_name"].value] = copy
        return Callee(copy, rewriter, parameters, passed, taken, results, computed, copied=True)

    def _fresh(self, name: str) -> str:
        number = len(self._callees)
        while f"{name}_scaled_{number}" in self._functions:
            number += 1
        return f"{name}_scaled_{number}"

    def _drop_replaced(self) -> None:
        """Erases the functions of which only scaled copies are called."""
        replaced = {str(key[0]) for key, callee in self._callees.items() if callee.copied}
        if not replaced:
            return
        if not (self._index.counted and self._index.plain_calls):
            run_native("builtin.module(symbol-dce)", self._module)
            return
        for name in replaced - self._reached():
            if is_private(self._functions[name]):
                erase(self._functions[name])

    def _reached(self) -> set[str]:
        """The functions that calls lead to which the walk left alone."""
        public = {name for name, op in self._functions.items() if not is_private(op)} - {"main"}
        reached, waiting = set[str](), [*self._kept, *public]
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += called_by(self._functions[name])
        return reached


def _apply(name: str, op: ir.Operation, rewriter: ScaleRewriter) -> ir.Operation:
    """Applies its rule to an op; gives the op that takes its place."""
    entry = RULES.get(name)
    return (entry.apply if entry else opaque)(op, rewriter) or op


def _key(info: ScaleInfo, numbers: Mapping[RuntimeScale, int]) -> Hashable:
    """What is known of a value, with run-time scales by number: like calls share a copy."""
    if not isinstance(info, Scaled):
        return info
    powers = frozenset(
        (numbers[g], g.state, g.bound, round(g.size), round(g.uncertainty.octaves), k)
        for g, k in info.scale.powers
    )
    return info.scale.exponent, info.level, powers
