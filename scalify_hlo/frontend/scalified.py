"""The implementation of `scalify`: exports a function at its logical types, rewrites and calls it.

`jax.jit` traces these three steps.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import jax
import numpy as np

from scalify_hlo import _compat
from scalify_hlo.casts.delayed import STATE
from scalify_hlo.commands.stats.prepare import Selection
from scalify_hlo.commands.stats.run import Stats
from scalify_hlo.errors import UsageError
from scalify_hlo.frontend.exported_calls import calls_of, export, platforms, unmapped
from scalify_hlo.frontend.host_callbacks import HostCallbacks
from scalify_hlo.frontend.module_jit import jitted, rewritten_inside, shardings_of
from scalify_hlo.frontend.observed import CompiledCalls, ObservedCalls, observe_rewrite
from scalify_hlo.frontend.scaling_state import (
    ScalingState,
    StatefulCalls,
    add_state,
    for_state,
    require_own,
    state_of_call,
    without_state,
)
from scalify_hlo.jax_api.parts import data_at_one
from scalify_hlo.jax_api.scaled_array import (
    ScaledArray,
    asarray,
    is_concrete,
    is_float,
    is_scaled_array,
    whole,
)
from scalify_hlo.jax_api.stored_arrays import held, stored
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.passes.summary import warn_of
from scalify_hlo.program.exported import Call, Rewritten, rewrite_with_report
from scalify_hlo.program.given import readable
from scalify_hlo.recipes.model import NONE
from scalify_hlo.report.model import ValueReport
from scalify_hlo.run.input_scales import measured_size

_SHARED = ("static_argnums", "static_argnames", "donate_argnums", "donate_argnames")
"""The options of `jax.jit` that also apply to the function itself."""

Plain: TypeAlias = Literal["all", "outputs", "none"]
"""The results that are plain arrays though they are scaled."""


@dataclass(frozen=True)
class _Ready:
    """A program that was rewritten for a call.

    Attributes:
        rewritten: The program.
        run: Runs it.
        callbacks: The calls of Python in it.
        collected: The results with statistics, once it ran.
    """

    rewritten: Rewritten
    run: Callable[..., Any]
    callbacks: HostCallbacks
    collected: list[Any]


class Scalified:
    """The function that `jax.jit` traces for `scalify`.

    Args:
        fn: The user's function, under `jax.jit`.
        signature: A function of the same arguments that does nothing, under `jax.jit`. Its traces
            give the donated arguments.
        options: The options of the rewrite.
        plain: The results that are plain arrays though they are scaled: all, none, or outputs,
            which replace no argument.

    Attributes:
        fn: As given.
        signature: As given.
        options: As given.
        plain: As given.
    """

    def __init__(self, fn: Any, signature: Any, options: Options, *, plain: Plain) -> None:
        self.fn = fn
        self.signature = signature
        self.options = options
        self.plain = plain
        self._ready: dict[Any, _Ready] = {}
        self._measured: dict[Any, list[float | None]] = {}
        self._given = threading.local()

    @classmethod
    def of(
        cls,
        fn: Callable[..., Any],
        options: Options,
        jit_options: Mapping[str, Any],
        stats: Stats | None = None,
        *,
        plain: Plain = "none",
    ) -> Callable[..., Any]:
        """Returns a function in scaled form, with the signature of `fn`, under `jax.jit`.

        Args:
            fn: The function.
            options: The options of the rewrite.
            jit_options: Options of `jax.jit`. Those on static and donated arguments also apply to
                `fn`, and `fn` may have some of its own; donation shows which results replace which
                arguments.
            stats: Collects statistics; None for none.
            plain: As for the class.
        """
        again = functools.partial(
            cls.of, options=options, jit_options=jit_options, stats=stats, plain="all"
        )
        updating = rewritten_inside(fn, again, _SHARED)
        if updating is not None:
            return updating
        if plain == "all":  # The arrays of modules stay plain, as the shardings describe them.
            jit_options = {**shardings_of(fn), **jit_options}
        places = None if "in_shardings" in jit_options else shardings_of(fn).get("in_shardings")
        jit_options = _with_own(fn, jit_options)
        shared = {key: value for key, value in jit_options.items() if key in _SHARED}
        keeps = options.recipe.keeps_scales
        if keeps:
            shared, jit_options = for_state(shared, jit_options, modules=plain == "all")
        signature = jax.jit(_nothing(fn), **shared)
        scalified = cls(jax.jit(fn, **shared), signature, options, plain=plain)

        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            return scalified.call(args, kwargs)

        if keeps:
            add_state(call)
        compiled: Any = jitted(call, jit_options, places)
        if keeps:
            compiled = StatefulCalls(compiled, scalified.prepared)
        else:
            compiled.init_scaling_state = without_state(options.recipe.name)
        if stats is not None:
            observing = _observing(scalified, fn, stats, jit_options, places)
            compiled = ObservedCalls(compiled, observing, stats)
        return compiled if options.recipe.predict == NONE else _Measuring(compiled, scalified)

    @property
    def keeps_state(self) -> bool:
        """Whether calls take the state of delayed scales, and return it."""
        return self.options.recipe.keeps_scales

    def call(self, args: Any, kwargs: Any, selection: Selection | None = None) -> Any:
        """Rewrites the function for the types of its arguments, and calls it on traced values.

        Args:
            args: The positional arguments, with ScaledArray leaves as pairs.
            kwargs: The keyword arguments, with the state of delayed scales if the recipe has any.
            selection: The values of which statistics are wanted; None for no statistics.

        Returns:
            The results, with ScaledArrays for float results that are scaled. With delayed scales, a
            pair of these and of the new state. With a selection, a pair of that and of the results
            with statistics.

        Raises:
            InputError: The function cannot be rewritten.
            UsageError: The options do not fit the function, or the state is missing.
        """
        state = state_of_call(kwargs.pop(STATE, None)) if self.keeps_state else None
        ready, given, tree = self._ready_for(args, kwargs, selection)
        if state is not None:
            require_own(state, ready.rewritten.exported)
        given = _as_stored(ready.rewritten, given)
        results, state = _call(ready, given, state, self.plain)
        returned = ready.callbacks.called(jax.tree.unflatten(tree, results))
        returned = returned if state is None else (returned, state)
        return returned if selection is None else (returned, *ready.collected)

    def prepared(self, args: Any, kwargs: Any) -> jax.export.Exported:
        """Returns the rewritten program of the next call, which then takes it.

        Args:
            args: The positional arguments, or their types.
            kwargs: The keyword arguments, or their types, without the state.
        """
        found: list[_Ready] = []

        @functools.wraps(self.fn)
        def rewritten(*args: Any, **kwargs: Any) -> None:
            found.append(self._ready_for(args, kwargs, ahead=True)[0])

        own = zip(_SHARED, _compat.jit_options(self.fn, _SHARED), strict=True)
        options: Any = {key: value for key, value in own if value}
        with self.given(args, kwargs):
            jax.jit(rewritten, **options).trace(*args, **kwargs)
        return found[0].rewritten.exported

    def _ready_for(
        self, args: Any, kwargs: Any, selection: Selection | None = None, *, ahead: bool = False
    ) -> tuple[_Ready, list[Any], _compat.TreeDef]:
        """Returns the rewritten program of a call, its flat arguments and the tree of its results.

        Args:
            args: See `call`.
            kwargs: See `call`; without the state.
            selection: See `call`.
            ahead: Whether the next call of these types takes the program.
        """
        leaves, tree = jax.tree.flatten((args, kwargs), is_leaf=is_scaled_array)
        specs, keywords = jax.tree.unflatten(tree, [_logical(leaf) for leaf in leaves])
        traced = self.fn.trace(*specs, **keywords)
        captured = _compat.captured_values(traced)
        given = [*captured, *filter(_is_dynamic, leaves)]
        pairs = [is_scaled_array(leaf) for leaf in given]
        shapes = _scale_shapes(given, self.options)
        about = Call(pairs, self._sizes(captured, leaves, tree), shapes)
        key = None if captured or selection else (_whole_key(args, kwargs), str(about.measured))
        ready = self._ready.pop(key, None)
        if ready is None:
            fn: Any = self.fn
            if captured:
                fn = self._of_flat(traced, specs, keywords)
                specs, keywords = [_logical(leaf) for leaf in given], {}
            ready = self._rewritten(fn, (specs, keywords), about, selection)
        if ahead and key is not None:
            self._ready[key] = ready
        line = f'scalify(jax.vmap({traced.fun_name}, ...), recipe="{self.options.recipe.name}")'
        given = jax.tree.map(functools.partial(unmapped, line=line), given)
        return ready, given, jax.tree.structure(traced.out_info)

    def _rewritten(
        self, fn: Any, specs: tuple[Any, Any], about: Call, selection: Selection | None
    ) -> _Ready:
        """Exports and rewrites a function of `jax.jit` for the types of its arguments."""
        callbacks, collected = HostCallbacks(), list[Any]()
        exported = export(fn, *specs, callbacks)
        if selection is None:
            rewritten = rewrite_with_report(readable(exported), self.options, about)
            warn_of(rewritten.report)
            run = calls_of(rewritten.exported)
        else:
            observed = observe_rewrite(readable(exported), self.options, about, selection)
            rewritten, run = observed.rewritten, observed.collecting(collected)
        return _Ready(rewritten, run, callbacks, collected)

    def _of_flat(self, traced: jax.stages.Traced, specs: Any, keywords: Any) -> Any:
        """Returns a function of the captured values of a trace and its flat arguments."""
        run = _compat.flat_function(traced)
        # In a function that captures values, the infos are shifted by the number of these values.
        infos = jax.tree.leaves(self.signature.trace(*specs, **keywords).args_info)
        captured = len(_compat.captured_values(traced))
        donated = [captured + i for i, info in enumerate(infos) if info.donated]

        def flat(*arguments: Any) -> Any:
            return list(run(*arguments))

        flat.__name__ = getattr(self.fn, "__name__", "fn")
        return jax.jit(flat, donate_argnums=donated)

    @contextmanager
    def given(self, args: Any, kwargs: Any) -> Iterator[None]:
        """Provides the values of arguments, from which a trace of the call measures scales.

        Args:
            args: The positional arguments of the call.
            kwargs: The keyword arguments of the call.
        """
        outer = getattr(self._given, "leaves", None)
        self._given.leaves = jax.tree.leaves((args, kwargs), is_leaf=is_scaled_array)
        try:
            yield
        finally:
            self._given.leaves = outer

    def _sizes(
        self, captured: Sequence[Any], leaves: Sequence[Any], tree: Any
    ) -> list[float | None] | None:
        """Returns log2 of the rms of each captured value and argument, if sizes are predicted.

        Captured values are those of an outer trace; arrays that a function captures are constants.
        The sizes of a call with concrete values are reused in later traces with the same types.
        """
        if self.options.recipe.predict == NONE:
            return None
        key = _key(tree, leaves)
        values = getattr(self._given, "leaves", None) or leaves
        found = [_size(v) for leaf, v in zip(leaves, values, strict=True) if _is_dynamic(leaf)]
        if all(is_concrete(value) for value in values):
            self._measured[key] = found
        return [*(None for _ in captured), *self._measured.get(key, found)]


class _Measuring(CompiledCalls):
    """A compiled function whose traces can read the values of arguments.

    Args:
        compiled: The function that `jax.jit` returned.
        scalified: The function that `jax.jit` traces.
    """

    def __init__(self, compiled: Any, scalified: Scalified) -> None:
        super().__init__(compiled)
        self._scalified = scalified

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with self._scalified.given(args, kwargs):
            return self._compiled(*args, **kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """Lowers the function for these arguments; see `jax.stages.Wrapped.lower`."""
        with self._scalified.given(args, kwargs):
            return self._compiled.lower(*args, **kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """Traces the function for these arguments; see `jax.stages.Wrapped.trace`."""
        with self._scalified.given(args, kwargs):
            return self._compiled.trace(*args, **kwargs)


def _size(value: Any) -> float | None:
    """Returns log2 of the rms of a plain concrete value of floats; None for other values."""
    plain = is_concrete(value) and not is_scaled_array(value)
    return measured_size(value) if plain and is_float(jax.typeof(value).dtype) else None


def _logical(leaf: Any) -> Any:
    """Returns the type at which an argument is traced: of a ScaledArray, its logical type."""
    if not _is_dynamic(leaf):
        return leaf
    if is_scaled_array(leaf) and leaf.logical is not None:
        return jax.ShapeDtypeStruct(leaf.shape, leaf.logical)
    value = leaf.data if is_scaled_array(leaf) else leaf
    aval = jax.typeof(value)
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


def _key(tree: Any, leaves: Sequence[Any]) -> Any:
    """Returns the key of a call: the types of its arrays, and its static arguments."""
    types = [_logical(leaf) for leaf in leaves]
    return tree, tuple(
        (t.shape, str(t.dtype)) if isinstance(t, jax.ShapeDtypeStruct) else t for t in types
    )


def _whole_key(args: Any, kwargs: Any) -> Any:
    """Returns the key of a call in which pairs differ from arrays."""
    leaves, tree = jax.tree.flatten((args, kwargs))
    types = [jax.typeof(leaf) if _is_dynamic(leaf) else leaf for leaf in leaves]
    return tree, tuple(types), platforms()


def _as_stored(rewritten: Rewritten, given: Sequence[Any]) -> list[Any]:
    """Converts arguments to the formats in which the program keeps them."""
    return [
        value
        if not is_scaled_array(value) or (leaf.shape and not leaf.stored)
        else stored(value, leaf.dtype, leaf.power, value.logical, leaf.shape)
        if leaf.stored
        else whole(value)
        for value, leaf in zip(given, rewritten.arguments, strict=True)
    ]


def _scale_shapes(given: Sequence[Any], options: Options) -> dict[int, tuple[int, ...]]:
    """Returns the shapes of arrays of scales by argument; moments have others.

    Raises:
        UsageError: The recipe declares blocks too.
    """
    if options.recipe.inputs.blocks:
        raise UsageError(
            "inputs.blocks has no effect: scalify takes blocks from the ScaledArrays of its calls",
            hint="split arguments with as_scaled_array(x, block=(0, 1))",
        )
    return {
        i: tuple(leaf.scale.shape)
        for i, leaf in enumerate(given)
        if is_scaled_array(leaf) and leaf.power is None and leaf.scale.shape
    }


def _is_dynamic(leaf: Any) -> bool:
    """Whether a leaf is an array or a ScaledArray; other leaves are static."""
    return isinstance(leaf, (ScaledArray, jax.Array, np.ndarray, np.generic))


def _with_own(fn: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns options of `jax.jit` with the static and donated arguments of a jitted function."""
    options = dict(given)
    for key, own in zip(_SHARED, _compat.jit_options(fn, _SHARED), strict=True):
        asked = options.get(key)
        more = () if asked is None else (asked,) if isinstance(asked, (int, str)) else asked
        if own:
            options[key] = tuple(dict.fromkeys((*own, *more)))
    return options


def _nothing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function with the signature of another one that does nothing."""

    @functools.wraps(fn)
    def nothing(*_: Any, **__: Any) -> None:
        return None

    return nothing


def _observing(
    scalified: Scalified,
    fn: Callable[..., Any],
    stats: Stats,
    jit_options: Mapping[str, Any],
    places: Any,
) -> Any:
    """Returns the compiled function that returns statistics as well."""

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        return scalified.call(args, kwargs, stats.selection)

    if scalified.keeps_state:
        add_state(call)
    options = dict(jit_options)
    if options.get("out_shardings") is not None:
        options["out_shardings"] = (options["out_shardings"], None)
    return jitted(call, options, places)


def _call(
    ready: _Ready, given: Sequence[Any], state: ScalingState | None, plain: Plain
) -> tuple[list[Any], ScalingState | None]:
    """Calls a rewritten program; unscaled results are returned as plain arrays.

    Args:
        ready: The program.
        given: The flat arguments.
        state: The state of delayed scales; None if it takes none.
        plain: The results that are plain arrays though they are scaled.

    Returns:
        The flat results, and the new state.
    """
    rewritten, flat = ready.rewritten, jax.tree.leaves(list(given))
    in_tree: Any = rewritten.exported.in_tree
    if state is not None:  # The state is the last positional argument.
        start = in_tree.children()[0].num_leaves - len(state.arrays)
        flat[start:start] = jax.tree.leaves(state.arrays)
    args, keywords = in_tree.unflatten(flat)
    tree = ready.run(*args, **keywords)
    if state is not None:
        tree, new = tree
        state = ScalingState(**new, about=state.about)
    results = jax.tree.leaves(tree, is_leaf=is_scaled_array)
    numbers = [leaf.number for leaf in rewritten.results]
    reports = [rewritten.report.results[number] for number in numbers if number is not None]
    taken = {leaf.number: each for leaf, each in zip(rewritten.arguments, given, strict=True)}
    back = [_given_back(*each, taken, plain) for each in zip(results, reports, strict=True)]
    return back, state


def _given_back(
    result: Any, report: ValueReport, taken: Mapping[int | None, Any], plain: Plain
) -> Any:
    if plain == "all" or (plain == "outputs" and not report.carried):
        return asarray(result)
    if not is_scaled_array(result) or report.packed:
        return result
    if not report.scaled:
        return data_at_one(result)
    scales = [taken[number].scale for number in report.moved]
    return held(result, scales, report.bound) if scales else result
