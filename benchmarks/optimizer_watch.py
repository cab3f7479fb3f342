"""Makes a rewritten program also return how much of its matmuls' operands is saturated."""

from typing import Any

import jax.numpy as jnp

from scalify_hlo._compat import ir, new_context, stablehlo
from scalify_hlo.ir import emit
from scalify_hlo.ir.functions import block_of, main_function
from scalify_hlo.program.tensors import DTYPES
from scalify_hlo.rules.statistics import statistic
from scalify_hlo.transforms.hoist import add_results, lift
from scalify_hlo.transforms.inlining import inline_calls

_MARK = "benchmarks.watched"
_MATMULS = ("stablehlo.dot_general", "stablehlo.dot", "stablehlo.convolution")
_NARROW = 16
"""The most bits of an operand that is watched."""


def watch_operands(text: str) -> tuple[str, list[str]]:
    """Adds results to a program: two for each operand of a matmul in 16 bits or fewer.

    The first is the share of elements that are as large as the format's largest finite number,
    infinite or NaN, and the second 1; in a loop, both are summed over its turns.

    Args:
        text: StableHLO with debug locations.

    Returns:
        The new text, and the location and type of each operand.
    """
    with new_context(), ir.Location.unknown():
        module = ir.Module.parse(text).operation
        for op in _matmuls(module):
            if any(map(_is_narrow, op.operands)):
                op.attributes[_MARK] = ir.UnitAttr.get()
        inline_calls(module, (_MARK,))
        main = main_function(module)
        if main is None:
            raise ValueError("the program has no function main")
        tensors = _watched(main.operation)
        seen = [part for value, op in tensors.items() for part in _observed(value, op)]
        names = [_name(value, op) for value, op in tensors.items()]
        results = lift(main, seen, "add")
        add_results(main, results, ["watched"] * len(results))
        return module.get_asm(enable_debug_info=False), names


def _matmuls(parent: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in _MATMULS:
            found.append(op)
        return ir.WalkResult.ADVANCE

    parent.walk(visit)
    return found


def _is_narrow(value: ir.Value) -> bool:
    element = value.type.element_type
    return isinstance(element, ir.FloatType) and element.width <= _NARROW


def _watched(main: ir.Operation) -> dict[ir.Value, ir.Operation]:
    """The narrow operands, each with the first matmul that takes it, in its own block."""
    tensors: dict[ir.Value, ir.Operation] = {}
    for matmul in _matmuls(main):
        for value in filter(_is_narrow, matmul.operands):
            op = matmul
            while op.block != block_of(value):
                op = op.parent.operation
            tensors.setdefault(value, op)
    return tensors


def _observed(value: ir.Value, at: ir.Operation) -> tuple[ir.Value, ir.Value]:
    """The share of saturated elements and 1, in f32."""
    where: Any = {"loc": at.location, "ip": ir.InsertionPoint(at)}
    largest = float(jnp.finfo(DTYPES[str(value.type.element_type)]).max)
    data = emit.convert(value, ir.F32Type.get(), at)
    magnitude = emit.elementwise("stablehlo.abs", data, **where)
    below = stablehlo.compare(
        magnitude,
        emit.constant(data.type, largest, at),
        stablehlo.ComparisonDirectionAttr.get("LT"),
        **where,
    )
    zeros, ones = (emit.constant(data.type, number, at) for number in (0.0, 1.0))
    # NaN is below nothing, and so counts as saturated.
    indicator = stablehlo.select(below, zeros, ones, **where)
    share = statistic(indicator, "l1", at, wide=False, devices=None)
    return share, emit.constant(share.type, 1.0, at)


def _name(value: ir.Value, op: ir.Operation) -> str:
    """The location without its quotation marks and calls, and the type."""
    stack = str(op.location).removeprefix('loc("').split('"')[0]
    return f"{stack} {value.type}"
