"""Rewrites an Exported: its module, avals, pytrees, shardings and vjp."""

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
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.errors import UsageError
from scalify_hlo.frontend.scaling_state import Extension
from scalify_hlo.io.artifact import parse_artifact, version_of, write_artifact_since
from scalify_hlo.io.tensors import DTYPES
from scalify_hlo.io.wellformed import check_module, located
from scalify_hlo.jax_api.scaled_array import ScaledArray, is_float, is_scaled_array, scale_dtype
from scalify_hlo.passes.pipeline import Options, rewrite_module, run_passes
from scalify_hlo.passes.record import record, refuse_rewritten
from scalify_hlo.passes.signature import SignaturePass
from scalify_hlo.quantize.delayed import LEAVES
from scalify_hlo.recipes.model import WITH_ALGORITHMS
from scalify_hlo.report.model import Report


@dataclass(frozen=True)
class Marks:
    """The marks of the flat arguments or results of an Exported.

    Attributes:
        pairs: For each of them, whether it is a pair of data and scale.
        sizes: By index, log2 of the rms of those that are split at entry.
        stored: By index, the formats of the data of pairs, if these are not in the program's dtype.
    """

    pairs: tuple[bool, ...]
    sizes: dict[int, float]
    stored: dict[int, str] = field(default_factory=dict)

    def tree(self, tree: _compat.TreeDef, avals: Sequence[Any]) -> _compat.TreeDef:
        """Returns a tree with ScaledArray nodes in place of the leaves that are pairs.

        Args:
            tree: The tree.
            avals: The avals of its leaves; stored pairs have their dtypes as logical dtypes.
        """
        return pair_tree(tree, self.nodes(avals))

    def nodes(self, avals: Sequence[Any]) -> list[_compat.TreeDef | None]:
        """Returns the node of each pair, and None for other values."""
        return [
            scaled_node(aval.dtype if i in self.stored else None) if pair else None
            for i, (aval, pair) in enumerate(zip(avals, self.pairs, strict=True))
        ]


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
            arguments, results = _signature_marks(module, exported, options)
        else:
            sizes = _sizes(module, exported, options, pairs, measured)
            arguments = Marks(tuple(pairs), sizes)
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
    """Returns the options with the target for the platforms of a program."""
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

    If state is in another format, the error of `call` says how to convert it.
    """

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the program; see `jax.export.Exported.call`.

        Raises:
            UsageError: State is not in the formats in which the program keeps it.
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
    """Returns a tree whose ScaledArrays have no logical dtypes."""
    node = tree.node_data()
    if node is None:
        return tree
    if node[0] is ScaledArray:
        return scaled_node()
    return _compat.make_tree(node, [_without_logical(child) for child in tree.children()])


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
    """Returns the options for a module whose arguments and results are marked already."""
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
    """Returns the sizes of plain arguments by index: the declared ones, else the measured ones."""
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
    """Returns the marks that the signature pass puts on the module, by flat argument and result.

    The pass runs again in the pipeline, which then reports arguments without a declared scale.
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
    """Returns log2 of the rms of the flat arguments that the signature pass marked, by index."""
    main = main_function(module.operation)
    taken = attributes.argument_attributes(main) if main is not None else []
    return {
        i: size
        for i, j in _module_indices(exported, len(taken)).items()
        if taken and (size := attributes.size(taken[j])) is not None
    }


def _is_unused_pair(exported: jax.export.Exported, options: Options, index: int) -> bool:
    """Whether an argument that the module does not use is a pair."""
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
    """Returns the marks with the formats of pairs in the rewritten module.

    The last `extra` arguments and results are not those of the Exported.
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
    """Returns the formats of data that differ from the avals, by index.

    The types may start with those of a platform index and tokens.
    """
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
    """Returns the index in the module of each flat argument that the module uses.

    In the module, a platform index and tokens come first.
    """
    kept = exported.module_kept_var_idx
    return {index: count - len(kept) + i for i, index in enumerate(kept)}


def _origins(pairs: Sequence[bool]) -> list[int]:
    """Returns, for each new value, the index of the old one with its sharding; -1 for scales."""
    return [origin for i, pair in enumerate(pairs) for origin in ((i, -1) if pair else (i,))]


def _kept_after(kept: Sequence[int], pairs: Sequence[bool]) -> tuple[int, ...]:
    """Returns the flat arguments that the module uses, with scales counted as arguments."""
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
    """Returns the tree of one ScaledArray.

    Args:
        logical: The dtype in which the program computes; None if it is the dtype of the data.
    """
    node: _compat.TreeDef = jax.tree.structure(ScaledArray(0, 0, logical))
    return node


def pair_tree(tree: _compat.TreeDef, nodes: Sequence[_compat.TreeDef | None]) -> _compat.TreeDef:
    """Returns a tree with some leaves replaced by nodes, without making objects of its types.

    Args:
        tree: The tree.
        nodes: The replacement of each leaf; None to keep it.
    """
    return _pair_leaves(tree, iter(nodes))


def _pair_leaves(tree: _compat.TreeDef, nodes: Iterator[_compat.TreeDef | None]) -> _compat.TreeDef:
    node = tree.node_data()
    if node is None:
        pair = next(nodes)
        return tree if pair is None else pair
    children = [_pair_leaves(child, nodes) for child in tree.children()]
    return _compat.make_tree(node, children)
