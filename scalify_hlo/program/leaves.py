"""The flat arguments and results of an Exported, what they become, and their avals and pytrees.

Marks in the module say the same of its arguments and results (`scalify_hlo.dialect.attributes`).
The numbers of leaves and of the module's arguments differ: jax drops arguments that the program
does not use, and a platform index and tokens come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from scalify_hlo import _compat
from scalify_hlo._compat import ir
from scalify_hlo.algebra.moments import SCALE_FORMAT
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.functions import entry
from scalify_hlo.jax_api.block_scales import SCALE_DTYPE, scales_of_blocks
from scalify_hlo.jax_api.scaled_array import is_float, scale_dtype
from scalify_hlo.jax_api.stored_arrays import scaled_node
from scalify_hlo.program.tensors import DTYPES


@dataclass(frozen=True)
class Leaf:
    """A flat argument or result of an Exported.

    Attributes:
        aval: Its aval before the rewrite.
        origin: Its number among the leaves before the rewrite; -1 for one that the rewrite adds.
        number: Its number in the module before the rewrite; None if the module does not have it.
        pair: Whether it becomes a pair of data and scale.
        size: log2 of the rms of one that is split at entry.
        stored: The format of the data of a pair; empty if it is that of the aval.
        power: The power of a moment with a scale for each block; see `ScaledArray`.
        shape: The shape of the array of scales of another pair.
    """

    aval: Any
    origin: int
    number: int | None
    pair: bool = False
    size: float | None = None
    stored: str = ""
    power: int | None = None
    shape: tuple[int, ...] = ()

    @property
    def is_float(self) -> bool:
        """Whether it has floats."""
        return is_float(self.aval.dtype)

    @property
    def count(self) -> int:
        """The number of flat values that it is after the rewrite."""
        return 1 + self.pair

    @property
    def node(self) -> _compat.TreeDef | None:
        """The tree of a pair, with the dtype before the rewrite if data are stored in another."""
        logical = self.aval.dtype if self.stored else None
        return scaled_node(logical, self.power) if self.pair else None

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of its data after the rewrite."""
        return np.dtype(DTYPES[self.stored] if self.stored else self.aval.dtype)

    @property
    def avals(self) -> list[Any]:
        """Its avals after the rewrite: its own, or those of data and scale."""
        data = self.aval.update(dtype=self.dtype) if self.stored else self.aval
        if not self.pair:
            return [data]
        if self.power is not None:
            return [data, jax.core.ShapedArray(scales_of_blocks(data.shape), SCALE_DTYPE)]
        return [data, jax.core.ShapedArray(self.shape, np.dtype(scale_dtype(self.aval.dtype)))]

    def mark(self, mark: attributes.Attributes) -> None:
        """Marks it among the attributes of its argument or result in the module."""
        if self.pair:
            mark[attributes.PAIR] = ir.UnitAttr.get()
            if self.stored:
                mark[attributes.STORED] = ir.StringAttr.get(self.stored)
            if self.shape:
                mark[attributes.SCALE_SHAPE] = ir.DenseI64ArrayAttr.get(self.shape)
        elif self.size is not None:
            attributes.set_size(mark, self.size)

    def marked(self, mark: attributes.Attributes) -> Leaf:
        """Returns it as the attributes of its argument or result in the module have it."""
        shape = mark.get(attributes.SCALE_SHAPE)
        return replace(
            self,
            pair=attributes.PAIR in mark,
            size=attributes.size(mark),
            shape=() if shape is None else tuple(ir.DenseI64ArrayAttr(shape)),
        )

    def rewritten(self, types: Sequence[ir.Type], mark: attributes.Attributes) -> Leaf:
        """Returns a pair as the rewritten module has it.

        Args:
            types: The types of its data and its scale.
            mark: The attributes of its data.
        """
        format_, scale = str(types[0].element_type), types[1]
        packed = str(scale.element_type) == SCALE_FORMAT
        return replace(
            self,
            stored="" if DTYPES[format_] == self.aval.dtype else format_,
            power=(2 if attributes.ROOT in mark else 1) if packed else None,
            shape=() if packed else tuple(scale.shape),
        )


def leaves_of(module: ir.Module, exported: jax.export.Exported) -> tuple[list[Leaf], list[Leaf]]:
    """Returns the flat arguments and results of an Exported, as they are marked in its module."""
    main = entry(module)
    taken, given = attributes.argument_attributes(main), attributes.result_attributes(main)
    kept, every = exported.module_kept_var_idx, range(len(exported.out_avals))
    return _leaves(exported.in_avals, kept, taken), _leaves(exported.out_avals, every, given)


def _leaves(
    avals: Sequence[Any], kept: Sequence[int], marks: Sequence[attributes.Attributes]
) -> list[Leaf]:
    first = len(marks) - len(kept)
    numbers = {index: first + i for i, index in enumerate(kept)}
    leaves = [Leaf(aval, i, numbers.get(i)) for i, aval in enumerate(avals)]
    return [each if each.number is None else each.marked(marks[each.number]) for each in leaves]


def mark(module: ir.Module, arguments: Sequence[Leaf], results: Sequence[Leaf]) -> None:
    """Marks the arguments and results of a module; other marks of the rewriter are removed."""
    main = entry(module)
    taken, given = attributes.argument_attributes(main), attributes.result_attributes(main)
    attributes.set_argument_attributes(main, _marked(taken, arguments))
    attributes.set_result_attributes(main, _marked(given, results))


def _marked(
    marks: Sequence[attributes.Attributes], leaves: Sequence[Leaf]
) -> list[attributes.Attributes]:
    own = attributes.PREFIX
    new = [{key: v for key, v in each.items() if not key.startswith(own)} for each in marks]
    for leaf in leaves:
        if leaf.number is not None:
            leaf.mark(new[leaf.number])
    return new


def rewritten_leaves(
    module: ir.Module, arguments: Sequence[Leaf], results: Sequence[Leaf]
) -> tuple[list[Leaf], list[Leaf]]:
    """Returns the leaves with the formats of pairs in the rewritten module."""
    main = entry(module)
    type_ = attributes.function_type(main)
    taken, given = attributes.argument_attributes(main), attributes.result_attributes(main)
    return _after(arguments, type_.inputs, taken), _after(results, type_.results, given)


def _after(
    leaves: Sequence[Leaf], types: Sequence[ir.Type], marks: Sequence[attributes.Attributes]
) -> list[Leaf]:
    found: list[Leaf] = []
    scales = 0
    for leaf in leaves:
        if leaf.pair and leaf.number is not None:
            at = leaf.number + scales
            leaf = leaf.rewritten([types[at], types[at + 1]], marks[at])
            scales += 1
        found.append(leaf)
    return found


def avals_of(leaves: Sequence[Leaf]) -> tuple[Any, ...]:
    """Returns the flat avals after the rewrite."""
    return tuple(aval for leaf in leaves for aval in leaf.avals)


def origins_of(leaves: Sequence[Leaf]) -> list[int]:
    """Returns, for each flat value, the old one with its sharding; -1 for scales and new ones."""
    return [origin for leaf in leaves for origin in (leaf.origin, -1)[: leaf.count]]


def kept_of(leaves: Sequence[Leaf]) -> tuple[int, ...]:
    """Returns the numbers of the flat values that the module has."""
    each = [leaf.number is not None for leaf in leaves for _ in range(leaf.count)]
    return tuple(i for i, kept in enumerate(each) if kept)


def flat_tree(leaves: Sequence[Leaf]) -> Any:
    """Returns a tuple with a leaf for each flat value."""
    return (0,) * sum(leaf.count for leaf in leaves)


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
