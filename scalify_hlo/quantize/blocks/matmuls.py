"""Matmuls of operands with block scales."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import COMPOSITE_BLOCK, MOST_POWER
from scalify_hlo.analysis.matmuls import ACTIVATION, GRADIENT, WEIGHT
from scalify_hlo.analysis.sizes import Extent
from scalify_hlo.dialect.contraction import Axes, contraction_of
from scalify_hlo.dialect.formats import element_of
from scalify_hlo.quantize.blocks.composites import (
    SCALE_ELEMENTS,
    Dot,
    ScaledDots,
    spread_dot,
    wide_element,
)
from scalify_hlo.quantize.blocks.layout import reshaped
from scalify_hlo.quantize.blocks.operands import BlockOperand, BlockOperands, How
from scalify_hlo.quantize.blocks.scales import Members
from scalify_hlo.quantize.channels import Channels, independent
from scalify_hlo.quantize.marked_ops import roles_of
from scalify_hlo.quantize.operand_scales import UNSCALED, Operand, dequantize
from scalify_hlo.quantize.strategy import CastContext, CastStrategy, Formats, Replacement
from scalify_hlo.recipes.formats import F4
from scalify_hlo.recipes.model import DEVICES, KEEP, Recipe
from scalify_hlo.report.matmuls import MEASURED
from scalify_hlo.report.model import Report
from scalify_hlo.rules import emit

_GPUS = frozenset({"gpu"}) | DEVICES
"""The targets that are GPUs of NVIDIA."""


class Blocks(CastStrategy):
    """Scales of blocks, each from the amax of its block.

    Args:
        context: The program.
    """

    def __init__(self, context: CastContext) -> None:
        super().__init__(context)
        recipe, module, scale = context.recipe, context.module, context.recipe.blocks.scale
        bf16 = recipe.target in _GPUS
        self._dot: Dot = partial(spread_dot, wide_element(scale, bf16=bf16))
        # Powers of two are exact in bf16, which readers of StableHLO knew before E8M0.
        element = "bf16" if scale == "e8m0" else SCALE_ELEMENTS[scale]
        if recipe.target in {"any"} | _GPUS and _is_lowered(recipe):
            element = SCALE_ELEMENTS[scale]
            self._dot = ScaledDots(module, scale, bf16=bf16).dot
        self._operands = BlockOperands(module, recipe, element)

    @property
    def count(self) -> int:
        """See `CastStrategy`; those at run time are counted."""
        return self._operands.count - self._operands.static

    @property
    def statistics(self) -> int:
        """See `CastStrategy`."""
        return self.count

    def finish(self, report: Report) -> None:
        """Erases the wide constants of which all matmuls are quantized."""
        super().finish(report)
        self._operands.clean()

    def replacement(self, op: ir.OpView, formats: Formats, _: Extent) -> Replacement:
        """See `CastStrategy`."""
        roles, at = roles_of(op), op.operation
        places = [independent(op, side, each=False) for side in (0, 1)]
        sides = zip(op.operands, contraction_of(op), formats, roles, places, strict=False)
        lhs, rhs = (
            self._operands.get(value, axes, format_, self._how(value, axes, role, roles, place))
            for value, axes, format_, role, place in sides
        )
        matmul = self._dot(lhs, rhs, at)
        shape = list(op.results[0].type.shape)
        if any(place is not None for place in places):
            made = _times_members(reshaped(matmul, shape, at), (lhs, rhs), places, at)
        else:
            made = reshaped(_times_common(matmul, (lhs, rhs), at), shape, at)
        return Replacement((lhs, rhs), matmul, emit.convert(made, self._rounded(), at))

    def _how(
        self, value: ir.Value, axes: Axes, role: str, roles: Sequence[str], place: Channels | None
    ) -> How:
        """Returns how an operand is quantized.

        Args:
            value: The operand.
            axes: Its dimensions.
            role: Its role.
            roles: The roles of both operands of the matmul.
            place: Its dimensions that have members, if there are any. If they are free ones, square
                blocks of rows could have two members.
        """
        blocks, order = self._recipe.blocks, (*axes.batch, *axes.free)
        kept = () if place is None else tuple(sorted(map(order.index, place.dims)))
        shape = tuple(value.type.shape[d] for d in order)
        paired = blocks.scale == "e4m3" and kept
        free = bool(kept) and kept[-1] >= len(axes.batch)
        return How(
            square=blocks.weight == "square" and role == WEIGHT and not free,
            members=Members(shape, kept, len(axes.batch)) if paired else None,
            transformed=blocks.hadamard and set(roles) == {ACTIVATION, GRADIENT},
            stochastic=blocks.gradient_rounding == "stochastic" and role == GRADIENT,
        )

    def _rounded(self) -> ir.Type:
        """Returns the element type to which results are rounded before they get their own type."""
        output = self._recipe.matmul.output
        return ir.F32Type.get() if output == KEEP else element_of(output)


def _times_members(
    result: ir.Value,
    operands: Sequence[BlockOperand],
    places: Sequence[Channels | None],
    at: ir.Operation,
) -> ir.Value:
    """Returns a matmul times the common factors of operands, which members have their own of.

    The factors of members are in the order of the layout, which is that of the result.
    """
    found = []
    for operand, place in zip(operands, places, strict=True):
        if operand.common is not None:
            ordered = place and place._replace(result=tuple(sorted(place.result)))
            found.append(Operand(result, MEASURED, UNSCALED, operand.common, ordered))
    return dequantize(result, found, at)


def _is_lowered(recipe: Recipe) -> bool:
    """Whether XLA for GPUs compiles a composite; that of jaxlib 0.10.2 fails for MXFP4."""
    formats = recipe.matmul.activation, recipe.matmul.weight, recipe.matmul.gradient
    small = recipe.blocks.size <= COMPOSITE_BLOCK and not {*formats} & {*F4}
    return recipe.blocks.scale != "e8m0" or small


def _times_common(result: ir.Value, operands: Sequence[BlockOperand], at: ir.Operation) -> ir.Value:
    """Returns a matmul times the common factors of the scales of its operands.

    Their product is clamped to the largest power of two: infinity times zero is NaN.
    """
    found = [operand.common for operand in operands if operand.common is not None]
    if not found:
        return result
    product = emit.multiply(found[0], found[1], at) if len(found) > 1 else found[0]
    most = emit.constant(product.type, MOST_POWER, at)
    where = emit.before(at)
    return emit.times(result, stablehlo.minimum(product, most, **where), at)
