"""Calls of rewritten programs inside of functions that `jax.jit` compiles.

A function that calls an Exported returns arrays that are committed to their device. Arrays that a
user makes are not, so that the second step of a loop would be compiled again. The call is therefore
a primitive of its own, in which jax sees the call of the Exported only where it lowers it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from scalify_hlo import _compat
from scalify_hlo._compat import ir
from scalify_hlo.errors import UsageError, caller
from scalify_hlo.frontend.host_callbacks import HostCallbacks
from scalify_hlo.ir.functions import target_of
from scalify_hlo.ir.walk import ops_in


def export(fn: Any, specs: Any, keywords: Any, callbacks: HostCallbacks) -> jax.export.Exported:
    """Exports a function; all custom calls are allowed, as it is called in this process only."""
    run = functools.partial(callbacks.export, fn, platforms=platforms())
    try:
        return run([])(*specs, **keywords)
    except ValueError:
        module = fn.trace(*specs, **keywords).lower().compiler_ir("stablehlo")
        targets = _custom_call_targets(module)
        if not targets:
            raise
        return run(targets)(*specs, **keywords)


def platforms() -> tuple[str] | None:
    """Returns the platform of `jax.default_device`; None for that of the default backend."""
    platform = _compat.default_platform()
    return (platform,) if platform in ("cpu", "tpu") else None  # "gpu" may be CUDA or ROCm.


def _custom_call_targets(module: ir.Module) -> list[str]:
    with module.context:
        calls = ops_in(module.operation, {"stablehlo.custom_call"})
        return list(dict.fromkeys(map(target_of, calls)))


def calls_of(exported: jax.export.Exported) -> Callable[..., Any]:
    """Returns the function that calls an Exported; see `jax.export.Exported.call`.

    Results of several devices are committed in any case.
    """
    if exported.nr_devices > 1:
        return exported.call
    types = tuple(jax.core.ShapedArray(t.shape, t.dtype, t.weak_type) for t in exported.out_avals)

    def run(*flat: Any) -> Sequence[Any]:
        args, kwargs = jax.tree.unflatten(exported.in_tree, flat)
        return jax.tree.leaves(exported.call(*args, **kwargs))

    def call(*args: Any, **kwargs: Any) -> Any:
        flat = jax.tree.leaves((args, kwargs))
        return jax.tree.unflatten(exported.out_tree, _run_p.bind(*flat, run=run, types=types))

    return call


def _differentiated(values: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    given = tuple(map(ad.instantiate_zeros, tangents))
    return jax.jvp(params["run"], tuple(values), given)


_run_p = Primitive("scalify_run")
_run_p.multiple_results = True
_run_p.def_impl(lambda *values, run, **_: run(*values))
_run_p.def_abstract_eval(lambda *_, types, **__: types)
ad.primitive_jvps[_run_p] = _differentiated
mlir.register_lowering(
    _run_p, mlir.lower_fun(lambda *values, run, **_: run(*values), multiple_results=True)
)


_unmapped_p = Primitive("scalify_unmapped")
"""An identity that raises an error under `jax.vmap`."""


def unmapped(value: Any, line: str) -> Any:
    """Returns an array unchanged; `jax.vmap` over it raises an error with the line to write."""
    extended = jnp.issubdtype(jax.typeof(value).dtype, jax.dtypes.extended)
    return value if extended else _unmapped_p.bind(value, line=line)


def _refuse_map(_values: Any, _dims: Any, *, line: str) -> NoReturn:
    raise UsageError(
        "jax.vmap cannot map over a function that scalify made, which is one program",
        location=caller(),
        hint=f"map inside: {line}, where each ScaledArray has one scale for the whole batch",
    )


def _unmapped_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, line: str) -> tuple[Any, Any]:
    return _unmapped_p.bind(*primals, line=line), tangents[0]


_unmapped_p.def_impl(lambda value, **_: value)
_unmapped_p.def_abstract_eval(lambda type_, **_: type_)
ad.primitive_jvps[_unmapped_p] = _unmapped_jvp
batching.primitive_batchers[_unmapped_p] = _refuse_map
mlir.register_lowering(_unmapped_p, lambda _, value, **__: [value])
