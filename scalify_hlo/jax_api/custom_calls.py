"""The JAX primitive for functions with a scale rule, on flat values.

It is lowered to a call of a private function, the body. An attribute of the call names a second
private function, the rule. Both take all operands of the call. For each float operand or result,
the rule has data and scale, side by side. A rewrite needs nothing but the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from scalify_hlo import _compat
from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import markers as dialect
from scalify_hlo.jax_api.marker_primitives import zero_tangent
from scalify_hlo.jax_api.powers import wide_dtype
from scalify_hlo.jax_api.scaled_array import ScaledArray, asarray, is_float, scale_dtype

Types = tuple[Any, ...]
_BATCHED_KEPT = 64


@dataclass(frozen=True, slots=True)
class CalledProgram:
    """Body and rule of a function, traced at the types of its operands.

    The operands are the values that the body captures, those that the rule captures, and the
    arguments, in this order.

    Attributes:
        body: A function from captured values and arguments to results.
        rule: A function from captured values and pairs of arguments to pairs of results.
        captured: The numbers of values that the body and the rule capture.
        operands: The types of the operands.
        results: The types of the results.
    """

    body: Callable[..., Sequence[Any]]
    rule: Callable[..., Sequence[Any]]
    captured: tuple[int, int]
    operands: Types
    results: Types

    @classmethod
    def of(
        cls, body: jax.stages.Traced, rule: jax.stages.Traced, arguments: Sequence[Any]
    ) -> tuple[CalledProgram, list[Any]]:
        """Returns the program of two traced functions, and its operands.

        Args:
            body: The traced function.
            rule: The traced rule.
            arguments: The flat arguments of the function.
        """
        captured = _compat.captured_values(body), _compat.captured_values(rule)
        operands = [*captured[0], *captured[1], *arguments]
        run_body, run_rule = _compat.flat_function(body), _compat.flat_function(rule)
        numbers = len(captured[0]), len(captured[1])
        types = tuple(_compat.result_types(body))
        given = tuple(jax.typeof(value) for value in operands)
        return cls(run_body, run_rule, numbers, given, types), operands

    def run_body(self, *operands: Any) -> list[Any]:
        """Runs the body on the operands, and returns the results."""
        ours, theirs = self.captured
        return list(self.body(*operands[:ours], *operands[ours + theirs :]))

    def run_rule(self, *values: Any) -> list[Any]:
        """Runs the rule on data and scale of each float operand, and returns its flat results."""
        ours, theirs = self.captured
        operands = list(_joined(values, self.operands))
        used = asarray(operands[ours : ours + theirs])
        return list(self.rule(*used, *_flat(operands[ours + theirs :])))


def apply(program: CalledProgram, operands: Sequence[Any]) -> list[Any]:
    """Returns the results of the body, in a call that is marked with the rule."""
    results: list[Any] = _custom_scale_p.bind(*operands, program=program)
    return results


def _paired(types: Sequence[Any]) -> Iterator[Any]:
    for type_ in types:
        yield type_
        if is_float(type_.dtype):
            yield jax.typeof(scale_dtype(type_.dtype).type(1))


def _joined(values: Sequence[Any], types: Sequence[Any]) -> Iterator[Any]:
    """Yields flat values of a rule, with data and scale joined to ScaledArrays."""
    rest = iter(values)
    for type_ in types:
        value = next(rest)
        yield ScaledArray(value, next(rest)) if is_float(type_.dtype) else value


def _flat(values: Sequence[Any]) -> list[Any]:
    return list(jax.tree.leaves(list(values)))


_custom_scale_p = Primitive("scalify_custom_scale")
_custom_scale_p.multiple_results = True


def _run(*operands: Any, program: CalledProgram) -> list[Any]:
    return program.run_body(*operands)


def _types(*_operands: Any, program: CalledProgram) -> list[Any]:
    return list(program.results)


def _jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, program: CalledProgram
) -> tuple[list[Any], list[Any]]:
    results = apply(program, primals)
    moving = [i for i, t in enumerate(tangents) if not isinstance(t, ad.Zero)]

    def body(*values: Any) -> list[Any]:
        operands = list(primals)
        for i, value in zip(moving, values, strict=True):
            operands[i] = value
        return program.run_body(*operands)

    _, out = jax.jvp(body, [primals[i] for i in moving], [tangents[i] for i in moving])
    return results, [
        tangent if jnp.issubdtype(result.dtype, jnp.inexact) else zero_tangent(result)
        for result, tangent in zip(results, out, strict=True)
    ]


def _batch(
    values: Sequence[Any], dims: Sequence[Any], *, program: CalledProgram
) -> tuple[list[Any], list[int]]:
    (size,) = {v.shape[d] for v, d in zip(values, dims, strict=True) if d is not None}
    batched = _batched(program, tuple(dims), size, tuple(jax.typeof(value) for value in values))
    return apply(batched, values), [0] * len(program.results)


@lru_cache(maxsize=_BATCHED_KEPT)
def _batched(
    program: CalledProgram, dims: tuple[Any, ...], size: int, types: Types
) -> CalledProgram:
    """Returns body and rule for a batch, which has one scale."""
    axes = [d for d, t in zip(dims, program.operands, strict=True) for d in _with_scale(d, t)]
    body = jax.vmap(program.run_body, in_axes=dims, axis_size=size)

    def rule(*pairs: Any) -> list[Any]:
        run = partial(jax.vmap, program.run_rule, in_axes=axes, axis_size=size)
        results = [a for t in program.results for a in _with_scale(0, t)]
        try:
            return list(run(out_axes=results)(*pairs))
        except ValueError:
            # A scale that depends on the data differs between the elements of the batch.
            each = _joined(run(out_axes=0)(*pairs), program.results)
            return _flat([_at_one_scale(r) if isinstance(r, ScaledArray) else r for r in each])

    return CalledProgram(body, rule, (0, 0), types, tuple(_result_types(body, types)))


def _with_scale(axis: Any, type_: Any) -> list[Any]:
    return [axis, None] if is_float(type_.dtype) else [axis]


def _result_types(fn: Callable[..., Any], types: Types) -> Sequence[Any]:
    return _compat.result_types(jax.jit(fn).trace(*types))


def _at_one_scale(batch: ScaledArray) -> ScaledArray:
    """Rescales a batch with several scales to the largest of them."""
    scale = jnp.max(batch.scale)
    wide = wide_dtype(batch.data.dtype)
    factor = (batch.scale / scale).reshape(-1, *[1] * (batch.data.ndim - 1))
    return ScaledArray((batch.data.astype(wide) * factor).astype(batch.data.dtype), scale)


def _lower(ctx: Any, *operands: ir.Value, program: CalledProgram) -> list[ir.Value]:
    body = _function(ctx, "", program.run_body, program.operands, program.results, program)
    pairs = tuple(_paired(program.operands)), tuple(_paired(program.results))
    rule = _function(ctx, ".rule", program.run_rule, *pairs, program)
    results = [mlir.aval_to_ir_type(ctx.module_context, aval) for aval in ctx.avals_out]
    call = _compat.call_function(body, [*ctx.dim_var_values, *operands], results)
    call.operation.attributes[dialect.MARKER] = ir.StringAttr.get(dialect.CUSTOM_SCALE)
    call.operation.attributes[dialect.RULE] = ir.FlatSymbolRefAttr.get(rule)
    return list(call.results)


def _function(
    ctx: Any,
    suffix: str,
    fn: Callable[..., Sequence[Any]],
    operands: Types,
    results: Types,
    key: CalledProgram,
) -> str:
    """Adds a private function, whose first arguments are the symbolic sizes of the program."""
    sizes = [size.type for size in ctx.dim_var_values]
    to_ir = partial(mlir.aval_to_ir_type, ctx.module_context)

    def body(arguments: Sequence[ir.Value]) -> Sequence[ir.Value]:
        # Constants of the caller are not visible in this function.
        own = ctx.replace(
            avals_in=list(operands),
            avals_out=list(results),
            dim_var_values=arguments[: len(sizes)],
            const_lowering={},
        )
        values: Sequence[ir.Value] = mlir.lower_fun(fn)(own, *arguments[len(sizes) :])
        return values

    return _compat.private_function(
        ctx,
        (suffix, key),
        f"{attributes.PREFIX}{dialect.CUSTOM_SCALE}{suffix}",
        [*sizes, *map(to_ir, operands)],
        [to_ir(aval) for aval in results],
        body,
        # The name has to be valid after programs are merged, in which symbols are renamed.
        named_by_content=bool(suffix),
    )


_custom_scale_p.def_impl(_run)
_custom_scale_p.def_abstract_eval(_types)
ad.primitive_jvps[_custom_scale_p] = _jvp
batching.primitive_batchers[_custom_scale_p] = _batch
mlir.register_lowering(_custom_scale_p, _lower)


def sample(type_: Any, random: np.random.Generator) -> Any:
    """Returns random values of a type: normal floats, or integers that are 0 or 1."""
    if not is_float(type_.dtype):
        return jnp.asarray(random.integers(0, 2, type_.shape)).astype(type_.dtype)
    values = random.standard_normal(type_.shape)
    if jnp.issubdtype(type_.dtype, jnp.complexfloating):
        values = values + 1j * random.standard_normal(type_.shape)
    return jnp.asarray(values).astype(type_.dtype)
