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
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.formats import element_of, format_of, is_real
from scalify_hlo.dialect.functions import is_block, terminator
from scalify_hlo.dialect.traits import REORDERS, RESHAPES
from scalify_hlo.dialect.value_map import ValueMap, ValueSet, erase
from scalify_hlo.errors import Remark
from scalify_hlo.quantize.casts import convert_after
from scalify_hlo.quantize.state import SCALE_BYTES
from scalify_hlo.report.totals import StateBytes
from scalify_hlo.rules import emit

_MOVES = RESHAPES | REORDERS


class Weight(NamedTuple):
    """A weight of a quantized matmul.

    Attributes:
        op: The matmul.
        side: The number of the operand.
    """

    op: ir.OpView
    side: int


class StoredWeights(NamedTuple):
    """The weights that a program takes in another format.

    Attributes:
        sides: The results of the matmuls that read them, with the numbers of the operands.
        bytes: Their bytes before and after; None if there are none.
        remarks: A remark for each weight that keeps its format, as something else reads it too.
    """

    sides: ValueMap[set[int]]
    bytes: StateBytes | None
    remarks: list[Remark]


class _Reads:
    """The reads of an argument, through reshapes and transposes.

    Attributes:
        moved: The argument, and the results of the reshapes and transposes.
        weights: The weights of matmuls that it is.
        others: The other ops that read it.
    """

    def __init__(self, argument: ir.Value, sides: ValueMap[set[int]]) -> None:
        self.moved, self.others = [argument], list[ir.OpView]()
        self.weights: list[tuple[ir.Value, Weight]] = []
        for value in self.moved:
            for use in value.uses:
                op, side = use.owner, use.operand_number
                if op.operation.name in _MOVES and side == 0:
                    self.moved.append(op.results[0])
                elif len(op.results) and side in sides.get(op.results[0], ()):
                    self.weights.append((value, Weight(op, side)))
                else:
                    self.others.append(op)


def store_weights(main: ir.OpView, format_: str, weights: Iterable[Weight]) -> StoredWeights:
    """Gives the arguments that are read only as weights of quantized matmuls their format.

    Matmuls read converts of them, which quantization leaves out.

    Args:
        main: The entry function, which is edited.
        format_: The format, of 8 bits or less.
        weights: The weights that are to be cast to this format.
    """
    stored: ValueMap[set[int]] = ValueMap()
    remarks: list[Remark] = []
    before = after = 0
    for argument, name, reads in _read_by_matmuls(main, format_, weights):
        if reads.others:
            remarks.append(_kept(name, reads.others[0]))
        else:
            before += _bytes(argument.type)
            _store(reads, element_of(format_))
            after += _bytes(argument.type) + SCALE_BYTES
            for _, (op, side) in reads.weights:
                stored.setdefault(op.results[0], set()).add(side)
    if before:
        types = [argument.type for argument in main.regions[0].blocks[0].arguments]
        returned = [value.type for value in terminator(main.regions[0].blocks[0]).operands]
        attributes.set_function_type(main, types, returned)
    return StoredWeights(stored, StateBytes(before, after) if before else None, remarks)


def storable(main: ir.OpView, format_: str, weights: Iterable[Weight]) -> ValueSet:
    """Returns the arguments that `store_weights` would store if these weights were cast."""
    found = _read_by_matmuls(main, format_, weights)
    return ValueSet(argument for argument, _, reads in found if not reads.others)


def _read_by_matmuls(
    main: ir.OpView, format_: str, weights: Iterable[Weight]
) -> Iterator[tuple[ir.Value, str, _Reads]]:
    """Yields the arguments of another format that are weights, with their names and reads."""
    sides: ValueMap[set[int]] = ValueMap()
    for weight in weights:
        sides.setdefault(weight.op.results[0], set()).add(weight.side)
    marks, names = attributes.argument_attributes(main), attributes.argument_names(main)
    for argument, mark, name in zip(main.regions[0].blocks[0].arguments, marks, names, strict=True):
        if _may_be_stored(argument, mark, format_):
            reads = _Reads(argument, sides)
            if reads.weights:
                yield argument, name, reads


def _may_be_stored(argument: ir.Value, mark: attributes.Attributes, format_: str) -> bool:
    """Whether an argument is a pair without a role, of real numbers in a wider format."""
    if attributes.PAIR not in mark or {attributes.ROLE, attributes.STORED} & mark.keys():
        return False
    if not is_real(argument.type) or not argument.type.has_static_shape:
        return False
    own = format_of(argument.type)
    return own is not None and own.bits > FORMATS[format_].bits


def _bytes(type_: ir.Type) -> int:
    own = format_of(type_)
    return 0 if own is None else math.prod(type_.shape) * own.bits // 8


def _store(reads: _Reads, element: ir.Type) -> None:
    """Changes the format of an argument, and converts it back for the matmuls that read it."""
    wide = reads.moved[0].type.element_type
    for value in reads.moved:
        value.set_type(ir.RankedTensorType.get(value.type.shape, element, value.type.encoding))
    converted: ValueMap[ir.Value] = ValueMap()
    for value, (op, side) in reads.weights:
        if value not in converted:
            converted[value] = convert_after(value, wide)
        op.operands[side] = converted[value]


def _kept(name: str, other: ir.OpView) -> Remark:
    return Remark(
        f"reads {name} besides matmuls, so that it keeps its format, and is cast in each call",
        str(other.location),
        other.operation.name,
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
        if not same and next(iter(old.uses), None) is None:
            erase(old.owner)
