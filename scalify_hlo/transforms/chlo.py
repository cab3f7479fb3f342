"""Expansion of ops of CHLO to StableHLO."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import pairwise

from scalify_hlo._compat import chlo, func, ir, register_passes, stablehlo
from scalify_hlo.errors import InputError
from scalify_hlo.ir import emit
from scalify_hlo.ir.functions import target_of
from scalify_hlo.ir.locations import source_location
from scalify_hlo.ir.traits import STANDING, WRAPPED
from scalify_hlo.ir.value_map import (
    erase,
    redirect,
    replace_by_block,
    replace_op,
    replace_uses,
    run_native,
    uses_of,
)
from scalify_hlo.ir.walk import ops_in

_EVERY = frozenset(op.OPERATION_NAME for op in vars(chlo).values() if hasattr(op, "OPERATION_NAME"))
_PIPELINE = "builtin.module(func.func(chlo-legalize-to-stablehlo))"
_SHAPES = "builtin.module(func.func(shape-legalize-to-stablehlo))"
_CALL = "stablehlo.custom_call"
_TARGET = STANDING[_CALL]
_HIDDEN = "scalify.hidden."

_BROADCASTING = frozenset(op for op in _EVERY if op.startswith("chlo.broadcast_"))
_DIMS = "broadcast_dimensions"


def expand(module: ir.Operation, *, keep: Collection[str] = (), apart: bool = False) -> None:
    """Expands the CHLO ops of a module in place.

    Args:
        module: The module.
        keep: Full names of ops without regions that are not expanded. StableHLO's pass expands all
            ops or none, so the kept ops are custom calls while it runs.
        apart: Whether no table has values of the module; see `run_native`.

    Raises:
        InputError: StableHLO has no expansion of an op, for example on f8 operands, or of an op
            that broadcasts values of dynamic shape.
    """
    if not _named(module, _EVERY - set(keep)):
        return
    for op in _named(module, _BROADCASTING):
        _broadcast(op)
    scans = _named(module, _SCANS)
    for scan in scans:
        if _REVERSED in scan.attributes and ir.BoolAttr(scan.attributes[_REVERSED]).value:
            _turn_around(scan)
    hidden = {*keep, *_SLICES} if scans else keep
    for op in _named(module, hidden):
        _replace(op, _CALL, {_TARGET: ir.StringAttr.get(_HIDDEN + op.name), **_attributes(op)})
    _run(_PIPELINE, module, apart)
    for op in _named(module, _SLICES) if scans else ():
        _slice_statically(op)
    _without_shapes(module, apart)
    for op in _named(module, (_CALL,)) if hidden else ():
        target = target_of(op)
        if target.startswith(_HIDDEN):
            _replace(op, target.removeprefix(_HIDDEN), _attributes(op))


_SCANS = frozenset({"chlo.scan"})
_REVERSED = "is_reverse"
_SLICES = frozenset({"stablehlo.real_dynamic_slice"})


def legalize(module: ir.Operation) -> None:
    """Replaces all CHLO in a module by StableHLO, in place, for readers without CHLO.

    Functions of one operand become composites as jax.export writes them. XLA turns these back into
    ops, which are more precise than the expansions.

    Raises:
        InputError: As `expand`.
    """
    found = {op.name for op in _named(module, _EVERY)}
    if functions := sorted(found & WRAPPED):
        _run(_COMPOSITES.format(",".join(functions)), module, False)
    if found:
        expand(module)


_COMPOSITES = "builtin.module(stablehlo-wrap-in-composite{{op-names={} version=1}})"


def expand_one(op: ir.Operation) -> list[ir.Operation]:
    """Replaces an op of CHLO by its expansion.

    Args:
        op: An op that captures no value.

    Returns:
        The new ops, in program order.

    Raises:
        InputError: As `expand`.
    """
    with op.context, op.location:
        module = ir.Module.create()
        function, _ = function_of(op, "main", module.body)
        expand(module.operation, apart=True)
    return replace_by_block(op, function.body.blocks[0])


def function_of(
    op: ir.Operation, name: str, block: ir.Block, visibility: str | None = None
) -> tuple[func.FuncOp, ir.Operation]:
    """Builds a function that computes an op on its arguments.

    Args:
        op: The op.
        name: The name of the function.
        block: The block of a module, at the end of which the function is built.
        visibility: ``private``, or None for a public function.

    Returns:
        The function, and the copy of the op in it.
    """
    types = [value.type for value in op.operands], [result.type for result in op.results]
    with op.location, ir.InsertionPoint(block):
        function = func.FuncOp(name, types, visibility=visibility)
    body = function.add_entry_block()
    with op.location, ir.InsertionPoint(body):
        copy = op.clone()
        for index, argument in enumerate(body.arguments):
            copy.operands[index] = argument
        func.ReturnOp(list(copy.results))
    return function, copy.operation


def _turn_around(scan: ir.Operation) -> None:
    """Makes a scan from the last element to the first one from the first to the last.

    It reads and returns its tensors in reverse order then. StableHLO's pass expands all scans as if
    they began at the first element.
    """
    dims = [ir.IntegerAttr(scan.attributes["dimension"]).value]
    inputs, _ = ir.DenseI32ArrayAttr(scan.attributes["operandSegmentSizes"])
    outputs, _ = ir.DenseI32ArrayAttr(scan.attributes["resultSegmentSizes"])
    for i in range(inputs):
        scan.operands[i] = stablehlo.reverse(scan.operands[i], dims, **emit.before(scan))
    scan.attributes[_REVERSED] = ir.BoolAttr.get(False)
    for result in list(scan.results)[:outputs]:
        readers = uses_of(result)
        redirect(readers, stablehlo.reverse(result, dims, **emit.after(result)))


def _slice_statically(op: ir.Operation) -> None:
    """Replaces slices of static size by dynamic_slice, as XLA refuses those of jaxlib 0.10."""
    operand, starts = list(op.operands)[:2]
    type_ = op.results[0].type
    with ir.InsertionPoint(op), op.location:
        scalar = ir.RankedTensorType.get([], starts.type.element_type)
        bounds = [ir.DenseI64ArrayAttr.get([n]) for n in range(type_.rank + 1)]
        parts = [
            stablehlo.reshape(scalar, stablehlo.slice(starts, start, end, bounds[1]))
            for start, end in pairwise(bounds)
        ]
        sizes = ir.DenseI64ArrayAttr.get(list(type_.shape))
        replace_uses(op.results[0], stablehlo.dynamic_slice(operand, parts, sizes))
    erase(op)


def _run(pipeline: str, module: ir.Operation, apart: bool) -> None:
    register_passes()
    try:
        run_native(pipeline, module, apart=apart)
    except ir.MLIRError as error:
        first = error.error_diagnostics[0]
        op = next(iter(re.findall(r"'(chlo\.\w+)'", first.message)), "an op of CHLO")
        raise InputError(
            f"StableHLO cannot expand {op} here",
            location=source_location(first.location),
            hint="convert its operands to f32 before it, or export the program with jax.export",
        ) from None


def _named(module: ir.Operation, names: Collection[str]) -> list[ir.Operation]:
    return ops_in(module, names) if names else []


def _broadcast(op: ir.Operation) -> None:
    """Broadcasts the operands of an op to the shape of its result, if all are static."""
    types = [value.type for value in (*op.operands, *op.results)]
    if not all(isinstance(t, ir.RankedTensorType) and t.has_static_shape for t in types):
        return
    result = op.results[0].type
    given = list(op.attributes[_DIMS]) if _DIMS in op.attributes else None
    for i, value in enumerate(list(op.operands)):
        rank = value.type.rank
        if list(value.type.shape) == list(result.shape):
            continue
        dims = given if given is not None and len(given) == rank else range(result.rank)[-rank:]
        op.operands[i] = emit.spread(value, dims if rank else [], result.shape, op)
    if given is not None:
        del op.attributes[_DIMS]
    if op.name == "chlo.broadcast_select":
        _replace(op, "stablehlo.select", {})


def _without_shapes(module: ir.Operation, apart: bool) -> None:
    """Replaces the shape ops that the expansion of CHLO inserted by StableHLO."""
    foreign = ops_in(module, where=lambda op: op.name.startswith(("shape.", "tensor.")))
    if not foreign:
        return
    for op in foreign:
        if op.name in _CONSTRAINTS:
            raise InputError(
                "an op of CHLO broadcasts values of dynamic shape",
                location=source_location(op.location),
                hint="broadcast them with stablehlo.dynamic_broadcast_in_dim",
            )
    _run(_SHAPES, module, apart)
    for cast in ops_in(module, {_CAST}):
        for result in cast.results:
            for user in [use.owner for use in result.uses if use.owner.name == _CAST]:
                if user.results[0].type == cast.operands[0].type:
                    replace_uses(user.results[0], cast.operands[0])
    for cast in reversed(ops_in(module, {_CAST})):
        if not list(cast.results[0].uses):
            erase(cast)


_CONSTRAINTS = frozenset(
    f"shape.{name}" for name in ("assuming", "const_witness", "cstr_broadcastable")
)
_CAST = "builtin.unrealized_conversion_cast"


_OF_CALLS = frozenset(
    {"api_version", "backend_config", "called_computations", "has_side_effect"}
    | {"operand_layouts", "output_operand_aliases", "result_layouts", _TARGET}
)


def _attributes(op: ir.Operation) -> Mapping[str, ir.Attribute]:
    """Returns the attributes of an op, without those that every custom call has."""
    return {n: op.attributes[n] for n in op.attributes if n not in _OF_CALLS}


def _replace(op: ir.Operation, name: str, attributes: Mapping[str, ir.Attribute]) -> None:
    """Replaces an op by an op with another name."""
    types = [result.type for result in op.results]
    replace_op(op, emit.op(op, name, types, list(op.operands), dict(attributes)).results)
