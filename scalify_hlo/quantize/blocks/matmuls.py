"""Replaces matmuls by matmuls of operands with block scales."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import COMPOSITE_BLOCK, MOST_POWER
from scalify_hlo.analysis.matmuls import ACTIVATION, GRADIENT, WEIGHT
from scalify_hlo.analysis.sizes import Extent
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.formats import element_of
from scalify_hlo.dialect.value_map import replace_op
from scalify_hlo.quantize.blocks.composites import (
    SCALE_ELEMENTS,
    Dot,
    ScaledDots,
    spread_dot,
    wide_element,
)
from scalify_hlo.quantize.blocks.layout import axes_of, reshaped
from scalify_hlo.quantize.blocks.operands import BlockOperand, BlockOperands, How
from scalify_hlo.quantize.matmuls import Formats, Scales, roles_of
from scalify_hlo.recipes.formats import F4
from scalify_hlo.recipes.model import DEVICES, KEEP, Recipe
from scalify_hlo.report.matmuls import CONSTANT, MEASURED, OperandScale
from scalify_hlo.rules import emit

_GPUS = frozenset({"gpu"}) | DEVICES
"""The targets that are GPUs of NVIDIA."""


class BlockQuantizer:
    """Replaces matmuls by matmuls of operands with block scales.

    Args:
        module: The module.
        recipe: The recipe.
    """

    def __init__(self, module: ir.Operation, recipe: Recipe) -> None:
        self._recipe, scale = recipe, recipe.blocks.scale
        bf16 = recipe.target in _GPUS
        self._dot: Dot = partial(spread_dot, wide_element(scale, bf16=bf16))
        # Powers of two are exact in bf16, which readers of StableHLO knew before E8M0.
        element = "bf16" if scale == "e8m0" else SCALE_ELEMENTS[scale]
        if recipe.target in {"any"} | _GPUS and _is_lowered(recipe):
            element = SCALE_ELEMENTS[scale]
            self._dot = ScaledDots(module, scale, bf16=bf16).dot
        self._operands = BlockOperands(module, recipe, element)
        self._last: Sequence[BlockOperand] = ()

    @property
    def count(self) -> int:
        """The number of operands that are quantized at run time."""
        return self._operands.count - self._operands.static

    @property
    def scales(self) -> Scales:
        """The scales of the operands of the last quantized matmul."""
        lhs, rhs = (OperandScale(CONSTANT if o.static else MEASURED) for o in self._last)
        return lhs, rhs

    def finish(self) -> None:
        """Erases the wide constants of which all matmuls are quantized."""
        self._operands.clean()

    def narrow(self, op: ir.OpView, formats: Formats, _: Extent) -> list[ir.OpView]:
        """Replaces a matmul; see `scalify_hlo.quantize.matmuls.MatmulQuantizer.narrow`."""
        roles, at = roles_of(op), op.operation
        sides = zip(op.operands, axes_of(op), formats, roles, strict=False)
        lhs, rhs = (
            self._operands.get(value, axes, format_, self._how(role, roles))
            for value, axes, format_, role in sides
        )
        self._last = lhs, rhs
        matmul = self._dot(lhs, rhs, at)
        old = op.results[0]
        made = _times_common(matmul, (lhs, rhs), at)
        made = reshaped(made, list(old.type.shape), at)
        made = emit.convert(made, self._rounded(), at)
        made = emit.convert(made, old.type.element_type, at)
        marked = [matmul.owner.opview]
        if attributes.STATE_GRADIENT in op.attributes:
            numbers = op.attributes[attributes.STATE_GRADIENT]
            made.owner.attributes[attributes.STATE_GRADIENT] = numbers
            marked += [made.owner.opview] if made != matmul else []
        if attributes.MATMUL in op.attributes:
            matmul.owner.attributes[attributes.MATMUL] = op.attributes[attributes.MATMUL]
        replace_op(op, [made])
        return marked

    def _how(self, role: str, roles: Sequence[str]) -> How:
        """Returns how an operand of a role is quantized, for a matmul of operands of two roles."""
        blocks = self._recipe.blocks
        return How(
            square=blocks.weight == "square" and role == WEIGHT,
            transformed=blocks.hadamard and set(roles) == {ACTIVATION, GRADIENT},
            stochastic=blocks.gradient_rounding == "stochastic" and role == GRADIENT,
        )

    def _rounded(self) -> ir.Type:
        """Returns the element type to which results are rounded before they get their own type."""
        output = self._recipe.matmul.output
        return ir.F32Type.get() if output == KEEP else element_of(output)


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
    where = {"loc": at.location, "ip": ir.InsertionPoint(at)}
    return emit.times(result, stablehlo.minimum(product, most, **where), at)
