"""Loss scaling: the gradients of a step are S times as large until the optimizer reads them.

Micikevicius et al. 2018 (arXiv 1710.03740), section 3.2. S is a power of two. Of each value X that
is linear in the cotangent of the loss, the program computes Y = S * X:

    seed:          Y = X * S
    linear op:     f(Y) = S * f(X),   for the ops of `scalify_hlo.dataflow.cotangents`
    all others:    f(Y * 1/S) = f(X), and so are the results of the program and the optimizer

A product with a power of two is exact, and commutes with rounding: while no number leaves the
normal range of its format, all results of the program have the bits that they had before. Other
terms of a sum, such as the gradient of a penalty that has no seed, are multiplied by S. Numbers in
16 and 8 bits are multiplied in f32, as S may be beyond their range.

An automatic scale is state, as that of delayed scales: its X_s is 1/S, and its history is empty.
After `period` steps whose gradients are finite, S doubles. If a gradient is infinite or NaN, S is
halved, and the step returns the state that it was given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import NORMAL
from scalify_hlo.casts.delayed import (
    FIRST_GRADIENT,
    Described,
    add_state_arguments,
    counted,
    describe,
    return_state,
)
from scalify_hlo.dataflow.cotangents import Cotangents
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import is_wide
from scalify_hlo.ir.functions import is_block, terminator
from scalify_hlo.ir.value_map import OpSet, ValueCache, redirect, replace_op, uses_of
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.recipes.model import LossScale
from scalify_hlo.rules.emitter import Emitter
from scalify_hlo.rules.statistics import statistic
from scalify_hlo.transforms.hoist import lift, lower

LOSS = "loss"
"""The name of the tensor whose scale is that of the loss."""


class Scaling:
    """Multiplies the cotangents of a program by S, and divides them by S where they end.

    Args:
        found: The cotangents.
        scale: S.

    Attributes:
        ends: The values that are read without S; of gradients, S times the gradient.
    """

    def __init__(self, found: Cotangents, scale: float) -> None:
        self._found, self._scale = found, scale
        self._made: ValueCache[ir.Value] = ValueCache()
        self._scalars: dict[bool, list[ir.Operation]] = {True: [], False: []}
        self.ends: list[ir.Value] = []

    def run(self) -> None:
        """Edits the program."""
        for op, scaled in self._found.readings:
            for number, wanted in enumerate(scaled):
                value = op.operands[number]
                here = self._found.is_scaled(value)
                if wanted is not None and wanted != here and not self._found.is_free(value):
                    op.operands[number] = self._times(value, up=wanted)
        for seed in list(self._found.seeds):
            uses = uses_of(seed)
            redirect(uses, self._multiplied(seed, up=True))

    def mark_ends(self) -> None:
        """Moves the marks of gradients that an optimizer changed before it reads them, as clipped.

        Such values are not S times as large. Gradients are cast where they are.
        """
        mark = attributes.STATE_GRADIENT
        marked = ops_in(self._found.main, where=lambda op: mark in op.attributes)
        numbered = ((op, n.value) for op in marked for n in op.attributes[mark])
        late = OpSet(op for op, n in numbered if not self._found.is_scaled(op.results[n]))
        for op in late:
            del op.attributes[mark]
        for end in self.ends if late else ():
            if not is_block(end.owner):
                attributes.mark_gradient(end)

    def _times(self, value: ir.Value, *, up: bool) -> ir.Value:
        """Returns a value times S, or times 1/S, which is built once."""
        key = value, up
        if key not in self._made:
            self._made[key] = self._multiplied(value, up=up)
            if not up:
                self.ends.append(value)
        return self._made[key]

    def _multiplied(self, value: ir.Value, *, up: bool) -> ir.Value:
        at, element = _next(value), value.type.element_type
        wide = value if is_wide(value.type) else emit.convert(value, ir.F32Type.get(), at)
        scalar = emit.scalar_type(ir.F32Type.get())
        factor = emit.constant(scalar, self._scale if up else 1 / self._scale, at)
        self._scalars[up].append(factor.owner.operation)
        factor = emit.convert(factor, wide.type.element_type, at)
        return emit.convert(emit.times(wide, factor, at), element, at)

    def replace_scale(self, scale: ir.Value, inverse: ir.Value) -> None:
        """Makes S a value that is known at run time, in regions too."""
        places = [place for some in self._scalars.values() for place in some]
        count = len(self._scalars[True])
        inside = lower([scale, inverse], places)
        for number, (place, seen) in enumerate(zip(places, inside, strict=True)):
            replace_op(place, [seen[number >= count]])


def _next(value: ir.Value) -> ir.Operation:
    """Returns the op before which a value is known first."""
    owner = value.owner
    if is_block(owner):
        return owner.operations[0].operation
    ip = ir.InsertionPoint.after(owner)
    following: ir.Operation = ip.ref_operation
    return following


def scale_automatically(
    main: ir.OpView, scaling: Scaling, options: LossScale, carried: Mapping[int, int]
) -> int:
    """Makes the scale of the loss state of the program, and returns how many gradients are tested.

    Args:
        main: The entry function.
        scaling: The edited cotangents, at the first scale.
        options: The first scale, and the period.
        carried: The arguments that a step returns, by the numbers of their results.
    """
    amaxes = [_amax(end) for end in scaling.ends]
    history, inverse, good = add_state_arguments(main, 0, 1)
    first = main.regions[0].blocks[0].operations[0].operation
    emitter = Emitter(first, wide=False)
    own = emit.reshaped(inverse, [], first)
    scaling.replace_scale(emitter.divide(emitter.number(1.0), own), own)
    finite = _finite(main, lift(main, amaxes, "maximum"))
    new = _next_state(main, options, inverse, good, finite)
    _keep_state(main, carried, finite)
    return_state(main, [history, *new])
    first_scale = FIRST_GRADIENT * options.value
    describe(main, Described((LOSS,), (first_scale,), (True,), power_2_scale=True))
    return len(amaxes)


def _amax(value: ir.Value) -> ir.Value:
    return statistic(
        value, "max", _next(value), wide=False, devices=None, narrow=True, finite=False
    )


def _finite(main: ir.OpView, amaxes: Iterable[ir.Value]) -> ir.Value:
    """Returns whether all gradients are finite, at the end of a program."""
    emitter = Emitter(terminator(main.regions[0].blocks[0]), wide=False)
    largest = emitter.number(0.0)
    for amax in amaxes:
        largest = emitter.maximum(largest, amax)
    return stablehlo.is_finite(largest, **emitter.where)


def _next_state(
    main: ir.OpView, options: LossScale, inverse: ir.Value, good: ir.Value, finite: ir.Value
) -> Sequence[ir.Value]:
    """Returns 1/S and the number of good steps since S changed, for the next step."""
    at = terminator(main.regions[0].blocks[0])
    emitter = Emitter(at, wide=False, shape=inverse.type.shape)
    more = counted(good, at)
    doubles = emit.compare(more, emit.constant(more.type, options.period, at), "GE", at)
    halved = emitter.multiply(inverse, emitter.number(0.5))
    kept = stablehlo.select(doubles, halved, inverse, **emitter.where)
    doubled = emitter.multiply(inverse, emitter.number(2.0))
    scale = emitter.clamped(stablehlo.select(finite, kept, doubled, **emitter.where), NORMAL)
    counts = emit.op(at, "stablehlo.not", [doubles.type], [doubles]).result
    counts = emit.elementwise("stablehlo.and", counts, finite, **emitter.where)
    zero = emit.constant(more.type, 0, at)
    return scale, stablehlo.select(counts, more, zero, **emitter.where)


def _keep_state(main: ir.OpView, carried: Mapping[int, int], finite: ir.Value) -> None:
    """Makes the step return the state that it was given if a gradient is not finite."""
    block = main.regions[0].blocks[0]
    returned = terminator(block)
    where = emit.before(returned)
    for result, argument in carried.items():
        new, old = returned.operands[result], block.arguments[argument]
        if new != old:
            returned.operands[result] = stablehlo.select(finite, new, old, **where)
