"""Weights that a program takes in the format of the matmuls that read them.

A step returns its state, and the recipe says in which format. The weights of inference are no such
state: a program casts them in each call. If an argument is read by nothing but quantized matmuls,
the caller may as well cast it once. The argument then has their format, and is no longer cast: a
pair of data and scale is what a cast makes, ``cast(X_d, X_s) = (round(X_d), X_s)``, and rounding
changes no data that are in the format. The frozen weights of a training step, to which it adds
products of trained ones, are stored in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.analysis.matmuls import WEIGHT
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.calls import Calls
from scalify_hlo.dialect.formats import element_of, format_of, is_real
from scalify_hlo.dialect.functions import is_block
from scalify_hlo.dialect.value_map import ValueMap, ValueSet, erase_unread
from scalify_hlo.errors import Remark
from scalify_hlo.quantize.casts import convert_after
from scalify_hlo.quantize.state import SCALE_BYTES
from scalify_hlo.quantize.weight_reads import Weight, WeightReads
from scalify_hlo.report.totals import StateBytes
from scalify_hlo.rules import emit

_EXCLUDED = {attributes.STORED, "tf.aliasing_output"}
"""The marks of arguments that have a format, or whose memory is given to a result of their type."""


class StoredWeights(NamedTuple):
    """The weights that a program takes in another format.

    Attributes:
        sides: The results of the matmuls that read them, with the numbers of the operands.
        bytes: Their bytes before and after; None if there are none.
        remarks: By name, a remark for each weight that something else reads too, and is not stored.
    """

    sides: ValueMap[set[int]]
    bytes: StateBytes | None
    remarks: dict[str, Remark]

    def has(self, weight: Weight) -> bool:
        """Whether an operand of a matmul is one of them."""
        return weight.side in self.sides.get(weight.op.results[0], ())


def store_weights(main: ir.OpView, format_: str, weights: Iterable[Weight]) -> StoredWeights:
    """Gives the arguments that are read only as weights of quantized matmuls their format.

    Matmuls read converts of them, which quantization leaves out.

    Args:
        main: The entry function, which is edited.
        format_: The format, of 8 bits or less.
        weights: The weights that are to be cast to this format.
    """
    stored: ValueMap[set[int]] = ValueMap()
    remarks: dict[str, Remark] = {}
    marks, names = attributes.argument_attributes(main), attributes.argument_names(main)
    before = after = 0
    for reads in _read_by_matmuls(main, format_, weights):
        if not reads.stored:
            number = ir.BlockArgument(next(reads.roots)).arg_number
            if attributes.ROLE not in marks[number]:  # Others get the format as state does.
                remarks[names[number]] = _kept(names[number], reads.others[0])
            continue
        roots = list(reads.roots)
        before += sum(_bytes(root.type) for root in roots)
        _store(reads, element_of(format_))
        after += sum(_bytes(root.type) + SCALE_BYTES for root in roots)
        for function in (main, *reads.callees.values()):
            attributes.renew_function_type(function)
        for _, (op, side) in reads.weights:
            stored.setdefault(op.results[0], set()).add(side)
    return StoredWeights(stored, StateBytes(before, after) if before else None, remarks)


def storable(main: ir.OpView, format_: str, weights: Iterable[Weight]) -> ValueSet:
    """Returns the arguments that `store_weights` would store if these weights were cast."""
    found = _read_by_matmuls(main, format_, weights)
    return ValueSet(root for reads in found if reads.stored for root in reads.roots)


def _read_by_matmuls(
    main: ir.OpView, format_: str, weights: Iterable[Weight]
) -> Iterator[WeightReads]:
    """Yields the reads of the arguments of another format that are weights."""
    sides: ValueMap[set[int]] = ValueMap()
    for weight in weights:
        sides.setdefault(weight.op.results[0], set()).add(weight.side)
    arguments, calls = main.regions[0].blocks[0].arguments, Calls(main.operation.parent)
    marked = zip(arguments, attributes.argument_attributes(main), strict=True)
    allowed = ValueSet(value for value, mark in marked if _may_be_stored(value, mark, format_))
    seen = ValueSet()
    for argument in list(allowed):
        if argument not in seen:
            reads = WeightReads(argument, allowed, sides, calls)
            seen.add_all(reads.roots)
            if reads.weights:
                yield reads


def _may_be_stored(argument: ir.Value, mark: attributes.Attributes, format_: str) -> bool:
    """Whether an argument is a pair of real numbers in a wider format, and may be a weight."""
    if attributes.PAIR not in mark or _EXCLUDED & mark.keys():
        return False
    if attributes.ROLE in mark and ir.StringAttr(mark[attributes.ROLE]).value != WEIGHT:
        return False
    if not is_real(argument.type) or not argument.type.has_static_shape:
        return False
    own = format_of(argument.type)
    return own is not None and own.bits > FORMATS[format_].bits


def _bytes(type_: ir.Type) -> int:
    own = format_of(type_)
    return 0 if own is None else math.prod(type_.shape) * own.bits // 8


def _store(reads: WeightReads, element: ir.Type) -> None:
    """Changes the format of an argument, and converts it back for the matmuls that read it."""
    wide = reads.moved[0].type.element_type
    for value in reads.moved:
        value.set_type(ir.RankedTensorType.get(value.type.shape, element, value.type.encoding))
    converted: ValueMap[ir.Value] = ValueMap()
    for value, (op, side) in reads.weights:
        if value not in converted:
            converted[value] = convert_after(value, wide)
        op.operands[side] = converted[value]


def _kept(name: str, other: ir.Operation) -> Remark:
    return Remark(
        f"reads {name} besides matmuls, so that it keeps its format, and is cast in each call",
        str(other.location),
        other.name,
        "pass a copy of it to the matmuls to store that in state.weight",
    )


def keep_apart(weights: Iterable[Weight]) -> None:
    """Keeps XLA from joining the matmuls of one operand with several stored weights.

    XLA for GPUs joins small matmuls with a common operand, and concatenates the others in each
    call. Weights that are cast in the call are written anyway, but stored ones are only read. Each
    matmul reads the common operand from a result of its own of an `optimization_barrier`.

    Args:
        weights: The quantized matmuls, and which operand is the stored weight.
    """
    readers: ValueMap[list[Weight]] = ValueMap()
    for op, side in weights:
        readers.setdefault(_before_reshapes(op.operands[1 - side]), []).append(Weight(op, 1 - side))
    for value, common in list(readers.items()):
        if len(common) > 1:
            _part(value, common)


def _before_reshapes(value: ir.Value) -> ir.Value:
    while not is_block(value.owner) and value.owner.operation.name == "stablehlo.reshape":
        value = value.owner.operands[0]
    return value


def _part(value: ir.Value, readers: list[Weight]) -> None:
    """Gives each matmul that reads a value, or a reshape of it, a result of a barrier."""
    owner = value.owner
    here = is_block(owner)
    barrier = ir.Operation.create(
        "stablehlo.optimization_barrier",
        results=[value.type] * len(readers),
        operands=[value] * len(readers),
        loc=value.location if here else owner.location,
        ip=ir.InsertionPoint.at_block_begin(owner) if here else ir.InsertionPoint.after(owner),
    )
    for (op, side), result in zip(readers, barrier.results, strict=True):
        old = op.operands[side]
        same = old.type == value.type
        op.operands[side] = result if same else emit.reshape(result, old.type, op.operation)
        if not same:
            erase_unread([old])
