"""Rewrites an Exported: its module, avals, pytrees, shardings and vjp."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import jax

from scalify_hlo import _compat
from scalify_hlo._compat import ir
from scalify_hlo.algebra.measured import Measured
from scalify_hlo.errors import UsageError
from scalify_hlo.frontend.marks import (
    Marks,
    flat_pairs,
    float_pairs,
    kept_after,
    origins_of,
    pair_avals,
    pair_tree,
    set_marks,
    signature_marks,
    split_at_entry,
    with_stored,
)
from scalify_hlo.frontend.scaling_state import Extension
from scalify_hlo.io.artifact import parse_artifact, version_of, write_artifact_since
from scalify_hlo.io.wellformed import check_module, located
from scalify_hlo.jax_api.scaled_array import is_float, is_scaled_array
from scalify_hlo.jax_api.stored_program import stored_program
from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.passes.record import record, refuse_rewritten
from scalify_hlo.passes.signature import SignaturePass
from scalify_hlo.quantize.delayed import LEAVES
from scalify_hlo.recipes.model import WITH_ALGORITHMS
from scalify_hlo.report.model import Report


@dataclass(frozen=True)
class Rewritten:
    """The result of the rewrite of an Exported.

    Attributes:
        exported: The new Exported.
        arguments: The marks of the flat arguments of the old one.
        results: The marks of the flat results of the old one.
        report: The report of the rewrite.
    """

    exported: jax.export.Exported
    arguments: Marks
    results: Marks
    report: Report


def rewrite_with_report(
    exported: jax.export.Exported,
    options: Options,
    pairs: Sequence[bool] | None = None,
    module: ir.Module | None = None,
    measured: Sequence[float | None] | None = None,
    shapes: Mapping[int, tuple[int, ...]] | None = None,
    name: str = "",
) -> Rewritten:
    """Rewrites an Exported and its vjp.

    With the `scaled` signature, each float argument and result becomes a `ScaledArray` node in the
    pytrees. Its data and its scale are side by side in the avals. The cotangents of the vjp are
    ScaledArrays. With `same`, pytrees and avals are not changed.

    Args:
        exported: The Exported.
        options: The options of the rewrite. The signature pass marks the module by them.
        pairs: For each flat argument, whether it is a pair. If given, it replaces the signature,
            and all float results are pairs, unless no argument is and scales are measured.
        module: The module of an Exported that has none of its own. It is edited in place, and the
            new Exported has none either.
        measured: With `pairs`, log2 of the rms of the other flat arguments, which are split at
            entry; None for arguments whose values are not known. Declared sizes take precedence.
        shapes: With `pairs`, by index the shapes of arrays of scales.
        name: The name of the program in errors; by default the name of its function.

    Returns:
        The new Exported, the marks of the old one, and the report.

    Raises:
        InputError: The program cannot be rewritten, or was rewritten before and `options` do not
            allow that.
        UsageError: An input scale matches no argument, the scale of an argument is neither declared
            nor measured, or the recipe is for GPUs and the program for TPUs.
    """
    options = _for_platforms(exported, options)
    if module is None:
        module = parse_artifact(exported.mlir_module_serialized, exported.fun_name)
        check_module(module, exported.fun_name)
    if not options.again:
        refuse_rewritten(module, name or exported.fun_name)
    with module.context:
        if pairs is None:
            arguments, results = signature_marks(module, exported, options)
        else:
            sizes = _sizes(module, exported, options, pairs, measured)
            arguments = Marks(tuple(pairs), sizes, shapes=dict(shapes or {}))
            # If all scales are static, results stay plain: the scales of pairs would be run-time
            # scales in the next call.
            paired = measured is None or any(pairs)
            results = Marks(tuple(paired and is_float(a.dtype) for a in exported.out_avals), {})
    return _rewrite_marked(
        exported,
        module,
        options,
        arguments,
        results,
        in_tree=lambda marks: marks.tree(exported.in_tree, exported.in_avals),
        out_tree=lambda marks: marks.tree(exported.out_tree, exported.out_avals),
    )


def _for_platforms(exported: jax.export.Exported, options: Options) -> Options:
    """Returns the options with the target for the platforms of a program.

    A program may be for several platforms, so that they do not decide on ``compute``.
    """
    recipe, platforms = options.recipe, exported.platforms
    if recipe.target == "any" and "tpu" in platforms:
        return replace(options, recipe=replace(recipe, target="tpu", compute=recipe.rest))
    faster = recipe.casts_to_f8 or options.optimize
    if recipe.target == "any" and set(platforms) == {"cuda"} and faster:
        return replace(options, recipe=replace(recipe, target="gpu", compute=recipe.rest))
    if recipe.matmul.narrow and recipe.target in WITH_ALGORITHMS and set(platforms) == {"tpu"}:
        raise UsageError(
            f"the recipe is for the target {recipe.target!r}, and the program was exported for tpu",
            hint="leave target out, or export the program for cuda or rocm",
        )
    return options


@dataclass(frozen=True)
class ScaledVjp(jax.export.Exported):
    """The vjp of an Exported with the `scaled` signature.

    JAX calls a vjp with flat lists. `call` also takes primal arguments and cotangents as
    ScaledArrays, and then returns ScaledArrays.

    Attributes:
        gradients: The node of each gradient that is a pair; None for the others.
    """

    gradients: tuple[_compat.TreeDef | None, ...] = ()

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the vjp; see `jax.export.Exported.call`."""
        call: Any = super().call
        results = call(*jax.tree.leaves((args, kwargs)))
        if not any(map(is_scaled_array, jax.tree.leaves(args, is_leaf=is_scaled_array))):
            return results
        tree = pair_tree(jax.tree.structure((0,) * len(self.gradients)), self.gradients)
        return jax.tree.unflatten(tree, results)


def _rewrite_marked(
    exported: jax.export.Exported,
    module: ir.Module,
    options: Options,
    arguments: Marks,
    results: Marks,
    *,
    in_tree: Callable[[Marks], _compat.TreeDef],
    out_tree: Callable[[Marks], _compat.TreeDef],
) -> Rewritten:
    """Rewrites a module whose arguments and results have marks.

    Args:
        exported: The Exported of the module.
        module: The module, which is edited in place.
        options: The options of the rewrite.
        arguments: The marks of the arguments.
        results: The marks of the results.
        in_tree: Makes the new tree of arguments from their marks after the rewrite.
        out_tree: Makes the new tree of results from their marks after the rewrite.
    """
    with module.context:
        set_marks(module, exported, arguments, results)
        with located(exported.fun_name):
            marked = _without_signature(options)
            report = rewrite_module(module, replace(marked, scale_arrays=bool(arguments.shapes)))
        record(module, options, report)
        extra = 0 if report.scaling_state is None else len(LEAVES)
        arguments, results = with_stored(module, exported, arguments, results, extra)
        kept = kept_after(exported.module_kept_var_idx, arguments.pairs)
        origins: Any = (origins_of(arguments.pairs), origins_of(results.pairs))
        before = exported.in_avals, exported.out_avals
        avals: Any = tuple(map(pair_avals, before, (arguments, results)))
        trees = in_tree(arguments), out_tree(results)
        if report.scaling_state is not None:
            extension = Extension(report.scaling_state, *trees)
            extension.place(module, kept)
            trees, kept = (extension.in_tree, extension.out_tree), extension.kept(kept)
            origins, avals = extension.origins(*origins), extension.avals(*avals)
        artifact = exported.mlir_module_serialized and _write(module, exported)
    new = _compat.replace_exported(
        exported,
        arguments=origins[0],
        results=origins[1],
        vjp=_rewritten_vjp(exported, options, arguments, results),
        mlir_module_serialized=artifact,
        in_avals=tuple(avals[0]),
        out_avals=tuple(avals[1]),
        module_kept_var_idx=kept,
        in_tree=trees[0],
        out_tree=trees[1],
    )
    if arguments.stored:
        new = stored_program(new)
    return Rewritten(new, arguments, results, report)


def _without_signature(options: Options) -> Options:
    """Returns the options for a module whose arguments and results are marked already."""
    inputs = replace(options.recipe.inputs, scale=(), blocks=())
    recipe = replace(options.recipe, inputs=inputs)
    return replace(options, recipe=recipe, signature="same", input_scale={})


def _sizes(
    module: ir.Module,
    exported: jax.export.Exported,
    options: Options,
    pairs: Sequence[bool],
    measured: Sequence[float | None] | None,
) -> dict[int, float]:
    """Returns the sizes of plain arguments by index: the declared ones, else the measured ones."""
    known: dict[int, float] = {}
    declared = options.declared
    if declared:
        SignaturePass("same", declared).mark(module.operation)
        known = split_at_entry(module, exported)
    for i in exported.module_kept_var_idx:
        if measured is None or pairs[i] or i in known or not is_float(exported.in_avals[i].dtype):
            continue
        size = measured[i]
        if size is None:
            raise UsageError(
                f"recipe {options.recipe.name!r} predicts sizes from those of the arguments, and "
                "these are traced",
                hint="call the function with arrays of these shapes first, outside of jax.jit, or "
                "declare the scales of its arguments, as in settings={'inputs.scale': ['*=2^0']}",
            )
        known[i] = Measured(size)
    return {i: size for i, size in known.items() if not pairs[i]}


def _write(module: ir.Module, exported: jax.export.Exported) -> bytes:
    """Serializes the module at the version of the original, or at the current one if needed."""
    version = version_of(exported.mlir_module_serialized)
    return write_artifact_since(module, version, exported.fun_name)


def _rewritten_vjp(
    exported: jax.export.Exported, options: Options, arguments: Marks, results: Marks
) -> Callable[[jax.export.Exported], jax.export.Exported] | None:
    """Returns the function that makes the new vjp; the original's vjp is rewritten on demand."""
    if not exported.has_vjp():
        return None
    kind = options.recipe.scaling.kind
    if kind in _STEPWISE:
        return _refuse_vjp
    if arguments.powers or results.powers:
        return _refuse_packed_vjp
    if arguments.shapes or results.shapes:
        return _refuse_array_vjp

    @functools.cache
    def rewritten() -> jax.export.Exported:
        return _rewrite_vjp(exported.vjp(), options, arguments, results)

    return lambda _: rewritten()


_STEPWISE = ("delayed", "calibrated")
"""The kinds of scales that are for the operands of one program, and not for those of its vjp."""


def _refuse_vjp(exported: jax.export.Exported) -> NoReturn:
    raise UsageError(
        f"{exported.fun_name!r} has scales for its own operands, and none for those of its vjp",
        hint="export the function that takes the gradient, and rewrite that; a file without a vjp "
        "is what serialize(vjp_order=0) gives",
    )


def _refuse_packed_vjp(exported: jax.export.Exported) -> NoReturn:
    raise UsageError(
        f"{exported.fun_name!r} stores moments with a scale for each block, and these have no "
        "derivatives",
        hint="leave state.moment_scales at tensor to differentiate a whole step",
    )


def _refuse_array_vjp(exported: jax.export.Exported) -> NoReturn:
    raise UsageError(
        f"{exported.fun_name!r} takes arrays of scales, and its vjp would return gradients with "
        "one scale for them",
        hint="export the function that takes the gradient, and rewrite that; or give each argument "
        "one scale",
    )


def _rewrite_vjp(
    vjp: jax.export.Exported, options: Options, arguments: Marks, results: Marks
) -> jax.export.Exported:
    """Rewrites the vjp of a program whose arguments and results have these marks.

    The vjp takes the primal arguments and then a cotangent for each result, and returns a cotangent
    for each argument. The cotangents of pairs are pairs.
    """
    module = parse_artifact(vjp.mlir_module_serialized, vjp.fun_name)
    count = len(arguments.pairs)
    taken = Marks(
        float_pairs((*arguments.pairs, *results.pairs), vjp.in_avals),
        arguments.sizes,
        arguments.stored | {count + i: format_ for i, format_ in results.stored.items()},
    )
    given = Marks(float_pairs(arguments.pairs, vjp.out_avals), {}, arguments.stored)
    cotangents = sum(index >= count for index in vjp.module_kept_var_idx)
    flat = _rewrite_marked(
        vjp,
        module,
        replace(options, cotangents=cotangents),
        taken,
        given,
        in_tree=lambda _: jax.tree.structure((flat_pairs(taken.pairs), {})),
        out_tree=lambda _: jax.tree.structure(flat_pairs(given.pairs)),
    ).exported
    if not any(taken.pairs):
        return flat
    gradients = tuple(given.nodes(vjp.out_avals))
    return ScaledVjp(**_compat.field_values(flat), gradients=gradients)
