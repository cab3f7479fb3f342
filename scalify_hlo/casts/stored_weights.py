"""Weights that a program takes in the format of the matmuls that read them.

A step returns its state, and the recipe says in which format. The weights of inference are no such
state: a program casts them in each call. If an argument is read by nothing but quantized matmuls,
the caller may as well cast it once. The argument then has their format, and is no longer cast: a
pair of data and scale is what a cast makes, ``cast(X_d, X_s) = (round(X_d), X_s)``, and rounding
changes no data that are in the format. The frozen weights of a training step, to which it adds
products of trained ones, are stored in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.casts.casts import convert_after
from scalify_hlo.casts.state import SCALE_BYTES, bytes_of
from scalify_hlo.dataflow.matmuls import WEIGHT
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import Remark
from scalify_hlo.ir import emit
from scalify_hlo.ir.calls import CALL, Calls
from scalify_hlo.ir.formats import element_of, format_of, is_real, with_element
from scalify_hlo.ir.functions import callee_of, is_block, symbol_of, terminator
from scalify_hlo.ir.locations import remark
from scalify_hlo.ir.traits import where
from scalify_hlo.ir.value_map import ValueMap, ValueSet, erase
from scalify_hlo.recipes.state import StateOptions
from scalify_hlo.report.matmuls import MatmulReport
from scalify_hlo.report.totals import StateBytes
from scalify_hlo.transforms.carries import carried_to

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


def store_weights(
    main: ir.OpView, format_: str, weights: Iterable[Weight], options: Sequence[StateOptions]
) -> StoredWeights:
    """Gives the arguments that are read only as weights of quantized matmuls their format.

    Matmuls read converts of them, which quantization leaves out.

    Args:
        main: The entry function, which is edited.
        format_: The format, of 8 bits or less.
        weights: The weights that are to be cast to this format.
        options: The options of each argument; see `by_argument`.
    """
    stored: ValueMap[set[int]] = ValueMap()
    remarks: dict[str, Remark] = {}
    marks, names = attributes.argument_attributes(main), attributes.argument_names(main)
    before = after = 0
    for reads in _read_by_matmuls(main, format_, weights, options):
        if not reads.stored:
            number = ir.BlockArgument(next(reads.roots)).arg_number
            if attributes.ROLE not in marks[number]:  # Others get the format as state does.
                remarks[names[number]] = _kept(names[number], reads.others[0])
            continue
        roots = list(reads.roots)
        before += sum(bytes_of(root.type) for root in roots)
        _store(reads, element_of(format_))
        after += sum(bytes_of(root.type) + SCALE_BYTES for root in roots)
        for function in (main, *reads.callees.values()):
            attributes.renew_function_type(function)
        for _, (op, side) in reads.weights:
            stored.setdefault(op.results[0], set()).add(side)
    return StoredWeights(stored, StateBytes(before, after) if before else None, remarks)


def storable(
    main: ir.OpView, format_: str, weights: Iterable[Weight], options: Sequence[StateOptions]
) -> ValueSet:
    """Returns the arguments that `store_weights` would store if these weights were cast."""
    found = _read_by_matmuls(main, format_, weights, options)
    return ValueSet(root for reads in found if reads.stored for root in reads.roots)


def _read_by_matmuls(
    main: ir.OpView, format_: str, weights: Iterable[Weight], options: Sequence[StateOptions]
) -> Iterator[WeightReads]:
    """Yields the reads of the arguments of another format that are weights."""
    sides: ValueMap[set[int]] = ValueMap()
    for weight in weights:
        sides.setdefault(weight.op.results[0], set()).add(weight.side)
    arguments, calls = main.regions[0].blocks[0].arguments, Calls(main.operation.parent)
    marked = zip(arguments, attributes.argument_attributes(main), options, strict=True)
    allowed = ValueSet(
        value
        for value, mark, own in marked
        if own.read_only == format_ and _may_be_stored(value, mark, format_)
    )
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
    if attributes.role_of(mark) not in ("", WEIGHT):
        return False
    if not is_real(argument.type) or not argument.type.has_static_shape:
        return False
    own = format_of(argument.type)
    return own is not None and own.bits > FORMATS[format_].bits


def _store(reads: WeightReads, element: ir.Type) -> None:
    """Changes the format of an argument, and converts it back for the matmuls that read it."""
    wide = reads.moved[0].type.element_type
    for value in reads.moved:
        value.set_type(with_element(value.type, element))
    converted: ValueMap[ir.Value] = ValueMap()
    for value, (op, side) in reads.weights:
        if value not in converted:
            converted[value] = convert_after(value, wide)
        op.operands[side] = converted[value]


def _kept(name: str, other: ir.Operation) -> Remark:
    message = f"reads {name} besides matmuls, so that it keeps its format, and is cast in each call"
    return remark(other, message, "pass a copy of it to the matmuls to store that in state.weight")


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
    barrier = stablehlo.OptimizationBarrierOp([value] * len(readers), **emit.after(value))
    for (op, side), result in zip(readers, barrier.results, strict=True):
        old = op.operands[side]
        same = old.type == value.type
        op.operands[side] = result if same else emit.reshape(result, old.type, op.operation)
        if not same and next(iter(old.uses), None) is None:
            erase(old.owner)


# The reads of arguments that are weights, through loops and calls.


_MOVES: Final = where("reshape", "transpose", "reverse", "slice")
_FUNCTION: Final = "func.func"
_RETURN: Final = "func.return"
_WHILE: Final = "stablehlo.while"


class Weight(NamedTuple):
    """A weight of a quantized matmul.

    Attributes:
        op: The matmul.
        side: The number of the operand.
    """

    op: ir.OpView
    side: int


class WeightReads:
    """The reads of an argument, and of all arguments that other calls of a function pass for it.

    Args:
        argument: An argument of the entry function.
        allowed: The arguments that may be stored.
        sides: The results of matmuls, with the numbers of operands that are to be quantized.
        calls: The calls of the module.

    Attributes:
        moved: The arguments, and all values that are made of them by moving data.
        weights: The weights of matmuls that they are, with the value that each matmul reads.
        others: The other ops that read them.
        callees: The functions with an argument among the values.
    """

    def __init__(
        self,
        argument: ir.Value,
        allowed: ValueSet,
        sides: ValueMap[set[int]],
        calls: Calls,
    ) -> None:
        self.moved: list[ir.Value] = []
        self.weights: list[tuple[ir.Value, Weight]] = []
        self.others: list[ir.Operation] = []
        self.callees: dict[str, ir.OpView] = {}
        self._allowed, self._sides, self._calls = allowed, sides, calls
        self._seen = ValueSet()
        self._add(argument)
        for value in self.moved:
            for use in value.uses:
                self._read(value, use.owner, use.operand_number)

    @property
    def stored(self) -> bool:
        """Whether nothing but quantized matmuls reads the arguments."""
        return bool(self.weights) and not self.others

    @property
    def roots(self) -> Iterator[ir.Value]:
        """The arguments of the entry function."""
        return (value for value in self.moved if value in self._allowed)

    def _add(self, value: ir.Value) -> None:
        if value not in self._seen:
            self._seen.add(value)
            self.moved.append(value)

    def _read(self, value: ir.Value, op: ir.OpView, side: int) -> None:
        name = op.operation.name
        if name in _MOVES and side == 0:
            self._add(op.results[0])
        elif (carried := carried_to(value, op.operation, side)) is not None:
            for each in carried:
                self._add(each)
        elif name == CALL:
            self._enter(op.operation, side)
        elif name == _RETURN and self._calls.only(op.operation.parent.opview):
            for site in self._calls.sites.get(symbol_of(op.operation.parent), []):
                self._add(site.results[side])
        elif len(op.results) and side in self._sides.get(op.results[0], ()):
            self.weights.append((value, Weight(op, side)))
        else:
            self.others.append(op.operation)

    def _enter(self, call: ir.Operation, number: int) -> None:
        """Adds the argument of a called function, and what all its calls pass for it."""
        name = callee_of(call)
        function = self._calls.functions[name]
        private = self._calls.only(function)
        for site in self._calls.sites[name] if private else ():
            root = self._root(site.operands[number])
            if root is None:
                self.others.append(site)
            else:
                self._add(root)
        if private:
            self.callees[name] = function
            self._add(function.regions[0].blocks[0].arguments[number])
        else:
            self.others.append(call)

    def _root(self, value: ir.Value) -> ir.Value | None:
        """Returns the argument of the entry function that a value is made of; None if not known."""
        while value not in self._seen and value not in self._allowed:
            before = self._before(value)
            if before is None:
                return None
            value = before
        return value

    def _before(self, value: ir.Value) -> ir.Value | None:
        """Returns the value of which another one is made by moving data."""
        owner = value.owner
        if is_block(owner):
            outer, number = owner.owner.operation, ir.BlockArgument(value).arg_number
            if outer.name == _WHILE:
                return outer.operands[number]
            sites = self._calls.sites.get(symbol_of(outer), []) if outer.name == _FUNCTION else []
            return sites[0].operands[number] if sites else None
        op, number = owner.operation, ir.OpResult(value).result_number
        if op.name == CALL:
            body = self._calls.functions[callee_of(op)].regions[0].blocks[0]
            return terminator(body).operands[number]
        return op.operands[0] if op.name in _MOVES else None


# Tells weights from activations where both operands of a matmul are arguments.
#
# `scalify-roles` takes the second one to be the weight, which is right for ``x @ w``, and wrong for
# ``w @ x``. The format of an argument is the caller's concern, so that more evidence is needed to
# change it: the argument is declared; or it is a leaf of a pytree, as ``params['w']`` is, and the
# other operand is not; or a matmul with a computed operand reads another leaf of its pytree.


_DECLARE: Final = "declare weights with inputs.weight, and activations with inputs.activation"
_ROOT: Final = re.compile(r"[\[.]")


class CertainWeights:
    """The weights of a program of which more is known than their place.

    Args:
        matmuls: All matmuls of the program, with the names of the arguments that they read.
        declared: The names of the arguments that the recipe declares to be weights, or that are
            weights of a training step.

    Attributes:
        declared: See the argument.
    """

    def __init__(self, matmuls: Sequence[MatmulReport], declared: Collection[str]) -> None:
        self._arguments = {matmul.number: matmul.arguments for matmul in matmuls}
        self.declared = declared
        self._pytrees = {
            _root(name)
            for pair in self._arguments.values()
            for name, other in (pair, pair[::-1])
            if name and not other
        }

    def has(self, op: ir.OpView, side: int) -> bool:
        """Whether an operand that is taken to be a weight is one.

        Args:
            op: A matmul with marks of `scalify-roles`.
            side: The number of the operand.
        """
        name, other = self._names(op, side)
        if not (name and other) or name in self.declared:
            return True
        root, other_root = _root(name), _root(other)
        if root == other_root:
            return False
        return root in self._pytrees or (root != name and other_root == other)

    def kept(self, op: ir.OpView, side: int) -> tuple[str, Remark] | None:
        """Returns the name of a weight that is not stored, and a remark on it.

        Args:
            op: A matmul that reads it, with marks of `scalify-roles`.
            side: The number of the operand.

        Returns:
            None if it is no argument, or is declared, so that it is stored in any case.
        """
        name, other = self._names(op, side)
        if not name or name in self.declared:
            return None
        reason = f"{name} or {other} may be the weight"
        if self.has(op, side):
            reason = "it is no pair that only quantized matmuls read"
        message = f"casts {name} in each call, as {reason}"
        return name, remark(op, message, _DECLARE)

    def _names(self, op: ir.OpView, side: int) -> tuple[str, str]:
        if attributes.MATMUL not in op.attributes:
            return "", ""
        number: int = ir.IntegerAttr(op.attributes[attributes.MATMUL]).value
        pair = self._arguments.get(number, ("", ""))  # The passes may run one by one.
        return pair[side], pair[1 - side]


def _root(name: str) -> str:
    """Returns the positional argument that a leaf such as ``params['w']`` is in."""
    return _ROOT.split(name, maxsplit=1)[0]
