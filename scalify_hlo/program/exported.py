"""Rewrites an Exported: its module, its leaves, their shardings, and the vjp."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import jax

from scalify_hlo import _compat
from scalify_hlo._compat import ir
from scalify_hlo.algebra.measured import Measured
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.ir.functions import entry
from scalify_hlo.jax_api.scaled_array import is_scaled_array
from scalify_hlo.jax_api.stored_arrays import stored_program
from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.passes.signature import SignaturePass
from scalify_hlo.program.artifact import parse_artifact, version_of, write_artifact_since
from scalify_hlo.program.entry import AS_IT_IS
from scalify_hlo.program.leaves import (
    Leaf,
    avals_of,
    flat_tree,
    kept_of,
    leaves_of,
    mark,
    origins_of,
    pair_tree,
    rewritten_leaves,
)
from scalify_hlo.program.program import Kind, Program
from scalify_hlo.program.record import record, refuse_rewritten
from scalify_hlo.program.state_leaves import extended
from scalify_hlo.program.tensors import interface
from scalify_hlo.program.wellformed import located
from scalify_hlo.report.model import Report

_Trees: TypeAlias = tuple[Any, Any]
"""The trees of arguments and results."""


@dataclass(frozen=True)
class Call:
    """The flat arguments of a call, for which a program is rewritten.

    Attributes:
        pairs: For each, whether it is a pair. All float results are pairs then, unless no argument
            is and scales are measured.
        measured: log2 of the rms of the other arguments, which are split at entry; None for those
            whose values are not known. Declared sizes take precedence.
        shapes: By number the shapes of arrays of scales.
    """

    pairs: Sequence[bool]
    measured: Sequence[float | None] | None = None
    shapes: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Rewritten:
    """The result of the rewrite of an Exported.

    Attributes:
        exported: The new Exported.
        arguments: The flat arguments of the old one, and what became of them.
        results: The flat results of the old one.
        report: The report of the rewrite.
    """

    exported: jax.export.Exported
    arguments: Sequence[Leaf]
    results: Sequence[Leaf]
    report: Report


def rewrite_with_report(program: Program, options: Options, call: Call | None = None) -> Rewritten:
    """Rewrites an Exported and its vjp.

    With the `scaled` signature, each float argument and result becomes a `ScaledArray` node in the
    pytrees. Its data and its scale are side by side in the avals. The cotangents of the vjp are
    ScaledArrays. With `same`, pytrees and avals are not changed.

    Args:
        program: The program of an Exported. Its module is edited in place; if the Exported has none
            of its own, the new one has none either.
        options: The options of the rewrite. The signature pass marks the module by them.
        call: The arguments of a call, which replace the signature.

    Returns:
        The new Exported, the leaves of the old one, and the report.

    Raises:
        InputError: The program cannot be rewritten, or was rewritten before and `options` do not
            allow that.
        UsageError: An input scale matches no argument, the scale of an argument is neither declared
            nor measured, or the recipe is for GPUs and the program for TPUs.
    """
    exported, module = program.exported, program.module
    if exported is None:
        raise UsageError("this rewrites programs of jax.export", hint="give an Exported")
    options = _for_platforms(exported, options)
    if not options.again:
        refuse_rewritten(module, program.name)
    with module.context:
        if call is None:
            # Arguments without a declared scale are marked, and reported, by the signature pass.
            replace(options.marking, every=False).mark(module.operation)
            scaled = options.signature == "scaled"
            arguments, results = leaves_of(module, exported)
            arguments = [
                replace(each, pair=scaled and each.is_float) if each.number is None else each
                for each in arguments
            ]
        else:
            arguments, results = _leaves_of_call(module, exported, options, call)
    return _rewrite_marked(
        exported,
        module,
        options,
        arguments,
        results,
        lambda taken, given: (
            pair_tree(exported.in_tree, [each.node for each in taken]),
            pair_tree(exported.out_tree, [each.node for each in given]),
        ),
    )


def with_flat_trees(program: Program) -> Program:
    """Returns a module as the program of a jax.export file, which is called with flat arrays.

    The file is called with an array for each argument of `main`, on any platform. It returns a
    tuple of arrays, or an array if there is one result.

    Args:
        program: A program that was read from MLIR.

    Raises:
        InputError: The module has dynamic shapes, arguments that jax itself passes, or several
            devices, of which it does not say enough.
    """
    module, name = program.module, program.name
    with module.context:
        taken = attributes.argument_attributes(entry(module))
        counts = [module.operation.attributes.get(each) for each in _DEVICES]
    described = interface(module, name, dynamic=True)
    if not all(tensor.static for tensor in (*described.arguments, *described.results)):
        raise _not_exportable("has dynamic shapes, whose symbols it does not name", name)
    if any("jax.global_constant" in each for each in taken):
        raise _not_exportable("has arguments that jax itself passes", name)
    if any(each is not None and ir.IntegerAttr(each).value > 1 for each in counts):
        raise _not_exportable("is for several devices, whose shardings it does not name", name)
    arguments, results = (
        [jax.ShapeDtypeStruct(t.shape, t.dtype) for t in tensors]
        for tensors in (described.arguments, described.results)
    )
    checks = [jax.export.DisabledSafetyCheck.platform()]
    with jax.enable_x64(True):

        def like(*_: Any) -> Any:
            made = tuple(jax.numpy.zeros(each.shape, each.dtype) for each in results)
            return made[0] if len(made) == 1 else made

        shell = jax.export.export(jax.jit(like), platforms=["cpu"], disabled_checks=checks)
        exported = _compat.replace_exported(
            shell(*arguments),
            arguments=range(len(arguments)),
            results=range(len(results)),
            vjp=None,
            fun_name=program.entry.name,
            mlir_module_serialized=b"",
            module_kept_var_idx=tuple(range(len(arguments))),
        )
    return replace(program, kind=Kind.EXPORTED, exported=exported, entry=AS_IT_IS)


_DEVICES = ("mhlo.num_partitions", "mhlo.num_replicas")


def _not_exportable(why: str, name: str) -> InputError:
    return InputError(
        f"a jax.export file cannot be made of the module: it {why}",
        location=name,
        hint="name the file .mlir, .mlirbc or .vhlo, or give the program as a jax.export file",
    )


def _leaves_of_call(
    module: ir.Module, exported: jax.export.Exported, options: Options, call: Call
) -> tuple[list[Leaf], list[Leaf]]:
    """Returns the leaves for the arguments of a call.

    The size of a plain argument is the declared one, else the measured one.
    """
    if options.declared:
        SignaturePass("same", options.declared).mark(module.operation)
    declared, results = leaves_of(module, exported)
    arguments: list[Leaf] = []
    for i, (leaf, pair) in enumerate(zip(declared, call.pairs, strict=True)):
        size = None if pair else leaf.size
        known = pair or size is not None or leaf.number is None or not leaf.is_float
        if call.measured is not None and not known:
            size = _measured(call.measured[i], options)
        shape = call.shapes.get(i, ())
        arguments.append(replace(leaf, pair=pair, size=size, shape=shape))
    # If all scales are static, results stay plain: the scales of pairs would be run-time scales in
    # the next call.
    paired = call.measured is None or any(call.pairs)
    return arguments, [replace(each, pair=paired and each.is_float) for each in results]


def _measured(size: float | None, options: Options) -> float:
    if size is None:
        raise UsageError(
            f"recipe {options.recipe.name!r} predicts sizes from those of the arguments, and "
            "these are traced",
            hint="call the function with arrays of these shapes first, outside of jax.jit, or "
            "declare the scales of its arguments, as in settings={'inputs.scale': ['*=2^0']}",
        )
    return Measured(size)


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
    if recipe.matmul.narrow and recipe.platform.algorithms and set(platforms) == {"tpu"}:
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
    arguments: Sequence[Leaf],
    results: Sequence[Leaf],
    trees_of: Callable[[Sequence[Leaf], Sequence[Leaf]], _Trees],
) -> Rewritten:
    """Rewrites a module for arguments and results.

    Args:
        exported: The Exported of the module.
        module: The module, which is edited in place.
        options: The options of the rewrite.
        arguments: The arguments.
        results: The results.
        trees_of: Makes the new trees from the leaves after the rewrite.
    """
    with module.context:
        mark(module, arguments, results)
        arrays = any(leaf.shape for leaf in arguments)
        with located(exported.fun_name):
            report = rewrite_module(module, _without_signature(options, arrays=arrays))
        record(module, options, report)
        arguments, results = rewritten_leaves(module, arguments, results)
        taken, given, trees = arguments, results, trees_of(arguments, results)
        if report.scaling_state is not None:
            taken, given, trees = extended(module, report.scaling_state, taken, given, trees)
        artifact = exported.mlir_module_serialized and _write(module, exported)
    new = _compat.replace_exported(
        exported,
        arguments=origins_of(taken),
        results=origins_of(given),
        vjp=_rewritten_vjp(exported, options, arguments, results),
        mlir_module_serialized=artifact,
        in_avals=avals_of(taken),
        out_avals=avals_of(given),
        module_kept_var_idx=kept_of(taken),
        in_tree=trees[0],
        out_tree=trees[1],
    )
    if any(leaf.stored for leaf in arguments):
        new = stored_program(new)
    return Rewritten(new, arguments, results, report)


def _without_signature(options: Options, *, arrays: bool) -> Options:
    """Returns the options for a module whose arguments and results are marked already."""
    inputs = replace(options.recipe.inputs, scale=(), blocks=())
    recipe = replace(options.recipe, inputs=inputs)
    return replace(options, recipe=recipe, signature="same", input_scale={}, scale_arrays=arrays)


def _write(module: ir.Module, exported: jax.export.Exported) -> bytes:
    """Serializes the module at the version of the original, or at the current one if needed."""
    version = version_of(exported.mlir_module_serialized)
    return write_artifact_since(module, version, exported.fun_name)


def _rewritten_vjp(
    exported: jax.export.Exported,
    options: Options,
    arguments: Sequence[Leaf],
    results: Sequence[Leaf],
) -> Callable[[jax.export.Exported], jax.export.Exported] | None:
    """Returns the function that makes the new vjp; the original's vjp is rewritten on demand."""
    if not exported.has_vjp():
        return None
    why, hint = _refusal(options, (*arguments, *results))

    @functools.cache
    def rewritten() -> jax.export.Exported:
        if why:
            raise UsageError(f"{exported.fun_name!r} {why}", hint=hint)
        return _rewrite_vjp(exported.vjp(), options, arguments, results)

    return lambda _: rewritten()


def _refusal(options: Options, leaves: Sequence[Leaf]) -> tuple[str, str]:
    """Returns what keeps a program from having a vjp, and the hint; two empty texts for nothing."""
    if options.recipe.keeps_scales or options.recipe.scaling.kind == "calibrated":
        return (
            "has scales for its own operands, and none for those of its vjp",
            "rewrite the function that takes the gradient, as scalify(jax.value_and_grad(fn)) "
            "does; a file without a vjp is what serialize(vjp_order=0) gives",
        )
    if any(leaf.power for leaf in leaves):
        return (
            "stores moments with a scale for each block, and these have no derivatives",
            "leave state.moment_scales at tensor to differentiate a whole step",
        )
    if any(leaf.shape for leaf in leaves):
        return (
            "takes arrays of scales, and its vjp would return gradients with one scale for them",
            "export the function that takes the gradient, and rewrite that; or give each argument "
            "one scale",
        )
    return "", ""


def _rewrite_vjp(
    vjp: jax.export.Exported,
    options: Options,
    arguments: Sequence[Leaf],
    results: Sequence[Leaf],
) -> jax.export.Exported:
    """Rewrites the vjp of a program with these arguments and results.

    The vjp takes the primal arguments and then a cotangent for each result, and returns a cotangent
    for each argument. The cotangents of pairs are pairs.
    """
    module = parse_artifact(vjp.mlir_module_serialized, vjp.fun_name)
    with module.context:
        own, returned = leaves_of(module, vjp)
    primal = [*arguments, *(replace(each, size=None) for each in results)]
    taken, given = _like(own, primal), _like(returned, arguments, sized=False)
    cotangents = sum(leaf.number is not None for leaf in own[len(arguments) :])
    flat = _rewrite_marked(
        vjp,
        module,
        replace(options, cotangents=cotangents),
        taken,
        given,
        lambda taken, given: (
            jax.tree.structure((flat_tree(taken), {})),
            jax.tree.structure(flat_tree(given)),
        ),
    ).exported
    if not any(leaf.pair for leaf in taken):
        return flat
    gradients = tuple(leaf.node for leaf in given)
    return ScaledVjp(**vars(flat), gradients=gradients)


def _like(own: Sequence[Leaf], others: Sequence[Leaf], *, sized: bool = True) -> list[Leaf]:
    """Returns leaves of floats as pairs, sizes and stored formats where others are."""
    return [
        replace(
            leaf,
            pair=like.pair and leaf.is_float,
            size=like.size if sized else None,
            stored=like.stored,
        )
        for leaf, like in zip(own, others, strict=True)
    ]
