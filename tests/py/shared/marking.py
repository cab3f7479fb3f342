"""Puts markers into programs, as an author's export has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from scalify_hlo._compat import func, ir, stablehlo
from scalify_hlo.ir import markers
from scalify_hlo.ir.formats import format_of, is_complex
from tests.py.shared.judge import parse

ACTING = ("set_scaling", "rebalance_scale", "max", "l1", "l2", "every", "stop_scaling", "parts")
"""What may be put after a value."""

_BLOCKS = frozenset(
    {
        *("builtin.module", "func.func", "stablehlo.while", "stablehlo.if", "stablehlo.case"),
        "sdy.manual_computation",
    }
)
"""The ops whose regions hold tensors that markers may act on."""


def with_markers(text: str, choose: Callable[[], str | None]) -> str:
    """A program with markers after some of its float values; what it means is the same.

    Args:
        text: The program.
        choose: For each value, one of `ACTING`, or None for no marker.
    """
    module = parse(text)
    with module.context, ir.Location.name("marked"):
        inserter = _Inserter(module)
        for value in list(_values(module.operation)):
            if (marker := choose()) is not None:
                inserter.insert(value, marker)
        module.operation.verify()
        return str(module.operation.get_asm(enable_debug_info=False))


def randomly(seed: int, share: float = 0.5) -> Callable[[], str | None]:
    """Chooses markers at random, for a share of the values."""
    rng = np.random.default_rng(seed)
    return lambda: ACTING[int(rng.integers(len(ACTING)))] if rng.random() < share else None


def _values(op: ir.Operation) -> Iterator[ir.Value]:
    if op.name not in _BLOCKS:
        return
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                operation = inner.operation
                if operation.name != "sdy.mesh":
                    yield from (r for r in operation.results if format_of(r.type) is not None)
                if operation.name != "builtin.module":  # whose symbols are others
                    yield from _values(operation)


class _Inserter:
    def __init__(self, module: ir.Module) -> None:
        self._top = ir.InsertionPoint.at_block_begin(module.body)
        self._count = 0

    def insert(self, value: ir.Value, marker: str) -> None:
        """A marker after a value, for all who use it."""
        uses = [(use.owner, use.operand_number) for use in value.uses]
        following = next(op for op in _after(value.owner))
        with ir.InsertionPoint(following):
            new = self._marked(value, marker)
        for owner, index in uses:
            owner.operands[index] = new

    def _marked(self, value: ir.Value, marker: str) -> ir.Value:
        if marker in ("set_scaling", "rebalance_scale"):
            # Not a constant to the rewriter, nor a power of two.
            number = stablehlo.sqrt(_constant(float(self._count % 7) * 0.3 - 0.2))
            return self._call(marker, [value, number])[0]
        if marker == "parts":
            if is_complex(value.type) or not value.type.has_static_shape:
                return value
            data, scale = self._call(markers.GET_DATA_AND_SCALE, [value])
            return _product(data, scale)
        if marker == "stop_scaling":
            return self._call(marker, [value])[0]
        if marker == "every":
            attribute = ir.DenseElementsAttr.get(np.int32(self._count % 3))
            step = stablehlo.constant(attribute)
            return self._call(markers.DYNAMIC_RESCALE, [value, step], "l2", 2)[0]
        return self._call(markers.DYNAMIC_RESCALE, [value], marker)[0]

    def _call(
        self, name: str, operands: list[ir.Value], statistic: str = "", every: int = 0
    ) -> list[ir.Value]:
        types = [operands[0].type]
        if name == markers.GET_DATA_AND_SCALE:
            types.append(ir.RankedTensorType.get([], _scale_element(operands[0].type)))
        function = self._function([v.type for v in operands], types)
        call = func.CallOp(types, ir.FlatSymbolRefAttr.get(function), operands).operation
        call.attributes[markers.MARKER] = ir.StringAttr.get(name)
        if statistic:
            call.attributes[markers.STATISTIC] = ir.StringAttr.get(statistic)
        if every:
            i64 = ir.IntegerType.get_signless(64)
            call.attributes[markers.EVERY] = ir.IntegerAttr.get(i64, every)
        return list(call.results)

    def _function(self, inputs: list[ir.Type], outputs: list[ir.Type]) -> str:
        self._count += 1
        name = f"scalify.marker_{self._count}"
        with self._top:
            function = func.FuncOp(name, (inputs, outputs), visibility="private")
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            results = [block.arguments[0]]
            if len(outputs) > 1:
                one = ir.FloatAttr.get(outputs[1].element_type, 1.0)
                results.append(stablehlo.constant(ir.DenseElementsAttr.get_splat(outputs[1], one)))
            func.ReturnOp(results)
        return name


def _after(op: ir.Operation | ir.OpView) -> Iterator[ir.Operation]:
    """The op after one in its block."""
    found = False
    for other in op.operation.block.operations:
        if found:
            yield other.operation
            return
        found = other.operation == op.operation


def _constant(number: float) -> ir.Value:
    return stablehlo.constant(ir.DenseElementsAttr.get(np.float32(number)))


def _scale_element(type_: ir.Type) -> ir.Type:
    element = type_.element_type
    if isinstance(element, ir.ComplexType):
        element = element.element_type
    return element if isinstance(element, ir.F64Type) else ir.F32Type.get()


def _product(data: ir.Value, scale: ir.Value) -> ir.Value:
    """data * scale, in the wider of their types."""
    wide = ir.RankedTensorType.get(data.type.shape, scale.type.element_type)
    spread = stablehlo.broadcast_in_dim(wide, scale, ir.DenseI64ArrayAttr.get([]))
    product = stablehlo.multiply(stablehlo.convert(wide, data), spread)
    return stablehlo.convert(data.type, product)
