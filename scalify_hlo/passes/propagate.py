"""scalify-propagate: the split of every float value into data and scale.

One walk over each function in program order. An op is visited if one of its operands has a form;
its rule edits it in place and says what its results are. A private function is copied for each
combination of scales that it is called with; the scales that are born at run time go in as extra
arguments, and the scales of its results come back as monomials, without any IR.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar, TypeAlias

from scalify_hlo._compat import func, ir, passmanager
from scalify_hlo.diagnostics import InputError
from scalify_hlo.dialect import attributes
from scalify_hlo.passes.base import Pass, main_function
from scalify_hlo.passes.boundary import Boundary
from scalify_hlo.passes.layer_marks import clear_marks
from scalify_hlo.passes.report import Report, kind_of
from scalify_hlo.recipe import UNIT, Epsilon, Meet, Predict, Recipe, Rounding
from scalify_hlo.rules import custom, layers, markers
from scalify_hlo.rules.activations import Activations
from scalify_hlo.rules.devices import replicated_after
from scalify_hlo.rules.families import opaque
from scalify_hlo.rules.isolated import (
    add_parameters,
    drop_unused,
    finish,
    generators,
    placeholder,
    scale_operands,
    translated,
)
from scalify_hlo.rules.placement import SDY
from scalify_hlo.rules.registry import WITH_REGIONS, Apply
from scalify_hlo.rules.split import Split
from scalify_hlo.rules.statistics import Devices
from scalify_hlo.rules.table import RULES
from scalify_hlo.scale import Form, Generator, Scaled

_ALWAYS = WITH_REGIONS | {"stablehlo.constant"}
"""The ops visited whatever is known of their operands: constants, and regions that may capture."""

_CASTING = frozenset({"sdy.manual_computation", "stablehlo.convert"})
"""The ops visited as well where data are narrow: casts, and what may have them inside."""

_CALLS = frozenset({"func.call", "stablehlo.composite"})

_PLACING = ("mhlo.", "sdy.")
"""How the attributes begin that say where results of calls are placed."""


@dataclass(frozen=True)
class PropagatePass(Pass):
    """Splits values into data and scale, as the attributes of `main` ask.

    Attributes:
        meet: See `scalify_hlo.recipe.Recipe`; so are the next two.
        rounding: How roots of scales and statistics become powers of two.
        saturate: Whether casts of a recipe clamp.
        epsilon: See `scalify_hlo.recipe.Recipe`; so is the next.
        predict: How sizes are told, from which scales are.
        annotate: Whether each op gets a ``scalify.forms`` attribute that shows the forms of its
            results, for people and for tests, and the report counts them.
        strict: Whether an op without a scaled form is an error.
        narrow: Whether data are going to be narrow: then values that were read at scale 1 are
            taken to be near unit, and their sizes are followed from there.
        observe: Whether `main` also returns, for each operand of a matmul that is cast in it, the
            rms of its data before the cast, and its scale, both f32.
    """

    name: ClassVar[str] = "scalify-propagate"
    meet: Meet = "anchor"
    rounding: Rounding = "default"
    saturate: bool = True
    epsilon: Epsilon = "exact"
    predict: Predict = "none"
    annotate: bool = False
    strict: bool = False
    narrow: bool = False
    observe: bool = False

    def apply(self, module: ir.Operation, report: Report) -> None:
        """See `Pass.apply`."""
        main = main_function(module)
        if main is not None:
            recipe = replace(
                Recipe(),
                epsilon=self.epsilon,
                meet=self.meet,
                predict=self.predict,
                rounding=self.rounding,
                saturate=self.saturate,
            )
            propagation = Propagation(
                module,
                recipe,
                report,
                annotate=self.annotate,
                narrow=self.narrow,
                observe=self.observe,
            )
            propagation.main(main)
            if report.layers or not report.ops:
                clear_marks(module)
            if self.strict and report.remarks:
                first = report.remarks[0]
                raise InputError(
                    f"{first.op} {first.message}",
                    location=first.location,
                    hint="rewrite without --strict to let values through at scale 1 there",
                )


Key: TypeAlias = tuple[Hashable, ...]
"""A function's name, the devices that run it, and the forms it is called with, generators numbered
as they appear."""


@dataclass(frozen=True)
class Callee:
    """A function as it was specialised.

    Attributes:
        function: The copy; the function itself if the copy would be the same.
        split: Its split, whose generators its results' forms are over.
        parameters: Its generators that come from the caller, in the caller's order.
        taken: The numbers of those that it takes as extra arguments.
        results: The forms of its results.
        born: The generators of those that are born in it, which it returns after its results.
        copied: Whether `function` is a copy.
    """

    function: ir.OpView
    split: Split
    parameters: tuple[Generator, ...]
    taken: tuple[int, ...]
    results: tuple[Form, ...]
    born: tuple[Generator, ...]
    copied: bool


class Propagation:
    """The walk over a module."""

    def __init__(
        self,
        module: ir.Operation,
        recipe: Recipe,
        report: Report,
        *,
        annotate: bool,
        narrow: bool,
        observe: bool,
    ) -> None:
        self._narrow, self._observe = narrow, observe
        self._functions = _functions(module)
        self._marked = _marked_functions(self._functions, report)
        casting = narrow or bool(self._marked)
        self._always = _ALWAYS | _CASTING if casting else _ALWAYS
        self._recipe = recipe
        self._report = report
        self._annotate = annotate
        self._on_data = recipe.epsilon == "data"
        self._layers = narrow
        self._activations = Activations() if narrow and recipe.predict == UNIT else None
        self._callees: dict[Key, Callee] = {}
        self._cast_exponents: dict[Hashable, int] = {}
        self._active = ["main"]
        self._kept: set[str] = set()
        self._module = module

    def main(self, function: ir.OpView) -> None:
        """Splits the function that the program starts at."""
        top = placeholder(function.regions[0].blocks[0])
        split = self._split(top)
        split.observed = [] if self._observe else None
        boundary = Boundary(function, split, top)
        boundary.enter()
        if self._annotate or self._narrow or self._marked or boundary.scaled:
            self._walk(function.regions[0].blocks[0], split)
        boundary.leave()
        finish(split, top)
        self._drop_replaced()
        if self._marked:
            markers.drop(self._module)
        self._report.observed = [o.name for o in split.observed or ()]
        self._report.arguments = boundary.arguments
        self._report.results = boundary.results

    def _split(self, top: ir.Operation) -> Split:
        report = self._report
        split = Split(top, self._recipe, report.remarks, report.given_up, self._walk)
        split.narrow, split.marked = self._narrow, self._marked
        split.cast_exponents = self._cast_exponents
        return split

    def _walk(self, block: ir.Block, split: Split) -> None:
        rules, always, activations = RULES, self._always, self._activations
        for op, following in pairwise(block.operations):
            operation = op.operation
            name = operation.name
            split.next = following.operation
            if name in _CALLS:
                self._call(op, split)
                continue
            if name == markers.BARRIER and markers.is_marked(operation):
                markers.marked(op, split)
                continue
            if name in always or split.concerns(operation):
                if self._on_data and self._guards(op, split):
                    continue
                ends = activations if activations and activations.concern(operation) else None
                if ends:
                    ends.note(op, split)
                entry = rules.get(name)
                op = (entry.apply if entry else opaque)(op, split) or op
                if self._layers and name in layers.ENDS:
                    layers.layered(op, name, split)
                if ends:
                    ends.end(op, split)
            if self._annotate:
                self._note(op, split)

    def _guards(self, op: ir.OpView, split: Split) -> bool:
        """Whether an op adds an epsilon to data, and did it."""
        return attributes.EPSILON in op.attributes and layers.epsilon_on_data(op, split)

    def _note(self, op: ir.OpView, split: Split) -> None:
        """Writes on an op what was found of its results, and counts it."""
        if split.trial:
            return
        forms = split.forms(list(op.results))
        floats = [f for f, r in zip(forms, op.results, strict=True) if split.format(r) is not None]
        self._report.values.update(map(kind_of, floats))
        if any(form is not None for form in forms):
            texts = [ir.StringAttr.get("unscaled" if f is None else str(f)) for f in forms]
            op.attributes[attributes.FORMS] = ir.ArrayAttr.get(texts)

    def _call(self, op: ir.OpView, split: Split) -> None:
        """Calls the copy of a function that fits the forms of the operands."""
        if custom.is_custom(op.operation):
            if split.concerns(op.operation):
                self._kept.add(custom.rule_of(op.operation))
                custom.custom_scale(op, split)
                return
            op = custom.plain(op)
        operands = list(op.operands)
        forms = split.forms(operands)
        if split.predicts:
            forms = [f.roughly if isinstance(f, Scaled) else f for f in forms]
        scaled = any(isinstance(form, Scaled) for form in forms)
        rule = self._own_rule(op)
        if rule is not None or not (scaled or self._narrow or _callee(op) in self._marked):
            self._kept.add(_callee(op))
            if rule is not None:
                rule(op, split)
            if self._annotate:
                self._note(op, split)
            return
        callers = generators(forms)
        callee = self._specialised(op, forms, callers, split)
        call = _new_call(op, callee, split, callers)
        self._kept.add(_callee(call))
        back = dict(zip(callee.parameters, callers, strict=True))
        scales = list(call.results)[len(callee.results) :]
        for generator, scale in zip(callee.born, scales, strict=True):
            at = split.next
            back[generator] = split.factors.bear(scale, depth=split.depth, at=at)
        for result, form in zip(call.results, callee.results, strict=False):
            split.set(result, translated(form, split, callee.split, back))
        if self._annotate:
            self._note(call, split)

    def _own_rule(self, op: ir.OpView) -> Apply | None:
        """The rule of what is called, if it is not looked into.

        Functions declared elsewhere are opaque. A composite may be named for an op that has a rule:
        jax writes ``chlo.erf`` so, with a polynomial for a body.
        """
        if op.operation.name == "stablehlo.composite":
            if len(op.operation.regions):  # which may capture values
                return opaque
            entry = RULES.get(op.attributes["name"].value)
            if entry is not None and entry.family == "read":
                return entry.apply
        return None if self._functions[_callee(op)].regions[0].blocks else opaque

    def _specialised(
        self, op: ir.OpView, forms: Sequence[Form], callers: Sequence[Generator], split: Split
    ) -> Callee:
        name = _callee(op)
        numbers = {generator: i for i, generator in enumerate(callers)}
        key = (name, split.devices, *(_key(form, numbers) for form in forms))
        if key not in self._callees:
            if name in self._active:
                raise InputError(
                    f"function @{name} calls itself",
                    location=str(op.location),
                    hint="StableHLO programs have no recursion; use stablehlo.while",
                )
            self._active.append(name)
            self._callees[key] = self._copy(name, forms, split.devices)
            self._active.pop()
        return self._callees[key]

    def _copy(self, name: str, forms: Sequence[Form], devices: Devices | None) -> Callee:
        original = self._functions[name]
        copy = original.operation.clone(ip=ir.InsertionPoint(original)).opview
        copy.attributes["sym_name"] = ir.StringAttr.get(self._fresh(name))
        copy.attributes["sym_visibility"] = ir.StringAttr.get("private")
        top = placeholder(copy.regions[0].blocks[0])
        split = self._split(top)
        split.devices = devices
        parameters = _add_parameters(copy, forms, split)
        block = copy.regions[0].blocks[0]
        self._walk(block, split)
        returned = block.operations[-1]
        results = tuple(split.forms(list(returned.operands)))
        born = _return_born(copy, results, split)
        finish(split, top)
        taken = _drop_unused(copy, len(parameters))
        if not split.changed:
            copy.operation.erase()
            return Callee(original, split, parameters, taken, results, born, copied=False)
        self._functions[copy.attributes["sym_name"].value] = copy
        return Callee(copy, split, parameters, taken, results, born, copied=True)

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
        if not (self._report.ops and self._report.plain_calls):
            passmanager.PassManager.parse("builtin.module(symbol-dce)").run(self._module)
            return
        for name in replaced - self._reached():
            if _private(self._functions[name]):
                self._functions[name].operation.erase()

    def _reached(self) -> set[str]:
        """The functions that calls lead to which the walk left alone."""
        public = {name for name, op in self._functions.items() if not _private(op)} - {"main"}
        reached, waiting = set[str](), [*self._kept, *public]
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += _called(self._functions[name])
        return reached


def _callee(op: ir.OpView) -> str:
    """The function that a call or a composite names."""
    key = "callee" if op.operation.name == "func.call" else "decomposition"
    return str(op.attributes[key].value)


def _private(function: ir.OpView) -> bool:
    visibility = function.attributes
    return "sym_visibility" in visibility and visibility["sym_visibility"].value == "private"


def _called(function: ir.OpView) -> list[str]:
    blocks = function.regions[0].blocks
    ops = blocks[0].operations if blocks else ()
    return [_callee(op) for op in ops if op.operation.name == "func.call"]


def _called_in(block: ir.Block) -> list[str]:
    """The functions that are called from a block and from the regions of its ops."""
    found: list[str] = []
    for op in block.operations:
        operation = op.operation
        if operation.name in _CALLS:
            found.append(_callee(op))
        for region in operation.regions:
            for inner in region.blocks:
                found += _called_in(inner)
    return found


def _functions(module: ir.Operation) -> dict[str, ir.OpView]:
    ops = module.regions[0].blocks[0].operations
    return {op.attributes["sym_name"].value: op for op in ops if op.operation.name == "func.func"}


def _key(form: Form, numbers: Mapping[Generator, int]) -> Hashable:
    """A form, generators by number, so that calls with like scales share a copy."""
    if not isinstance(form, Scaled):
        return form
    powers = frozenset((numbers[g], g.state, g.bound, k) for g, k in form.scale.powers)
    return form.scale.exponent, form.level, powers


def _add_parameters(copy: ir.OpView, forms: Sequence[Form], split: Split) -> tuple[Generator, ...]:
    """Gives a function the generators of its arguments' scales as extra arguments.

    Returns:
        Its own generators, in the order of the caller's.
    """
    marks = attributes.argument_attributes(copy)
    parameters = add_parameters(copy.regions[0].blocks[0], forms, split)
    _set_arguments(copy, [*marks, *({} for _ in parameters)])
    return parameters


def _return_born(copy: ir.OpView, results: Sequence[Form], split: Split) -> tuple[Generator, ...]:
    """Lets a function return the scales that are born in it and that its results have."""
    scales = [form.scale for form in results if isinstance(form, Scaled)]
    born = tuple(dict.fromkeys(g for scale in scales for g in split.factors.born(scale)))
    if not born:
        return ()
    values = [split.factors.value(generator) for generator in born]
    returned = copy.regions[0].blocks[0].operations[-1]
    operands = [*returned.operands, *values]
    func.return_(operands, loc=returned.location, ip=ir.InsertionPoint(returned))
    returned.operation.erase()
    marks = attributes.result_attributes(copy)
    inputs = list(attributes.function_type(copy).inputs)
    attributes.set_function_type(copy, inputs, [value.type for value in operands])
    attributes.set_result_attributes(copy, [*marks, *({} for _ in values)])
    return born


def _drop_unused(copy: ir.OpView, count: int) -> tuple[int, ...]:
    """Erases those of the last arguments that nothing uses; returns the numbers of the others."""
    marks = attributes.argument_attributes(copy)
    start = len(marks) - count
    taken = drop_unused(copy.regions[0].blocks[0], count)
    _set_arguments(copy, [*marks[:start], *(marks[start + i] for i in taken)])
    return taken


def _set_arguments(copy: ir.OpView, marks: list[attributes.Attributes]) -> None:
    """Gives a function the type that its body's arguments have, and their attributes."""
    arguments = copy.regions[0].blocks[0].arguments
    results = list(attributes.function_type(copy).results)
    attributes.set_function_type(copy, [a.type for a in arguments], results)
    attributes.set_argument_attributes(copy, marks)


def _new_call(
    op: ir.OpView, callee: Callee, split: Split, callers: Sequence[Generator]
) -> ir.OpView:
    """Calls the copy in an op's place; the op itself stays if it calls what it called before."""
    name = callee.function.attributes["sym_name"].value
    if name == _callee(op):
        return op
    split.changed = True
    block = callee.function.regions[0].blocks[0]
    taken = [callers[i] for i in callee.taken]
    scales = scale_operands(block, taken, split, op.operation)
    call = func.CallOp(
        list(attributes.function_type(callee.function).results),
        ir.FlatSymbolRefAttr.get(name),
        [*op.operands, *scales],
        loc=op.location,
        ip=ir.InsertionPoint(op),
    )
    born = [scale.type for scale in list(call.results)[len(op.results) :]]
    for key, mark in op.attributes.items():
        if key.startswith(_PLACING):
            call.attributes[key] = replicated_after(mark, born) if key == SDY and born else mark
    for old, new in zip(op.results, call.results, strict=False):  # scales come after
        old.replace_all_uses_with(new)
    op.operation.erase()
    return call


def _marked_functions(functions: Mapping[str, ir.OpView], report: Report) -> set[str]:
    """The functions that have markers in them, or call one that has."""
    if report.ops and not report.markers:
        return set()
    bodies = {n: f.regions[0].blocks[0] for n, f in functions.items() if f.regions[0].blocks}
    found = {name for name, body in bodies.items() if markers.has_markers(body)}
    callers: dict[str, set[str]] = {}
    for name, body in bodies.items() if found else ():
        for callee in _called_in(body):
            callers.setdefault(callee, set()).add(name)
    waiting = list(found)
    while waiting:
        new = callers.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found
