"""Current scales: they follow from the amax of operands at run time, as in Transformer Engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.algebra.limits import EPILOGUE_STEPS, MOST_MARGIN, SMALLEST_AMAX
from scalify_hlo.algebra.search import Search
from scalify_hlo.casts.casts import barrier_after
from scalify_hlo.casts.constant_operands import ConstantOperands
from scalify_hlo.casts.operand_scales import Operand, QuantizeRequest, Quantizing, inverse_scale
from scalify_hlo.casts.own_scales import OwnScales
from scalify_hlo.casts.strategy import CastContext
from scalify_hlo.ir import emit, traits
from scalify_hlo.ir.formats import element_type, is_small
from scalify_hlo.ir.functions import is_block
from scalify_hlo.ir.value_map import ValueMap, ValueSet
from scalify_hlo.report.model import Report
from scalify_hlo.rules.devices import devices_of
from scalify_hlo.rules.emitter import Emitter
from scalify_hlo.rules.statistics import statistic
from scalify_hlo.transforms.matmul_dims import BARRIER, made_by

_BETWEEN: Final = traits.ELEMENTWISE | traits.ROUNDS | traits.RESHAPES | {"func.call"}
"""Ops between a matmul and a cast that XLA may compute in the kernel of the matmul; jax calls a
function for some activations."""

_LEAST: Final = 4.0
"""The least amax of scaled data at which all scales have normal reciprocals, and none saturate."""


class Current(OwnScales):
    """Scales from the amax of each operand; constants are folded.

    Args:
        context: The program.
    """

    def __init__(self, context: CastContext) -> None:
        super().__init__(context)
        self._constants = ConstantOperands(context.module, context.recipe)
        self._statistics, self._splats = 0, emit.Splats()

    @property
    def statistics(self) -> int:
        """See `CastStrategy`."""
        return self._statistics

    def operand(self, request: QuantizeRequest) -> Operand:
        """See `OwnScales`."""
        scaling = self._recipe.scaling
        constant = self._constants.operand(request) if scaling.power_2_scale else None
        if constant is not None:
            return constant
        self._statistics += 1
        request = replace(request, value=_apart(_in_own_format(request.value)))
        splats, channels = self._splats, request.channels
        quantizing = Quantizing(request, self._recipe, splats=splats)
        value = request.value
        dims = () if channels is None else channels.dims
        at, devices = quantizing.at, devices_of(quantizing.at.opview)
        amax = statistic(
            value, "max", at, wide=False, devices=devices, kept=dims, apart=True, splats=splats
        )
        emitter = Emitter(at, wide=False, shape=amax.type.shape, splats=splats)
        largest = FORMATS[request.format].scaled_amax * 2.0**-scaling.margin
        within = _LEAST <= largest <= FORMATS[request.format].max_finite
        if scaling.power_2_scale and 0 <= scaling.margin <= MOST_MARGIN:
            bounded = emitter.maximum(amax, emitter.number(SMALLEST_AMAX))
            inverse = emitter.inverse_scale(bounded, largest)
            return quantizing.operand(value, inverse, emitter.reciprocal(inverse), within=within)
        inverse = inverse_scale(amax, emitter.number(largest), emitter, scaling)
        scale = emitter.divide(emitter.number(1.0), inverse)
        inverse, scale = emitter.kept_together(inverse, scale)
        return quantizing.operand(value, inverse, scale, within=within)

    def finish(self, report: Report) -> None:
        """Erases the constants without uses."""
        super().finish(report)
        self._constants.clean()


def _apart(value: ir.Value) -> ir.Value:
    """Puts barriers behind the products of f8 operands that a tensor is computed from.

    For NVIDIA GPUs, XLA computes an activation, the cast of the result and its amax in the kernel
    of a matmul whose result is not bf16. It does so even if the scale of the cast follows from the
    amax, and refuses the program then, as it has a cycle. Behind a barrier, the matmul is a kernel
    of its own. Only ops that compute one number from one number are followed to the products.

    Returns:
        The tensor; the result of a barrier if it is such a product itself.
    """
    if _is_product(value):
        return barrier_after(value)
    waiting, seen, made = [value], ValueSet(), ValueMap[ir.Value]()
    for _ in range(EPILOGUE_STEPS):
        if not waiting:
            break
        each = waiting.pop()
        if each in seen or is_block(each.owner) or each.owner.name not in _BETWEEN:
            continue
        seen.add(each)
        for number, source in enumerate(each.owner.operands):
            if _is_product(source):  # Matmuls that read it share its casts.
                if source not in made:
                    made[source] = barrier_after(source)
                each.owner.operands[number] = made[source]
            else:
                waiting.append(source)
    return value


def _in_own_format(value: ir.Value) -> ir.Value:
    """Puts a barrier behind a tensor that is computed from exponentials, and rounded to be cast.

    XLA does not compute exponentials twice: it writes them once for the amax and for the cast, in
    the format before rounding, which for scores of attention is most of what is in memory.

    Returns:
        The tensor, or the result of the barrier.
    """
    if is_block(value.owner) or value.owner.name not in traits.ROUNDS:
        return value
    wide, narrow = (element_type(each.type) for each in (value.owner.operands[0], value))
    if not isinstance(wide, ir.FloatType) or not isinstance(narrow, ir.FloatType):
        return value
    if narrow.width >= wide.width:
        return value
    steps = (each.owner for each in islice(Search([value], _same_shape), EPILOGUE_STEPS))
    exponentials = any(not is_block(op) and op.name in traits.EXPONENTIALS for op in steps)
    return barrier_after(value) if exponentials else value


def _same_shape(value: ir.Value) -> Iterator[ir.Value]:
    """Yields the values of its shape from which ops between matmuls and casts compute a value."""
    op = value.owner
    if not is_block(op) and op.name in _BETWEEN:
        yield from (each for each in op.operands if each.type.shape == value.type.shape)


def _is_product(value: ir.Value) -> bool:
    """Whether a tensor is a product of f8 operands, scaled and in another format than bf16."""
    if isinstance(element_type(value.type), ir.BF16Type):
        return False
    for op in made_by(value, traits.RESHAPES | traits.REORDERS):
        if op.name == BARRIER:
            return False
        if op.name == "stablehlo.dot_general":
            return all(is_small(operand.type) for operand in op.operands)
    return False
