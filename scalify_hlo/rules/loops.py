"""Loops: a carry keeps its scale, or has a scale that is another carry.

An iteration computes ``Y = Y_d * Y_s`` from a carry ``X = X_d * X_s``, in one of two ways:

* ``X_d <- Y_d * (Y_s / X_s)``: the carry is rescaled to the scale on entry. Otherwise the expected
  sizes would multiply the scale in each iteration.
* ``X_d <- Y_d, X_s <- Y_s``: the scale is a carry too, if a marker in the body computes Y_s in each
  iteration. Then data are near unit in all iterations. After the loop, the scale is a run-time
  scale.

The second way applies if the body computes a part of Y_s, and no part depends on X_s. Sums over
iterations, and stacked outputs, have one scale throughout. The part of Y_s that is beyond
2^±`COMPUTED_BOUND` stays in the data: ``X_d <- Y_d * (Y_s / p), X_s <- p``, with p next to Y_s.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import CARRY_SEARCHES, COMPUTED_BOUND, LOOP_TRIALS
from scalify_hlo.algebra.runtime_size import powers_of
from scalify_hlo.algebra.scale import (
    ANY,
    ONE,
    AnyScale,
    RuntimeScale,
    Scale,
    Scaled,
    ScaleInfo,
    Splat,
    mean_uncertainty,
    right_of,
    scale_of,
)
from scalify_hlo.algebra.search import Search
from scalify_hlo.algebra.uncertainty import UNKNOWN, Uncertainty
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import is_f64
from scalify_hlo.ir.value_map import erase, replace_op
from scalify_hlo.rules.devices import replicated_after
from scalify_hlo.rules.emitter import Emitter
from scalify_hlo.rules.isolated import scale_element
from scalify_hlo.rules.marked_ops import has_markers
from scalify_hlo.rules.marker_ops import computed_scale
from scalify_hlo.rules.placement import MHLO, SDY
from scalify_hlo.rules.recurrence import (
    after_turns,
    assumed_turns,
    entered,
    has_narrow_values,
    in_turns,
    made_anew,
    no_less,
    recurring,
    with_uncertainties,
)
from scalify_hlo.rules.scale_rewriter import ScaleRewriter

_TRIED = "has carries whose scales {} trials of its body did not find; these stay at scale 1: {}"

_SEARCHED = "may rescale carries in each turn: {} trials of its body did not find which move"


class _Trial(NamedTuple):
    """The scale information of carries after one iteration.

    Attributes:
        infos: The scale information of the results of the body.
        origins: For each carry whose scale is computed in the loop, its run-time scales.
        carried: The carry of each run-time scale that is the scale of a carry.
        takers: The carries that take the old value of another carry, by its number.
    """

    infos: Sequence[ScaleInfo]
    origins: Sequence[Collection[RuntimeScale]]
    carried: Mapping[RuntimeScale, int]
    takers: Mapping[int, Sequence[int]]

    def steady(self) -> set[int]:
        """Returns the carries with their own scale that no marker computes in each iteration."""
        sources = {
            i: {self.carried[g] for g in self.origins[i] if g in self.carried}
            for i in self.carried.values()
        }
        return {i for i in sources if not self.origins[i]} | _circular(sources)

    def moved(self, moving: Collection[int]) -> set[int]:
        """Returns other carries with a scale that is computed in the loop."""
        computed = [i for i, found in enumerate(self.origins) if found]
        return set(Search([*computed, *moving], lambda i: self.takers.get(i, ()))) - {*moving}


def loop(op: ir.Operation, rewriter: ScaleRewriter) -> ir.Operation | None:
    """Rewrites a loop with the scales of its carries.

    A carry that starts with zeros, or with a splat, has the scale of the body's result.

    Returns:
        The loop that replaced this one, if scales are among its carries.
    """
    infos = _solved(op, rewriter, rewriter.infos(list(op.operands)))
    moving = _moving(op, rewriter, infos)
    scales = _rescaled_in(op, rewriter, infos, moving)
    if moving:
        op = _with_scales(op, scales, rewriter)
    whole = _with_values(infos, moving)
    inside, roots = entered(whole)
    added: list[Uncertainty | None] = [None] * len(infos)
    casting = has_narrow_values(op.regions[1].blocks, rewriter.settings.casting)
    if casting:
        ends = _with_values(_tried(op, rewriter, inside, moving).infos, moving)
        inside, added = in_turns(op, whole, ends, roots, predicts=rewriter.settings.predicts)
        inside, roots = entered(inside)
    infos, anew = inside, made_anew(op, rewriter.settings.writing)
    yielded = _walked(op, rewriter, infos, moving)
    ends = _with_values(yielded, moving)
    if not casting:
        ends = with_uncertainties(ends, after_turns(op, whole, ends, roots))
    yielded = no_less(recurring(ends, roots, anew, assumed_turns(op)), added)
    left = dict(zip(moving, list(op.results)[len(infos) :], strict=True))
    for i, (info, last) in enumerate(zip(infos, yielded, strict=True)):
        if i in left:
            runtime = rewriter.runtime_scales.define(
                left[i], depth=rewriter.depth, at=rewriter.next
            )
            info = last = _of_carried(runtime, info, last, _size(last))
        if isinstance(info, Scaled) and isinstance(last, Scaled):
            info = last._replace(scale=info.scale, level=max(info.level, last.level))
        rewriter.set(op.results[i], info)
    return op if moving else None


def _rescaled_in(
    op: ir.Operation, rewriter: ScaleRewriter, infos: Sequence[ScaleInfo], moving: Iterable[int]
) -> list[ir.Value]:
    """Rescales a loop's operands to the scales of its carries; returns the carried scales."""
    for index, info in enumerate(infos):
        if isinstance(info, Scaled):
            rewriter.rescale(op, index, info.scale)
    return [_as_number(op, index, infos[index], rewriter) for index in moving]


def _walked(
    op: ir.Operation,
    rewriter: ScaleRewriter,
    infos: Sequence[ScaleInfo],
    moving: Mapping[int, float],
) -> list[ScaleInfo]:
    """Rewrites a loop with scaled carries; returns the scale information of the next ones."""
    condition, body = (region.blocks[0] for region in op.regions)
    with rewriter.region(op.operation):
        _enter(condition, rewriter, infos, moving)
    with rewriter.region(op.operation):
        _enter(body, rewriter, infos, moving)
        end = body.operations[-1]
        scales = {i: _as_number(end, i, rewriter.info(end.operands[i]), rewriter) for i in moving}
        for i, info in enumerate(infos):
            scaled = any(isinstance(f, Scaled) for f in (info, rewriter.info(end.operands[i])))
            if i not in scales and scaled:
                rewriter.rescale(end, i, scale_of(info))
        rewriter.forget_sizes(end)
        yielded = rewriter.infos(list(end.operands)[: len(infos)])
        if scales:
            emit.op(end, end.operation.name, [], [*end.operands, *scales.values()])
            erase(end)
        return yielded


def _enter(
    block: ir.Block,
    rewriter: ScaleRewriter,
    infos: Sequence[ScaleInfo],
    moving: Mapping[int, float],
) -> dict[RuntimeScale, int]:
    """Prepares a block of a loop; scales of carries become arguments after the others.

    Args:
        block: The block.
        rewriter: The rewriter.
        infos: The scale information of the carries on entry.
        moving: The expected sizes of the carries with their own scales.

    Returns:
        The carry of each scale.
    """
    inside, carried = list(infos), dict[RuntimeScale, int]()
    arguments, first = list(block.arguments), block.operations[0].operation
    for i, size in moving.items():
        type_ = emit.scalar_type(scale_element(arguments[i].type))
        scale = block.add_argument(type_, arguments[i].location)
        runtime = rewriter.runtime_scales.define(scale, depth=rewriter.depth, at=first)
        carried[runtime] = i
        inside[i] = _of_carried(runtime, infos[i], infos[i], size)
    for argument, info in zip(arguments, inside, strict=True):
        rewriter.assume(argument, info)
    rewriter.walk(block)
    rewriter.forget_sizes(block.operations[-1].operation)
    return carried


def _with_values(infos: Sequence[ScaleInfo], moving: Collection[int]) -> list[ScaleInfo]:
    """Returns the scale information of carries; their own scales have the values' uncertainty.

    The data of such carries are near unit in each iteration.
    """
    return [
        info._replace(uncertainty=info.at(ONE).uncertainty)
        if i in moving and isinstance(info, Scaled)
        else info
        for i, info in enumerate(infos)
    ]


def _of_carried(runtime: RuntimeScale, info: ScaleInfo, value: ScaleInfo, size: float) -> Scaled:
    """Returns the scale information of a carry that has a scale of its own.

    Args:
        runtime: The scale.
        info: The scale information with the level of the data.
        value: The scale information with the uncertainty of the values.
        size: The expected log2 of the rms of the values.
    """
    if isinstance(value, Scaled):
        runtime.uncertainty = value.uncertainty
    runtime.size = size - _level(info)
    return Scaled(Scale(0, ((runtime, 1),)), _level(info), right=right_of(info))


def _size(info: ScaleInfo) -> float:
    """Returns the expected log2 of the rms of values."""
    return float(info.at(ONE).level) if isinstance(info, Scaled) else 0


def _as_number(op: ir.Operation, index: int, info: ScaleInfo, rewriter: ScaleRewriter) -> ir.Value:
    """Returns the scale of an operand as one number; the data take the rest of the scale."""
    at, scale, wide = op.operation, scale_of(info), is_f64(op.operands[index].type)
    emitter, factors = Emitter(at, wide=wide), rewriter.runtime_scales
    if scale.static:
        kept = Scale(max(-COMPUTED_BOUND, min(COMPUTED_BOUND, scale.exponent)))
        rewriter.rescale(op, index, kept)
        return emitter.number(2.0**kept.exponent)
    factors.location = at.location
    number = factors.kept(scale, wide=wide)
    if scale.reach > COMPUTED_BOUND:
        number, target = computed_scale(number, emitter, rewriter, at)
        rewriter.rescale(op, index, target)
    return number


def _with_scales(
    op: ir.Operation, scales: Sequence[ir.Value], rewriter: ScaleRewriter
) -> ir.Operation:
    """Returns the loop with scales, which are replicated, after its carries."""
    marks, types = attributes.all_of(op), [scale.type for scale in scales]
    if SDY in marks:
        marks[SDY] = replicated_after(marks[SDY], types)
    new = emit.op(
        op,
        op.operation.name,
        [*(result.type for result in op.results), *types],
        [*op.operands, *scales],
        marks,
        regions=len(op.regions),
    )
    for old, region in zip(op.regions, new.regions, strict=True):
        old.blocks[0].append_to(region)
    rewriter.values.changed = True
    replace_op(op, list(new.results)[: len(op.results)])  # The scales are the last results.
    return new.opview


def _solved(
    op: ir.Operation, rewriter: ScaleRewriter, infos: Sequence[ScaleInfo]
) -> list[ScaleInfo]:
    """Returns the scale information of a loop's carries that its body keeps."""
    solved: list[ScaleInfo] = [None if isinstance(info, Splat) else info for info in infos]
    waiting = [i for i, info in enumerate(infos) if isinstance(info, Splat | AnyScale)]
    for _ in range(LOOP_TRIALS):
        if not waiting:
            break
        yielded = _tried(op, rewriter, solved).infos
        found = [i for i in waiting if yielded[i] is not ANY]
        if not found:
            return solved
        for i in found:
            solved[i] = _from_outside(yielded[i], op.operands[i], rewriter)
        waiting = [i for i in waiting if i not in found]
    if waiting:
        rewriter.remark(op, _TRIED.format(LOOP_TRIALS, ", ".join(map(str, waiting))))
    for i in waiting:
        solved[i] = None
    return solved


def _from_outside(info: ScaleInfo, carry: ir.Value, rewriter: ScaleRewriter) -> ScaleInfo:
    """Returns the scale information of a carry on entry: of its values if the body has its scale.

    A scale that the body computes does not exist on entry. The values have the expected size of
    data and scale, and its uncertainty; narrow data take the certain part as their scale, and what
    the scale of the values has from outside.
    """
    if not isinstance(info, Scaled):
        return None
    if info.scale.depth <= rewriter.depth:
        return info
    wide = rewriter.is_wide(carry)
    outer = ONE if wide else info.scale.outside(rewriter.depth)
    values = info.at(outer)
    if any(runtime.depth > rewriter.depth for runtime in powers_of(values.level)):
        values = values._replace(level=float(values.level), uncertainty=UNKNOWN)
    if not rewriter.predicts:
        values = values._replace(level=round(values.level))
    if wide:
        return values
    return values.at(rewriter.bounded(carry, values))


def _moving(op: ir.Operation, rewriter: ScaleRewriter, infos: list[ScaleInfo]) -> dict[int, float]:
    """Returns the carries with their own scales, with their sizes, and sets their entry levels.

    A loop whose sharding is text cannot get more carries.
    """
    body = op.regions[1].blocks[0]
    if (
        not rewriter.settings.marked
        or MHLO in op.attributes
        or not has_markers(body, rewriter.settings.marked)
    ):
        return {}
    moving, fixed = set[int](), set[int]()
    for turn in range(2 * CARRY_SEARCHES):
        trial = _tried(op, rewriter, infos, {i: _size(infos[i]) for i in sorted(moving)})
        fixed |= trial.steady()
        more = trial.moved(moving) - fixed if turn < CARRY_SEARCHES else set[int]()
        if moving.isdisjoint(fixed) and not more:
            break
        moving = (moving | more) - fixed
    else:
        rewriter.remark(op, _SEARCHED.format(2 * CARRY_SEARCHES))
    for i in moving:
        info = infos[i]
        level = max(_level(info), _level(trial.infos[i]))
        known = info if isinstance(info, Scaled) else Scaled(ONE)
        infos[i] = known._replace(level=level, uncertainty=mean_uncertainty([info]))
    return {i: _size(trial.infos[i]) for i in sorted(moving)}


def _tried(
    op: ir.Operation,
    rewriter: ScaleRewriter,
    infos: Sequence[ScaleInfo],
    moving: Mapping[int, float] | None = None,
) -> _Trial:
    """Rewrites a copy of a loop's body, and returns the scale information of its results."""
    copy = op.operation.clone(ip=ir.InsertionPoint(op)).opview
    with rewriter.trying():
        body = copy.regions[1].blocks[0]
        with rewriter.region(copy.operation):
            carried = _enter(body, rewriter, infos, moving or {})
            values = list(body.operations[-1].operands)
            yielded = rewriter.infos(values)
        trial = _Trial(
            yielded, [_origins(f, rewriter) for f in yielded], carried, _takers(body, values)
        )
        erase(copy)
    return trial


def _origins(info: ScaleInfo, rewriter: ScaleRewriter) -> list[RuntimeScale]:
    """Returns the run-time scales that a scale was made of, if the loop's body computes it."""
    if not isinstance(info, Scaled) or info.scale.depth <= rewriter.depth:
        return []
    return rewriter.runtime_scales.computed(info.scale)


def _takers(body: ir.Block, yielded: Sequence[ir.Value]) -> dict[int, list[int]]:
    """Returns the carries that take the unchanged value of a carry, by its number."""
    takers: dict[int, list[int]] = {}
    for i, value in enumerate(yielded):
        if isinstance(value.owner, ir.Block) and value.owner == body:
            takers.setdefault(ir.BlockArgument(value).arg_number, []).append(i)
    return takers


def _circular(sources: Mapping[int, Collection[int]]) -> set[int]:
    """Returns the carries whose scales depend on themselves, through other carries too."""
    found = {i for i, others in sources.items() if i in others}
    while True:
        left = {i: set(others) - found for i, others in sources.items() if i not in found}
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            found |= {*error.args[1]}
        else:
            return found


def _level(info: ScaleInfo) -> float:
    return info.level if isinstance(info, Scaled) else 0
