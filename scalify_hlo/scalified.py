"""What `scalify` hands to `jax.jit`: export at the logical types, rewrite, call."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MethodType
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from scalify_hlo import _compat
from scalify_hlo._compat import ir
from scalify_hlo.diagnostics import UsageError, caller
from scalify_hlo.exported import Rewritten, rewrite_with_report
from scalify_hlo.input_scales import measured_size
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.passes.report import ValueReport
from scalify_hlo.passes.summary import warn_of
from scalify_hlo.recipe import NONE
from scalify_hlo.scaled_array import (
    ScaledArray,
    data_at_one,
    held,
    is_concrete,
    is_scaled_array,
    scale_dtype,
)
from scalify_hlo.tensors import DTYPES

_SHARED = ("static_argnums", "static_argnames", "donate_argnums", "donate_argnames")
"""The options of `jax.jit` that say something of the function itself."""

_CUSTOM_CALL = "stablehlo.custom_call"


class Scalified:
    """Makes the function that `jax.jit` traces.

    Attributes:
        fn: The user's function, compiled at the types of its plain arguments.
        signature: A function of the same arguments that does nothing, to ask what is donated.
        options: What the rewrite is asked.
    """

    def __init__(self, fn: Any, signature: Any, options: Options) -> None:
        self.fn = fn
        self.signature = signature
        self.options = options
        self._measured: dict[Any, list[float | None]] = {}
        self._given = threading.local()

    @classmethod
    def of(
        cls, fn: Callable[..., Any], options: Options, jit_options: Mapping[str, Any]
    ) -> Callable[..., Any]:
        """A function of the same signature as `fn`, in scaled form, compiled by `jax.jit`.

        Args:
            fn: The function.
            options: What the rewrite is asked.
            jit_options: Options of `jax.jit`, of which `fn` is given those on static arguments, and
                on donated ones: they tell which results take the place of arguments.
        """
        shared = {key: value for key, value in jit_options.items() if key in _SHARED}
        scalified = cls(jax.jit(fn, **shared), jax.jit(_nothing(fn), **shared), options)

        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            return scalified.call(args, kwargs)

        compiled = jax.jit(call, **jit_options)
        return compiled if options.recipe.predict == NONE else _Measuring(compiled, scalified)

    def call(self, args: Any, kwargs: Any) -> Any:
        """Calls the rewritten function on values of a trace."""
        leaves, tree = jax.tree.flatten((args, kwargs), is_leaf=is_scaled_array)
        logical = [_logical(leaf) for leaf in leaves]
        specs, keywords = jax.tree.unflatten(tree, logical)
        traced = self.fn.trace(*specs, **keywords)
        captured = _compat.captured_values(traced)
        given = [*captured, *filter(_is_dynamic, leaves)]
        types = [*map(_logical, captured), *(s for s in logical if _is_type(s))]
        exported = (
            _export(self._of_flat(traced, specs, keywords), types, {})
            if captured
            else _export(self.fn, specs, keywords)
        )
        pairs = [is_scaled_array(leaf) for leaf in given]
        given = jax.tree.map(_unmapped, given)
        rewritten = rewrite_with_report(
            exported, self.options, pairs, measured=self._sizes(captured, leaves, tree)
        )
        warn_of(rewritten.report, stacklevel=2)
        given = _as_stored(rewritten, given)
        results = _call(rewritten, given, [given[i] for i in exported.module_kept_var_idx])
        return jax.tree.unflatten(jax.tree.structure(traced.out_info), results)

    def _of_flat(self, traced: jax.stages.Traced, specs: Any, keywords: Any) -> Any:
        """A function of the captured values of a trace and its flat arguments."""
        run = _compat.flat_function(traced)
        # The infos of a function that captures values are off by their number.
        infos = jax.tree.leaves(self.signature.trace(*specs, **keywords).args_info)
        captured = len(_compat.captured_values(traced))
        donated = [captured + i for i, info in enumerate(infos) if info.donated]

        def flat(*arguments: Any) -> Any:
            return list(run(*arguments))

        flat.__name__ = getattr(self.fn, "__name__", "fn")
        return jax.jit(flat, donate_argnums=donated)

    @contextmanager
    def given(self, args: Any, kwargs: Any) -> Iterator[None]:
        """While a call is traced, if it is: the values of its arguments, to measure scales of."""
        outer = getattr(self._given, "leaves", None)
        self._given.leaves = jax.tree.leaves((args, kwargs), is_leaf=is_scaled_array)
        try:
            yield
        finally:
            self._given.leaves = outer

    def _sizes(
        self, captured: Sequence[Any], leaves: Sequence[Any], tree: Any
    ) -> list[float | None] | None:
        """log2 of rms, by captured value and argument, where sizes are predicted.

        Captured are values of a trace; arrays that a function captures are constants of it.
        A call with values fixes those of later traces with the same types.
        """
        if self.options.recipe.predict == NONE:
            return None
        key = _key(tree, leaves)
        values = getattr(self._given, "leaves", None) or leaves
        found = [_size(v) for leaf, v in zip(leaves, values, strict=True) if _is_dynamic(leaf)]
        if all(is_concrete(value) for value in values):
            self._measured[key] = found
        return [*(None for _ in captured), *self._measured.get(key, found)]


class _Measuring:
    """What `jax.jit` gives, which shows the values of arguments to what is traced.

    Args:
        compiled: What `jax.jit` gave.
        scalified: What it traces.
    """

    def __init__(self, compiled: Any, scalified: Scalified) -> None:
        self._compiled, self._scalified = compiled, scalified
        functools.update_wrapper(self, compiled)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with self._scalified.given(args, kwargs):
            return self._compiled(*args, **kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """See `jax.jit`."""
        with self._scalified.given(args, kwargs):
            return self._compiled.lower(*args, **kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """See `jax.jit`."""
        with self._scalified.given(args, kwargs):
            return self._compiled.trace(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._compiled, name)


def _size(value: Any) -> float | None:
    """log2 of a value's rms, where it is known and needed."""
    if is_scaled_array(value) or not is_concrete(value):
        return None
    return measured_size(value)


def _logical(leaf: Any) -> Any:
    """The type at which a function is traced: of a ScaledArray, the logical one."""
    if not _is_dynamic(leaf):
        return leaf
    if is_scaled_array(leaf) and leaf.logical is not None:
        return jax.ShapeDtypeStruct(leaf.shape, leaf.logical)
    value = leaf.data if is_scaled_array(leaf) else leaf
    aval = jax.typeof(value)
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


def _key(tree: Any, leaves: Sequence[Any]) -> Any:
    """What a call is told apart by: the types of its arrays, and its static arguments."""
    types = [_logical(leaf) for leaf in leaves]
    return tree, tuple((t.shape, str(t.dtype)) if _is_type(t) else t for t in types)


def _is_type(spec: Any) -> bool:
    return isinstance(spec, jax.ShapeDtypeStruct)


_unmapped_p = Primitive("scalify_unmapped")
"""Values as they are, which `jax.vmap` cannot map over."""


def _unmapped(value: Any) -> Any:
    """An array as it is; JAX would refuse to map over a rewritten program with no word of cure."""
    extended = jnp.issubdtype(jax.typeof(value).dtype, jax.dtypes.extended)
    return value if extended else _unmapped_p.bind(value)


def _refuse_map(_values: Any, _dims: Any) -> NoReturn:
    raise UsageError(
        "jax.vmap cannot map over a function that scalify made, which is one program",
        location=caller(),
        hint="map inside: scalify(jax.vmap(fn)), where each ScaledArray has one scale for the "
        "whole batch",
    )


def _unmapped_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    return _unmapped_p.bind(*primals), tangents[0]


_unmapped_p.def_impl(lambda value: value)
_unmapped_p.def_abstract_eval(lambda type_: type_)
ad.primitive_jvps[_unmapped_p] = _unmapped_jvp
batching.primitive_batchers[_unmapped_p] = _refuse_map
mlir.register_lowering(_unmapped_p, lambda _, value: [value])


def _as_stored(rewritten: Rewritten, given: Sequence[Any]) -> list[Any]:
    """Arguments in the formats that the program keeps them in; the first call's are converted."""
    stored = rewritten.arguments.stored
    dtypes = {i: np.dtype(DTYPES[name]) for i, name in stored.items()}
    return [
        replace(
            leaf,
            data=leaf.data.astype(dtypes[i]),
            scale=leaf.scale.astype(scale_dtype(dtypes[i])),
        )
        if i in dtypes
        else leaf
        for i, leaf in enumerate(given)
    ]


def _is_dynamic(leaf: Any) -> bool:
    """Whether a leaf is traced; the values of static arguments are not."""
    return isinstance(leaf, (ScaledArray, jax.Array, np.ndarray, np.generic))


def _nothing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the arguments of another that does nothing with them."""

    @functools.wraps(fn)
    def nothing(*_: Any, **__: Any) -> None:
        return None

    return nothing


def _export(fn: Any, specs: Any, keywords: Any) -> jax.export.Exported:
    """Exports a function that stays in this process, so that its custom calls may."""
    specs = tuple(specs)
    try:
        return jax.export.export(fn)(*specs, **keywords)
    except ValueError:
        module = fn.trace(*specs, **keywords).lower().compiler_ir("stablehlo")
        targets = _custom_call_targets(module)
        if not targets:
            raise
        checks = [jax.export.DisabledSafetyCheck.custom_call(target) for target in targets]
        return jax.export.export(fn, disabled_checks=checks)(*specs, **keywords)


def _custom_call_targets(module: ir.Module) -> list[str]:
    targets: dict[str, None] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == _CUSTOM_CALL:
            targets[ir.StringAttr(op.attributes["call_target_name"]).value] = None
        return ir.WalkResult.ADVANCE

    with module.context:
        module.operation.walk(visit)
    return list(targets)


def _call(rewritten: Rewritten, given: Sequence[Any], kept: Sequence[Any]) -> list[Any]:
    """Calls the rewritten program; results that no scale reached come back plain.

    Args:
        rewritten: The program.
        given: Its flat arguments.
        kept: Those that are used, which are the last of the arguments of `main`.
    """
    args, keywords = _as_arguments(rewritten.exported.in_tree, given)
    tree = rewritten.exported.call(*args, **keywords)
    results = jax.tree.leaves(tree, is_leaf=is_scaled_array)
    tokens = len(rewritten.report.results) - len(results)
    reports = rewritten.report.results[tokens:]
    taken = [None] * (len(rewritten.report.arguments) - len(kept)) + list(kept)
    return [_given_back(*each, taken) for each in zip(results, reports, strict=True)]


def _given_back(result: Any, report: ValueReport, taken: Sequence[Any]) -> Any:
    if not is_scaled_array(result):
        return result
    if not report.scaled:
        return data_at_one(result)
    scales = [taken[number].scale for number in report.moved]
    return held(result, scales, report.bound) if scales else result


def _as_arguments(tree: _compat.TreeDef, given: Sequence[Any]) -> Any:
    return tree.unflatten(jax.tree.leaves(list(given)))
