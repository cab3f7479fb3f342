"""Delayed scales: they follow from the amax of operands in past steps, as in Transformer Engine.

The program takes and returns a state: the amax of each tensor in past steps, most recent first, the
scale X_s of each tensor, and the number of the step. A step casts at the scales of its state, and
returns the scales that follow from its own amax and those of past steps. An amax that is infinite
or NaN is not added to the history. A history of zeros does not change its scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.algebra.limits import SMALLEST_AMAX
from scalify_hlo.casts.casts import barrier_after
from scalify_hlo.casts.costs import contracted_last, is_made_of_rows
from scalify_hlo.casts.operand_scales import (
    Kept,
    Operand,
    QuantizeRequest,
    Quantizing,
    Rule,
    StateScale,
    constants,
    inverse_scale,
    most_of,
    multiplied,
)
from scalify_hlo.casts.own_scales import OwnScales
from scalify_hlo.casts.strategy import CastContext
from scalify_hlo.dataflow.matmuls import WEIGHT
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit, traits
from scalify_hlo.ir.functions import terminator
from scalify_hlo.ir.value_map import ValueCache, ValueSet, erase, replace_op
from scalify_hlo.report.model import Report, StateReport
from scalify_hlo.rules.emitter import Emitter
from scalify_hlo.rules.placement import on_one_device
from scalify_hlo.rules.statistics import statistic
from scalify_hlo.transforms.hoist import add_results, lift, lower

STATE = "scaling_state"
LEAVES = ("amax_history", "scale", "step")
"""The leaves of the state, in the order of the arguments and results."""


MEMBER = " member "
"""The separator of the name of a tensor and its member, if each member has a scale."""

AS = " as "
"""The separator of the name of a tensor and its format, if it has two formats."""

FIRST_GRADIENT = 2.0**-8
"""The amax of gradients that is assumed before any was measured."""

DESCRIPTION = "scalify.scaling_state"
"""An attribute of the module: the tensors by name, and the largest numbers of their formats."""


class Described(NamedTuple):
    """The description of the state in a program.

    Attributes:
        names: The names of the tensors.
        largest: The amax that each tensor's data are scaled to, with the margin; see
            `FloatFormat.scaled_amax`.
        gradients: For each tensor, whether it is a gradient.
        power_2_scale: Whether scales are powers of two.
    """

    names: tuple[str, ...]
    largest: tuple[float, ...]
    gradients: tuple[bool, ...]
    power_2_scale: bool

    def scales(self, amax: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Returns the scale that follows from the amax of each tensor; 1 if the amax is zero."""
        with np.errstate(over="ignore"):  # The scale of a tensor whose amax is zero is not read.
            least = np.maximum(amax, np.float32(SMALLEST_AMAX))
            inverse = np.array(self.largest, np.float32) / least
        if self.power_2_scale:
            inverse = np.ldexp(np.float32(0.5), np.frexp(inverse)[1])
        return np.where(amax > 0, 1 / inverse, 1).astype(np.float32)

    def first_scales(self) -> npt.NDArray[np.float32]:
        """Returns the scales of the first step, before any amax was measured."""
        guess = self.scales(np.full(len(self.names), FIRST_GRADIENT, np.float32))
        return np.where(self.gradients, guess, np.float32(1))


def _has_one_order(value: ir.Value) -> bool:
    """Whether all matmuls that read a tensor sum over its last dimension, or all over others.

    Convolutions, and matmuls that read a view of the tensor, may prefer any order.
    """
    ends = set[bool]()
    for use in value.uses:
        op = use.owner
        if op.operation.name == "stablehlo.dot_general":
            ends.add(contracted_last(op)[use.operand_number])
        elif op.operation.name in traits.CONTRACTIONS | traits.RESHAPES | traits.REORDERS:
            return False
    return len(ends) == 1


def described(module: ir.Operation) -> Described | None:
    """Returns the description of the state of a program; None if it takes no state."""
    if DESCRIPTION not in module.attributes:
        return None
    names, largest, gradients, power_2 = ir.ArrayAttr(module.attributes[DESCRIPTION])
    return Described(
        tuple(attributes.texts(names)),
        tuple(ir.FloatAttr(value).value for value in ir.ArrayAttr(largest)),
        tuple(ir.BoolAttr(flag).value for flag in ir.ArrayAttr(gradients)),
        ir.BoolAttr(power_2).value,
    )


def describe(main: ir.OpView, about: Described) -> None:
    """Writes the description of the state of a program, which `described` reads."""
    f32 = ir.F32Type.get()
    parts = [
        ir.ArrayAttr.get([ir.StringAttr.get(name) for name in about.names]),
        ir.ArrayAttr.get([ir.FloatAttr.get(f32, value) for value in about.largest]),
        ir.ArrayAttr.get([ir.BoolAttr.get(each) for each in about.gradients]),
        ir.BoolAttr.get(about.power_2_scale),
    ]
    main.operation.parent.attributes[DESCRIPTION] = ir.ArrayAttr.get(parts)


def add_state_arguments(main: ir.OpView, length: int, count: int) -> list[ir.Value]:
    """Adds the state to the arguments of a program, after the others.

    Args:
        main: The entry function.
        length: The length of the history.
        count: The number of scales.

    Returns:
        The amax history, f32 [length, count]; the scales, f32 [count]; and the step, i32.
    """
    f32 = ir.F32Type.get()
    types = [
        ir.RankedTensorType.get([length, count], f32),
        ir.RankedTensorType.get([count], f32),
        emit.scalar_type(ir.IntegerType.get_signless(32)),
    ]
    block, marks = main.regions[0].blocks[0], attributes.argument_attributes(main)
    made = [
        block.add_argument(type_, ir.Location.name(f"{STATE}['{leaf}']", main.location))
        for type_, leaf in zip(types, LEAVES, strict=True)
    ]
    attributes.renew_function_type(main)
    marks += [{attributes.IS_STATE: ir.UnitAttr.get()} for _ in made]
    attributes.set_argument_attributes(main, marks)
    return made


def return_state(main: ir.OpView, state: Sequence[ir.Value]) -> None:
    """Adds the state for the next step to the results of a program, after the others."""
    add_results(main, state, [f"{STATE}['{leaf}']" for leaf in LEAVES])


class _Tensor(NamedTuple):
    """A tensor that is cast.

    Attributes:
        name: The name in profiles.
        format: The format of the cast.
        gradient: Whether it is a gradient.
        amax: The amax in this step, or those of its members.
        shape: The shape of the amax; empty for one scale.
    """

    name: str
    format: str
    gradient: bool
    amax: ir.Value
    shape: tuple[int, ...]

    @property
    def slots(self) -> int:
        """The number of its scales."""
        return math.prod(self.shape)

    @property
    def names(self) -> list[str]:
        """The names of its scales, which say the member if there are several."""
        indices = (",".join(map(str, index)) for index in np.ndindex(*self.shape))
        return [f"{self.name}{MEMBER}{index}" for index in indices] if self.shape else [self.name]


class _Scalar(NamedTuple):
    """A number that follows from the scales of the state.

    Attributes:
        stand_in: A placeholder for it in the program, a constant of its type.
        numbers: The numbers of the tensors.
        rule: Builds the number from those scales, in f32; several if a tensor has several scales.
    """

    stand_in: ir.Value
    numbers: tuple[int, ...]
    rule: Rule


class Delayed(OwnScales):
    """Scales that are state of the program.

    Args:
        context: The program.
        main: The entry function.
        names: The names of the operands in profiles.
    """

    def __init__(
        self, context: CastContext, main: ir.OpView, names: ValueCache[Sequence[str]]
    ) -> None:
        super().__init__(context)
        self._main, self._names = main, names
        self._reshape = on_one_device(main.operation.parent)
        self._tensors: list[_Tensor] = []
        self._scalars: list[_Scalar] = []
        self._taken: set[str] = set()

    @property
    def statistics(self) -> int:
        """See `CastStrategy`."""
        return sum(tensor.slots for tensor in self._tensors)

    def operand(self, request: QuantizeRequest) -> Operand:
        """See `OwnScales`."""
        name = self._names[request.place][0]
        if name in self._taken:
            name += f"{AS}{request.format}"  # The tensor is cast to two formats.
        request = self._apart(request)
        quantizing = Quantizing(request, self._recipe, self._kept(request.value))
        at, value, number = quantizing.at, request.value, len(self._tensors)
        dims = () if request.channels is None else request.channels.dims
        # The amax of several devices are reduced where they leave the per-device computation.
        amax = statistic(
            value, "max", at, wide=False, devices=None, kept=dims, narrow=True, finite=False
        )
        self._taken.add(name)
        shape = tuple(amax.type.shape)
        self._tensors.append(_Tensor(name, request.format, request.gradient, amax, shape))
        inverse = self.computed([number], _reciprocal, quantizing.element, at)
        made = quantizing.operand(value, inverse, inverse)
        return replace(made, scale=None, state=StateScale(self, number), origin="delayed")

    def product(self, numbers: Sequence[int], element: ir.Type, at: ir.Operation) -> ir.Value:
        """See `scalify_hlo.casts.operand_scales.StateScales`.

        The product is handed out in f32, in which GPUs read it in the kernel of a matmul.
        """

        def rule(scales: Sequence[ir.Value], at: ir.Operation) -> ir.Value:
            return multiplied(scales, most_of(element), at)

        return emit.convert(self.computed(numbers, rule, ir.F32Type.get(), at), element, at)

    def computed(
        self, numbers: Sequence[int], rule: Rule, element: ir.Type, at: ir.Operation
    ) -> ir.Value:
        """See `scalify_hlo.casts.operand_scales.StateScales`; a placeholder is returned."""
        type_ = ir.RankedTensorType.get(self._tensors[numbers[0]].shape, element)
        stand_in = emit.constant(type_, 1.0, at)
        self._scalars.append(_Scalar(stand_in, tuple(numbers), rule))
        return stand_in

    @cached_property
    def _updated_weights(self) -> ValueSet:
        """The weights that are state, so that their update reads them."""
        arguments = self._main.regions[0].blocks[0].arguments
        marks = attributes.argument_attributes(self._main)
        return ValueSet(
            argument
            for argument, mark in zip(arguments, marks, strict=False)
            if attributes.role_of(mark) == WEIGHT
        )

    def _apart(self, request: QuantizeRequest) -> QuantizeRequest:
        """Returns a request whose cast and amax are one kernel, apart from that of the tensor."""
        known = self._recipe.platform.device and self._reshape
        if not known or not is_made_of_rows(request.value):
            return request
        return replace(request, value=barrier_after(request.value))

    def _kept(self, value: ir.Value) -> Kept:
        """Returns the order of a cast and its amax that keeps both in one kernel on GPUs.

        XLA cannot compute an amax in the kernel of the matmul, or in a transpose for it. The tensor
        would be read once more. A weight is read once more in any case, for its update, and in that
        kernel XLA computes the amax. If all matmuls sum over one dimension of the weight, its cast
        has the order that they prefer.
        """
        block = self._main.regions[0].blocks[0]
        if value.owner == block and value in self._updated_weights and _has_one_order(value):
            return "no"
        flat = self._reshape and value.type.has_static_shape
        return "in order" if flat and value.owner == block else "apart"

    def finish(self, report: Report) -> None:
        """Adds the state, of no tensor if nothing was cast, to the arguments and results."""
        super().finish(report)
        length = self._recipe.scaling.amax_history_len
        history, scales, step = add_state_arguments(self._main, length, self.statistics)
        self._hand_out(scales)
        # This is the last step: it replaces per-device computations, and their results with them.
        amaxes = lift(self._main, [tensor.amax for tensor in self._tensors], "maximum")
        new = self._updated(amaxes, history, scales, step)
        return_state(self._main, new)
        names = tuple(name for tensor in self._tensors for name in tensor.names)
        largest, gradients = tuple(self._largest()), tuple(self._each("gradient"))
        powers = self._recipe.scaling.power_2_scale
        describe(self._main, Described(names, largest, gradients, powers))
        report.scaling_state = StateReport(names, length)

    def _hand_out(self, scales: ir.Value) -> None:
        """Passes each cast and each matmul the number that it reads, into regions too.

        The barrier makes one kernel of all of them. Otherwise XLA would extract scales, and
        multiply them, in each fusion that reads them, or in kernels of their own.
        """
        first = self._main.regions[0].blocks[0].operations[0].operation
        emitter = Emitter(first, wide=False)
        starts = accumulate((tensor.slots for tensor in self._tensors), initial=0)
        extracted = [
            _extracted(scales, start, tensor.shape, first)
            for start, tensor in zip(starts, self._tensors, strict=False)
        ]
        used = [scalar for scalar in self._scalars if any(scalar.stand_in.uses)]
        for scalar in self._scalars:
            if not any(scalar.stand_in.uses):
                erase(scalar.stand_in.owner.operation)
        if not used:
            return  # A barrier has at least one value.
        made = emitter.kept_together(*(_made(scalar, extracted, first) for scalar in used))
        places = [scalar.stand_in.owner.operation for scalar in used]
        for number, (place, seen) in enumerate(zip(places, lower(made, places), strict=True)):
            replace_op(place, [seen[number]])

    def _updated(
        self, amaxes: Sequence[ir.Value], history: ir.Value, scales: ir.Value, step: ir.Value
    ) -> list[ir.Value]:
        """Returns the state for the next step."""
        scaling = self._recipe.scaling
        at = terminator(self._main.regions[0].blocks[0])
        where = emit.before(at)
        if not amaxes:
            return [history, scales, counted(step, at)]
        emitter = Emitter(at, wide=False, shape=scales.type.shape)
        zero = emitter.number(0.0)
        # Otherwise XLA would repeat each reduction in the concatenation.
        found = _vector(emitter.kept_together(*amaxes), at)
        found = emitter.select(stablehlo.is_finite(found, **where), found, zero)
        new_history = _pushed(found, history, at)
        amax = found
        if scaling.amax_compute_algo == "max":
            amax = statistic(
                new_history, "max", at, wide=False, devices=None, kept=(1,), finite=False
            )
        largest = constants(np.array(self._largest(), np.float32), at)
        inverse = inverse_scale(amax, largest, emitter, scaling)
        new = emitter.divide(emitter.number(1.0), inverse)
        new = emitter.select(emitter.is_positive(amax), new, scales)
        next_step = counted(step, at)
        if scaling.interval > 1:
            new = emitter.select(emitter.multiple(next_step, scaling.interval), new, scales)
        return [new_history, new, next_step]

    def _largest(self) -> list[float]:
        """Returns the amax that each tensor's data are scaled to, with the margin."""
        room = 2.0**-self._recipe.scaling.margin
        return [FORMATS[format_].scaled_amax * room for format_ in self._each("format")]

    def _each(self, attribute: str) -> list[Any]:
        """Returns an attribute of the tensor of each scale."""
        tensors = self._tensors
        return [getattr(tensor, attribute) for tensor in tensors for _ in range(tensor.slots)]


def _reciprocal(scales: Sequence[ir.Value], at: ir.Operation) -> ir.Value:
    """Returns the reciprocal of a scale, or of those of members."""
    emitter = Emitter(at, wide=False, shape=scales[0].type.shape)
    return emitter.divide(emitter.number(1.0), scales[0])


def _made(scalar: _Scalar, scales: Sequence[ir.Value], at: ir.Operation) -> ir.Value:
    """Returns the value of a placeholder, given the scales of all tensors."""
    made = scalar.rule([scales[number] for number in scalar.numbers], at)
    return emit.convert(made, scalar.stand_in.type.element_type, at)


def _extracted(scales: ir.Value, start: int, shape: tuple[int, ...], at: ir.Operation) -> ir.Value:
    """Returns the scale of a tensor, or those of its members."""
    if not shape:
        return _element(scales, start, at)
    end = start + math.prod(shape)
    part = stablehlo.slice(scales, [start], [end], [1], **emit.before(at))
    return emit.reshape(part, ir.RankedTensorType.get(shape, part.type.element_type), at)


def _element(vector: ir.Value, number: int, at: ir.Operation) -> ir.Value:
    """Returns one element of a tensor of rank 1 as a tensor of rank 0.

    XLA compiles slices at different offsets one by one, and equal gathers once. The indices of the
    gather are a constant of two different elements, which XLA passes to the kernel as an argument.
    """
    where = emit.before(at)
    indices = stablehlo.constant(
        ir.DenseElementsAttr.get(np.array([[number], [-1]], np.int32)), **where
    )
    numbers = stablehlo.GatherDimensionNumbers.get(
        offset_dims=[],
        collapsed_slice_dims=[0],
        operand_batching_dims=[],
        start_indices_batching_dims=[],
        start_index_map=[0],
        index_vector_dim=1,
    )
    both = stablehlo.gather(vector, indices, numbers, [1], **where)
    one = stablehlo.slice(both, [0], [1], [1], **where)
    return emit.reshaped(one, [], at)


def counted(step: ir.Value, at: ir.Operation) -> ir.Value:
    """Returns the number of the next step, an integer of rank 0, before an op."""
    one = emit.constant(step.type, 1, at)
    return emit.elementwise("stablehlo.add", step, one, **emit.before(at))


def _vector(values: Sequence[ir.Value], at: ir.Operation) -> ir.Value:
    """Returns scalars, and the elements of tensors, as one tensor of rank 1."""
    rows = [emit.reshaped(value, [math.prod(value.type.shape)], at) for value in values]
    return stablehlo.concatenate(rows, 0, **emit.before(at))


def _pushed(amax: ir.Value, history: ir.Value, at: ir.Operation) -> ir.Value:
    """Returns the history with a new first amax, and without the last one."""
    where = emit.before(at)
    length, count = history.type.shape
    first = emit.reshaped(amax, [1, count], at)
    if length == 1:
        return first
    rest = stablehlo.slice(history, [0, 0], [length - 1, count], [1, 1], **where)
    return stablehlo.concatenate([first, rest], 0, **where)
