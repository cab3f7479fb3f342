"""Matmuls of operands in blocks: a composite with a decomposition, or the decomposition.

The composite ``xla.scaled_dot`` is that of `jax.lax.scaled_dot`. XLA computes it by one kernel on
GPUs that have one for the formats, and by its decomposition otherwise:

    dot(X_d * spread(X_s), Y_d * spread(Y_s))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from scalify_hlo._compat import func, ir
from scalify_hlo.dialect.calls import symbols_in
from scalify_hlo.dialect.contraction import dot_numbers
from scalify_hlo.dialect.formats import element_of
from scalify_hlo.dialect.matmul_names import number_at
from scalify_hlo.dialect.scaled_dot import SCALED_DOT
from scalify_hlo.dialect.value_map import erase
from scalify_hlo.quantize.blocks.operands import BlockOperand, dequantized
from scalify_hlo.rules import emit

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
    return emit.op(
        at,
        "stablehlo.dot_general",
        [ir.RankedTensorType.get(shape, ir.F32Type.get())],
        wide,
        {"dot_dimension_numbers": numbers},
    ).result


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
        i32 = ir.IntegerType.get_signless(32)
        return emit.op(
            at,
            "stablehlo.composite",
            [result],
            operands,
            {
                "name": ir.StringAttr.get(SCALED_DOT),
                "composite_attributes": _numbers(lhs.data.type.rank),
                "decomposition": ir.FlatSymbolRefAttr.get(name),
                "version": ir.IntegerAttr.get(i32, 0),
            },
        ).result

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
        left, right = (BlockOperand(values[i], values[i + 2], None) for i in (0, 1))
        made = spread_dot(self._wide, left, right, end.operation)
        func.ReturnOp([made], loc=at.location, ip=ir.InsertionPoint(end))
        erase(end)
        return name, result


def _numbers(rank: int) -> ir.DictAttr:
    """Returns the attributes of a composite, whose operands have their batch dimensions first."""
    i64 = ir.IntegerType.get_signless(64)

    def pairs(dims: list[int]) -> ir.Attribute:
        numbers = ir.ArrayAttr.get([ir.IntegerAttr.get(i64, d) for d in dims])
        return ir.ArrayAttr.get([numbers, numbers])

    dims = ir.ArrayAttr.get([pairs([rank - 1]), pairs(list(range(rank - 2)))])
    element = ir.TypeAttr.get(ir.F32Type.get())
    return ir.DictAttr.get({"dimension_numbers": dims, "preferred_element_type": element})
