"""The contents of marked programs, read through the bindings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import export

from scalify_hlo import _compat
from scalify_hlo._compat import func, ir, new_context
from scalify_hlo.dialect.attributes import function_type
from scalify_hlo.ir import markers as dialect
from scalify_hlo.ir.walk import ops_in
from tests.py.shared import judge
from tests.py.shared.judge import assert_all_close, assert_all_same_bits, program_of


@dataclass(frozen=True)
class Call:
    """A marker of a program, and where it stands."""

    marker: str
    statistic: str | None
    every: int | None
    operands: tuple[str, ...]
    results: tuple[str, ...]
    inside: str


def through_a_file(fn: Callable[..., Any], *args: Any) -> export.Exported:
    """A function that was exported, written and read back."""
    exported = program_of(fn, *args)
    return export.deserialize(exported.serialize(vjp_order=1))


def interpreted(fn: Callable[..., Any], *args: Any) -> list[Any]:
    """The flat results of a function on the reference interpreter."""
    return judge.interpreted(program_of(fn, *args), *args)


def assert_same_function(fn: Callable[..., Any], plain: Callable[..., Any], *args: Any) -> Any:
    """The values of a marked function are the plain ones, also once it was exported to a file.

    Returns:
        The program that was read from the file.
    """
    exported, expected = through_a_file(fn, *args), interpreted(plain, *args)
    assert_all_same_bits(judge.interpreted(exported, *args), expected)
    for run in (fn, jax.jit(fn), jax.jit(exported.call)):
        found = jax.tree.leaves(run(*args))
        assert_all_close(found, expected, rtol=1e-5, atol=1e-5)
    return exported


def calls(exported: export.Exported) -> list[Call]:
    """The markers of a program, in the order of the module."""
    with new_context():
        module = ir.Module.parse(exported.mlir_module())
        return [_described(op) for op in _marked(module)]


def names(exported: export.Exported) -> list[str]:
    """The markers of a program, by name."""
    return sorted(call.marker for call in calls(exported))


def operands(exported: export.Exported, *args: Any) -> list[Any]:
    """Returns the operands of the only marker of `main` in a run of the program."""
    with new_context(), ir.Location.unknown():
        module = ir.Module.parse(exported.mlir_module())
        (op,) = _marked(module)
        values = list(op.operands)
        main = _function_of(op)
        (*_, terminator) = main.regions[0].blocks[0].operations
        terminator.erase()
        with ir.InsertionPoint(main.regions[0].blocks[0]):
            func.ReturnOp(values)
        inputs = function_type(main).inputs
        type_ = ir.FunctionType.get(inputs, [value.type for value in values])
        main.attributes["function_type"] = ir.TypeAttr.get(type_)
        del main.attributes["res_attrs"]
        text = str(module)
    return run(text, *jax.tree.leaves(args))


def with_scale(exported: export.Exported, scale: float) -> str:
    """The program where `get_data_and_scale` gives another scale than 1."""
    with new_context():
        module = ir.Module.parse(exported.mlir_module())
        for function in module.body.operations:
            if dialect.GET_DATA_AND_SCALE in function.attributes["sym_name"].value:
                constant, _ = function.regions[0].blocks[0].operations
                value = ir.DenseElementsAttr.get(np.array(scale, np.float32))
                constant.attributes["value"] = value
        return str(module)


def rules(exported: export.Exported) -> list[str]:
    """The rules of the functions with `custom_scale`, each as a program of its own."""
    return _named_by(exported, dialect.RULE)


def bodies(exported: export.Exported) -> list[str]:
    """The functions that markers call, each as a program of its own."""
    return _named_by(exported, "callee")


def _named_by(exported: export.Exported, attribute: str) -> list[str]:
    with new_context():
        module = ir.Module.parse(exported.mlir_module())
        return [_alone(module, op.attributes[attribute].value) for op in _marked(module)]


def _alone(module: ir.Module, name: str) -> str:
    clone = ir.Module.parse(str(module))
    for function in clone.body.operations:
        symbol = function.attributes["sym_name"].value
        if symbol == name:
            function.attributes["sym_visibility"] = ir.StringAttr.get("public")
            function.attributes["sym_name"] = ir.StringAttr.get("main")
        elif symbol == "main":
            function.operation.erase()
    _compat.passmanager.PassManager.parse("builtin.module(symbol-dce)").run(clone.operation)
    return str(clone)


def run(text: str, *args: Any) -> list[Any]:
    """The results of a program's text on flat arguments."""
    return [np.asarray(v) for v in _compat.compile_on_cpu(text)(args)]


def _marked(module: ir.Module) -> list[ir.Operation]:
    return ops_in(module.operation, where=lambda op: dialect.MARKER in op.attributes)


def _described(op: ir.Operation) -> Call:
    attributes = op.attributes

    def value(name: str) -> Any:
        return attributes[name].value if name in attributes else None

    return Call(
        value(dialect.MARKER),
        value(dialect.STATISTIC),
        value(dialect.EVERY),
        tuple(str(v.type) for v in op.operands),
        tuple(str(v.type) for v in op.results),
        _function_of(op).attributes["sym_name"].value,
    )


def _function_of(op: ir.Operation) -> ir.Operation:
    while op.name != "func.func":
        op = op.parent
        op = op if isinstance(op, ir.Operation) else op.operation
    return op
