"""The passes that store state: in other formats, in 8 bits with a scale for each block, rounded.

`scalify-narrow-state` casts state and gradients of weights. `scalify-pack-moments` stores moments
with scales of blocks, and `scalify-round-state` rounds weights up or down at random, and second
moments not to zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS, is_small
from scalify_hlo.algebra.limits import MEASURED_BOUND, SALT_ELEMENTS
from scalify_hlo.algebra.moments import SCALE_FORMAT, scale_shape
from scalify_hlo.casts.blocks.moments import Packed, packed, salt_of, unpacked
from scalify_hlo.casts.blocks.stochastic import FIRST_WEIGHT, Steps, drawn, rounded
from scalify_hlo.casts.casts import Casts, casts_of
from scalify_hlo.casts.matmuls import LEFT, clear, marked_ops
from scalify_hlo.casts.named_state import without_tensors
from scalify_hlo.casts.numbers import Numbers
from scalify_hlo.casts.selection import without_effect
from scalify_hlo.casts.state import (
    averages_kept,
    keeps_format,
    narrow_arguments,
    narrow_results,
    pack_moments,
    reaches_narrow_cast,
    with_members,
    with_updates,
    without_state,
)
from scalify_hlo.dataflow.frames import Frame
from scalify_hlo.dataflow.index import LISTING, ModuleIndex
from scalify_hlo.dataflow.step_count import step_count
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.attributes import Attributes
from scalify_hlo.ir import emit, markers
from scalify_hlo.ir.formats import element_of
from scalify_hlo.ir.functions import terminator
from scalify_hlo.ir.value_map import erase, redirect, uses_of
from scalify_hlo.passes.base import MainPass
from scalify_hlo.recipes.model import KEEP, Recipe
from scalify_hlo.report.model import Report, SiteReport
from scalify_hlo.report.totals import StateBytes
from scalify_hlo.rules.emitter import Emitter
from scalify_hlo.rules.marker_ops import PEAK
from scalify_hlo.transforms.marker_barriers import rescaled_argument


@dataclass(frozen=True)
class NarrowStatePass(MainPass):
    """Casts pairs of state and gradients of weights, by the roles that `scalify-roles` wrote.

    Attributes:
        recipe: The name of a preset, or the path of a recipe file. Its formats of state apply to
            pairs.
        wide: The numbers of the gradients that keep their formats; see `Numbers`.
    """

    name: ClassVar[str] = "scalify-narrow-state"
    preserves: ClassVar[frozenset[str]] = frozenset({LISTING})
    recipe: Recipe = field(default_factory=Recipe)
    wide: frozenset[int] = frozenset()

    def edit(self, main: ir.OpView, index: ModuleIndex, report: Report) -> None:
        """See `MainPass.edit`."""
        casts, state = index.shared(Casts) or index.share(casts_of(self.recipe)), self.recipe.state
        before = casts.count
        stored = report.state_bytes is not None  # By `scalify-quantize-matmuls`.
        narrowed = narrow_arguments(main, state, stored=stored)
        if stored:
            narrowed.roles.add("weight" if state.frozen == KEEP else "frozen")
        report.state_bytes = _sum(narrowed.bytes, report.state_bytes)
        packed = pack_moments(main, state)
        report.remarks += packed.remarks
        if packed.arguments:
            narrowed.roles.update(state.blocked, {"moment_scales"})
            index.markers += _measured(main, packed.arguments, report)
        returned = narrow_results(main, state, casts)
        narrowed.roles.update({"weight_rounding"} if returned.rounded else set())
        kept = list(with_updates(main, self.recipe))
        narrowed.roles.update({"weight"} if kept else set())
        report.averages = averages_kept(main, state)
        report.remarks += without_state(main, self.recipe, narrowed.roles)
        report.remarks += without_tensors(main, state, narrowed.roles, keeps_format)
        report.remarks += (*with_members(main, state), *kept)
        if returned.some:
            index.invalidate()
        if state.gradient != KEEP:
            numbers = index.shared(Numbers) or Numbers(self.recipe, self.wide)
            if not self._narrow_gradients(main.operation.parent, index, casts, numbers):
                report.remarks += without_effect(main, self.recipe, {"state.gradient"})
        index.casts += casts.count - before

    def _narrow_gradients(
        self, module: ir.Operation, index: ModuleIndex, casts: Casts, numbers: Numbers
    ) -> int:
        """Rounds the gradients of state, and returns their number."""
        found = 0
        for op in marked_ops(module, index.listing):
            for number in _gradients(op):
                found += 1
                _narrow_gradient(op.results[number], self.recipe.state.gradient, casts, numbers)
            if not self.recipe.computes_last:
                clear(op, LEFT)
        if index.listing is not None:
            index.listing.renew()
        return found


def _sum(state: StateBytes | None, stored: StateBytes | None) -> StateBytes | None:
    if state is None or stored is None:
        return state or stored
    return StateBytes(state.before + stored.before, state.after + stored.after)


def _measured(main: ir.OpView, moments: list[int], report: Report) -> int:
    """Measures the moments on whose sizes a cast depends, and returns their number.

    Moments with a scale for each block enter at scale 1, so that their sizes are not known. A step
    that computes the gradient ahead of the weights, at ``w - rate * m``, casts them in matmuls.
    """
    frame, names = Frame.of(main), attributes.argument_names(main)
    arguments, marks = main.regions[0].blocks[0].arguments, attributes.argument_attributes(main)
    found = [n for n in moments if reaches_narrow_cast(frame.place(arguments[n]))]
    frame.release()
    for number in found:
        _measure(arguments[number])
        marks[number][attributes.RESCALED] = ir.UnitAttr.get()
        report.sites.append(SiteReport("state.moment_scales", names[number], "max", 1))
    attributes.set_argument_attributes(main, marks)
    return len(found)


def _measure(argument: ir.Value) -> None:
    """Inserts a marker on an argument, so that its data are near unit."""
    marker = rescaled_argument(argument, "max").owner
    marker.attributes[markers.HEADROOM] = attributes.integer(PEAK)
    marker.attributes[markers.BOUND] = attributes.integer(MEASURED_BOUND)
    marker.attributes[markers.PEAK] = ir.StringAttr.get(markers.UNKNOWN)


def _narrow_gradient(value: ir.Value, format_: str, casts: Casts, numbers: Numbers) -> None:
    """Rounds the gradient of a weight; gradients of vectors are not cast to FP8."""
    if format_ == KEEP or (is_small(format_) and value.type.rank < _MATRIX):
        return
    if numbers.narrow(None):
        numbers.write(casts.through(value, format_).owner)


_MATRIX = 2
"""The least rank of gradients that are cast to FP8."""


def _gradients(op: ir.OpView) -> list[int]:
    """Returns the numbers of the results of an op that are gradients of weights."""
    if attributes.STATE_GRADIENT not in op.attributes:
        return []
    return [number.value for number in op.attributes[attributes.STATE_GRADIENT]]


@dataclass(frozen=True)
class PackMomentsPass(MainPass):
    """Packs the pairs that `scalify-narrow-state` marked, after `scalify-propagate` split them.

    The data of such a pair have the scale 1 until here. They become f8 data, and the scale becomes
    an array with a scale for each block.
    """

    name: ClassVar[str] = "scalify-pack-moments"

    def edit(self, main: ir.OpView, _: ModuleIndex, __: Report) -> None:
        """See `MainPass.edit`."""
        here = attributes.any_argument_has(main, attributes.PACKED)
        if here or attributes.any_result_has(main, attributes.PACKED):
            block = main.regions[0].blocks[0]
            _pack(main, block, _unpack(main, block))


def _unpack(main: ir.OpView, block: ir.Block) -> ir.Value:
    """Unpacks the arguments, and returns the salt for the rounding of the results."""
    top = block.operations[0].operation
    marks, found = attributes.argument_attributes(main), list[Packed]()
    for number, mark in enumerate(marks):
        if attributes.PACKED not in mark:
            continue
        format_, root = _popped(mark)
        data, scale = block.arguments[number], block.arguments[number + 1]
        uses = uses_of(data)
        wide = data.type
        data.set_type(ir.RankedTensorType.get(wide.shape, element_of(format_), wide.encoding))
        blocks = ir.RankedTensorType.get(scale_shape(wide.shape), element_of(SCALE_FORMAT))
        scale.set_type(blocks)
        found.append(Packed(block.arguments[number], block.arguments[number + 1]))
        if uses:
            redirect(uses, unpacked(found[-1], wide.element_type, top, root=root))
    attributes.set_argument_attributes(main, marks)
    attributes.renew_function_type(main)
    counted = step_count(main)  # It differs in each step, and does not depend on sums.
    if counted is not None:
        return emit.convert(counted, ir.IntegerType.get_unsigned(32), top)
    return _salt([moment.data for moment in found], top)


def _salt(moments: Sequence[ir.Value], top: ir.Operation) -> ir.Value:
    """Returns the salt: of the smallest moment that surely differs from step to step."""
    if not moments:
        ui32 = ir.IntegerType.get_unsigned(32)
        return emit.integers(emit.scalar_type(ui32), 0, top)
    sizes = [math.prod(moment.type.shape) for moment in moments]
    enough = [size for size in sizes if size >= SALT_ELEMENTS]
    return salt_of(moments[sizes.index(min(enough) if enough else max(sizes))], top)


def _pack(main: ir.OpView, block: ir.Block, salt: ir.Value) -> None:
    """Packs the results, which are rounded with a salt."""
    returned = terminator(block)
    values, marks = list(returned.operands), attributes.result_attributes(main)
    ones: list[ir.Value] = []
    for number, mark in enumerate(marks):
        if attributes.PACKED not in mark:
            continue
        format_, root = _popped(mark)
        ones.append(values[number + 1])
        moment = packed(values[number], format_, salt, returned.operation, root=root)
        values[number], values[number + 1] = moment
    attributes.return_values(main, values)
    for one in ones:
        if not uses_of(one):
            erase(one.owner)
    attributes.set_result_attributes(main, marks)


def _popped(mark: Attributes) -> tuple[str, bool]:
    """Removes the mark of a packed value, and returns its format, and whether it is a root.

    The mark of roots stays, as the types of data and scales do not show it.
    """
    return ir.StringAttr(mark.pop(attributes.PACKED)).value, attributes.ROOT in mark


_CONVERT: Final = "stablehlo.convert"


@dataclass(frozen=True)
class RoundStatePass(MainPass):
    """Rounds the state that `scalify-narrow-state` marked, after `scalify-propagate`.

    Only then the data have the scale at which they are stored. They are rounded to numbers of the
    format of the cast, which the cast keeps. Weights are rounded at random. Second moments that the
    cast would round to zero become its least number: an update is divided by their root. One that
    is too large by up to that number makes the update smaller, as in `packed`.
    """

    name: ClassVar[str] = "scalify-round-state"

    def edit(self, main: ir.OpView, _: ModuleIndex, __: Report) -> None:
        """See `MainPass.edit`."""
        marked = attributes.ROUNDED
        ops = (op.operation for op in main.regions[0].blocks[0].operations)
        casts = [op for op in ops if op.name == _CONVERT and marked in op.attributes]
        steps: Steps | None = None
        for op in casts:
            number = ir.IntegerAttr(op.attributes[marked]).value
            del op.attributes[marked]
            wide = emit.convert(op.operands[0], ir.F32Type.get(), op)
            if number == attributes.NOT_TO_ZERO:
                op.operands[0] = _not_zero(wide, op)
                continue
            steps = steps or Steps(main.operation.parent)
            words = drawn(steps.word(wide, op), FIRST_WEIGHT + number)
            op.operands[0] = rounded(wide, str(op.results[0].type.element_type), words, op)


def _not_zero(wide: ir.Value, cast: ir.Operation) -> ir.Value:
    """Returns data in f32, with positive ones not below the least number of a cast."""
    build = Emitter(cast, wide=False, shape=wide.type.shape)
    least = build.number(FORMATS[str(cast.results[0].type.element_type)].smallest)
    is_positive = build.compare(wide, build.number(0.0), "GT")
    return build.select(is_positive, build.op("maximum", wide, least), wide)
