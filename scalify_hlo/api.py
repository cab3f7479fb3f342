"""The public functions for StableHLO programs, such as `rewrite`, and `scalify`."""

from __future__ import annotations

import functools
import inspect
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, Unpack, overload

from scalify_hlo._compat import ir
from scalify_hlo.algebra.measured import Measured
from scalify_hlo.commands.explain.device import for_device
from scalify_hlo.errors import UsageError, nearest, refuse_without
from scalify_hlo.passes.pipeline import Options, Signature
from scalify_hlo.passes.summary import warn_of
from scalify_hlo.profile.file import profile_of
from scalify_hlo.profile.model import Profile
from scalify_hlo.program.given import readable, written
from scalify_hlo.program.rewriting import rewrite_program
from scalify_hlo.recipes.fields import values_of
from scalify_hlo.recipes.loading import recipe_of, require_pairs
from scalify_hlo.recipes.model import NONE, Recipe
from scalify_hlo.report.model import Report

if TYPE_CHECKING:
    from jax.export import Exported

    from scalify_hlo.commands.nan.nan_report import NanReport
    from scalify_hlo.commands.stats.record import StatsRecord
    from scalify_hlo.commands.stats.run import Stats
    from scalify_hlo.frontend.scaling_state import Stateful

P = TypeVar("P", str, bytes, ir.Module, "Exported")


def make_options(
    recipe: str | PathLike[str] | Recipe | None = None,
    signature: str = "same",
    input_scale: Mapping[str, float] | None = None,
    settings: Mapping[str, object] | None = None,
    profile: str | PathLike[str] | Profile | None = None,
    *,
    strict: bool = False,
    listed: bool = False,
) -> Options:
    """Returns the options of a rewrite for the arguments of `rewrite`.

    Args:
        recipe: As for `rewrite`.
        signature: As for `rewrite`.
        input_scale: As for `rewrite`.
        settings: As for `rewrite`.
        profile: As for `rewrite`.
        strict: As for `rewrite`.
        listed: Whether the report has the matmuls even if the recipe does not change their formats.

    Raises:
        UsageError: A name or a value is not known.
        InputError: The file of a recipe or of a profile is not valid.
    """
    scales = _numbers(input_scale or {})
    seen = profile_of(profile)
    loaded = recipe_of(recipe, settings or {}, calibrated=seen is not None)
    return Options(
        recipe=loaded,
        signature=values_of(Signature).read("signature", signature, spelt=False),
        input_scale=scales,
        profile=seen,
        strict=strict,
        listed=listed,
    )


def _numbers(input_scale: Mapping[str, float]) -> dict[str, float]:
    """Returns input scales as floats. Positivity is checked later."""
    hint = "give a number for each pattern of argument names, as in {'params*': 2.0**-4}"
    if not isinstance(input_scale, Mapping):
        raise UsageError("input scales are not a mapping", hint=hint)
    numbers: dict[str, float] = {}
    for pattern, scale in input_scale.items():
        try:
            numbers[pattern] = scale if isinstance(scale, Measured) else float(scale)
        except OverflowError:
            raise UsageError(f"the input scale of {pattern!r} is too large", hint=hint) from None
        except (TypeError, ValueError):
            sentence = f"the input scale of {pattern!r} is {reprlib.repr(scale)}, and not a number"
            raise UsageError(sentence, hint=hint) from None
    return numbers


class Asked(TypedDict, total=False):
    """The options of `rewrite`, which describes them, except `report`."""

    recipe: str | PathLike[str] | Recipe | None
    signature: str
    input_scale: Mapping[str, float] | None
    settings: Mapping[str, object] | None
    profile: str | PathLike[str] | Profile | None
    strict: bool
    again: bool
    optimize: bool
    target: str | None
    entry: str | None


@overload
def rewrite(program: P, *, report: Literal[False] = ..., **asked: Unpack[Asked]) -> P: ...
@overload
def rewrite(program: P, *, report: Literal[True], **asked: Unpack[Asked]) -> tuple[P, Report]: ...


def rewrite(
    program: P,
    *,
    recipe: str | PathLike[str] | Recipe | None = None,
    signature: str = "same",
    input_scale: Mapping[str, float] | None = None,
    settings: Mapping[str, object] | None = None,
    profile: str | PathLike[str] | Profile | None = None,
    strict: bool = False,
    report: bool = False,
    again: bool = False,
    optimize: bool = False,
    target: str | None = None,
    entry: str | None = None,
) -> P | tuple[P, Report]:
    """Rewrites a StableHLO program into scaled form.

    Args:
        program: MLIR text (str); the bytes of a jax.export file, of MLIR bytecode, of a StableHLO
            portable artifact, or of the ``saved_model.pb`` that jax2tf writes (bytes); an
            `ir.Module`; or a `jax.export.Exported`. A module is not changed; the new module is in
            the same context.
        recipe: The name of a preset, the path of a TOML file, or a `Recipe`; see `load_recipe`.
            By default ``fp8-current``, and with a profile ``fp8-calibrated``.
        signature: ``same`` keeps the types of arguments and results. ``scaled`` replaces each float
            argument and result by its data, of the same shape, and its scale, of rank 0 and f32
            (f64 for f64 and complex128); in an Exported, by a `ScaledArray`.
        input_scale: The expected rms of arguments, by patterns of their names. Such an argument is
            divided at entry by the power of two at or below its rms, which becomes its scale.
        settings: Options of the recipe, by key, such as ``matmul.weight``.
        profile: A profile of the program, from `calibrate`, or the path of its file. All scales are
            static then. If the recipe keeps the formats of all matmul operands, as ``propagate``
            does, formats are those of ``fp8-calibrated``.
        strict: Whether a remark, such as one on a matmul that is not quantized, is an error.
        report: Whether a `Report` is returned too. Its ``remarks`` are messages for the user. Its
            ``matmuls`` have the formats of each matmul, or the reason why it is not quantized.
        again: Whether a program that was rewritten before is accepted. Such a module has the
            attribute ``scalify.rewritten``; pairs then become pairs of pairs.
        optimize: Whether ops are replaced by faster ones of the same value: scatters of single
            numbers into a constant, such as the gradient of a cross-entropy with integer labels, by
            selects. This changes no bit of the result. For targets that are GPUs, matmuls have
            their dimensions in the order in which transposes read them, with the same sums.
        target: The name of the device that the program is for, as for `explain`, which estimates
            the program's time on it. It sets the option ``target`` of the recipe, so that on a
            device with an estimate matmuls stay wide that FP8 does not make faster.
        entry: The name of the function at which the program starts. By default it is `main`, or the
            only public function. Functions that it does not call stay as they are. In a SavedModel
            it is the function of TensorFlow that has the program.

    Returns:
        The rewritten program, as the same kind of object; for a SavedModel, a portable artifact.
        The vjp of an Exported is rewritten too.
        With `report`, a pair of the program and its report. Without, remarks are issued as a
        `ScalifyWarning`.

    Raises:
        InputError: The program is not StableHLO with such a function, or was rewritten before.
            The file of a recipe or of a profile is not valid, or the profile is of another program.
            With `strict`, there is a remark. There is no such target.
        UsageError: A name or a value of the options is not known, or the recipe's ``target`` is set
            besides.

    Example:
        >>> text = "func.func @main(%x: tensor<4xf32>) { return }"
        >>> "%arg1: tensor<f32>" in rewrite(text, signature="scaled")
        True
    """
    given = settings if target is None else for_device(target, settings or {})
    options = make_options(
        recipe, signature, input_scale, given, profile, strict=strict, listed=report
    )
    require_pairs(options.recipe, signature)
    options = replace(options, again=again, optimize=optimize)
    rewritten, done = rewrite_program(readable(program, entry), options)
    if not report:
        warn_of(done)
    own: P = written(rewritten)
    return (own, done) if report else own


def collect_stats(
    program: Any,
    samples: Sequence[Any],
    *,
    recipe: str | PathLike[str] | Recipe | None = None,
    signature: str = "same",
    input_scale: Mapping[str, float] | None = None,
    settings: Mapping[str, object] | None = None,
    profile: str | PathLike[str] | Profile | None = None,
    steps: int = 1,
    carry: bool = False,
    values: str = "*",
    turns: str = "pooled",
) -> StatsRecord:
    """Runs a program with XLA on the CPU, and returns statistics of all its float values.

    Args:
        program: As for `rewrite`; it is not changed. If its shapes are symbolic, it runs at the
            shapes of the samples.
        samples: The arguments of each step, as for `calibrate`. If there are fewer samples than
            steps, the first follows on the last.
        recipe: The recipe of a rewrite that runs too; None for the original alone.
        signature: As for `rewrite`.
        input_scale: The expected rms of arguments, as for `rewrite`.
        settings: As for `rewrite`.
        profile: As for `rewrite`.
        steps: The number of steps.
        carry: Whether results that are arguments of the next call are passed on to the next step.
        values: A pattern of name stacks and of argument names, such as ``*attention*``.
        turns: ``pooled`` if the turns of a loop share a record; ``each`` if each has its own.

    Returns:
        The statistics; `dump_stats` makes JSON of them, and `stats_page` a page.

    Raises:
        InputError: The program is not valid, or XLA cannot run it on the CPU.
        UsageError: A sample does not fit the program, a pattern matches nothing, or an option is
            not known.

    Example:
        >>> text = "func.func @main(%x: tensor<4xf32>) { return }"
        >>> record = collect_stats(text, [[np.float32([0, 1, 2, np.inf])]])
        >>> x = record.variants[0].values[0]
        >>> x.amax, x.zeros, x.infinities
        ((2.0,), (1,), (1,))
    """
    from scalify_hlo.commands.stats.run import Request
    from scalify_hlo.commands.stats.run import collect_stats as collect

    options = _optional(recipe, signature, input_scale, settings, profile)
    return collect(program, samples, Request(steps, carry, values, turns), options)


def find_nan(
    program: Any,
    samples: Sequence[Any],
    *,
    recipe: str | PathLike[str] | Recipe | None = None,
    signature: str = "same",
    input_scale: Mapping[str, float] | None = None,
    settings: Mapping[str, object] | None = None,
    profile: str | PathLike[str] | Profile | None = None,
    steps: int = 1,
    carry: bool = False,
    only: str = "any",
    anywhere: bool = False,
) -> NanReport:
    """Runs a program with XLA on the CPU, and finds the op that makes its first NaN or infinity.

    Args:
        program: As for `collect_stats`; a rewritten program too.
        samples: The arguments of each step, as for `collect_stats`. If they are arrays by name, and
            the program was rewritten, scales and state that are not given are computed.
        recipe: The recipe of a rewrite that is searched; None to search the program itself.
        signature: As for `rewrite`.
        input_scale: The expected rms of arguments, as for `rewrite`.
        settings: As for `rewrite`.
        profile: As for `rewrite`.
        steps: The most steps that are run; the search ends at the first in which an op is found.
        carry: Whether results that are arguments of the next call are passed on to the next step.
        only: ``nan`` or ``inf`` to find one kind of elements; ``any`` for both.
        anywhere: Whether ops are found too whose NaN and infinities flow to no result.

    Returns:
        The op, the ranges of its operands, and the turn of each loop around it. If a NaN comes from
        infinities that an op makes, both ops.

    Raises:
        InputError: The program is not valid, or XLA cannot run it on the CPU.
        UsageError: A sample does not fit the program, or an option is not known.

    Example:
        >>> exported = jax.export.export(jax.jit(lambda x: jnp.log(x)))(jnp.ones(3))
        >>> report = find_nan(exported, [(np.float32([1, -2, 3]),)])
        >>> report.first.sentence
        'stablehlo.log makes 1 NaN from finite operands'
        >>> report.first.operands[0].smallest
        -2.0
    """
    from scalify_hlo.commands.nan.find_nan import Search
    from scalify_hlo.commands.nan.find_nan import find_nan as find

    search = Search(steps, carry, only, anywhere)
    options = _optional(recipe, signature, input_scale, settings, profile)
    return find(program, samples, search, options)


def _optional(
    recipe: str | PathLike[str] | Recipe | None,
    signature: str,
    input_scale: Mapping[str, float] | None,
    settings: Mapping[str, object] | None,
    profile: str | PathLike[str] | Profile | None,
) -> Options | None:
    """The options of a rewrite; None without a recipe and a profile."""
    if recipe is None and profile is None:
        scaled = signature != "same"
        given = {"signature": scaled, "input_scale": input_scale, "settings": settings}
        refuse_without(given, "recipe")
        return None
    options = make_options(recipe, signature, input_scale, settings, profile)
    require_pairs(options.recipe, signature)
    return options


class Scalifying(TypedDict, total=False):
    """The options of `scalify`, which describes them, and those of `jax.jit`."""

    recipe: str | PathLike[str] | Recipe | None
    settings: Mapping[str, object] | None
    input_scale: Mapping[str, float] | None
    profile: str | PathLike[str] | Profile | None
    strict: bool
    stats: Stats | None
    plain_results: bool | None
    static_argnums: int | Sequence[int] | None
    static_argnames: str | Iterable[str] | None
    donate_argnums: int | Sequence[int] | None
    donate_argnames: str | Iterable[str] | None
    in_shardings: Any
    out_shardings: Any
    keep_unused: bool
    inline: bool
    compiler_options: dict[str, Any] | None


@overload
def scalify(fn: Callable[..., Any], **options: Unpack[Scalifying]) -> Stateful: ...
@overload
def scalify(
    fn: None = None, **options: Unpack[Scalifying]
) -> Callable[[Callable[..., Any]], Stateful]: ...


def scalify(
    fn: Callable[..., Any] | None = None,
    *,
    recipe: str | PathLike[str] | Recipe | None = None,
    settings: Mapping[str, object] | None = None,
    input_scale: Mapping[str, float] | None = None,
    profile: str | PathLike[str] | Profile | None = None,
    strict: bool = False,
    stats: Stats | None = None,
    plain_results: bool | None = None,
    **jit_options: Any,
) -> Any:
    """Compiles a function like `jax.jit`, in scaled form.

    `fn` sees a `ScaledArray` argument as a plain array of its logical dtype. Plain arrays are
    unscaled. A float result is a ScaledArray if it is scaled, and a plain array otherwise; see
    `plain_results`. The function is exported and rewritten once for each combination of shapes. It
    can be called inside `jax.jit`, and differentiated in reverse mode; the cotangent of a
    ScaledArray is a ScaledArray. As with any call of an Exported, `jax.vmap` and `jax.jvp` do not
    apply to it. Use them inside, as in ``scalify(jax.vmap(fn))``.

    A function of `jax.jit` keeps its static and donated arguments, and one of `flax.nnx.jit` its
    shardings too. It updates the modules, as one of `equinox.filter_jit` does, and their arrays
    stay plain. The function may call Python while it runs, by `jax.debug.print`, `io_callback` or
    `pure_callback`, but not in an order.

    If the recipe predicts sizes, as ``unit`` does, the scales of plain arguments are measured from
    the values of the first call for each combination of shapes. They are constant from then on.
    Inside another trace, the function uses the scales of an earlier call, or those that the recipe
    declares. With such a recipe the results are plain arrays unless an argument is a ScaledArray.

    If scales are state, as under ``fp8-delayed`` or ``auto-loss-scaling``, a call takes a
    `ScalingState` as the keyword ``scaling_state``, and returns a pair of the results and the new
    state. The method ``init_scaling_state`` of the function makes the first state from the
    arguments of a step; see `init_scaling_state`. ``donate_argnames="scaling_state"`` donates it.

    Args:
        fn: The function. Without it, a decorator is returned.
        recipe: As for `rewrite`; by default ``propagate``.
        settings: As for `rewrite`.
        input_scale: The expected rms of plain arguments, as for `rewrite`.
        profile: As for `rewrite`, for one combination of shapes.
        strict: As for `rewrite`; a call raises the error.
        stats: Collects statistics of the values of the function every few calls.
        plain_results: Whether results that replace no argument of the next call, such as a loss or
            logits, are plain arrays, as `jax.grad` needs of a loss. State stays pairs. By default
            they are if the recipe makes anything narrow or predicts sizes; ``propagate`` does not.
        **jit_options: Options of `jax.jit`, such as ``static_argnums`` and ``donate_argnums``.

    Returns:
        The compiled function, with the interface of a function that `jax.jit` returns.

    Raises:
        UsageError: The recipe or an option is not known. A call raises it under `jax.vmap`, for an
            input scale that matches no float argument, for calls of Python in an order, and without
            the state that the recipe needs.
        InputError: The file of a recipe or of a profile is not valid. A call raises it if the
            profile is of another program, and with `strict` if there is a remark.

    Example:
        >>> @scalify
        ... def double(x):
        ...     return x + x
        >>> y = double(as_scaled_array(jnp.float32([3.0, 4.0])))
        >>> asarray(y).tolist()
        [6.0, 8.0]
    """
    if fn is None:
        own = {"recipe": recipe, "settings": settings, "input_scale": input_scale}
        rest = {"profile": profile, "strict": strict, "stats": stats}
        given = {**own, **rest, "plain_results": plain_results, **jit_options}
        return functools.partial(scalify, **given)
    from scalify_hlo.frontend.scalified import Scalified

    asked = Recipe() if recipe is None else recipe
    options = make_options(asked, "same", input_scale, settings, profile, strict=strict)
    _check_scaling(options)
    _check_jit_options(jit_options)
    _check_stats(stats)
    narrow = options.recipe.narrow or options.recipe.predict != NONE
    plain = narrow if plain_results is None else plain_results
    return Scalified.of(fn, options, jit_options, stats, plain="outputs" if plain else "none")


def _check_stats(stats: object) -> None:
    from scalify_hlo.commands.stats.run import Stats

    if stats is not None and not isinstance(stats, Stats):
        raise UsageError(
            f"stats is a {type(stats).__name__}, and not a Stats",
            hint="give scalify_hlo.Stats(every=100), and read its records",
        )


def _check_scaling(options: Options) -> None:
    if options.recipe.scaling.kind == "calibrated" and options.profile is None:
        raise UsageError(
            f"the recipe {options.recipe.name} takes its scales from a profile, and there is none",
            hint="make one with `calibrate` of the exported function, and give it as profile=",
        )


def _check_jit_options(options: Mapping[str, Any]) -> None:
    import jax

    known = [name for name in inspect.signature(jax.jit).parameters if name != "fun"]
    for name in options:
        if name not in known:
            named = inspect.signature(scalify).parameters.values()
            names = (*(each.name for each in named if each.kind is each.KEYWORD_ONLY), *known)
            raise UsageError(
                f"scalify has no option {name!r}{nearest(name, names)}",
                hint=f"its options are: {', '.join(names)}",
            )
