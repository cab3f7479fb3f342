"""The dimensions of tensors that are one dimension of the program.

An elementwise op passes each dimension of its operands to the result, a matmul those that it does
not sum, and a transpose all in another order. All dimensions that are passed on to each other are
one class. Functions, loops and branches pass on the dimensions of their arguments and results. A
number that is broadcast has no dimensions of its own, so that what it is combined with stays apart.

A reshape may make one dimension of several. The first of these is a part of it: the index m of a
part of size M is that of N/M indices, m * N/M and those that follow. `vmap` puts the members of a
convolution in front of its features in this way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dataflow.reach import rank_of
from scalify_hlo.ir import traits
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.contraction import DOT_GENERAL, contraction_of
from scalify_hlo.ir.convolutions import CONVOLUTION, groups
from scalify_hlo.ir.dispatch import Dispatch
from scalify_hlo.ir.functions import callee_of, maker, terminator
from scalify_hlo.ir.splats import is_filled
from scalify_hlo.ir.traits import BODIES, BRANCHES, CALLS, LOOP, where
from scalify_hlo.ir.value_map import ValueMap
from scalify_hlo.ir.walk import ops_in

Pairs: TypeAlias = Iterable[tuple[int, int]]
"""Dimensions of two tensors that are one dimension."""

Link: TypeAlias = tuple[ir.Value, ir.Value, Pairs]
"""Two tensors, and the dimensions that both share."""

_Part: TypeAlias = tuple[int, int, int]
"""The numbers of a dimension and of its first part, and the size of the part."""

_RULES: Final[Dispatch[Callable[[ir.Operation], Iterator[Link]]]] = Dispatch()
"""The dimensions that ops pass on; those of calls and regions are in `Dims`."""

_SUMS: Final[Dispatch[Callable[[ir.Operation], Iterator[tuple[ir.Value, int]]]]] = Dispatch()
"""The dimensions over which ops reduce."""

_SAME: Final = traits.EACH | where(
    *("logical", "special", "kernel", "test", "part", "reverse", "sort"),
    *("slice", "pad", "write", "scatter", "join"),
    *("gather", "exchange", "device_sum"),
)
"""Ops of tensors whose dimensions have the same order, and may differ in size."""


class Dims:
    """The classes of dimensions of a module.

    Args:
        module: The module.
    """

    def __init__(self, module: ir.Operation) -> None:
        self._first: ValueMap[int] = ValueMap()
        self._class: list[int] = []
        self._summed: list[int] = []
        self._parts: dict[int, dict[int, int]] = {}
        parts, convolutions = list[_Part](), list[ir.Operation]()
        self._functions = functions_in(module)
        for op in ops_in(module):
            for one, other, pairs in self._links(op):
                self._join(one, other, pairs)
            if op.name in _SUMS:
                self._summed += [self._number(value) + d for value, d in _SUMS[op.name](op)]
            if op.name in traits.RESHAPES:
                parts.extend(self._parts_of(op.operands[0], op.results[0]))
                parts.extend(self._parts_of(op.results[0], op.operands[0]))
            elif op.name == CONVOLUTION:
                convolutions.append(op)
        self._join_parts(parts, convolutions)

    def of(self, value: ir.Value, dim: int) -> int:
        """Returns the class of a dimension of a tensor."""
        return self._root(self._number(value) + dim)

    def parts(self, value: ir.Value, dim: int) -> dict[int, int]:
        """Returns the classes of the first parts of a dimension of a tensor, by their sizes."""
        found = self._parts.get(self.of(value, dim), {})
        return {size: self._root(part) for size, part in found.items()}

    @property
    def summed(self) -> set[int]:
        """The classes over which the program sums, other than in a sum of all numbers."""
        summed = set(map(self._root, self._summed))
        parts = (self._parts.get(whole, {}).values() for whole in summed)
        return summed | {self._root(part) for each in parts for part in each}

    def _links(self, op: ir.Operation) -> Iterator[Link]:
        name = op.name
        if name in _RULES:
            yield from _RULES[name](op)
        elif name in CALLS:
            function = self._functions.get(callee_of(op))
            if function is not None and function.regions[0].blocks:
                block = function.regions[0].blocks[0]
                yield from _alike(op.operands, block.arguments)
                yield from _alike(terminator(block).operands, op.results)
        elif name in BODIES | BRANCHES or name == LOOP:
            yield from _of_regions(op, name)

    def _join(self, one: ir.Value, other: ir.Value, pairs: Pairs) -> None:
        if rank_of(one) < 1 or rank_of(other) < 1 or _has_none(one) or _has_none(other):
            return
        shapes, first, second = (one.type.shape, other.type.shape), None, None
        for i, j in pairs:
            if shapes[0][i] > 1 and shapes[0][i] == shapes[1][j]:
                first = self._number(one) if first is None else first
                second = self._number(other) if second is None else second
                self._class[self._root(first + i)] = self._root(second + j)

    def _parts_of(self, apart: ir.Value, joined: ir.Value) -> Iterator[_Part]:
        """Yields the dimensions of a tensor that are first parts of dimensions of another."""
        wholes = {size * stride: (d, size) for (size, stride), d in _strides(joined.type.shape)}
        for (size, stride), d in _strides(apart.type.shape):
            whole, length = wholes.get(size * stride, (0, 0))
            if 1 < size < length:
                yield self._number(joined) + whole, self._number(apart) + d, size

    def _join_parts(self, parts: Iterable[_Part], grouped: Iterable[ir.Operation]) -> None:
        """Joins the first parts of a class that have the same size, and those of convolutions.

        The groups of an image meet those of the kernel in their order.
        """
        known = dict[int, dict[int, int]]()
        for whole, part, size in parts:
            same = known.setdefault(self._root(whole), {})
            self._class[self._root(part)] = self._root(same.setdefault(size, part))
        for op in grouped:
            count, *places = groups(op)
            one, other = (
                known.get(self.of(value, place), {})
                for value, place in zip(op.operands, places, strict=True)
            )
            for size in one.keys() & other.keys():
                if count % size == 0:
                    self._class[self._root(one[size])] = self._root(other[size])
        self._parts = {self._root(whole): found for whole, found in known.items()}

    def _number(self, value: ir.Value) -> int:
        """Returns the number of the first dimension of a tensor; the others follow."""
        number = self._first.get(value)
        if number is None:
            number = self._first[value] = len(self._class)
            self._class += range(number, number + rank_of(value))
        return number

    def _root(self, number: int) -> int:
        known = self._class
        while known[number] != number:
            known[number] = known[known[number]]
            number = known[number]
        return number


def _has_none(value: ir.Value) -> bool:
    """Whether a tensor has no dimensions of its own: one number, or indices."""
    op = maker(value)
    return op is not None and (op.name == "stablehlo.iota" or is_filled(value))


def _whole(one: ir.Value, other: ir.Value) -> Iterator[Link]:
    """Yields the link of two tensors of equal order; none if one is a number."""
    if rank_of(one) == rank_of(other):
        yield one, other, [(d, d) for d in range(rank_of(one))]


def _alike(ones: Sequence[ir.Value], others: Sequence[ir.Value]) -> Iterator[Link]:
    for one, other in zip(ones, others, strict=False):
        yield from _whole(one, other)


def _of_regions(op: ir.Operation, name: str) -> Iterator[Link]:
    """Yields the links of the operands and results of an op with those of its regions."""
    for region in op.regions:
        block = region.blocks[0]
        if name not in BRANCHES:
            yield from _alike(op.operands, block.arguments)
        if name != LOOP or region == op.regions[1]:
            yield from _alike(terminator(block).operands, op.results)
    if name == LOOP:
        yield from _alike(op.operands, op.results)


@_RULES.on(*_SAME)
def _same(op: ir.Operation) -> Iterator[Link]:
    result = op.results[0]
    for operand in op.operands:
        yield from _whole(operand, result)
    for other in list(op.results)[1:]:
        yield from _whole(other, result)


@_RULES.on(*traits.COPIES)
def _copies(op: ir.Operation) -> Iterator[Link]:
    yield from _alike(op.operands, op.results)


@_RULES.on("stablehlo.transpose")
def _transposed(op: ir.Operation) -> Iterator[Link]:
    order = list(op.attributes["permutation"])
    yield op.operands[0], op.results[0], [(d, i) for i, d in enumerate(order)]


@_RULES.on("stablehlo.broadcast_in_dim")
def _broadcast(op: ir.Operation) -> Iterator[Link]:
    yield op.operands[0], op.results[0], enumerate(op.attributes["broadcast_dimensions"])


@_RULES.on(*traits.RESHAPES)
def _reshaped(op: ir.Operation) -> Iterator[Link]:
    source, result = op.operands[0], op.results[0]
    places = dict(_strides(result.type.shape))
    pairs = [(d, places[key]) for key, d in _strides(source.type.shape) if key in places]
    yield source, result, pairs


def _strides(shape: Sequence[int]) -> Iterator[tuple[tuple[int, int], int]]:
    """Yields the size and the stride of each dimension, with its number."""
    stride = 1
    for d in reversed(range(len(shape))):
        yield (shape[d], stride), d
        stride *= shape[d]


@_RULES.on("stablehlo.reduce")
def _reduced(op: ir.Operation) -> Iterator[Link]:
    gone = list(op.attributes["dimensions"])
    for operand, result in zip(op.operands, op.results, strict=False):
        kept = [d for d in range(rank_of(operand)) if d not in gone]
        yield operand, result, [(d, i) for i, d in enumerate(kept)]


@_SUMS.on("stablehlo.reduce")
def _summed_by_reduction(op: ir.Operation) -> Iterator[tuple[ir.Value, int]]:
    """Yields nothing if the result is a number, as the mean loss of all members is."""
    if rank_of(op.results[0]):
        yield from ((op.operands[0], d) for d in op.attributes["dimensions"])


@_RULES.on("stablehlo.gather")
def _looked_up(op: ir.Operation) -> Iterator[Link]:
    """Yields the links of the dimensions of which whole slices are looked up, and of batches."""
    numbers = stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    (operand, indices), result = op.operands, op.results[0]
    inside = list(numbers.offset_dims)
    gone = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    kept = [d for d in range(rank_of(operand)) if d not in gone]
    yield operand, result, zip(kept, inside, strict=True)
    outside = [d for d in range(rank_of(result)) if d not in inside]
    rows = [d for d in range(rank_of(indices)) if d != numbers.index_vector_dim]
    yield indices, result, zip(rows, outside, strict=True)
    batches = numbers.operand_batching_dims, numbers.start_indices_batching_dims
    yield operand, indices, zip(*batches, strict=True)


@_RULES.on(*traits.CONTRACTED)
def _multiplied(op: ir.Operation) -> Iterator[Link]:
    """Yields the links of the batches, the rows and the columns of a matmul."""
    of, (lhs, rhs, *_), result = contraction_of(op), op.operands, op.results[0]
    yield lhs, rhs, zip(*of.batch, strict=True)
    for side, value in enumerate((lhs, rhs)):
        yield value, result, of.in_result(side, rank_of(result)).items()


@_SUMS.on(DOT_GENERAL)
def _summed_by_matmul(op: ir.Operation) -> Iterator[tuple[ir.Value, int]]:
    summed = contraction_of(op).summed
    yield from ((op.operands[side], d) for side in (0, 1) for d in summed[side])


@_RULES.on(CONVOLUTION)
def _convolved(op: ir.Operation) -> Iterator[Link]:
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    (image, kernel), result = op.operands, op.results[0]
    yield image, result, [(numbers.input_batch_dimension, numbers.output_batch_dimension)]
    outputs = numbers.kernel_output_feature_dimension, numbers.output_feature_dimension
    yield kernel, result, [outputs]


@_SUMS.on(CONVOLUTION)
def _summed_by_convolution(op: ir.Operation) -> Iterator[tuple[ir.Value, int]]:
    """Yields the features of a kernel, and those of an image that has no groups."""
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    count, place, _ = groups(op)
    yield op.operands[1], numbers.kernel_input_feature_dimension
    if count == 1:
        yield op.operands[0], place
