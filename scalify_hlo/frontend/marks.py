"""The marks of the arguments and results of an Exported: its pairs, and their avals and trees."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import numpy as np

from scalify_hlo import _compat
from scalify_hlo._compat import ir
from scalify_hlo.algebra.moments import SCALE_FORMAT
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.io.tensors import DTYPES
from scalify_hlo.jax_api.block_scales import SCALE_DTYPE, scales_of_blocks
from scalify_hlo.jax_api.scaled_array import is_float, scale_dtype
from scalify_hlo.jax_api.stored_program import scaled_node
from scalify_hlo.passes.pipeline import Options


@dataclass(frozen=True)
class Marks:
    """The marks of the flat arguments or results of an Exported.

    Attributes:
        pairs: For each of them, whether it is a pair of data and scale.
        sizes: By index, log2 of the rms of those that are split at entry.
        stored: By index, the formats of the data of pairs, if these are not in the program's dtype.
        powers: By index, the power of moments with a scale for each block; see `ScaledArray`.
        shapes: By index, the shapes of the arrays of scales of other pairs.
    """

    pairs: tuple[bool, ...]
    sizes: dict[int, float]
    stored: dict[int, str] = field(default_factory=dict)
    powers: dict[int, int] = field(default_factory=dict)
    shapes: dict[int, tuple[int, ...]] = field(default_factory=dict)

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
            scaled_node(aval.dtype if i in self.stored else None, self.powers.get(i))
            if pair
            else None
            for i, (aval, pair) in enumerate(zip(avals, self.pairs, strict=True))
        ]


def flat_pairs(pairs: Sequence[bool]) -> tuple[int, ...]:
    """Returns a leaf for each value, pairs counted as two."""
    return (0,) * (len(pairs) + sum(pairs))


def float_pairs(pairs: Iterable[bool], avals: Sequence[Any]) -> tuple[bool, ...]:
    """Returns which values are pairs and have floats."""
    return tuple(p and is_float(a.dtype) for p, a in zip(pairs, avals, strict=True))


def signature_marks(
    module: ir.Module, exported: jax.export.Exported, options: Options
) -> tuple[Marks, Marks]:
    """Returns the marks that the signature asks for, by flat argument and result.

    Arguments without a declared scale are marked, and reported, by the signature pass.
    """
    replace(options.marking, every=False).mark(module.operation)
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
        split_at_entry(module, exported),
        shapes={
            i: tuple(ir.DenseI64ArrayAttr(taken[j][attributes.SCALE_SHAPE]))
            for i, j in indices.items()
            if attributes.SCALE_SHAPE in taken[j]
        },
    )
    tokens = len(given) - len(exported.out_avals)
    results = Marks(tuple(attributes.PAIR in mark for mark in given[tokens:]), {})
    return arguments, results


def split_at_entry(module: ir.Module, exported: jax.export.Exported) -> dict[int, float]:
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


def set_marks(
    module: ir.Module, exported: jax.export.Exported, arguments: Marks, results: Marks
) -> None:
    """Marks the arguments and results of a module."""
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
    if index in marks.shapes:
        pair[attributes.SCALE_SHAPE] = ir.DenseI64ArrayAttr.get(marks.shapes[index])
    return pair


def with_stored(
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
    every = range(len(results.pairs))
    return (
        _stored(arguments, exported.in_avals, kept, inputs, attributes.argument_attributes(main)),
        _stored(results, exported.out_avals, every, outputs, attributes.result_attributes(main)),
    )


def _stored(
    marks: Marks,
    avals: Sequence[Any],
    kept: Sequence[int],
    types: Sequence[ir.Type],
    about: Sequence[attributes.Attributes],
) -> Marks:
    """Returns marks with the formats of data that differ from the avals, powers and shapes.

    The types may start with those of a platform index and tokens.
    """
    pairs = marks.pairs
    position = len(types) - sum(1 + pairs[i] for i in kept)
    stored: dict[int, str] = {}
    powers: dict[int, int] = {}
    shapes = {i: shape for i, shape in marks.shapes.items() if i not in kept}
    for i in kept:
        scale = types[position + 1] if pairs[i] else None
        if scale is not None and str(scale.element_type) == SCALE_FORMAT:
            powers[i] = 2 if attributes.ROOT in about[position] else 1
        elif scale is not None and scale.rank:
            shapes[i] = tuple(scale.shape)
        name = str(types[position].element_type) if pairs[i] else ""
        if name and np.dtype(DTYPES[name]) != avals[i].dtype:
            stored[i] = name
        position += 1 + pairs[i]
    return replace(marks, stored=stored, powers=powers, shapes=shapes)


def _unmarked(mark: attributes.Attributes) -> attributes.Attributes:
    return {key: value for key, value in mark.items() if not key.startswith(attributes.PREFIX)}


def _module_indices(exported: jax.export.Exported, count: int) -> dict[int, int]:
    """Returns the index in the module of each flat argument that the module uses.

    In the module, a platform index and tokens come first.
    """
    kept = exported.module_kept_var_idx
    return {index: count - len(kept) + i for i, index in enumerate(kept)}


def origins_of(pairs: Sequence[bool]) -> list[int]:
    """Returns, for each new value, the index of the old one with its sharding; -1 for scales."""
    return [origin for i, pair in enumerate(pairs) for origin in ((i, -1) if pair else (i,))]


def kept_after(kept: Sequence[int], pairs: Sequence[bool]) -> tuple[int, ...]:
    """Returns the flat arguments that the module uses, with scales counted as arguments."""
    starts = [0, *itertools.accumulate(1 + pair for pair in pairs)]
    return tuple(j for i in kept for j in range(starts[i], starts[i + 1]))


def pair_avals(avals: Sequence[Any], marks: Marks) -> list[Any]:
    """Returns the avals with those of data and scale in the place of each pair."""
    new: list[Any] = []
    for i, (aval, pair) in enumerate(zip(avals, marks.pairs, strict=True)):
        stored = marks.stored.get(i)
        new.append(aval if stored is None else aval.update(dtype=np.dtype(DTYPES[stored])))
        if pair and i in marks.powers:
            new.append(jax.core.ShapedArray(scales_of_blocks(aval.shape), SCALE_DTYPE))
        elif pair:
            shape = marks.shapes.get(i, ())
            new.append(jax.core.ShapedArray(shape, np.dtype(scale_dtype(aval.dtype))))
    return new


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
