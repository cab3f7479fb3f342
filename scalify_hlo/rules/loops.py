"""Loops: a carry keeps the scale that it enters with, or takes a scale along that markers give it.

A turn makes ``Y = Y_d * Y_s`` of a carry ``X = X_d * X_s``, in one of two ways:

* ``X_d <- Y_d * (Y_s / X_s)``: the carry is rescaled back to the scale that it enters with. What is
  expected of sizes moves scales in each turn, and would let a carried one run away.
* ``X_d <- Y_d, X_s <- Y_s``: the scale is carried beside the data, as a number. So it is where a
  marker in the body gives Y_s anew in each turn: then data are near unit in all turns. The scale
  leaves the loop as it entered it, as a run-time scale.

Y_s is given anew if something in it is computed in the body, and nothing in it comes from X_s: sums
over turns, and outputs that are stacked, are at one scale throughout. What does not fit into
2^±`COMPUTED_BOUND` stays in the data: ``X_d <- Y_d * (Y_s / p), X_s <- p``, with p next to Y_s.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import CARRY_SEARCHES, COMPUTED_BOUND, LOOP_TRIALS
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
)
from scalify_hlo.dialect.value_map import erase, replace_op
from scalify_hlo.rules import emit
from scalify_hlo.rules.devices import replicated_after
from scalify_hlo.rules.isolated import scale_element
from scalify_hlo.rules.marker_ops import computed_scale, has_markers
from scalify_hlo.rules.placement import MHLO, SDY
from scalify_hlo.rules.recurrence import (
    after_turns,
    doubted,
    entered,
    has_narrow_values,
    made_anew,
    recurring,
)
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.rules.statistics import Emitter

_TRIED = "has carries whose scales {} trials of its body did not tell; these stay at scale 1: {}"

_SEARCHED = "may rescale carries in each turn: {} trials of its body did not tell which move"


class _Trial(NamedTuple):
    """What a turn makes of what is known of carries.

    Attributes:
        infos: Those that the body yields.
        origins: The run-time scales of each whose scale is computed in the loop.
        carried: The carry whose scale a run-time scale is, for those that have one of their own.
        takers: The carries that take the value that another had, by its number.
    """

    infos: Sequence[ScaleInfo]
    origins: Sequence[Collection[RuntimeScale]]
    carried: Mapping[RuntimeScale, int]
    takers: Mapping[int, Sequence[int]]

    def steady(self) -> set[int]:
        """The carries with a scale of their own that no marker gives anew in each turn."""
        sources = {
            i: {self.carried[g] for g in self.origins[i] if g in self.carried}
            for i in self.carried.values()
        }
        return {i for i in sources if not self.origins[i]} | _circular(sources)

    def moved(self, moving: Collection[int]) -> set[int]:
        """Other carries that take up a scale which is computed in the loop."""
        waiting = [i for i, found in enumerate(self.origins) if found and i not in moving]
        found = set(waiting)
        waiting += moving
        while waiting:
            new = [i for i in self.takers.get(waiting.pop(), ()) if i not in found | {*moving}]
            found |= {*new}
            waiting += new
        return found


def loop(op: ir.Operation, rewriter: ScaleRewriter) -> ir.Operation | None:
    """Walks a loop, with what is known of its carries.

    A carry that starts with zeros, or with one value throughout, enters with the scale that the
    body gives it.

    Returns:
        The loop that took the place of this one, if it has scales among its carries.
    """
    infos = _solved(op, rewriter, rewriter.infos(list(op.operands)))
    moving = _moving(op, rewriter, infos)
    scales = _rescaled_in(op, rewriter, infos, moving)
    if moving:
        op = _with_scales(op, scales, rewriter)
    whole = _with_values(infos, moving)
    inside, roots = entered(whole)
    casting = has_narrow_values(op.regions[1].blocks, rewriter.settings.casting)
    if casting:
        ends = _with_values(_tried(op, rewriter, inside, moving).infos, moving)
        inside, roots = entered(doubted(whole, after_turns(op, whole, ends, roots)))
    infos, anew = inside, made_anew(op, rewriter.settings.writing)
    yielded = _walked(op, rewriter, infos, moving)
    ends = _with_values(yielded, moving)
    if not casting:
        ends = doubted(ends, after_turns(op, whole, ends, roots))
    yielded = recurring(ends, roots, anew)
    left = dict(zip(moving, list(op.results)[len(infos) :], strict=True))
    for i, (info, last) in enumerate(zip(infos, yielded, strict=True)):
        if i in left:
            runtime = rewriter.runtime_scales.define(
                left[i], depth=rewriter.depth, at=rewriter.next
            )
            info = last = _of_carried(runtime, info, last, _size(last))
        rewriter.set(op.results[i], _risen(info, last))
    return op if moving else None


def _rescaled_in(
    op: ir.Operation, rewriter: ScaleRewriter, infos: Sequence[ScaleInfo], moving: Iterable[int]
) -> list[ir.Value]:
    """Rescales a loop's operands to the scales of its carries; gives those that are carried."""
    for index, info in enumerate(infos):
        if isinstance(info, Scaled):
            rescaled = rewriter.rescale_to(op.operands[index], info.scale, op.operation)
            rewriter.replace(op, index, rescaled)
    return [_as_number(op, index, infos[index], rewriter) for index in moving]


def _walked(
    op: ir.Operation,
    rewriter: ScaleRewriter,
    infos: Sequence[ScaleInfo],
    moving: Mapping[int, float],
) -> list[ScaleInfo]:
    """Walks a loop with scaled carries; gives what is known of the next ones, rescaled back."""
    condition, body = (region.blocks[0] for region in op.regions)
    with rewriter.region(op.operation):
        _enter(condition, rewriter, infos, moving)
    with rewriter.region(op.operation):
        _enter(body, rewriter, infos, moving)
        end = body.operations[-1]
        scales = {i: _as_number(end, i, rewriter.info(end.operands[i]), rewriter) for i in moving}
        yielded = [
            rewriter.info(end.operands[i])
            if i in scales
            else _rescaled_back(end, rewriter, i, info)
            for i, info in enumerate(infos)
        ]
        if scales:
            _yield_also(end, list(scales.values()))
        return yielded


def _enter(
    block: ir.Block,
    rewriter: ScaleRewriter,
    infos: Sequence[ScaleInfo],
    moving: Mapping[int, float],
) -> dict[RuntimeScale, int]:
    """Walks a block of a loop; those of its carries that move get their scales after the others.

    Args:
        block: The block.
        rewriter: What is known of values.
        infos: Those with which the carries enter.
        moving: The expected sizes of the carries that move.

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
    return carried


def _with_values(infos: Sequence[ScaleInfo], moving: Collection[int]) -> list[ScaleInfo]:
    """Forms of carries, those that have a scale of their own with the uncertainty of their values.

    Their data are near unit in each turn, and their scales as uncertain as the values are.
    """
    return [
        info._replace(uncertainty=info.at(ONE).uncertainty)
        if i in moving and isinstance(info, Scaled)
        else info
        for i, info in enumerate(infos)
    ]


def _of_carried(runtime: RuntimeScale, info: ScaleInfo, value: ScaleInfo, size: float) -> Scaled:
    """What is known of a carry at a scale of its own.

    Args:
        runtime: The scale.
        info: Has the level of the data.
        value: Has the uncertainty of the values.
        size: The expected log2 of their rms.
    """
    if isinstance(value, Scaled):
        runtime.uncertainty = value.uncertainty
    runtime.size = size - _level(info)
    return Scaled(Scale(0, ((runtime, 1),)), _level(info))


def _size(info: ScaleInfo) -> float:
    """The expected log2 of the rms of values."""
    return info.at(ONE).level if isinstance(info, Scaled) else 0


def _rescaled_back(
    end: ir.Operation, rewriter: ScaleRewriter, index: int, info: ScaleInfo
) -> ScaleInfo:
    scale = info.scale if isinstance(info, Scaled) else ONE
    value = end.operands[index]
    if isinstance(info, Scaled) or isinstance(rewriter.info(value), Scaled):
        rewriter.replace(end, index, rewriter.rescale_to(value, scale, end.operation))
    return rewriter.info(end.operands[index])


def _as_number(op: ir.Operation, index: int, info: ScaleInfo, rewriter: ScaleRewriter) -> ir.Value:
    """The scale of an operand as one number; what does not fit into one goes to the data."""
    value, at = op.operands[index], op.operation
    scale = info.scale if isinstance(info, Scaled) else ONE
    wide = isinstance(scale_element(value.type), ir.F64Type)
    emitter, factors = Emitter(at, wide=wide), rewriter.runtime_scales
    if scale.static:
        kept = Scale(max(-COMPUTED_BOUND, min(COMPUTED_BOUND, scale.exponent)))
        rewriter.replace(op, index, rewriter.rescale_to(value, kept, at))
        return emitter.number(2.0**kept.exponent)
    factors.location = at.location
    number = factors.kept(scale, wide=wide)
    if scale.reach > COMPUTED_BOUND:
        number, target = computed_scale(number, emitter, rewriter, at)
        rewriter.replace(op, index, rewriter.rescale_to(value, target, at))
    return number


def _with_scales(
    op: ir.Operation, scales: Sequence[ir.Value], rewriter: ScaleRewriter
) -> ir.Operation:
    """The loop with scales after its carries, the same on all devices; its blocks move over."""
    marks, types = dict(op.attributes.items()), [scale.type for scale in scales]
    if SDY in marks:
        marks[SDY] = replicated_after(marks[SDY], types)
    new = ir.Operation.create(
        op.operation.name,
        results=[*(result.type for result in op.results), *types],
        operands=[*op.operands, *scales],
        attributes=marks,
        regions=len(op.regions),
        loc=op.location,
        ip=ir.InsertionPoint(op),
    )
    for old, region in zip(op.regions, new.regions, strict=True):
        old.blocks[0].append_to(region)
    rewriter.values.changed = True
    replace_op(op, list(new.results)[: len(op.results)])  # scales come after
    return new.opview


def _yield_also(end: ir.Operation, values: Sequence[ir.Value]) -> None:
    ir.Operation.create(
        end.operation.name,
        operands=[*end.operands, *values],
        loc=end.location,
        ip=ir.InsertionPoint(end),
    )
    erase(end)


def _solved(
    op: ir.Operation, rewriter: ScaleRewriter, infos: Sequence[ScaleInfo]
) -> list[ScaleInfo]:
    """What is known of a loop's carries that its body keeps."""
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
            solved[i] = _from_outside(yielded[i], rewriter)
        waiting = [i for i in waiting if i not in found]
    if waiting:
        rewriter.remark(op, _TRIED.format(LOOP_TRIALS, ", ".join(map(str, waiting))))
    for i in waiting:
        solved[i] = None
    return solved


def _from_outside(info: ScaleInfo, rewriter: ScaleRewriter) -> ScaleInfo:
    """What is known of a carry that enters with a body's scale: 1 if the body gives it anew."""
    if not isinstance(info, Scaled):
        return None
    return info if info.scale.depth <= rewriter.depth else Scaled(ONE)


def _moving(op: ir.Operation, rewriter: ScaleRewriter, infos: list[ScaleInfo]) -> dict[int, float]:
    """The carries that take a scale along, with their sizes; sets the levels with which they enter.

    Where a loop's placement is written as text, there is no telling it of more carries.
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
        scale = info.scale if isinstance(info := infos[i], Scaled) else ONE
        level = max(_level(info), _level(trial.infos[i]))
        infos[i] = Scaled(scale, level, mean_uncertainty([info]))
    return {i: _size(trial.infos[i]) for i in sorted(moving)}


def _tried(
    op: ir.Operation,
    rewriter: ScaleRewriter,
    infos: Sequence[ScaleInfo],
    moving: Mapping[int, float] | None = None,
) -> _Trial:
    """What a loop's body makes of its carries, found on a copy of it."""
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
    """What a scale that is computed in the loop which the rewriter is before was made of."""
    if not isinstance(info, Scaled) or info.scale.depth <= rewriter.depth:
        return []
    return rewriter.runtime_scales.computed(info.scale)


def _takers(body: ir.Block, yielded: Sequence[ir.Value]) -> dict[int, list[int]]:
    """The carries that take a carry's value as it is, by its number."""
    takers: dict[int, list[int]] = {}
    for i, value in enumerate(yielded):
        if isinstance(value.owner, ir.Block) and value.owner == body:
            takers.setdefault(ir.BlockArgument(value).arg_number, []).append(i)
    return takers


def _circular(sources: Mapping[int, Collection[int]]) -> set[int]:
    """The carries whose scales come from themselves, by way of each other's."""
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


def _risen(info: ScaleInfo, last: ScaleInfo) -> ScaleInfo:
    """What is known of a carry after the last turn."""
    if isinstance(info, Scaled) and isinstance(last, Scaled):
        return Scaled(info.scale, max(info.level, last.level), last.uncertainty)
    return info
