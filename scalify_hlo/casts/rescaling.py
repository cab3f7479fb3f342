"""Dynamic rescalings of a recipe, which are inserted as markers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import SHARED_STATISTIC
from scalify_hlo.casts.selection import matching, without_effect
from scalify_hlo.casts.state import Carried, rescaled_state
from scalify_hlo.dataflow.names import shown_name
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import InputError, UsageError, nearest
from scalify_hlo.ir import emit, markers
from scalify_hlo.ir.formats import element_type, format_of
from scalify_hlo.ir.functions import around, block_of, in_block, terminator
from scalify_hlo.ir.locations import source_location
from scalify_hlo.ir.patterns import matches
from scalify_hlo.ir.value_map import ValueCache, ValueMap, ValueSet
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.layers.model import NORMS
from scalify_hlo.recipes.effects import RESCALES
from scalify_hlo.recipes.model import NONE, NamedRescale, Recipe, Rescale
from scalify_hlo.report.model import Report, SiteReport
from scalify_hlo.transforms.marker_barriers import rescaled, rescaled_before, rescaled_together


class Rescaling:
    """Inserts markers into a program.

    Args:
        main: The entry function.
        recipe: The recipe, which selects the values.
        report: The report, which gets a line for each marker.
    """

    def __init__(self, main: ir.OpView, recipe: Recipe, report: Report) -> None:
        self._main, self._recipe, self._report = main, recipe, report
        self._done: ValueCache[ir.Value] = ValueCache()
        self._made = ValueSet()

    def run(self) -> int:
        """Inserts the markers that the recipe asks for, and returns their number."""
        recipe = self._recipe
        if recipe.norm_gradients.statistic != NONE:
            self._norm_gradients(recipe.norm_gradients)
        if recipe.state_gradients.statistic != NONE:
            self._state_gradients(recipe.state_gradients)
        if recipe.matmul_operands.statistic != NONE:
            self._matmul_operands(recipe.matmul_operands)
        if recipe.sites.names:
            self._named(recipe.sites)
        found = {"state_rescale"} if self._state(recipe.state_rescale) else set()
        found |= {site.kind for site in self._report.sites}
        self._report.remarks += without_effect(self._main, recipe, {*RESCALES} - found)
        return len(self._done)

    def _marked(self, mark: str) -> list[ir.OpView]:
        """Returns the ops of the module that have a mark."""
        found = ops_in(self._main.operation.parent, where=lambda op: mark in op.attributes)
        return [op.opview for op in found]

    def _norm_gradients(self, how: Rescale) -> None:
        for op in self._marked(attributes.LAYER_GRADIENT):
            layers = attributes.texts(op.attributes[attributes.LAYER_GRADIENT])
            if not NORMS.isdisjoint(layers) and len(op.results) == 1:
                self._rescale(_as_read(op.results[0]), "norm_gradients", how)

    def _state_gradients(self, how: Rescale) -> None:
        values: list[ir.Value] = []
        for op in self._marked(attributes.STATE_GRADIENT):
            values += [op.results[n.value] for n in op.attributes[attributes.STATE_GRADIENT]]
            del op.attributes[attributes.STATE_GRADIENT]
        if how.every == 1 and how.rounding == "default":
            self._together(values, how)
        for value in values:
            attributes.mark_gradient(self._rescale(value, "state_gradients", how))

    def _together(self, values: Sequence[ir.Value], how: Rescale) -> None:
        """Rescales small values of equal size together, if none is used before all are defined."""
        for group in _of_one_size([value for value in values if value not in self._done]):
            last = _last(self._main.regions[0].blocks[0], group)
            if last is None:
                continue
            together = rescaled_together(group, how.statistic, last)
            for value, new in zip(group, together, strict=True):
                self._keep(value, new)
                self._note("state_gradients", value.owner.location, how)

    def _matmul_operands(self, how: Rescale) -> None:
        for op in self._marked(attributes.ROLES):
            for index in (0, 1):
                self._rescale(op.operands[index], "matmul_operands", how)

    def _named(self, how: NamedRescale) -> None:
        names: dict[str, ir.OpView] = {}
        found: list[ir.Value] = []
        unmatched = set(self._recipe.sites.names)
        for op in _named_ops(self._main.operation.parent):
            name = op.location.name_str
            names[shown_name(name)] = op
            patterns = matching(self._recipe.sites.names, [name, shown_name(name)])
            unmatched -= set(patterns)
            if patterns and _leaves(op, name):
                found += [r for r in op.results if format_of(r.type) is not None]
        for pattern in sorted(unmatched):
            raise UsageError(
                f"sites.names {pattern!r} matches no op{nearest(pattern, names)}",
                hint="patterns are of name stacks, as jax writes them into locations",
            )
        for value in found:
            self._rescale(value, "sites", how)

    def _state(self, how: Rescale) -> bool:
        """Rescales state as it is returned, if there is any; updates read the values before."""
        block = self._main.regions[0].blocks[0]
        returned, arguments = terminator(block), block.arguments
        names = attributes.result_names(attributes.result_attributes(self._main))
        carried = ValueMap(
            (value, state)
            for state in rescaled_state(self._main, self._recipe.state, how.statistic)
            if (value := returned.operands[state.result]) not in self._made
        )
        step = self._count(how) if carried else None
        for group in _grouped(carried):
            first = carried[group[0]]
            before = [] if step is None else [arguments[carried[v].argument] for v in group]
            found = rescaled_before(returned, group, first.statistic, before, step)
            _specify(found[0].owner, how, first.headroom)
            self._done.update(zip(group, found, strict=True))
        for i, value in enumerate(list(returned.operands)):
            if value not in carried:
                continue
            returned.operands[i] = self._done[value]
            # The rescalings that narrow state needs are not sites of the recipe.
            if how.statistic != NONE:
                note = SiteReport("state_rescale", names[i], how.statistic, how.every)
                self._report.sites.append(note)
        return bool(carried)

    def _count(self, how: Rescale) -> ir.Value | None:
        """Returns the argument that counts steps, if the rescaling needs it."""
        return None if how.every == 1 else _counters(self._main, self._recipe.inputs.step)

    def _rescale(self, value: ir.Value, kind: str, how: Rescale) -> ir.Value:
        """Rescales a value for all its uses, once."""
        if value in self._made:
            return value
        if value not in self._done:
            location = emit.location_of(value)
            new = rescaled(value, how.statistic, location, self._step(value, how))
            _specify(new.owner, how)
            self._keep(value, new)
            self._note(kind, location, how)
        return self._done[value]

    def _keep(self, value: ir.Value, new: ir.Value) -> None:
        self._done[value] = new
        self._made.add(new)

    def _note(self, kind: str, location: ir.Location, how: Rescale) -> None:
        self._report.sites.append(SiteReport(kind, _name(location), how.statistic, how.every))

    def _step(self, value: ir.Value, how: Rescale) -> ir.Value | None:
        """Returns the argument that counts steps."""
        found = self._count(how)
        if found is None:
            return None
        if around(block_of(value).owner, "func.func") != self._main.operation:
            raise InputError(
                "a rescaling every few steps would be in a function without the count of steps",
                location=source_location(emit.location_of(value)),
                hint="leave `every` at 1 there, or exclude the site",
            )
        return found


def _as_read(value: ir.Value) -> ir.Value:
    """Returns an f32 value as its only reader rounds it to bf16, or the value itself.

    Models in bf16 normalize in f32, and round the gradient at the end. XLA would write it in f32
    for the statistic. As bf16 has the exponents of f32, the scale before may be any.
    """
    readers = [use.owner for use in value.uses]
    if len(readers) != 1 or readers[0].operation.name != "stablehlo.convert":
        return value
    rounded = readers[0].results[0]
    wide, narrow = element_type(value.type), element_type(rounded.type)
    rounds = isinstance(wide, ir.F32Type) and isinstance(narrow, ir.BF16Type)
    return rounded if rounds else value


def _specify(marker: ir.Operation, how: Rescale, headroom: int = 0) -> None:
    """Writes rounding, interval and headroom on a marker."""
    if how.rounding != "default":
        marker.attributes[markers.ROUNDING] = ir.StringAttr.get(how.rounding)
    if how.every > 1:
        marker.attributes[markers.EVERY] = attributes.integer(how.every)
    if headroom:
        marker.attributes[markers.HEADROOM] = attributes.integer(headroom)


def _last(block: ir.Block, values: Sequence[ir.Value]) -> ir.Operation | None:
    """Returns the last op that defines one of several values; None if one is used before it."""
    made = [value.owner.operation for value in values]
    users = [in_block(use.owner.operation, block) for value in values for use in value.uses]
    if any(op.block != block for op in made):
        return None
    last = reduce(lambda one, other: other if one.is_before_in_block(other) else one, made)
    behind = (user is not None and last.is_before_in_block(user) for user in users)
    return last if all(behind) else None


def _of_one_size(values: Sequence[ir.Value]) -> list[list[ir.Value]]:
    """Yields groups of small values with the same number of elements."""
    groups: dict[int, list[ir.Value]] = {}
    for value in values:
        type_ = value.type
        static = not isinstance(value.owner, ir.Block) and type_.has_static_shape
        if static and isinstance(type_.element_type, ir.F32Type):
            size = math.prod(type_.shape)
            if size <= SHARED_STATISTIC:
                groups.setdefault(size, []).append(value)
    return [group for group in groups.values() if len(group) > 1]


def _grouped(values: ValueMap[Carried]) -> list[list[ir.Value]]:
    """Returns groups of state that share a statistic; large tensors are alone."""
    alike: dict[tuple[str, int], list[ir.Value]] = {}
    for value, state in values.items():
        alike.setdefault((state.statistic, state.headroom), []).append(value)
    groups = [group for some in alike.values() for group in _of_one_size(some)]
    together = ValueSet(value for group in groups for value in group)
    return [*groups, *([value] for value in values if value not in together)]


def _counters(main: ir.OpView, patterns: Sequence[str]) -> ir.Value:
    arguments = list(main.regions[0].blocks[0].arguments)
    names = attributes.argument_names(main)
    types = [(name, argument.type) for name, argument in zip(names, arguments, strict=True)]
    scalars = [(name, type_.element_type) for name, type_ in types if type_.rank == 0]
    integers = [n for n, each in scalars if isinstance(each, ir.IntegerType) and each.width > 1]
    for i, (name, argument) in enumerate(zip(names, arguments, strict=True)):
        if name in integers and any(matches(pattern, name, i) for pattern in patterns):
            return argument
    for pattern in patterns:
        raise UsageError(
            f"inputs.step {pattern!r} matches no scalar integer argument"
            f"{nearest(pattern, integers)}",
            hint="`scalify-hlo inspect --arguments` lists the arguments and their names",
        )
    raise UsageError(
        "a rescaling every few steps needs the count of steps",
        hint="name the integer argument that counts steps with inputs.step, as in "
        f"inputs.step={next(iter(integers), 'state.count')}",
    )


def _named_ops(module: ir.Operation) -> list[ir.Operation]:
    """Yields the ops whose location is a name stack."""
    return ops_in(
        module, where=lambda op: isinstance(op.location, ir.NameLoc) and op.name != "func.func"
    )


def _leaves(op: ir.Operation, name: str) -> bool:
    """Whether a result of an op is used outside of the primitive that the op is part of."""
    users: Iterable[ir.Operation] = (use.owner for result in op.results for use in result.uses)
    return any(not isinstance(u.location, ir.NameLoc) or u.location.name_str != name for u in users)


def _name(location: ir.Location) -> str:
    return shown_name(str(location.name_str)) if isinstance(location, ir.NameLoc) else ""
