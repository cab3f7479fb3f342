"""scalify-narrow-state: casts state and gradients of weights to the formats of a recipe."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import is_small
from scalify_hlo.algebra.limits import MEASURED_BOUND
from scalify_hlo.analysis.frames import Frame
from scalify_hlo.analysis.index import LISTING, ModuleIndex
from scalify_hlo.dialect import attributes, markers
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.passes.base import Pass
from scalify_hlo.quantize.casts import Casts
from scalify_hlo.quantize.matmuls import LEFT, clear, marked_ops
from scalify_hlo.quantize.numbers import Numbers
from scalify_hlo.quantize.state import (
    narrow_arguments,
    narrow_results,
    pack_moments,
    reaches_narrow_cast,
    with_members,
    without_state,
)
from scalify_hlo.recipes.model import KEEP, Recipe
from scalify_hlo.report.model import Report, SiteReport
from scalify_hlo.report.totals import StateBytes
from scalify_hlo.rules.marker_ops import PEAK
from scalify_hlo.transforms.marker_barriers import rescaled_argument


@dataclass(frozen=True)
class NarrowStatePass(Pass):
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

    def apply(self, module: ir.Operation, index: ModuleIndex, report: Report) -> None:
        """See `Pass.apply`."""
        main = main_function(module)
        casts = index.shared(Casts) or index.share(Casts())
        before = casts.count
        if main is not None:
            stored = report.state_bytes is not None  # By `scalify-quantize-matmuls`.
            narrowed = narrow_arguments(main, self.recipe.state, stored=stored)
            narrowed.roles.update({"weight"} if stored else set())
            report.state_bytes = _sum(narrowed.bytes, report.state_bytes)
            packed = pack_moments(main, self.recipe.state)
            report.remarks += packed.remarks
            if packed.arguments:
                narrowed.roles.update(self.recipe.state.blocked, {"moment_scales"})
                index.markers += _measured(main, packed.arguments, report)
            returned = narrow_results(main, self.recipe.state, casts)
            narrowed.roles.update({"weight_rounding"} if returned.rounded else set())
            report.remarks += without_state(main, self.recipe, narrowed.roles)
            report.remarks += with_members(main, self.recipe.state)
            if returned.some:
                index.invalidate()
        if self.recipe.state.gradient != KEEP:
            numbers = index.shared(Numbers) or Numbers(self.recipe, self.wide)
            self._narrow_gradients(module, index, casts, numbers)
        index.casts += casts.count - before

    def _narrow_gradients(
        self, module: ir.Operation, index: ModuleIndex, casts: Casts, numbers: Numbers
    ) -> None:
        for op in marked_ops(module, index.listing):
            for number in _gradients(op):
                _narrow_gradient(op.results[number], self.recipe.state.gradient, casts, numbers)
            if not self.recipe.computes_last:
                clear(op, LEFT)
        if index.listing is not None:
            index.listing.renew()


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
