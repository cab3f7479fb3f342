"""Loops: a carry keeps the scale that it enters with, or takes a scale along that markers give it.

A turn makes ``Y = Y_d * Y_s`` of a carry ``X = X_d * X_s``, in one of two ways:

* ``X_d <- Y_d * (Y_s / X_s)``: the carry is brought back to the scale that it enters with. What is
  expected of sizes moves scales in each turn, and would let a carried one run away.
* ``X_d <- Y_d, X_s <- Y_s``: the scale is carried beside the data, as a number. So it is where a
  marker in the body gives Y_s anew in each turn: then data are near unit in all turns. The scale
  leaves the loop as it entered it, as a generator.

Y_s is given anew if something in it is born in the body, and nothing in it comes from X_s: sums
over turns, and outputs that are stacked, are at one scale throughout. What does not fit into
2^±`BORN_BOUND` stays in the data: ``X_d <- Y_d * (Y_s / p), X_s <- p``, with p next to Y_s.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.rules import emit
from scalify_hlo.rules.devices import replicated_after
from scalify_hlo.rules.isolated import scale_element
from scalify_hlo.rules.markers import born_scale, has_markers
from scalify_hlo.rules.placement import MHLO, SDY
from scalify_hlo.rules.recurrence import (
    after_turns,
    doubted,
    entered,
    has_narrow_values,
    made_anew,
    recurring,
)
from scalify_hlo.rules.split import Split
from scalify_hlo.rules.statistics import Emitter
from scalify_hlo.scale import (
    ANY,
    BORN_BOUND,
    ONE,
    Any,
    Form,
    Generator,
    Scale,
    Scaled,
    Splat,
    mean_uncertainty,
)

_ROUNDS = 4
"""How often a loop's body is tried to find the scales of carries that start with zeros."""

_SEARCHES = 8
"""How often more carries are looked for that take up the scales of others."""


class _Trial(NamedTuple):
    """What a turn makes of the forms of carries.

    Attributes:
        forms: Those that the body yields.
        origins: The generators that were born, of each whose scale is born in the loop.
        carried: The carry whose scale a generator is, for those that have one of their own.
        takers: The carries that take the value that another had, by its number.
    """

    forms: Sequence[Form]
    origins: Sequence[Collection[Generator]]
    carried: Mapping[Generator, int]
    takers: Mapping[int, Sequence[int]]

    def steady(self) -> set[int]:
        """The carries with a scale of their own that no marker gives anew in each turn."""
        sources = {
            i: {self.carried[g] for g in self.origins[i] if g in self.carried}
            for i in self.carried.values()
        }
        return {i for i in sources if not self.origins[i]} | _circular(sources)

    def moved(self, moving: Collection[int]) -> set[int]:
        """Other carries that take up a scale which is born in the loop."""
        waiting = [i for i, found in enumerate(self.origins) if found and i not in moving]
        found = set(waiting)
        waiting += moving
        while waiting:
            new = [i for i in self.takers.get(waiting.pop(), ()) if i not in found | {*moving}]
            found |= {*new}
            waiting += new
        return found


def loop(op: ir.Operation, split: Split) -> ir.Operation | None:
    """Walks a loop, with what is known of its carries.

    A carry that starts with zeros, or with one value throughout, enters with the scale that the
    body gives it.

    Returns:
        The loop that took the place of this one, if it has scales among its carries.
    """
    forms = _solved(op, split, split.forms(list(op.operands)))
    moving = _moving(op, split, forms)
    scales = _brought_in(op, split, forms, moving)
    if moving:
        op = _with_scales(op, scales, split)
    whole = _with_values(forms, moving)
    inside, roots = entered(whole)
    casting = has_narrow_values(op.regions[1].blocks[0], split.casting)
    if casting:
        ends = _with_values(_tried(op, split, inside, moving).forms, moving)
        inside, roots = entered(doubted(whole, after_turns(op, whole, ends, roots)))
    forms, anew = inside, made_anew(op, split.writing)
    yielded = _walked(op, split, forms, moving)
    ends = _with_values(yielded, moving)
    if not casting:
        ends = doubted(ends, after_turns(op, whole, ends, roots))
    yielded = recurring(ends, roots, anew)
    left = dict(zip(moving, list(op.results)[len(forms) :], strict=True))
    for i, (form, last) in enumerate(zip(forms, yielded, strict=True)):
        if i in left:
            generator = split.factors.bear(left[i], depth=split.depth, at=split.next)
            form = last = _of_carried(generator, form, last, _size(last))
        split.set(op.results[i], _risen(form, last))
    return op if moving else None


def _brought_in(
    op: ir.Operation, split: Split, forms: Sequence[Form], moving: Iterable[int]
) -> list[ir.Value]:
    """Brings a loop's operands to the scales of its carries; gives those that are carried."""
    for index, form in enumerate(forms):
        if isinstance(form, Scaled):
            brought = split.bring(op.operands[index], form.scale, op.operation)
            split.replace(op, index, brought)
    return [_as_number(op, index, forms[index], split) for index in moving]


def _walked(
    op: ir.Operation, split: Split, forms: Sequence[Form], moving: Mapping[int, float]
) -> list[Form]:
    """Walks a loop whose carries have forms; gives those of the next carries, brought back."""
    condition, body = (region.blocks[0] for region in op.regions)
    with split.region(op.operation):
        _enter(condition, split, forms, moving)
    with split.region(op.operation):
        _enter(body, split, forms, moving)
        end = body.operations[-1]
        scales = {i: _as_number(end, i, split.form(end.operands[i]), split) for i in moving}
        yielded = [
            split.form(end.operands[i]) if i in scales else _brought_back(end, split, i, form)
            for i, form in enumerate(forms)
        ]
        if scales:
            _yield_also(end, list(scales.values()))
        return yielded


def _enter(
    block: ir.Block, split: Split, forms: Sequence[Form], moving: Mapping[int, float]
) -> dict[Generator, int]:
    """Walks a block of a loop; those of its carries that move get their scales after the others.

    Args:
        block: The block.
        split: What is known of values.
        forms: Those with which the carries enter.
        moving: The expected sizes of the carries that move.

    Returns:
        The carry of each scale.
    """
    inside, carried = list(forms), dict[Generator, int]()
    arguments, first = list(block.arguments), block.operations[0].operation
    for i, size in moving.items():
        type_ = emit.scalar_type(scale_element(arguments[i].type))
        scale = block.add_argument(type_, arguments[i].location)
        generator = split.factors.bear(scale, depth=split.depth, at=first)
        carried[generator] = i
        inside[i] = _of_carried(generator, forms[i], forms[i], size)
    for argument, form in zip(arguments, inside, strict=True):
        split.assume(argument, form)
    split.walk(block)
    return carried


def _with_values(forms: Sequence[Form], moving: Collection[int]) -> list[Form]:
    """Forms of carries, those that have a scale of their own with the uncertainty of their values.

    Their data are near unit in each turn, and their scales as uncertain as the values are.
    """
    return [
        form._replace(uncertainty=form.at(ONE).uncertainty)
        if i in moving and isinstance(form, Scaled)
        else form
        for i, form in enumerate(forms)
    ]


def _of_carried(generator: Generator, form: Form, value: Form, size: float) -> Scaled:
    """The form of a carry at a scale of its own.

    Args:
        generator: The scale.
        form: Has the level of the data.
        value: Has the uncertainty of the values.
        size: The expected log2 of their rms.
    """
    if isinstance(value, Scaled):
        generator.uncertainty = value.uncertainty
    generator.size = size - _level(form)
    return Scaled(Scale(0, ((generator, 1),)), _level(form))


def _size(form: Form) -> float:
    """The expected log2 of the rms of values."""
    return form.at(ONE).level if isinstance(form, Scaled) else 0


def _brought_back(end: ir.Operation, split: Split, index: int, form: Form) -> Form:
    scale = form.scale if isinstance(form, Scaled) else ONE
    value = end.operands[index]
    if isinstance(form, Scaled) or isinstance(split.form(value), Scaled):
        split.replace(end, index, split.bring(value, scale, end.operation))
    return split.form(end.operands[index])


def _as_number(op: ir.Operation, index: int, form: Form, split: Split) -> ir.Value:
    """The scale of an operand as one number; what does not fit into one goes to the data."""
    value, at = op.operands[index], op.operation
    scale = form.scale if isinstance(form, Scaled) else ONE
    wide = isinstance(scale_element(value.type), ir.F64Type)
    emitter, factors = Emitter(at, wide=wide), split.factors
    if scale.static:
        kept = Scale(max(-BORN_BOUND, min(BORN_BOUND, scale.exponent)))
        split.replace(op, index, split.bring(value, kept, at))
        return emitter.number(2.0**kept.exponent)
    factors.location = at.location
    number = factors.kept(scale, wide=wide)
    if scale.reach > BORN_BOUND:
        number, target = born_scale(number, emitter, split, at)
        split.replace(op, index, split.bring(value, target, at))
    return number


def _with_scales(op: ir.Operation, scales: Sequence[ir.Value], split: Split) -> ir.Operation:
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
    for result, other in zip(op.results, new.results, strict=False):  # scales come after
        result.replace_all_uses_with(other)
    split.forget(op.operation)
    split.changed = True
    op.operation.erase()
    return new.opview


def _yield_also(end: ir.Operation, values: Sequence[ir.Value]) -> None:
    ir.Operation.create(
        end.operation.name,
        operands=[*end.operands, *values],
        loc=end.location,
        ip=ir.InsertionPoint(end),
    )
    end.operation.erase()


def _solved(op: ir.Operation, split: Split, forms: Sequence[Form]) -> list[Form]:
    """The forms of a loop's carries that its body keeps."""
    solved: list[Form] = [None if isinstance(form, Splat) else form for form in forms]
    waiting = [i for i, form in enumerate(forms) if isinstance(form, Splat | Any)]
    for _ in range(_ROUNDS):
        if not waiting:
            break
        yielded = _tried(op, split, solved).forms
        found = [i for i in waiting if yielded[i] is not ANY]
        if not found:
            return solved
        for i in found:
            solved[i] = _from_outside(yielded[i], split)
        waiting = [i for i in waiting if i not in found]
    for i in waiting:
        solved[i] = None
    return solved


def _from_outside(form: Form, split: Split) -> Form:
    """The form of a carry that enters with a body's scale: 1 if the body gives it anew."""
    if not isinstance(form, Scaled):
        return None
    return form if form.scale.depth <= split.depth else Scaled(ONE)


def _moving(op: ir.Operation, split: Split, forms: list[Form]) -> dict[int, float]:
    """The carries that take a scale along, with their sizes; sets the levels with which they enter.

    Where a loop's placement is written as text, there is no telling it of more carries.
    """
    body = op.regions[1].blocks[0]
    if not split.marked or MHLO in op.attributes or not has_markers(body, split.marked):
        return {}
    moving, fixed = set[int](), set[int]()
    for turn in range(2 * _SEARCHES):
        trial = _tried(op, split, forms, {i: _size(forms[i]) for i in sorted(moving)})
        fixed |= trial.steady()
        more = trial.moved(moving) - fixed if turn < _SEARCHES else set[int]()
        if moving.isdisjoint(fixed) and not more:
            break
        moving = (moving | more) - fixed
    for i in moving:
        scale = form.scale if isinstance(form := forms[i], Scaled) else ONE
        level = max(_level(form), _level(trial.forms[i]))
        forms[i] = Scaled(scale, level, mean_uncertainty([form]))
    return {i: _size(trial.forms[i]) for i in sorted(moving)}


def _tried(
    op: ir.Operation, split: Split, forms: Sequence[Form], moving: Mapping[int, float] | None = None
) -> _Trial:
    """What a loop's body makes of its carries, found on a copy of it."""
    copy = op.operation.clone(ip=ir.InsertionPoint(op)).opview
    with split.trying():
        body = copy.regions[1].blocks[0]
        with split.region(copy.operation):
            carried = _enter(body, split, forms, moving or {})
            values = list(body.operations[-1].operands)
            yielded = split.forms(values)
        trial = _Trial(
            yielded, [_origins(f, split) for f in yielded], carried, _takers(body, values)
        )
        split.forget(copy.operation)
    copy.operation.erase()
    return trial


def _origins(form: Form, split: Split) -> list[Generator]:
    """What a scale that is born in the loop which the split is before was made of."""
    if not isinstance(form, Scaled) or form.scale.depth <= split.depth:
        return []
    return split.factors.born(form.scale)


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


def _level(form: Form) -> float:
    return form.level if isinstance(form, Scaled) else 0


def _risen(form: Form, last: Form) -> Form:
    """The form of a carry after the last turn."""
    if isinstance(form, Scaled) and isinstance(last, Scaled):
        return Scaled(form.scale, max(form.level, last.level), last.uncertainty)
    return form
