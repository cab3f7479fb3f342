"""Orders of the dimensions of matmuls with which compilers transpose small tensors, not large ones.

    transpose(dot(A[b, m, i], B[b, n1, n2, i])) = dot(transpose(B)[b, n2, n1, i], A)
    sum_ij A[m, j, i] B[n, i, j] = sum_ji A[m, j, i] B[n, i, j]

In attention with several heads for each group of keys, jax multiplies the keys with the queries,
and exchanges the positions and the heads of the scores afterwards. The gradient of the keys sums
over the positions of the queries first. XLA keeps the scores and their gradients in two orders
then, although they are many times as large as the queries. Each change of the order is a transpose
of few adjacent numbers, and no kernel has the softmax in one piece. With one head for each group
only a dimension of size 1 is in another place, and XLA does the same.

In the first line, the matmul has the dimensions in the order in which a transpose reads them, if
each operand that is transposed for that has at most half the size of the result. Each element is
the sum of the same products, in the same order. In the second line, a matmul that sums over several
dimensions lists them in the order in which they follow each other in the memory of its larger
operand. The products are the same, and no compiler promises an order in which it adds them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import READER_STEPS
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.swapped_operands import swapped_attributes
from scalify_hlo.ir import emit, traits
from scalify_hlo.ir.contraction import NUMBERS, Contraction, contraction_of
from scalify_hlo.ir.formats import is_small
from scalify_hlo.ir.functions import is_block
from scalify_hlo.ir.splats import is_filled, is_one_number, splat_of
from scalify_hlo.ir.through import readers
from scalify_hlo.ir.value_map import ValueSet, erase, replace_op
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.rules.placement import is_placed
from scalify_hlo.rules.saturation import before_saturation

_DOT: Final = "stablehlo.dot_general"
_TRANSPOSE: Final = "stablehlo.transpose"
BARRIER: Final = "stablehlo.optimization_barrier"


class _Order(NamedTuple):
    """The order in which a transpose reads the result of a matmul.

    Attributes:
        free: The dimensions of the result that each operand makes, in the order of the reader.
        swapped: Whether those of the right operand come first.
        between: The ops between the matmul and the transpose, which round or scale each element.
        reader: The transpose.
    """

    free: tuple[list[int], list[int]]
    swapped: bool
    between: list[ir.Operation]
    reader: ir.Operation

    @property
    def dims(self) -> list[int]:
        """The dimensions that are not batch dimensions, in the order of the reader."""
        lhs, rhs = self.free
        return rhs + lhs if self.swapped else lhs + rhs

    @property
    def moved(self) -> list[int]:
        """The numbers of the operands that have their dimensions in another order."""
        return [side for side, dims in enumerate(self.free) if dims != sorted(dims)]


def order_dims(module: ir.Operation, *, sums: bool) -> int:
    """Orders the dimensions of all matmuls of a module, and returns how many were changed.

    Args:
        module: The module.
        sums: Whether sums over several dimensions may list them in another order. Without it,
            each result is the same sum as before, although compilers may have another kernel for
            it, and each has an order of its own in which it adds up products.
    """
    found = ops_in(module, {_DOT}, where=_is_plain, outer_first=True)
    return sum((sums and _order_sum(op)) | _order_result(op) for op in found)


def _is_plain(op: ir.Operation) -> bool:
    """Whether all sizes of an op are known, and nothing else is said of its tensors or devices."""
    types = [value.type for value in (*op.operands, *op.results)]
    return not is_placed(op) and all(type_ == _plain(type_) for type_ in types)


def _plain(type_: ir.Type) -> ir.Type | None:
    """Returns a type without encoding of the same sizes and elements; None if one is not known."""
    if not isinstance(type_, ir.RankedTensorType) or not type_.has_static_shape:
        return None
    return ir.RankedTensorType.get(type_.shape, type_.element_type)


def _order_sum(op: ir.Operation) -> bool:
    """Lists the dimensions that a matmul sums over as its larger operand has them in memory."""
    of = contraction_of(op)
    if len(of.lhs.summed) < 2:
        return False
    sizes = [math.prod(value.type.shape) for value in op.operands]
    if sizes[0] == sizes[1]:
        return False
    larger = int(sizes[1] > sizes[0])
    places = _places_in_memory(op.operands[larger], through=bool(of.lhs.batch))
    summed = [places[dim] for dim in of[larger].summed]
    order = sorted(range(len(summed)), key=summed.__getitem__)
    first = min(summed)
    adjacent = sorted(summed) == list(range(first, first + len(summed)))
    if not adjacent or order == sorted(order):
        return False
    sides = [axes._replace(summed=tuple(axes.summed[pair] for pair in order)) for axes in of]
    op.attributes[NUMBERS] = Contraction(*sides).attribute
    return True


def _places_in_memory(value: ir.Value, *, through: bool) -> list[int]:
    """Returns the place of each dimension in the tensor that a value is a transpose of.

    Args:
        value: An operand of a matmul.
        through: Whether barriers are passed. Behind one, the cast that a matmul without batch
            dimensions reads is in the order of its own dimensions; see `order_casts`.
    """
    places = list(range(value.type.rank))
    for op in made_by(value, {_TRANSPOSE}):
        if op.name == BARRIER and not through:
            break
        if op.name == _TRANSPOSE:
            places = [_permutation(op)[place] for place in places]
    return places


def _permutation(transpose: ir.Operation) -> list[int]:
    return list(ir.DenseI64ArrayAttr(transpose.attributes["permutation"]))


def made_by(value: ir.Value, views: Collection[str]) -> Iterator[ir.Operation]:
    """Yields the ops that make a value, as far as they round, bound or scale, the last one first.

    Args:
        value: The value.
        views: Ops of one tensor that are looked through too.
    """
    source: ir.Value | None = value
    for _ in range(READER_STEPS):
        if source is None or is_block(source.owner):
            return
        op = source.owner.operation
        yield op
        source = op.operands[0] if op.name in views else source_of(op)


def source_of(owner: ir.Operation) -> ir.Value | None:
    """Returns the tensor of which an op rounds, bounds or scales each element."""
    keeps = owner.name in traits.ROUNDS or owner.name == BARRIER
    if keeps and len(owner.operands) == 1:
        return owner.operands[0]
    if owner.name == "stablehlo.clamp":
        low, value, high = owner.operands
        return value if is_one_number(low) and is_one_number(high) else None
    if owner.name == "stablehlo.multiply":
        tensors = [value for value in owner.operands if not is_one_number(value)]
        return tensors[0] if len(tensors) == 1 else None
    return before_saturation(owner)


def _order_result(op: ir.Operation) -> bool:
    """Makes the result of a matmul in the order in which a transpose reads it."""
    order = _order_of_reader(op)
    if order is None:
        return False
    if order.dims == sorted(order.dims) or any(_is_large(op, order, n) for n in order.moved):
        return False
    made = _ordered(op, order)
    for each in order.between:
        made = _repeated(each, made)
    marks = attributes.all_of(order.reader)  # The result is that of the transpose.
    del marks["permutation"]
    for key, value in marks.items():
        made.owner.attributes[key] = value
    replace_op(order.reader, [made])
    _erase([*order.between[::-1], op])
    return True


def _is_large(op: ir.Operation, order: _Order, side: int) -> bool:
    """Whether an operand has more than half the size of the result, and has to be transposed.

    An order in which only dimensions of size 1 are in other places is the same in memory.
    """
    sizes = op.results[0].type.shape
    dims = [dim for dim in order.free[side] if sizes[dim] != 1]
    return dims != sorted(dims) and 2 * math.prod(op.operands[side].type.shape) > math.prod(sizes)


def _erase(ops: Sequence[ir.Operation]) -> None:
    """Erases ops, the readers of others first, and the numbers that nothing else reads."""
    uniform = ValueSet(value for op in ops for value in op.operands if is_filled(value))
    for op in ops:
        erase(op)
    for value in list(uniform):
        if next(iter(value.uses), None) is None:
            erase(value.owner)


def _repeated(op: ir.Operation, data: ir.Value) -> ir.Value:
    """Builds an op that rounds or scales each element again, before it, of other data."""
    source = source_of(op)
    operands = [data if each == source else _uniform(each, data, op) for each in op.operands]
    type_ = ir.RankedTensorType.get(data.type.shape, op.results[0].type.element_type)
    return emit.op(op, op.name, [type_], operands, attributes.all_of(op)).result


def _uniform(value: ir.Value, like: ir.Value, at: ir.Operation) -> ir.Value:
    """Returns a tensor of the same number in the shape of another one, before an op."""
    if not value.type.rank:
        return value
    if (elements := splat_of(value)) is not None:
        type_ = ir.RankedTensorType.get(like.type.shape, value.type.element_type)
        splat = ir.DenseElementsAttr.get_splat(type_, elements.get_splat_value())
        return emit.constant_of(type_, splat, **emit.before(at))
    return emit.spread(value.owner.operands[0], [], like.type.shape, at)


def _order_of_reader(op: ir.Operation) -> _Order | None:
    """Returns the order in which a transpose reads the result of a matmul.

    None without such a transpose, or if it reads no operand's dimensions one after the other.
    """
    between, reader = _readers(op.results[0])
    if reader is None:
        return None
    (batched, free, _), rank = contraction_of(op).lhs, op.results[0].type.rank
    batch, first = len(batched), len(batched) + len(free)
    dims = _permutation(reader)
    if dims[:batch] != list(range(batch)) or not batch < first < rank:
        return None
    lhs, rhs = ([dim for dim in dims[batch:] if (dim < first) == left] for left in (True, False))
    orders = [_Order((lhs, rhs), swapped, between, reader) for swapped in (False, True)]
    return next((order for order in orders if order.dims == dims[batch:]), None)


def _readers(value: ir.Value) -> tuple[list[ir.Operation], ir.Operation | None]:
    """Returns the transpose that alone reads a value, and the ops that round or scale it before."""
    between: list[ir.Operation] = []
    while len(between) < READER_STEPS:
        users = [use.owner.operation for use in value.uses]
        if len(users) != 1 or not _is_plain(user := users[0]):
            break
        if user.name == _TRANSPOSE:
            return between, user
        source = source_of(user)
        if source is None or source != value:
            break
        between.append(user)
        value = user.results[0]
    return between, None


def _ordered(op: ir.Operation, order: _Order) -> ir.Value:
    """Builds a matmul whose result has its dimensions in the order of the reader."""
    operands = [_with_free_dims(op, side, dims) for side, dims in enumerate(order.free)]
    old = op.results[0].type
    shape = [old.shape[dim] for dim in (*range(min(order.dims)), *order.dims)]
    type_, given = ir.RankedTensorType.get(shape, old.element_type), attributes.all_of(op)
    if order.swapped:
        operands, given = operands[::-1], swapped_attributes(op)
    return emit.op(op, _DOT, [type_], operands, given).result


def _with_free_dims(op: ir.Operation, side: int, dims: Sequence[int]) -> ir.Value:
    """Returns an operand that makes dimensions of the result in another order."""
    free, operand = contraction_of(op)[side].free, op.operands[side]
    if list(dims) == sorted(dims):
        return operand
    moves = list(range(operand.type.rank))
    for place, dim in zip(free, dims, strict=True):
        moves[place] = free[dim - min(dims)]
    return emit.transpose(operand, moves, op)


# Casts of transposed tensors in the order of their dimensions.
#
# XLA may leave a cast of a transpose in the order of the tensor before it, and the copies that
# matmuls read, in both orders of rows and columns, are transposes of more than two groups of
# dimensions then. On an H200 such a copy takes ten times as long as a transpose of a matrix. A
# value with one dimension has only one order. So a cast that a matmul reads as a matrix, along its
# rows, is reshaped to one dimension before the barrier that stands behind it, and back.

_RESHAPE: Final = "stablehlo.reshape"


def order_casts(module: ir.Operation) -> int:
    """Keeps casts of transposes in the order of their dimensions, and returns how many."""
    found = [
        op
        for op in ops_in(module, {BARRIER}, outer_first=True)
        if not is_placed(op) and _is_small_barrier(op) and _is_of_transpose(op) and _is_matrix(op)
    ]
    for op in found:
        _flatten(op)
    return len(found)


def _is_small_barrier(barrier: ir.Operation) -> bool:
    """Whether one tensor in 8 bits, of more than one dimension and static shape, passes."""
    if len(barrier.operands) != 1:
        return False
    type_ = barrier.operands[0].type
    return type_.has_static_shape and type_.rank > 1 and is_small(type_)


def _is_of_transpose(barrier: ir.Operation) -> bool:
    """Whether a transpose is cast, which may be rounded or scaled before."""
    made = made_by(barrier.operands[0], {_RESHAPE})
    return any(op.name == _TRANSPOSE for op in made)


def _is_matrix(barrier: ir.Operation) -> bool:
    """Whether a matmul without batch dimensions sums over the last dimensions of the cast."""
    found = readers(barrier.results[0], {_RESHAPE})
    sums = (contraction_of(op)[number] for op, number in found if op.name == _DOT)
    return any(not batch and min(summed, default=0) >= len(free) for batch, free, summed in sums)


def _flatten(barrier: ir.Operation) -> None:
    """Replaces a barrier by one of a tensor of one dimension."""
    data = barrier.operands[0]
    flat = emit.reshaped(data, [math.prod(data.type.shape)], barrier)
    given = attributes.all_of(barrier)
    made = emit.op(barrier, BARRIER, [flat.type], [flat], given).result
    replace_op(barrier, [emit.reshape(made, data.type, barrier)])
