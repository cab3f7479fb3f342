"""Matmuls of operands with block scales."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeAlias

from scalify_hlo._compat import func, ir, stablehlo
from scalify_hlo.algebra.limits import COMPOSITE_BLOCK, MOST_POWER
from scalify_hlo.casts.blocks.operands import BlockOperand, BlockOperands, How, dequantized
from scalify_hlo.casts.blocks.scales import Members
from scalify_hlo.casts.channels import Channels, independent
from scalify_hlo.casts.matmuls import roles_of
from scalify_hlo.casts.operand_scales import UNSCALED, Operand, dequantize
from scalify_hlo.casts.strategy import CastContext, CastStrategy, Formats, Replacement
from scalify_hlo.dataflow.matmuls import ACTIVATION, GRADIENT, WEIGHT
from scalify_hlo.dataflow.sizes import Extent
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.matmul_names import number_at
from scalify_hlo.ir import emit
from scalify_hlo.ir.calls import symbols_in
from scalify_hlo.ir.contraction import DOT_GENERAL, NUMBERS, Axes, contraction_of, dot_numbers
from scalify_hlo.ir.formats import element_of
from scalify_hlo.ir.scaled_dot import SCALED_DOT
from scalify_hlo.ir.value_map import erase
from scalify_hlo.recipes.formats import MICRO
from scalify_hlo.recipes.model import KEEP, Recipe
from scalify_hlo.report.matmuls import MEASURED
from scalify_hlo.report.model import Report


class Blocks(CastStrategy):
    """Scales of blocks, each from the amax of its block.

    Args:
        context: The program.
    """

    def __init__(self, context: CastContext) -> None:
        super().__init__(context)
        recipe, module, scale = context.recipe, context.module, context.recipe.blocks.scale
        bf16 = recipe.platform.cuda
        self._dot: Dot = partial(spread_dot, wide_element(scale, bf16=bf16))
        # Powers of two are exact in bf16, which readers of StableHLO knew before E8M0.
        element = "bf16" if scale == "e8m0" else SCALE_ELEMENTS[scale]
        if (bf16 or recipe.target == "any") and _is_lowered(recipe):
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
            made = _times_members(emit.reshaped(matmul, shape, at), (lhs, rhs), places, at)
        else:
            made = emit.reshaped(_times_common(matmul, (lhs, rhs), at), shape, at)
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
        updates = set(roles) == {ACTIVATION, GRADIENT}
        rounding = "nearest"
        if role == GRADIENT:
            rounding = blocks.gradient_rounding
        elif role == ACTIVATION and updates:
            rounding = blocks.activation_rounding
        return How(
            square=blocks.weight == "square" and role == WEIGHT and not free,
            members=Members(shape, kept, len(axes.batch)) if paired else None,
            transformed=blocks.hadamard == "all" or (blocks.hadamard == "wgrad" and updates),
            stochastic=rounding == "stochastic",
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
    small = recipe.blocks.size <= COMPOSITE_BLOCK and not {*formats} & {*MICRO}
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
    return emit.times(result, stablehlo.minimum(product, most, **emit.before(at)), at)


# Matmuls of operands in blocks: a composite with a decomposition, or the decomposition.
#
# The composite ``xla.scaled_dot`` is that of `jax.lax.scaled_dot`. XLA computes it by one kernel on
# GPUs that have one for the formats, and by its decomposition otherwise:
#
#     dot(X_d * spread(X_s), Y_d * spread(Y_s))


Dot: TypeAlias = Callable[[BlockOperand, BlockOperand, ir.Operation], ir.Value]
"""Builds the f32 matmul of two operands before an op, without their common factors."""

SCALE_ELEMENTS: Final = {"e8m0": "f8E8M0FNU", "e4m3": "f8E4M3FN", "f32": "f32"}
"""The element types of scales by their names in recipes."""


def wide_element(scale: str, *, bf16: bool) -> ir.Type:
    """Returns the element type in which decompositions multiply.

    Args:
        scale: The format of scales, as in recipes.
        bf16: Whether it is bf16, for which GPUs have faster kernels than for f32, if the numbers
            that the operands stand for are exact in it.
    """
    return ir.BF16Type.get() if bf16 and scale != "f32" else ir.F32Type.get()


def spread_dot(
    element: ir.Type, lhs: BlockOperand, rhs: BlockOperand, at: ir.Operation
) -> ir.Value:
    """Builds the matmul of the numbers that the operands stand for, in a type; see `Dot`."""
    wide = [dequantized(operand, element, at) for operand in (lhs, rhs)]
    *batch, _, last = range(lhs.data.type.rank)
    shape = [*wide[0].type.shape[:-1], wide[1].type.shape[-2]]
    numbers = dot_numbers([last], [last], batch)
    type_, given = ir.RankedTensorType.get(shape, ir.F32Type.get()), {NUMBERS: numbers}
    return emit.made(DOT_GENERAL, type_, wide, given, **emit.before(at))


class ScaledDots:
    """The composites of a module, which share the decompositions for equal types.

    Those of matmuls that have names share none; see `scalify_hlo.dialect.matmul_names`.

    Args:
        module: The module.
        scale: The format of scales, as in recipes.
        bf16: See `wide_element`.
    """

    def __init__(self, module: ir.Operation, scale: str, *, bf16: bool) -> None:
        self._wide = wide_element(scale, bf16=bf16)
        self._block, self._element = module.regions[0].blocks[0], element_of(SCALE_ELEMENTS[scale])
        self._taken = symbols_in(module)
        self._known: dict[tuple[tuple[ir.Type, ...], int | None], tuple[str, ir.Type]] = {}

    def dot(self, lhs: BlockOperand, rhs: BlockOperand, at: ir.Operation) -> ir.Value:
        """Builds the composite; see `Dot`."""
        scales = [emit.convert(operand.scale, self._element, at) for operand in (lhs, rhs)]
        operands = [lhs.data, rhs.data, *scales]
        types = tuple(value.type for value in operands)
        # The matmul in a decomposition has the name of the first composite.
        key = types, number_at(at.location)
        if key not in self._known:
            self._known[key] = self._decomposition(types, at)
        name, result = self._known[key]
        given = _numbers(lhs.data.type.rank)
        return emit.composite(at, SCALED_DOT, [result], operands, given, name, 0).result

    def _decomposition(self, types: tuple[ir.Type, ...], at: ir.Operation) -> tuple[str, ir.Type]:
        """Puts the decomposition into the module; returns its name and the type of its result."""
        name, number = SCALED_DOT, 0
        while name in self._taken:
            name, number = f"{SCALED_DOT}_{number}", number + 1
        self._taken.add(name)
        lhs, rhs = types[0], types[1]
        result = ir.RankedTensorType.get([*lhs.shape[:-1], rhs.shape[-2]], ir.F32Type.get())
        with at.location, ir.InsertionPoint(self._block):
            function = func.FuncOp(name, (list(types), [result]), visibility="private")
        block = function.add_entry_block()
        with at.location, ir.InsertionPoint(block):
            end = func.ReturnOp([])
        values = list(block.arguments)
        left, right = (BlockOperand(values[i], MEASURED, values[i + 2], None) for i in (0, 1))
        made = spread_dot(self._wide, left, right, end.operation)
        func.ReturnOp([made], loc=at.location, ip=ir.InsertionPoint(end))
        erase(end)
        return name, result


def _numbers(rank: int) -> attributes.Attributes:
    """Returns the attributes of a composite, whose operands have their batch dimensions first."""

    def pairs(dims: list[int]) -> ir.Attribute:
        numbers = ir.ArrayAttr.get([attributes.integer(d) for d in dims])
        return ir.ArrayAttr.get([numbers, numbers])

    dims = ir.ArrayAttr.get([pairs([rank - 1]), pairs(list(range(rank - 2)))])
    element = ir.TypeAttr.get(ir.F32Type.get())
    return {"dimension_numbers": dims, "preferred_element_type": element}
