"""The StableHLO reference interpreter, which ends the process on ops that it does not support."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from scalify_hlo._compat import func, ir, new_context, stablehlo
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.functions import main_function
from scalify_hlo.ir.traits import where
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.program.tensors import Array, Tensor, interface, is_complex
from scalify_hlo.transforms.chlo import expand

_READABLE = ("float16", "float32", "float64", "int8", "int16", "int32", "int64")
_READABLE_DTYPES = frozenset((*_READABLE, "uint8", "uint16", "uint32", "uint64"))
"""The dtypes that the bindings exchange with NumPy; arrays of others are passed as integers."""


def evaluate_text(text: str, arrays: Sequence[Array]) -> list[Array]:
    """Runs `main` of StableHLO text with static shapes; see `evaluate`."""
    return evaluate(ir.Module.parse(text, new_context()), arrays)


def evaluate(module: ir.Module, arrays: Sequence[Array]) -> list[Array]:
    """Runs `main` in this process. CHLO ops are expanded in place."""
    types = interface(module, "<program>")
    with module.context, ir.Location.unknown():
        expand(module.operation)
        _cross_as_integers(module, types.arguments, types.results)
        arguments = [_attribute(part) for array in arrays for part in _parts(array)]
        results = iter(evaluated(module, arguments))
        return [_join(results, tensor) for tensor in types.results]


def evaluated(module: ir.Module, arguments: Sequence[ir.Attribute]) -> list[ir.Attribute]:
    """Runs `main`, without CHLO ops, on arguments of supported dtypes.

    StableHLO's interpreter has a scatter write into its operands, which ops after it may read. So
    scatters get copies.
    """
    for scatter in ops_in(module.operation, where("scatter")):
        for number in range((len(scatter.operands) - 1) // 2):
            value = scatter.operands[number]
            scatter.operands[number] = emit.reshape(value, value.type, scatter)
    found: list[ir.Attribute] = list(stablehlo.eval_module(module, arguments))
    return found


def _parts(array: Array) -> list[Array]:
    """Returns the arrays of supported dtypes by which an array is passed."""
    array = np.asarray(array, order="C")
    if is_complex(array.dtype):
        return [np.array(array.real, order="C"), np.array(array.imag, order="C")]
    if array.dtype.name in _READABLE_DTYPES:
        return [array]
    if _is_small(array.dtype):
        return [array.astype(np.int8)]
    return [array.view(f"int{array.dtype.itemsize * 8}")]


def _join(results: Any, tensor: Tensor) -> Array:
    first = np.array(ir.DenseElementsAttr(next(results))).reshape(tensor.shape)
    if is_complex(tensor.dtype):
        second = np.array(ir.DenseElementsAttr(next(results))).reshape(tensor.shape)
        return (first + 1j * second).astype(tensor.dtype)
    if tensor.dtype.name in _READABLE_DTYPES:
        return first
    return first.astype(tensor.dtype) if _is_small(tensor.dtype) else first.view(tensor.dtype)


def _is_small(dtype: np.dtype[Any]) -> bool:
    """Whether elements are booleans or integers of less than a byte."""
    digits = dtype.name.removeprefix("u").removeprefix("int")
    return dtype.kind == "b" or (digits.isdigit() and int(digits) != dtype.itemsize * 8)


def _attribute(array: Array) -> ir.Attribute:
    if array.dtype.kind == "u":
        element = ir.IntegerType.get_unsigned(array.dtype.itemsize * 8)
        return ir.DenseElementsAttr.get(array, type=ir.RankedTensorType.get(array.shape, element))
    return ir.DenseElementsAttr.get(array)


def _cross_as_integers(
    module: ir.Module, arguments: Sequence[Tensor], results: Sequence[Tensor]
) -> None:
    """Wraps the program in a `main` whose arguments and results have supported dtypes."""
    plain = [t.dtype.name in _READABLE_DTYPES for t in (*arguments, *results)]
    program = main_function(module.operation)
    if all(plain) or program is None:
        return
    type_ = attributes.function_type(program)
    program.attributes["sym_name"] = ir.StringAttr.get("__program")
    program.attributes["sym_visibility"] = ir.StringAttr.get("private")
    outer = [
        [t for pair in zip(tensors, types, strict=True) for t in _outer_types(*pair)]
        for tensors, types in ((arguments, type_.inputs), (results, type_.results))
    ]
    with ir.InsertionPoint(module.body):
        main = func.FuncOp("main", ir.FunctionType.get(*outer))
        with ir.InsertionPoint(main.add_entry_block()):
            taken = iter(main.arguments)
            inner = [
                _enter(taken, tensor, old)
                for tensor, old in zip(arguments, type_.inputs, strict=True)
            ]
            call = func.CallOp(type_.results, ir.FlatSymbolRefAttr.get("__program"), inner)
            given = [
                value
                for tensor, result in zip(results, call.results, strict=True)
                for value in _leave(tensor, result)
            ]
            func.ReturnOp(given)


def _outer_types(tensor: Tensor, type_: ir.Type) -> list[ir.Type]:
    if tensor.dtype.name in _READABLE_DTYPES:
        return [type_]
    if is_complex(tensor.dtype):
        element = ir.ComplexType(type_.element_type).element_type
        return [ir.RankedTensorType.get(tensor.shape, element)] * 2
    width = 8 * tensor.dtype.itemsize
    return [ir.RankedTensorType.get(tensor.shape, ir.IntegerType.get_signless(width))]


def _enter(taken: Any, tensor: Tensor, type_: ir.Type) -> ir.Value:
    value = next(taken)
    if tensor.dtype.name in _READABLE_DTYPES:
        return value
    if is_complex(tensor.dtype):
        return stablehlo.complex(value, next(taken))
    return _cast(tensor)(type_, value)


def _leave(tensor: Tensor, value: ir.Value) -> list[ir.Value]:
    if tensor.dtype.name in _READABLE_DTYPES:
        return [value]
    if is_complex(tensor.dtype):
        return [stablehlo.real(value), stablehlo.imag(value)]
    (type_,) = _outer_types(tensor, value.type)
    return [_cast(tensor)(type_, value)]


def _cast(tensor: Tensor) -> Callable[[ir.Type, ir.Value], ir.Value]:
    """Returns the op for a cast: integers of less than a byte are converted, others bitcast."""
    cast: Callable[[ir.Type, ir.Value], ir.Value] = stablehlo.bitcast_convert
    return stablehlo.convert if _is_small(tensor.dtype) else cast
