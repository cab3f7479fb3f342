"""Rewriting what jax.export made: module, avals, pytrees, shardings and vjp together."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import jax
import numpy as np

from scalify_hlo import _compat
from scalify_hlo._compat import ir
from scalify_hlo.artifact import parse_artifact, version_of, write_artifact_since
from scalify_hlo.diagnostics import UsageError
from scalify_hlo.dialect import attributes
from scalify_hlo.passes.base import main_function
from scalify_hlo.passes.delayed import LEAVES
from scalify_hlo.passes.pipeline import Options, rewrite_module, run_passes
from scalify_hlo.passes.record import record, refuse_rewritten
from scalify_hlo.passes.report import Report
from scalify_hlo.passes.signature import SignaturePass
from scalify_hlo.recipe import WITH_ALGORITHMS
from scalify_hlo.scaled_array import ScaledArray, is_float, is_scaled_array, scale_dtype
from scalify_hlo.scaling_state import Extension
from scalify_hlo.tensors import DTYPES
from scalify_hlo.wellformed import check_module, located


@dataclass(frozen=True)
class Marks:
    """How the flat arguments or results of an Exported take part.

    Attributes:
        pairs: Which of them are data and scale.
        sizes: log2 of the rms of those that are split at entry.
        stored: The formats of those pairs whose data are kept in another than the program's.
    """

    pairs: tuple[bool, ...]
    sizes: dict[int, float]
    stored: dict[int, str] = field(default_factory=dict)

    def tree(self, tree: _compat.TreeDef, avals: Sequence[Any]) -> _compat.TreeDef:
        """A tree of the old values with ScaledArray nodes in the place of those that are pairs.

        Args:
            tree: The tree.
            avals: Those of the old values, whose dtypes are the logical ones of stored pairs.
        """
        return pair_tree(tree, self.nodes(avals))

    def nodes(self, avals: Sequence[Any]) -> list[_compat.TreeDef | None]:
        """The node of each pair; None for other values."""
        return [
            scaled_node(aval.dtype if i in self.stored else None) if pair else None
            for i, (aval, pair) in enumerate(zip(avals, self.pairs, strict=True))
        ]


@dataclass(frozen=True)
class Rewritten:
    """An Exported after the rewrite.

    Attributes:
        exported: The new one.
        arguments: How the flat arguments of the old one take part.
        results: How its flat results take part.
        report: What was done.
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
    name: str = "",
) -> Rewritten:
    """Rewrites an Exported, its vjp included.

    With the `scaled` signature each float argument and result is a `ScaledArray` node in the
    pytrees, and its data and its scale stand side by side in the avals; the vjp takes and gives
    ScaledArray cotangents. With `same`, trees and avals stay as they are.

    Args:
        exported: What to rewrite.
        options: What is asked. The scale attributes of its signature are found on the module.
        pairs: Which flat arguments are pairs, instead of those that the signature names; all
            float results are then pairs, unless there is none and scales are measured.
        module: The module of an Exported that has none of its own; it is edited in place, and the
            new Exported has none either.
        measured: With `pairs`, log2 of the rms of the other flat arguments, which are split at
            entry; None for those whose values are not known. What is declared counts more.
        name: What errors call the program; by default the name of its function.

    Raises:
        InputError: It cannot be rewritten, or was before, and `options` do not allow that.
        UsageError: An input scale matches nothing, the scale of an argument is neither declared nor
            measured, or the recipe is for GPUs and the program for TPUs.
    """
    options = _for_platforms(exported, options)
    if module is None:
        module = parse_artifact(exported.mlir_module_serialized, exported.fun_name)
        check_module(module, exported.fun_name)
    if not options.again:
        refuse_rewritten(module, name or exported.fun_name)
    with module.context:
        if pairs is None:
            arguments, results = _signature_marks(module, exported, options)
        else:
            sizes = _sizes(module, exported, options, pairs, measured)
            arguments = Marks(tuple(pairs), sizes)
            # What is static throughout stays as it is: pairs would come back as run-time scales.
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
    """Options with the target that the platforms of a program call for."""
    recipe, platforms = options.recipe, exported.platforms
    if recipe.target == "any" and "tpu" in platforms:
        return replace(options, recipe=replace(recipe, target="tpu"))
    if recipe.matmul.narrow and recipe.target in WITH_ALGORITHMS and set(platforms) == {"tpu"}:
        raise UsageError(
            f"the recipe is for the target {recipe.target!r}, and the program was exported for tpu",
            hint="leave target out, or export the program for cuda or rocm",
        )
    return options


@dataclass(frozen=True)
class StoredProgram(jax.export.Exported):
    """An Exported that keeps state in other formats than it computes in.

    Its own `call` says what to do with state that is not stored so.
    """

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """See `jax.export.Exported.call`.

        Raises:
            UsageError: State is not in the formats that the program keeps it in.
        """
        given: Any = jax.tree.structure((args, kwargs))
        if given != self.in_tree and _without_logical(given) == _without_logical(self.in_tree):
            raise UsageError(
                f"{self.fun_name!r} keeps state in other formats than it is given in",
                hint="scalify_hlo.scaled_state(program, (params, opt_state)) makes it so",
            )
        call: Any = super().call
        return call(*args, **kwargs)


def _without_logical(tree: _compat.TreeDef) -> _compat.TreeDef:
    """A tree whose ScaledArrays say nothing of the dtype that is computed with."""
    node = tree.node_data()
    if node is None:
        return tree
    if node[0] is ScaledArray:
        return scaled_node()
    return _compat.make_tree(node, [_without_logical(child) for child in tree.children()])


@dataclass(frozen=True)
class ScaledVjp(jax.export.Exported):
    """The vjp of an Exported with the `scaled` signature.

    JAX calls it with flat lists, as it does any vjp. Its own `call` also takes primal arguments
    and cotangents as ScaledArrays, and then gives ScaledArrays.

    Attributes:
        gradients: The nodes of those gradients that are pairs; None for the others.
    """

    gradients: tuple[_compat.TreeDef | None, ...] = ()

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """See `jax.export.Exported.call`."""
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
    """Rewrites a module; the trees are those for the arguments and results as they take part."""
    with module.context:
        _set_marks(module, exported, arguments, results)
        with located(exported.fun_name):
            report = rewrite_module(module, _without_signature(options))
        record(module, options, report)
        extra = 0 if report.scaling_state is None else len(LEAVES)
        arguments, results = _with_stored(module, exported, arguments, results, extra)
        kept = _kept_after(exported.module_kept_var_idx, arguments.pairs)
        origins: Any = (_origins(arguments.pairs), _origins(results.pairs))
        avals: Any = (
            _pair_avals(exported.in_avals, arguments),
            _pair_avals(exported.out_avals, results),
        )
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
        new = StoredProgram(**_compat.field_values(new))
    return Rewritten(new, arguments, results, report)


def _without_signature(options: Options) -> Options:
    """The options for a module on which marks say how arguments take part."""
    inputs = replace(options.recipe.inputs, scale=())
    recipe = replace(options.recipe, inputs=inputs)
    return replace(options, recipe=recipe, signature="same", input_scale={})


def _sizes(
    module: ir.Module,
    exported: jax.export.Exported,
    options: Options,
    pairs: Sequence[bool],
    measured: Sequence[float | None] | None,
) -> dict[int, float]:
    """The sizes of plain arguments: those that are declared, else those measured."""
    known: dict[int, float] = {}
    declared = options.declared
    if declared:
        run_passes(module, [SignaturePass("same", declared)])
        known = _split_at_entry(module, exported)
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
        known[i] = size
    return {i: size for i, size in known.items() if not pairs[i]}


def _write(module: ir.Module, exported: jax.export.Exported) -> bytes:
    """The module at the version that the original had, if that can hold it."""
    version = version_of(exported.mlir_module_serialized)
    return write_artifact_since(module, version, exported.fun_name)


def _rewritten_vjp(
    exported: jax.export.Exported, options: Options, arguments: Marks, results: Marks
) -> Callable[[jax.export.Exported], jax.export.Exported] | None:
    """The vjp of the rewritten program: the original's, rewritten to fit, when it is asked for."""
    if not exported.has_vjp():
        return None
    kind = options.recipe.scaling.kind
    if kind in _STEPWISE:
        return _refuse_vjp

    @functools.cache
    def rewritten() -> jax.export.Exported:
        return _rewrite_vjp(exported.vjp(), options, arguments, results)

    return lambda _: rewritten()


_STEPWISE = ("delayed", "calibrated")
"""Kinds of scales that belong to one program, of which its vjp is another."""


def _refuse_vjp(exported: jax.export.Exported) -> NoReturn:
    raise UsageError(
        f"{exported.fun_name!r} has scales for its own operands, and none for those of its vjp",
        hint="export the function that takes the gradient, and rewrite that; a file without a vjp "
        "is what serialize(vjp_order=0) gives",
    )


def _rewrite_vjp(
    vjp: jax.export.Exported, options: Options, arguments: Marks, results: Marks
) -> jax.export.Exported:
    """Rewrites a vjp for a primal program whose arguments and results take part as given.

    It takes the primal arguments as that program does, then a cotangent for each result, and
    gives one for each argument; cotangents of pairs are pairs.
    """
    module = parse_artifact(vjp.mlir_module_serialized, vjp.fun_name)
    count = len(arguments.pairs)
    taken = Marks(
        _float_pairs((*arguments.pairs, *results.pairs), vjp.in_avals),
        arguments.sizes,
        arguments.stored | {count + i: format_ for i, format_ in results.stored.items()},
    )
    given = Marks(_float_pairs(arguments.pairs, vjp.out_avals), {}, arguments.stored)
    cotangents = sum(index >= count for index in vjp.module_kept_var_idx)
    flat = _rewrite_marked(
        vjp,
        module,
        replace(options, cotangents=cotangents),
        taken,
        given,
        in_tree=lambda _: jax.tree.structure((_flat(taken.pairs), {})),
        out_tree=lambda _: jax.tree.structure(_flat(given.pairs)),
    ).exported
    if not any(taken.pairs):
        return flat
    gradients = tuple(given.nodes(vjp.out_avals))
    return ScaledVjp(**_compat.field_values(flat), gradients=gradients)


def _flat(pairs: Sequence[bool]) -> tuple[int, ...]:
    return (0,) * (len(pairs) + sum(pairs))


def _float_pairs(pairs: Iterable[bool], avals: Sequence[Any]) -> tuple[bool, ...]:
    return tuple(p and is_float(a.dtype) for p, a in zip(pairs, avals, strict=True))


def _signature_marks(
    module: ir.Module, exported: jax.export.Exported, options: Options
) -> tuple[Marks, Marks]:
    """The marks that the signature pass puts on the module, by flat argument and result.

    Arguments of which nothing is said get none: the pass tells the user of them when it runs again.
    """
    passes = [p for p in options.passes() if isinstance(p, SignaturePass)]
    run_passes(module, [replace(pass_, every=False) for pass_ in passes])
    main = main_function(module.operation)
    if main is None:
        return Marks((), {}), Marks((), {})
    taken = attributes.argument_attributes(main)
    given = attributes.result_attributes(main)
    indices = _module_indices(exported, len(taken))
    arguments = Marks(
        tuple(
            attributes.PAIR in taken[indices[i]]
            if i in indices
            else _is_unused_pair(exported, options, i)
            for i in range(len(exported.in_avals))
        ),
        _split_at_entry(module, exported),
    )
    tokens = len(given) - len(exported.out_avals)
    results = Marks(tuple(attributes.PAIR in mark for mark in given[tokens:]), {})
    return arguments, results


def _split_at_entry(module: ir.Module, exported: jax.export.Exported) -> dict[int, float]:
    """The flat arguments that the signature pass marked with a static scale, and their sizes."""
    main = main_function(module.operation)
    taken = attributes.argument_attributes(main) if main is not None else []
    return {
        i: size
        for i, j in _module_indices(exported, len(taken)).items()
        if taken and (size := attributes.size(taken[j])) is not None
    }


def _is_unused_pair(exported: jax.export.Exported, options: Options, index: int) -> bool:
    """Whether an argument that the module dropped is a pair, as it would be had it been used."""
    return options.signature == "scaled" and is_float(exported.in_avals[index].dtype)


def _set_marks(
    module: ir.Module, exported: jax.export.Exported, arguments: Marks, results: Marks
) -> None:
    main = main_function(module.operation)
    if main is None:
        return
    taken = [_unmarked(mark) for mark in attributes.argument_attributes(main)]
    for i, j in _module_indices(exported, len(taken)).items():
        if arguments.pairs[i]:
            taken[j] |= _pair_marks(arguments, i)
        elif i in arguments.sizes:
            attributes.set_size(taken[j], arguments.sizes[i])
    attributes.set_argument_attributes(main, taken)
    given = [_unmarked(mark) for mark in attributes.result_attributes(main)]
    tokens = len(given) - len(results.pairs)
    for i, pair in enumerate(results.pairs):
        if pair:
            given[tokens + i] |= _pair_marks(results, i)
    attributes.set_result_attributes(main, given)


def _pair_marks(marks: Marks, index: int) -> attributes.Attributes:
    pair: attributes.Attributes = {attributes.PAIR: ir.UnitAttr.get()}
    if index in marks.stored:
        pair[attributes.STORED] = ir.StringAttr.get(marks.stored[index])
    return pair


def _with_stored(
    module: ir.Module,
    exported: jax.export.Exported,
    arguments: Marks,
    results: Marks,
    extra: int,
) -> tuple[Marks, Marks]:
    """The marks of a module that was rewritten, with the formats that its pairs have now.

    The last arguments and results, `extra` of each, are none of the Exported's.
    """
    main = main_function(module.operation)
    if main is None:
        return arguments, results
    type_ = attributes.function_type(main)
    inputs, outputs = (list(part)[: len(part) - extra] for part in (type_.inputs, type_.results))
    kept = exported.module_kept_var_idx
    return (
        replace(arguments, stored=_stored(exported.in_avals, arguments.pairs, kept, inputs)),
        replace(
            results,
            stored=_stored(exported.out_avals, results.pairs, range(len(results.pairs)), outputs),
        ),
    )


def _stored(
    avals: Sequence[Any], pairs: Sequence[bool], kept: Sequence[int], types: Sequence[ir.Type]
) -> dict[int, str]:
    """The formats of data that are not those of the avals; tokens and the like stand before."""
    position = len(types) - sum(1 + pairs[i] for i in kept)
    stored: dict[int, str] = {}
    for i in kept:
        name = str(types[position].element_type) if pairs[i] else ""
        if name and np.dtype(DTYPES[name]) != avals[i].dtype:
            stored[i] = name
        position += 1 + pairs[i]
    return stored


def _unmarked(mark: attributes.Attributes) -> attributes.Attributes:
    return {key: value for key, value in mark.items() if not key.startswith(attributes.PREFIX)}


def _module_indices(exported: jax.export.Exported, count: int) -> dict[int, int]:
    """Flat arguments that the module takes, and which of its arguments they are.

    A platform index and tokens come before them.
    """
    kept = exported.module_kept_var_idx
    return {index: count - len(kept) + i for i, index in enumerate(kept)}


def _origins(pairs: Sequence[bool]) -> list[int]:
    """For each new value, the old one that it has the sharding of; -1 for scales."""
    return [origin for i, pair in enumerate(pairs) for origin in ((i, -1) if pair else (i,))]


def _kept_after(kept: Sequence[int], pairs: Sequence[bool]) -> tuple[int, ...]:
    """The arguments that the module takes, counted with the scales."""
    starts = [0, *itertools.accumulate(1 + pair for pair in pairs)]
    return tuple(j for i in kept for j in range(starts[i], starts[i + 1]))


def _pair_avals(avals: Sequence[Any], marks: Marks) -> list[Any]:
    new: list[Any] = []
    for i, (aval, pair) in enumerate(zip(avals, marks.pairs, strict=True)):
        stored = marks.stored.get(i)
        new.append(aval if stored is None else aval.update(dtype=np.dtype(DTYPES[stored])))
        if pair:
            new.append(jax.core.ShapedArray((), np.dtype(scale_dtype(aval.dtype))))
    return new


def scaled_node(logical: np.dtype[Any] | None = None) -> _compat.TreeDef:
    """The tree of one ScaledArray.

    Args:
        logical: The dtype that the program computes with, where it is not that of the data.
    """
    node: _compat.TreeDef = jax.tree.structure(ScaledArray(0, 0, logical))
    return node


def pair_tree(tree: _compat.TreeDef, nodes: Sequence[_compat.TreeDef | None]) -> _compat.TreeDef:
    """A tree with some of its leaves replaced by nodes; nothing is made for it."""
    return _pair_leaves(tree, iter(nodes))


def _pair_leaves(tree: _compat.TreeDef, nodes: Iterator[_compat.TreeDef | None]) -> _compat.TreeDef:
    node = tree.node_data()
    if node is None:
        pair = next(nodes)
        return tree if pair is None else pair
    children = [_pair_leaves(child, nodes) for child in tree.children()]
    return _compat.make_tree(node, children)
