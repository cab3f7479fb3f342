"""Ragged matmuls: ops while passes run, and composites as jax.export writes them otherwise."""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.ir import emit
from scalify_hlo.ir.calls import symbols_in
from scalify_hlo.ir.contraction import RAGGED_DOT
from scalify_hlo.ir.functions import fresh_name
from scalify_hlo.ir.ragged import NUMBERS, PRECISION, dimensions, is_composite, lists, precision
from scalify_hlo.ir.value_map import replace_op, run_native
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.transforms.chlo import expand_one, function_of

_VERSION = "scalify.composite"
"""The attribute of an op that was a composite, with the version of the composite."""
_IMPL = f"{RAGGED_DOT}.impl"


def lower_composites(module: ir.Operation) -> bool:
    """Replaces the composites of ragged matmuls by ops, except those of dynamic shape.

    Returns:
        Whether there are any.
    """
    found = [
        op
        for op in ops_in(module, (RAGGED_DOT, "stablehlo.composite"))
        if is_composite(op) and _is_static(op)
    ]
    for op in found:
        _lower(op)
    if found:
        run_native("builtin.module(symbol-dce)", module)
    return bool(found)


def raise_composites(module: ir.Operation, *, every: bool = False) -> None:
    """Replaces ragged matmuls by composites, whose decompositions are their expansions.

    Args:
        module: The module.
        every: Whether all are replaced; otherwise only those that were composites.
    """
    taken = symbols_in(module)
    for op in ops_in(module, {RAGGED_DOT}):
        if (every or _VERSION in op.attributes) and _is_static(op):
            _raise(op, module, taken)


def _is_static(op: ir.Operation) -> bool:
    return all(value.type.has_static_shape for value in (*op.operands, *op.results))


def _lower(op: ir.Operation) -> None:
    attributes: dict[str, ir.Attribute] = {NUMBERS: dimensions(op).attribute}
    precisions = precision(op)
    if precisions is not None:
        parsed = [ir.Attribute.parse(f"#chlo<precision {name}>") for name in precisions]
        attributes[PRECISION] = ir.ArrayAttr.get(parsed)
    if "version" in op.attributes:
        attributes[_VERSION] = op.attributes["version"]
    new = emit.op(op, RAGGED_DOT, [op.results[0].type], list(op.operands), attributes)
    replace_op(op, [new.result])


def _raise(op: ir.Operation, module: ir.Operation, taken: set[str]) -> None:
    names = ["DEFAULT", "DEFAULT"]
    if PRECISION in op.attributes:
        names = [str(part).partition(" ")[2].rstrip(">") for part in op.attributes[PRECISION]]
    given = {
        PRECISION: ir.ArrayAttr.get([ir.StringAttr.get(name) for name in names]),
        NUMBERS: lists(dimensions(op)),
    }
    version = ir.IntegerAttr(op.attributes[_VERSION]).value if _VERSION in op.attributes else 1
    name, types = _decomposition(op, module, taken), [op.results[0].type]
    new = emit.composite(op, RAGGED_DOT, types, list(op.operands), given, name, version)
    replace_op(op, [new.result])


def _decomposition(op: ir.Operation, module: ir.Operation, taken: set[str]) -> str:
    """Puts a function into the module that is what a ragged matmul is expanded to; its name."""
    name = fresh_name(_IMPL, taken) if _IMPL in taken else _IMPL
    taken.add(name)
    expand_one(function_of(op, name, module.regions[0].blocks[0], visibility="private")[1])
    return name
