"""Programs of a few kilobytes that share their parts: LEVELS levels, each with the one below twice.

A walk that does not remember what it saw takes 2^LEVELS steps.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, Final

import jax
import jax.export
import jax.numpy as jnp
import pytest

from scalify_hlo._compat import ir, new_context

LEVELS: Final = 64
T: Final = "tensor<4x4xf32>"
DOT: Final = f"stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] {{M}} : ({T}, {T}) -> {T}"

ATTRIBUTES: Final[dict[str, tuple[str, str]]] = {
    "array": ("#x0 = 1", "#x{1} = [#x{0}, #x{0}]"),
    "dictionary": ("#x0 = 1", "#x{1} = {{a = #x{0}, b = #x{0}}}"),
    "tuple": ("!x0 = f32", "!x{1} = tuple<!x{0}, !x{0}>"),
    "function": ("!x0 = f32", "!x{1} = (!x{0})\n -> !x{0}"),
    "encoding": ("#x0 = 1", "#x{1} = [tensor<1xf32, #x{0}>, #x{0}]"),
    "LLVM": ("!x0 = f32", "!x{1} = !llvm.struct<(!x{0}, !x{0})>"),
    "VHLO": ("#x0 = #vhlo.bool_v1<true>", "#x{1} = #vhlo.array_v1<[#x{0}, #x{0}]>"),
    "comment": ("#x0 = 1", "#x{1} // a comment\n  = [#x{0}, #x{0}]"),
}
"""Attributes and types by kind: the lowest, and one made of the one below."""

LOCATIONS: Final[dict[str, tuple[str, str]]] = {
    "call site": ('#x0 = loc("f":1:2)', "#x{1} = loc(callsite(#x{0} at #x{0}))"),
    "fused": ('#x0 = loc("f":1:2)', '#x{1} = loc(fused[#x{0}, "n{1}"(#x{0})])'),
    "metadata": ('#x0 = loc("f":1:2)', "#x{1} = loc(fused<{1}>[#x{0}, callsite(#x{0} at #x{0})])"),
}
"""Locations by kind, in the same way."""


def with_attribute(kind: str, levels: int = LEVELS) -> str:
    """A program whose matmul has an attribute that shares its parts."""
    aliases = _levels(*ATTRIBUTES[kind], levels)
    top = f"{ATTRIBUTES[kind][0][0]}x{levels}"
    return f"{aliases}\n{_main(DOT.replace('M', f'm = {top}'))}"


def with_metadata(levels: int = LEVELS) -> str:
    """A program with a location that has such an attribute."""
    aliases = _levels(*ATTRIBUTES["array"], levels)
    return f"{aliases}\n{_main(_plain(), f' loc(fused<#x{levels}>[unknown])')}"


def with_location(kind: str, levels: int = LEVELS) -> str:
    """A program whose matmul and argument have a location that shares its parts."""
    return f"{_levels(*LOCATIONS[kind], levels)}\n{_main(_plain(), f' loc(#x{levels})')}"


def with_chain(kind: str, levels: int) -> str:
    """A program with an attribute that nests deep, by aliases."""
    first, following = ATTRIBUTES[kind]
    chain = following.replace(", #x{0}", "").replace(", !x{0}", "")
    return f"{_levels(first, chain, levels)}\n{_main(DOT.replace('M', f'm = {first[0]}x{levels}'))}"


def with_calls(kind: str, levels: int = LEVELS, *, first: str | None = None) -> str:
    """A program of functions that refer to the next one twice.

    Args:
        kind: The op that refers to them, of `REFERENCES`.
        levels: The number of functions.
        first: The function that the last one refers to; none by default.
    """
    refer = REFERENCES[kind]
    functions = [_function(f"f{i}", refer, f"f{i + 1}") for i in range(levels)]
    last = _plain() if first is None else refer(first, "%x")
    ends = f"func.func private @f{levels}(%x: {T}) -> {T} {{ %0 = {last} return %0 : {T} }}"
    return "\n".join([*functions, ends, _main(refer("f0", "%x"))])


def _call(name: str, operand: str) -> str:
    return f"func.call @{name}({operand}) : ({T}) -> {T}"


def _composite(name: str, operand: str) -> str:
    return f'stablehlo.composite "a.b" {operand} {{decomposition = @{name}}} : ({T}) -> {T}'


def _custom_call(name: str, operand: str) -> str:
    called = f"called_computations = [@{name}, @{name}]"
    return f"stablehlo.custom_call @target({operand}) {{{called}}} : ({T}) -> {T}"


REFERENCES: Final[dict[str, Callable[[str, str], str]]] = {
    "call": _call,
    "composite": _composite,
    "custom call": _custom_call,
}


def bytecode(text: str) -> bytes:
    """The bytecode of a program in which parts are shared as in the text."""
    buffer = io.BytesIO()
    ir.Module.parse(text, new_context()).operation.write_bytecode(buffer)
    return buffer.getvalue()


def artifact(levels: int = LEVELS) -> bytes:
    """A portable artifact with an attribute that shares its parts."""
    tensor = "!vhlo.tensor_v1<4x!vhlo.f32_v1>"
    empty = "#vhlo.array_v1<[]>"
    aliases = _levels(*ATTRIBUTES["VHLO"], levels)
    text = f"""{aliases}\nmodule {{ vhlo.func_v1 @main(%x: {tensor}) -> ({tensor}) {{
      %0 = "vhlo.add_v1"(%x, %x) {{m = #x{levels}}} : ({tensor}, {tensor}) -> {tensor}
      "vhlo.return_v1"(%0) : ({tensor}) -> () }}
      {{arg_attrs = {empty}, res_attrs = {empty}, sym_visibility = #vhlo.string_v1<"">}} }}"""
    magic, version, rest = (data := bytecode(text))[:4], data[4:5], data[5:]
    return magic + version + b"StableHLO_v1.0.0\0" + rest.partition(b"\0")[2]


def with_tree(levels: int = LEVELS, times: int = 2) -> bytes:
    """A jax.export file whose pytree of arguments shares its nodes, TIMES each."""
    from jax._src.export import serialization, serialization_generated

    schema: Any = serialization_generated
    plain: Any = serialization._serialize_pytreedef
    trees = 0

    def serialize(builder: Any, tree: Any) -> int:
        nonlocal trees
        trees += 1
        return plain(builder, tree) if trees > 1 else shared(builder)

    def shared(builder: Any) -> int:
        schema.PyTreeDefStart(builder)
        schema.PyTreeDefAddKind(builder, schema.PyTreeDefKind.leaf)
        node: int = schema.PyTreeDefEnd(builder)
        for _ in range(levels):
            schema.PyTreeDefStartChildrenVector(builder, times)
            for _ in range(times):
                builder.PrependUOffsetTRelative(node)
            children = builder.EndVector()
            schema.PyTreeDefStart(builder)
            schema.PyTreeDefAddKind(builder, schema.PyTreeDefKind.tuple)
            schema.PyTreeDefAddChildren(builder, children)
            node = schema.PyTreeDefEnd(builder)
        return node

    exported = jax.export.export(jax.jit(jnp.sin))(jnp.ones(3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serialization, "_serialize_pytreedef", serialize)
        return bytes(exported.serialize())


def _plain() -> str:
    return DOT.replace(" {M}", "")


def _function(name: str, refer: Callable[[str, str], str], callee: str) -> str:
    first, second = refer(callee, "%x"), refer(callee, "%0")
    body = f"%0 = {first}\n  %1 = {second}\n  return %1 : {T}"
    return f"func.func private @{name}(%x: {T}) -> {T} {{\n  {body}\n}}"


def _main(op: str, location: str = "") -> str:
    return (
        f"func.func @main(%x: {T}{location}) -> {T} {{\n  %0 = {op}{location}\n"
        f"  return %0 : {T}\n}}"
    )


def _levels(first: str, following: str, levels: int) -> str:
    return "\n".join([first, *(following.format(i, i + 1) for i in range(levels))])
