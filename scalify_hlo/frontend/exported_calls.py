"""Calls of rewritten programs inside of functions that `jax.jit` compiles.

A function that calls an Exported returns arrays that are committed to their device. Arrays that a
user makes are not, so that the second step of a loop would be compiled again. The call is therefore
a primitive of its own, in which jax sees the call of the Exported only where it lowers it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, mlir


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
