"""Functions that `scalify` makes with statistics: the program that returns them, and its calls."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import MethodType
from typing import Any

import jax
import numpy as np

from scalify_hlo import _compat
from scalify_hlo._compat import ir
from scalify_hlo.commands.stats.prepare import Prepared, Programs, Selection
from scalify_hlo.commands.stats.run import Stats
from scalify_hlo.frontend.exported_calls import calls_of
from scalify_hlo.jax_api.scaled_array import is_scaled_array
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.program.artifact import version_of, write_artifact_since
from scalify_hlo.program.exported import Call, Rewritten, rewrite_with_report
from scalify_hlo.program.program import Program
from scalify_hlo.program.tensors import interface


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class Collected:
    """The results of a call that have statistics, with the program that returned them.

    Attributes:
        arrays: The results.
        about: The program, its name and its structural hash, which are static.
    """

    arrays: list[Any]
    about: tuple[Prepared, str, str] = field(metadata={"static": True})


@dataclass(frozen=True)
class ObservedRewrite:
    """A rewritten function that returns statistics.

    Attributes:
        rewritten: The rewrite.
        exported: The rewrite with more results.
        about: The program, its name and its structural hash.
    """

    rewritten: Rewritten
    exported: jax.export.Exported
    about: tuple[Prepared, str, str]

    def collecting(self, collected: list[Any]) -> Callable[..., Any]:
        """Returns the call of the rewrite; it appends the further results to a list."""
        run = calls_of(self.exported)

        def call(*args: Any, **kwargs: Any) -> Any:
            results, arrays = run(*args, **kwargs)
            collected.append(Collected(arrays, self.about))
            return results

        return call


def observe_rewrite(
    program: Program, options: Options, call: Call, selection: Selection
) -> ObservedRewrite:
    """Rewrites an Exported so that it returns statistics; see `rewrite_with_report`.

    Args:
        program: The program of the Exported.
        options: The options of the rewrite.
        call: The arguments of the call.
        selection: The values of which statistics are wanted.
    """
    programs = Programs(program.module, program.name, selection)
    numbered = programs.numbered
    asked = programs.probing(options)
    rewritten = rewrite_with_report(replace(program, module=numbered), asked, call)
    prepared = programs.instrument_rewrite(numbered, rewritten.report, options)
    return ObservedRewrite(
        rewritten,
        _with_results(rewritten.exported, prepared.module, prepared.instrumented.added.count),
        (prepared, program.name, programs.hash),
    )


def _with_results(
    exported: jax.export.Exported, module: ir.Module, count: int
) -> jax.export.Exported:
    """Returns an Exported of a module with further results, which are returned as a list."""
    version = version_of(exported.mlir_module_serialized)
    tensors = interface(module, exported.fun_name).results
    added = [jax.core.ShapedArray(t.shape, t.dtype) for t in tensors[len(tensors) - count :]]
    pair: Any = jax.tree.structure((0, 0))
    flat: Any = jax.tree.structure([0] * count)
    return _compat.replace_exported(
        exported,
        arguments=range(len(exported.in_avals)),
        results=[*range(len(exported.out_avals)), *[-1] * count],
        vjp=None,
        mlir_module_serialized=write_artifact_since(module, version, exported.fun_name),
        out_avals=(*exported.out_avals, *added),
        out_tree=_compat.make_tree(pair.node_data(), [exported.out_tree, flat]),
    )


class CompiledCalls:
    """A compiled function, the calls of which do more, as a method too.

    Args:
        compiled: The function, from which all other attributes are taken.
    """

    def __init__(self, compiled: Any) -> None:
        functools.update_wrapper(self, compiled)
        self._compiled = compiled

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function."""
        return self._compiled(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._compiled, name)


class ObservedCalls(CompiledCalls):
    """A compiled function, some calls of which return statistics.

    Args:
        compiled: The function that `jax.jit` returned.
        observing: The compiled function that returns statistics too.
        stats: Takes the statistics.
    """

    def __init__(self, compiled: Any, observing: Any, stats: Stats) -> None:
        super().__init__(compiled)
        self._observing, self._stats = observing, stats

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function, and takes the statistics of the call if they are due."""
        leaves = jax.tree.leaves((args, kwargs), is_leaf=is_scaled_array)
        if any(isinstance(leaf, jax.core.Tracer) for leaf in map(_data, leaves)):
            return self._compiled(*args, **kwargs)
        if self._stats.is_due:
            results, collected = self._observing(*args, **kwargs)
            arrays = [np.asarray(array) for array in collected.arrays]
            self._stats.add(collected.about, arrays)
        else:
            results = self._compiled(*args, **kwargs)
        self._stats.calls += 1
        return results


def _data(leaf: Any) -> Any:
    return leaf.data if is_scaled_array(leaf) else leaf
