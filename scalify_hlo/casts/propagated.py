"""Matmuls that stay matmuls of two tensors when their operands are cast, and propagated scales."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS, is_small
from scalify_hlo.casts.casts import unwidened
from scalify_hlo.casts.matmuls import MARKS, roles_of
from scalify_hlo.casts.results import marks_of_swapped, propagated_type, round_at_once, transpose_of
from scalify_hlo.casts.strategy import CastContext, CastOperand, CastStrategy, Formats, Replacement
from scalify_hlo.dataflow.matmuls import GRADIENT
from scalify_hlo.dataflow.names import FORWARD
from scalify_hlo.dataflow.sizes import Extent
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.algorithms import dot_algorithm
from scalify_hlo.ir.contraction import NUMBERS, Axes, dot_numbers, of_numbers
from scalify_hlo.ir.formats import with_element
from scalify_hlo.recipes.model import KEEP
from scalify_hlo.report.matmuls import CONSTANT, PROGRAM, UNSCALED
from scalify_hlo.report.model import Report
from scalify_hlo.rules.placement import on_one_device
from scalify_hlo.rules.reported_scales import write_reader

_DROPPED = MARKS | {attributes.STATE_GRADIENT, "algorithm", "precision_config"}


class Tensors(CastStrategy):
    """A strategy under which a matmul stays one of two tensors, with one scale or one by channel.

    Args:
        context: The program.
    """

    def __init__(self, context: CastContext) -> None:
        super().__init__(context)
        self._flattening = Flattening() if on_one_device(context.module) else None
        self._algorithms: dict[tuple[Formats, bool], ir.Attribute | None] = {}

    @abstractmethod
    def operands(self, op: ir.OpView, formats: Formats) -> Sequence[CastOperand]:
        """Returns the two operands of a matmul in narrow formats."""

    @abstractmethod
    def element(self, old: ir.Type, formats: Formats, /) -> ir.Type:
        """Returns the element type of the narrow matmul, given that of the original matmul."""

    @abstractmethod
    def result(self, value: ir.Value, at: ir.Operation, /) -> ir.Value:
        """Returns the result of the narrow matmul of the last `operands`, in the output format."""

    @abstractmethod
    def may_swap(self, op: ir.OpView, /) -> bool:
        """Whether no scale of the last `operands` belongs to a free dimension of the result."""

    def kept(self, op: ir.OpView, role: str, /) -> bool:
        """Whether a barrier stands behind the cast of an operand; see `barrier_after`.

        XLA passes the operands of a dot to a kernel in f8, so that a cast is made for all dots that
        read it. It may compute other ops in wider formats, in a fusion with the cast of a gradient.

        If a device transposes operands, XLA transposes in the kernel of the cast. On an H200, that
        kernel takes longer than one for the cast and one for the transpose of its result: 3.6 times
        as long as its bytes for the gradient of a softmax over a vocabulary.
        """
        if op.operation.name == "stablehlo.dot_general":
            return self._recipe.platform.turns
        return role == GRADIENT

    def replacement(self, op: ir.OpView, formats: Formats, extent: Extent) -> Replacement:
        """See `CastStrategy`."""
        if self._recipe.matmul.output == KEEP and all(map(is_small, formats)):
            round_at_once(op.results[0])
        operands = self.operands(op, formats)
        transpose = transpose_of(op) if self.may_swap(op) else None
        data = [operand.data for operand in operands]
        matmul, whole = self._matmul(op, data, formats, extent, transpose)
        return Replacement(operands, matmul, self.result(whole, op.operation), transpose)

    def _matmul(
        self,
        op: ir.OpView,
        data: Sequence[ir.Value],
        formats: Formats,
        extent: Extent,
        transpose: ir.Operation | None,
    ) -> tuple[ir.Value, ir.Value]:
        """Returns the result of the matmul of data, and it in the shape of the original one.

        If the operands are swapped, the shape is that of the transpose.
        """
        old = (op if transpose is None else transpose).results[0].type
        element = self.element(old.element_type, formats)
        same = element == old.element_type
        whole = old if same else with_element(old, element)
        type_, numbers = whole, op.attributes.get(NUMBERS)
        plain = None
        if self._flattening is not None and all(map(is_small, formats)):
            plain = self._flattening.of(op, data)
        if plain is not None:
            data, numbers = plain.operands(data, op), plain.numbers
            shape = plain.shape if transpose is None else plain.shape[::-1]
            type_ = ir.RankedTensorType.get(shape, element)
        if transpose is not None:
            numbers = of_numbers(numbers, [d.type.rank for d in data]).swapped.attribute
            data, formats = data[::-1], formats[::-1]
        kept = self._attributes(op, formats, extent)
        kept |= {} if numbers is None else {NUMBERS: numbers}
        kept |= {} if transpose is None else marks_of_swapped(transpose)
        matmul = emit.op(op, op.operation.name, [type_], [*data, *list(op.operands)[2:]], kept)
        result = matmul.result
        if result.type != whole:
            result = emit.reshape(result, whole, op.operation)
        return matmul.result, result

    def _attributes(self, op: ir.OpView, formats: Formats, extent: Extent) -> attributes.Attributes:
        kept = {key: value for key, value in attributes.all_of(op).items() if key not in _DROPPED}
        is_dot = op.operation.name == "stablehlo.dot_general"
        asked = self._recipe.platform.algorithms
        if asked and is_dot and _has_kernel(formats, extent):
            algorithm = self._algorithm(op, formats)
            kept |= {"algorithm": algorithm} if algorithm is not None else {}
        return kept

    def _algorithm(self, op: ir.OpView, formats: Formats) -> ir.Attribute | None:
        """Returns the attribute ``algorithm`` of a matmul; equal attributes are made once."""
        forward = op.attributes[attributes.PART].value == FORWARD
        key = formats, forward
        if key not in self._algorithms:
            self._algorithms[key] = dot_algorithm(*formats, imprecise=forward)
        return self._algorithms[key]


class Propagated(Tensors):
    """Casts whose scales are propagated with the values.

    Args:
        context: The program.
    """

    count = 0
    adds = False

    def operands(self, op: ir.OpView, formats: Formats) -> Sequence[CastOperand]:
        """See `Tensors`."""
        exchanges = self._context.exchanges
        values = [
            unwidened(value) if is_small(format_) else value
            for value, format_ in zip(op.operands, formats, strict=False)
        ]
        made = [
            self._cast(op, side, exchanges.source(value), format_)
            for side, (value, format_) in enumerate(zip(values, formats, strict=True))
        ]
        origins = [self._noted(op, side, data) for side, data in enumerate(made)]
        moved = map(exchanges.moved, values, made)
        return [CastOperand(data, origin) for data, origin in zip(moved, origins, strict=True)]

    def _cast(self, op: ir.OpView, side: int, value: ir.Value, format_: str) -> ir.Value:
        """Returns the data of an operand."""
        role = roles_of(op)[side]
        kind = attributes.GRADIENT if role == GRADIENT else attributes.DATA
        return self._context.casts.cast(value, format_, kind, kept=self.kept(op, role))

    def _noted(self, op: ir.OpView, side: int, data: ir.Value, /) -> str:
        """Returns the origin of a scale as known before propagation, which visits its cast."""
        cast = data.owner
        if not isinstance(cast, ir.Block) and cast.name == "stablehlo.optimization_barrier":
            cast = cast.operands[0].owner
        if isinstance(cast, ir.Block) or attributes.CAST not in cast.attributes:
            return PROGRAM
        if self._context.listed and attributes.MATMUL in op.attributes:
            number: int = ir.IntegerAttr(op.attributes[attributes.MATMUL]).value
            write_reader(cast, number, side)
        return CONSTANT  # The cast of a constant is folded before.

    def may_swap(self, _: ir.OpView) -> bool:
        """See `Tensors`."""
        return False

    def element(self, old: ir.Type, formats: Formats) -> ir.Type:
        """See `Tensors`."""
        small = all(map(is_small, formats))
        return propagated_type(old, self._recipe.matmul.output, small=small)

    def result(self, value: ir.Value, _: ir.Operation) -> ir.Value:
        """See `Tensors`."""
        f16 = self._recipe.matmul.output == "f16"
        return self._context.casts.cast(value, "f16") if f16 else value


class Plain(Propagated):
    """Casts of values as they are, which underflow and overflow: a baseline.

    Args:
        context: The program.
    """

    def kept(self, _: ir.OpView, __: str) -> bool:
        """See `Tensors`; XLA might omit a convert to f16 that a matmul widens again."""
        return True

    def _noted(self, _: ir.OpView, __: int, ___: ir.Value) -> str:
        return UNSCALED


class ByMembers(CastStrategy):
    """Propagated scales, and scales of their own for independent members.

    A predicted size is one number for all members. If one of them diverges, that is wrong for it,
    and a size that is measured is wrong for all others.

    Args:
        context: The program.
        own: The strategy for the operands of matmuls that have members.
        mark: The attribute of these matmuls.
    """

    def __init__(self, context: CastContext, own: CastStrategy, mark: str) -> None:
        super().__init__(context)
        self._propagated, self._own, self._mark = Propagated(context), own, mark

    @property
    def count(self) -> int:
        """See `CastStrategy`."""
        return self._own.count

    def replacement(self, op: ir.OpView, formats: Formats, extent: Extent) -> Replacement:
        """See `CastStrategy`."""
        narrow = not all(FORMATS[format_].wide for format_ in formats)
        apart = self._mark in op.attributes and narrow
        strategy = self._own if apart else self._propagated
        return strategy.replacement(op, formats, extent)

    def finish(self, report: Report) -> None:
        """See `CastStrategy`."""
        self._own.finish(report)


def _has_kernel(formats: Formats, extent: Extent) -> bool:
    """Whether a matmul may have an algorithm; XLA has none for vectors, and refuses the program.

    A size that is not static may be 1.
    """
    return all(map(is_small, formats)) and extent.m.least > 1 and extent.n.least > 1


# Rewrites matmuls of 8-bit data as matmuls of matrices: adjacent dimensions are collapsed.
#
#     dot(A[b, t, k], B[k, h, n]) = reshape(dot(reshape(A)[b*t, k], reshape(B)[k, h*n]))
#
# XLA makes matrices of the operands itself, by transposes that it fuses into the matmul. It cannot
# do so if 8-bit data are widened in between, as on a CPU. Then each transpose is a kernel, and both
# matmuls of a gradient widen it again. Reshapes cost nothing.


class Matrices(NamedTuple):
    """A matmul of matrices.

    Attributes:
        types: The types of the operands, left and right.
        numbers: The dimension numbers of the matmul, as an attribute.
        shape: The shape of the result.
    """

    types: list[ir.Type]
    numbers: ir.Attribute
    shape: list[int]

    def operands(self, data: Sequence[ir.Value], at: ir.OpView) -> list[ir.Value]:
        """Reshapes the operands of the matmul of tensors to matrices, before an op."""
        pairs = zip(data, self.types, strict=True)
        return [
            v if v.type == type_ else emit.reshape(v, type_, at.operation) for v, type_ in pairs
        ]


class Flattening:
    """Finds the matmul of matrices for a matmul; equal matmuls are analyzed once."""

    def __init__(self) -> None:
        self._known: dict[tuple[ir.Attribute | ir.Type, ...], Matrices | None] = {}

    def of(self, op: ir.OpView, data: Sequence[ir.Value]) -> Matrices | None:
        """Returns a matmul as one of matrices.

        Args:
            op: The matmul.
            data: Its operands.

        Returns:
            None if it is not a ``dot_general``, if the operands are matrices already, or if
            dimensions are not static, not adjacent, or batch dimensions.
        """
        if op.operation.name != "stablehlo.dot_general":
            return None
        key = op.attributes["dot_dimension_numbers"], *[value.type for value in data]
        if key not in self._known:
            self._known[key] = _matrices(*key)
        return self._known[key]


def _matrices(attribute: ir.Attribute, *types: ir.Type) -> Matrices | None:
    of = of_numbers(attribute, (type_.rank for type_ in types))
    if of.lhs.batch or all(type_.rank == 2 for type_ in types):
        return None
    found = [_side(type_, axes) for type_, axes in zip(types, of, strict=True)]
    sides = [side for side in found if side is not None]
    if len(sides) < len(found):
        return None
    matrices, places, sizes = [], [], []
    for type_, (shape, place) in zip(types, sides, strict=True):
        same = list(type_.shape) == shape
        matrices.append(type_ if same else ir.RankedTensorType.get(shape, type_.element_type))
        places.append([place])
        sizes.append(shape[1 - place])
    return Matrices(matrices, dot_numbers(*places), sizes)


def _side(type_: ir.Type, axes: Axes) -> tuple[list[int], int] | None:
    """Returns the shape of an operand as a matrix, and the dimension that is contracted."""
    _, free, summed = axes
    if not type_.has_static_shape or not free or not summed:
        return None
    first, second = sorted((free, summed))
    if first + second != tuple(range(type_.rank)):
        return None
    sizes = [math.prod(type_.shape[d] for d in dims) for dims in (first, second)]
    return sizes, int(second is summed)
