"""Replaces matmuls by matmuls of narrow operands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.analysis.matmuls import GRADIENT, WEIGHT
from scalify_hlo.analysis.names import FORWARD
from scalify_hlo.analysis.sizes import Extent
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.algorithms import dot_algorithm
from scalify_hlo.dialect.contraction import NUMBERS, contraction_of, of_numbers
from scalify_hlo.dialect.formats import element_of, format_of
from scalify_hlo.dialect.traits import CONTRACTED
from scalify_hlo.dialect.value_map import erase, replace_op
from scalify_hlo.quantize.casts import Casts, unwidened, widened_from
from scalify_hlo.quantize.channels import channels, grouped, independent, joined
from scalify_hlo.quantize.collapse_dims import Flattening
from scalify_hlo.quantize.exchanges import Exchanges
from scalify_hlo.quantize.operand_scales import (
    Operand,
    Operands,
    QuantizeRequest,
    dequantize,
    scale_of_terms,
)
from scalify_hlo.quantize.partial_sums import PartialSums
from scalify_hlo.quantize.result_types import propagated_type, round_at_once, scaled_type
from scalify_hlo.quantize.transposed_products import (
    marks_of_swapped,
    replace_transpose,
    transpose_of,
)
from scalify_hlo.recipes.model import KEEP, MatmulOptions, Recipe
from scalify_hlo.report.matmuls import CONSTANT, OperandScale
from scalify_hlo.rules import emit
from scalify_hlo.rules.cast_scales import write_reader
from scalify_hlo.transforms.marker_barriers import scaled_result

Formats: TypeAlias = tuple[str, str]
Scales: TypeAlias = tuple[OperandScale | None, OperandScale | None]
MARKS = frozenset(
    {
        *(attributes.ROLES, attributes.SITE, attributes.VOCABULARY, attributes.LAST),
        *(attributes.MEMBERS, attributes.INDEPENDENT),
    }
)
"""The attributes that `scalify-roles` writes on matmuls for this pass."""
_DROPPED = MARKS | {attributes.STATE_GRADIENT, "algorithm", "precision_config"}


class Casting(Protocol):
    """Casts of the operands and the result of a matmul."""

    @property
    def count(self) -> int:
        """The number of inserted casts."""

    @property
    def scales(self) -> Scales:
        """The scales of the operands of the last `operands`, as far as they are known by now."""

    @property
    def scaled(self) -> bool:
        """Whether no scale of the last `operands` belongs to a free dimension of the result."""

    def operands(self, op: ir.OpView, formats: Formats) -> list[ir.Value]:
        """Returns the two operands of a matmul in narrow formats."""

    def element(self, old: ir.Type, formats: Formats, /) -> ir.Type:
        """Returns the element type of the narrow matmul, given that of the original matmul."""

    def finished(self, result: ir.Value, at: ir.Operation, /) -> ir.Value:
        """Returns the result of the narrow matmul of the last `operands`, in the output format."""


class Quantizer(Protocol):
    """Replaces matmuls by matmuls of narrow operands."""

    @property
    def count(self) -> int:
        """The number of inserted casts."""

    @property
    def scales(self) -> Scales:
        """The scales of the operands of the last quantized matmul."""

    def narrow(self, op: ir.OpView, formats: Formats, extent: Extent, /) -> list[ir.OpView]:
        """Replaces a matmul; see `MatmulQuantizer.narrow`."""


class Propagated:
    """Casts for propagated scales.

    Args:
        casts: The casts of the module.
        recipe: The options of matmuls.
        exchanges: The collectives that casts stand before.
        listed: Whether the report lists the scales, which propagation finds.
        apart: Whether casts are kept apart from transposes; see `_kept`.
    """

    count = 0
    scaled = False

    def __init__(
        self,
        casts: Casts,
        recipe: MatmulOptions,
        exchanges: Exchanges,
        *,
        listed: bool = False,
        apart: bool = False,
    ) -> None:
        self._casts, self._output, self._listed = casts, recipe.output, listed
        self._exchanges, self._apart = exchanges, apart
        self.scales: Scales = (None, None)

    def operands(self, op: ir.OpView, formats: Formats) -> list[ir.Value]:
        """See `Casting`."""
        values = [_source(value, f) for value, f in zip(op.operands, formats, strict=False)]
        made = [
            self._cast(op, side, value, format_)
            for side, (value, format_) in enumerate(zip(values, formats, strict=False))
        ]
        if self._listed and attributes.MATMUL in op.attributes:
            number = ir.IntegerAttr(op.attributes[attributes.MATMUL]).value
            self.scales = _noted(made[0], number, 0), _noted(made[1], number, 1)
        return list(map(self._exchanges.moved, values, made))

    def _cast(self, op: ir.OpView, side: int, value: ir.Value, format_: str) -> ir.Value:
        """Returns the data of an operand."""
        role = roles_of(op)[side]
        kind = attributes.GRADIENT if role == GRADIENT else attributes.DATA
        kept = _kept(op, role, apart=self._apart)
        return self._casts.cast(self._exchanges.source(value), format_, kind, kept=kept)

    def element(self, old: ir.Type, formats: Formats) -> ir.Type:
        """See `Casting`."""
        return propagated_type(old, self._output, small=all(map(is_small, formats)))

    def finished(self, result: ir.Value, _: ir.Operation) -> ir.Value:
        """See `Casting`."""
        return self._casts.cast(result, "f16") if self._output == "f16" else result


def _noted(data: ir.Value, number: int, side: int) -> OperandScale:
    """Returns the scale of an operand as known before propagation, which visits its cast."""
    cast = data.owner
    if not isinstance(cast, ir.Block) and cast.name == "stablehlo.optimization_barrier":
        cast = cast.operands[0].owner
    if isinstance(cast, ir.Block) or attributes.CAST not in cast.attributes:
        return OperandScale("program")
    write_reader(cast, number, side)
    return OperandScale(CONSTANT)  # The cast of a constant is folded before.


def _text(operand: Operand) -> str:
    """Returns the scale of an operand as text if it is one known power of two, or an empty text."""
    known = operand.scale is None and operand.state is None and not operand.exponents.ndim
    return f"2^{int(operand.exponents)}" if known else ""


class QuantizedOperands:
    """Casts for operands that have their own scales, with which the result is multiplied.

    Args:
        operands: The quantized operands of the module.
        recipe: The recipe, which says whether weights have a scale for each output channel.
        sums: Gets the matmuls whose results may be parts of sums; None if there are none.
        apart: Whether casts are kept apart from transposes; see `_kept`.
        asked: Whether the author may have asked for scales in a program with narrow formats, and
            the recipe predicts no sizes.
    """

    def __init__(
        self,
        operands: Operands,
        recipe: Recipe,
        sums: PartialSums | None = None,
        *,
        apart: bool = False,
        asked: bool = False,
    ) -> None:
        self._operands, self._recipe, self._apart = operands, recipe, apart
        self._sums, self._asked = sums, asked
        self._requests: Sequence[QuantizeRequest] = ()
        self._last: Sequence[Operand] = ()
        self._batch = 0

    @property
    def count(self) -> int:
        """See `Casting`."""
        return self._operands.count

    @property
    def scales(self) -> Scales:
        """See `Casting`."""
        lhs, rhs = (OperandScale(operand.origin, _text(operand)) for operand in self._last)
        return lhs, rhs

    @property
    def scaled(self) -> bool:
        """See `Casting`; those of members and experts may belong to batch dimensions alone."""
        found = [operand.channels for operand in self._last if operand.channels is not None]
        return all(dim < self._batch for channels in found for dim in channels.result)

    def operands(self, op: ir.OpView, formats: Formats) -> list[ir.Value]:
        """See `Casting`."""
        self._requests = [
            self._request(op, side, format_, role)
            for side, (format_, role) in enumerate(zip(formats, roles_of(op), strict=True))
        ]
        self._last = [self._operands.get(request) for request in self._requests]
        self._batch = len(contraction_of(op).lhs.batch) if op.name in CONTRACTED else 0
        return [
            operand.data if part is None else part.joined(operand.data, value, op.operation)
            for operand, part, value in zip(self._last, grouped(op), op.operands, strict=False)
        ]

    def _request(self, op: ir.OpView, side: int, format_: str, role: str) -> QuantizeRequest:
        forward = op.attributes[attributes.PART].value == FORWARD
        scaling = self._recipe.scaling
        single = scaling.weight_scales == "tensor" or scaling.kind == "delayed"
        found = None if single or role != WEIGHT or not forward else channels(op, side)
        found = joined(found, independent(op, side, each=scaling.batch == "each"))
        place = op.results[0], side
        kept, gradient = _kept(op, role, apart=self._apart), role == GRADIENT
        value, part = op.operands[side], grouped(op)[side]
        value = value if part is None else part.apart(value, op.operation)
        return QuantizeRequest(value, format_, place, found, gradient, kept, self._asked)

    def element(self, old: ir.Type, _: Formats) -> ir.Type:
        """See `Casting`; the scales are applied in this type."""
        return scaled_type(old, self._recipe)

    def finished(self, result: ir.Value, at: ir.Operation) -> ir.Value:
        """See `Casting`."""
        part = grouped(at.opview)[2]
        if part is not None:
            apart = dequantize(part.apart(result, at), self._last, at)
            return self._rounded(part.joined(apart, result, at), at)
        value = dequantize(result, self._last, at)
        if self._sums is not None:
            self._sums.note(value, result, roles_of(at.opview), self._requests, self._last)
        rounded = format_of(at.results[0].type)
        single = all(operand.channels is None for operand in self._last)
        if self._asked and single and rounded is not None and not rounded.wide:
            formats = [request.format for request in self._requests]
            terms = [request.value for request in self._requests]
            value = scaled_result(value, scale_of_terms(self._last, formats, at), terms, at)
        return self._rounded(value, at)

    def _rounded(self, value: ir.Value, at: ir.Operation) -> ir.Value:
        output = self._recipe.matmul.output
        return value if output in (KEEP, "f32") else emit.convert(value, element_of(output), at)


class ApartMembers:
    """Casts with propagated scales, and with scales of their own for independent members.

    A predicted size is one number for all members. If one of them diverges, that is wrong for it,
    and a size that is measured is wrong for all others.

    Args:
        propagated: The casts with propagated scales.
        own: The casts for the operands of matmuls that have members.
        mark: The attribute of these matmuls.
    """

    def __init__(self, propagated: Casting, own: Casting, mark: str) -> None:
        self._propagated, self._own, self._mark = propagated, own, mark
        self._now = propagated

    @property
    def count(self) -> int:
        """See `Casting`."""
        return self._propagated.count + self._own.count

    @property
    def scales(self) -> Scales:
        """See `Casting`."""
        return self._now.scales

    @property
    def scaled(self) -> bool:
        """See `Casting`."""
        return self._now.scaled

    def operands(self, op: ir.OpView, formats: Formats) -> list[ir.Value]:
        """See `Casting`."""
        narrow = not all(FORMATS[format_].wide for format_ in formats)
        apart = self._mark in op.attributes and narrow
        self._now = self._own if apart else self._propagated
        return self._now.operands(op, formats)

    def element(self, old: ir.Type, formats: Formats) -> ir.Type:
        """See `Casting`."""
        return self._now.element(old, formats)

    def finished(self, result: ir.Value, at: ir.Operation) -> ir.Value:
        """See `Casting`."""
        return self._now.finished(result, at)


class MatmulQuantizer:
    """Replaces matmuls by matmuls of narrow operands.

    Args:
        casting: The casts of operands and results.
        flattening: Finds matmuls of matrices for 8-bit operands; None to keep all dimensions.
        algorithms: Whether matmuls of 8-bit operands get the attribute ``algorithm``.
        keeps: Whether results keep the types in which the program reads them.
    """

    def __init__(
        self, casting: Casting, flattening: Flattening | None, *, algorithms: bool, keeps: bool
    ) -> None:
        self._casting, self._flattening = casting, flattening
        self._with_algorithms, self._keeps = algorithms, keeps
        self._algorithms: dict[tuple[Formats, bool], ir.Attribute | None] = {}

    @property
    def count(self) -> int:
        """The number of inserted casts."""
        return self._casting.count

    @property
    def scales(self) -> Scales:
        """The scales of the operands of the last quantized matmul."""
        return self._casting.scales

    def narrow(self, op: ir.OpView, formats: Formats, extent: Extent) -> list[ir.OpView]:
        """Replaces a matmul by a narrow one.

        Args:
            op: The matmul.
            formats: The formats of the operands.
            extent: M, N and K of the matmul.

        Returns:
            The ops with marks: the narrow matmul, and the op that makes its final result, if that
            is the gradient of a weight.
        """
        operands, old = list(op.operands), op.results[0]
        if self._keeps and all(map(is_small, formats)):
            round_at_once(old)
        data = self._casting.operands(op, formats)
        transpose = transpose_of(op) if self._casting.scaled else None
        matmul, whole = self._matmul(op, data, formats, extent, transpose)
        made = self._casting.finished(whole, op.operation)
        element = old.type.element_type
        if made.type.element_type != element:
            made = emit.convert(made, element, op.operation)
        marked = [matmul]
        if attributes.STATE_GRADIENT in op.attributes:
            numbers = op.attributes[attributes.STATE_GRADIENT]
            made.owner.attributes[attributes.STATE_GRADIENT] = numbers
            # Other converts may be erased if only quantized matmuls use them.
            marked += [made.owner] if made != matmul.results[0] else []
        if transpose is not None:
            gradients = replace_transpose(transpose, made)
            marked += gradients if made != matmul.results[0] else []
            erase(op)
        else:
            replace_op(op, [made])
        _erase_widened(operands, data)
        return marked

    def _matmul(
        self,
        op: ir.OpView,
        data: Sequence[ir.Value],
        formats: Formats,
        extent: Extent,
        transpose: ir.Operation | None,
    ) -> tuple[ir.OpView, ir.Value]:
        """Returns the matmul of data, and its result in the shape of the original one.

        If the operands are swapped, the shape is that of the transpose.
        """
        old = (op if transpose is None else transpose).results[0].type
        element = self._casting.element(old.element_type, formats)
        same = element == old.element_type
        whole = old if same else ir.RankedTensorType.get(old.shape, element, old.encoding)
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
        return matmul.opview, result

    def _attributes(self, op: ir.OpView, formats: Formats, extent: Extent) -> attributes.Attributes:
        kept = {key: value for key, value in attributes.all_of(op).items() if key not in _DROPPED}
        is_dot = op.operation.name == "stablehlo.dot_general"
        if self._with_algorithms and is_dot and _has_kernel(formats, extent):
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


def _kept(op: ir.OpView, role: str, *, apart: bool) -> bool:
    """Whether a barrier stands behind the cast of an operand; see `barrier_after`.

    XLA passes the operands of a dot to a kernel in f8, so that a cast is made for all dots that
    read it. It may compute other ops in wider formats, in a fusion with the cast of a gradient.

    If a device transposes operands, XLA transposes in the kernel of the cast. On an H200, that
    kernel takes longer than one for the cast and one for the transpose of its result: 3.6 times as
    long as its bytes for the gradient of a softmax over a vocabulary.
    """
    if op.operation.name == "stablehlo.dot_general":
        return apart
    return role == GRADIENT


def _source(value: ir.Value, format_: str) -> ir.Value:
    """Returns the value that is cast to a format in the place of an operand."""
    return unwidened(value) if is_small(format_) else value


def _erase_widened(operands: Sequence[ir.Value], data: Sequence[ir.Value]) -> None:
    """Erases the converts that matmuls no longer read; those of constants go with these."""
    widened: list[ir.Value] = []
    for value, narrow_value in zip(operands, data, strict=False):
        widened += [each for each in _passed(value, narrow_value) if each not in widened]
    for value in widened:
        if next(iter(value.uses), None) is None:
            erase(value.owner)


def _passed(value: ir.Value, data: ir.Value) -> Iterator[ir.Value]:
    """Yields an operand and those that it was widened from, up to the one that was cast."""
    end = unwidened(value)
    source = widened_from(value)
    while value != end and source is not None:
        yield value
        value, source = source, widened_from(source)
    if source is not None and source == data:
        yield value


def roles_of(op: ir.OpView) -> list[str]:
    """Returns the roles of a matmul's operands."""
    return attributes.texts(op.attributes[attributes.ROLES])


def is_small(format_: str) -> bool:
    """Whether a format has at most 8 bits."""
    return format_ in FORMATS and FORMATS[format_].small


def _has_kernel(formats: Formats, extent: Extent) -> bool:
    """Whether a matmul may have an algorithm; XLA has none for vectors, and refuses the program.

    A size that is not static may be 1.
    """
    return all(map(is_small, formats)) and extent.m.least > 1 and extent.n.least > 1
