"""Strategies that give operands scales of their own, with which the result is multiplied."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.casts.casts import note_computed, unwidened, widened_from
from scalify_hlo.casts.channels import channels, grouped, independent, joined
from scalify_hlo.casts.matmuls import roles_of
from scalify_hlo.casts.operand_scales import (
    UNSCALED,
    Operand,
    QuantizeRequest,
    dequantize,
    scale_of_terms,
)
from scalify_hlo.casts.partial_sums import PartialSums
from scalify_hlo.casts.propagated import Tensors
from scalify_hlo.casts.results import scaled_type
from scalify_hlo.casts.strategy import CastContext, CastOperand, Formats
from scalify_hlo.dataflow.matmuls import GRADIENT, WEIGHT
from scalify_hlo.dataflow.names import FORWARD
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import Remark
from scalify_hlo.ir import emit
from scalify_hlo.ir.contraction import contraction_of
from scalify_hlo.ir.formats import element_of, is_narrow
from scalify_hlo.ir.locations import remark
from scalify_hlo.ir.traits import CONTRACTED
from scalify_hlo.ir.value_map import ValueCache
from scalify_hlo.recipes.model import KEEP
from scalify_hlo.report.matmuls import PROGRAM
from scalify_hlo.report.model import Report
from scalify_hlo.rules.placement import on_one_device
from scalify_hlo.transforms.marker_barriers import scaled_result


class OwnScales(Tensors):
    """A strategy whose operands have scales of their own; each is cast once for each format.

    Args:
        context: The program.
    """

    inlines: ClassVar[bool] = True

    def __init__(self, context: CastContext) -> None:
        super().__init__(context)
        self._made: ValueCache[Operand] = ValueCache()
        self._requests: list[QuantizeRequest] = []
        self._last: list[Operand] = []
        self._without_rows: dict[tuple[str, str], Remark] = {}
        recipe, module = self._recipe, context.module
        summed = recipe.scaling.in_powers and not on_one_device(module)
        self._sums = PartialSums(module, recipe, context.exchanges) if summed else None

    @abstractmethod
    def operand(self, request: QuantizeRequest) -> Operand:
        """Returns an operand that was not cast before, with its scale."""

    @property
    def count(self) -> int:
        """See `CastStrategy`."""
        return len(self._made)

    def operands(self, op: ir.OpView, formats: Formats) -> Sequence[CastOperand]:
        """See `Tensors`."""
        self._requests = [
            self._request(op, side, format_, role)
            for side, (format_, role) in enumerate(zip(formats, roles_of(op), strict=True))
        ]
        self._last = [self._operand(request) for request in self._requests]
        return [
            operand
            if part is None
            else replace(operand, data=part.joined(operand.data, value, op.operation))
            for operand, part, value in zip(self._last, grouped(op), op.operands, strict=False)
        ]

    def may_swap(self, op: ir.OpView) -> bool:
        """See `Tensors`; those of members and experts may belong to batch dimensions alone."""
        batch = len(contraction_of(op).lhs.batch) if op.name in CONTRACTED else 0
        found = [operand.channels for operand in self._last if operand.channels is not None]
        return all(dim < batch for channels in found for dim in channels.result)

    def _request(self, op: ir.OpView, side: int, format_: str, role: str) -> QuantizeRequest:
        forward = op.attributes[attributes.PART].value == FORWARD
        scaling, found = self._recipe.scaling, None
        rows = scaling.weight_scales if role == WEIGHT else scaling.data_scales
        if scaling.kind != "delayed" and (rows == "row" or (rows == "channel" and forward)):
            found = channels(op, side)
            if found is None:
                key = "weight_scales" if role == WEIGHT else "data_scales"
                message = f"scaling.{key}: the {role} has one scale, as its rows share results"
                told = remark(op, message, f"leave out scaling.{key} for such programs")
                self._without_rows.setdefault((key, op.operation.name), told)
        found = joined(found, independent(op, side, each=scaling.batch == "each"))
        place = op.results[0], side
        kept, gradient = self.kept(op, role), role == GRADIENT
        value, part = op.operands[side], grouped(op)[side]
        value = value if part is None else part.apart(value, op.operation)
        return QuantizeRequest(value, format_, place, found, gradient, kept, self._context.asked)

    def _operand(self, request: QuantizeRequest) -> Operand:
        """Returns the quantized operand; at scale 1 if the program has it in the format already."""
        name, value = request.format, unwidened(request.value)
        if value == request.value:
            note_computed(value)
        request = replace(request, value=value)
        # A model that rounds its values writes two converts.
        for own in (value, widened_from(value)):
            if own is not None and str(own.type.element_type) == name:
                return Operand(own, PROGRAM, UNSCALED)
        channels = request.channels
        key = value, name, None if channels is None else channels.dims
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._new(request)
        return made if made.channels is None else replace(made, channels=channels)

    def _new(self, request: QuantizeRequest) -> Operand:
        """Returns an operand whose cast is new, or stands before collectives."""
        value, exchanges = request.value, self._context.exchanges
        source = value if request.channels is not None else exchanges.source(value)
        if source == value:
            return self.operand(request)
        made = self._operand(replace(request, value=source))
        return replace(made, data=exchanges.moved(value, made.data))

    def element(self, old: ir.Type, _: Formats) -> ir.Type:
        """See `Tensors`; the scales are applied in this type."""
        return scaled_type(old, self._recipe)

    def result(self, value: ir.Value, at: ir.Operation) -> ir.Value:
        """See `Tensors`."""
        part = grouped(at.opview)[2]
        if part is not None:
            apart = dequantize(part.apart(value, at), self._last, at)
            return self._rounded(part.joined(apart, value, at), at)
        made = dequantize(value, self._last, at)
        if self._sums is not None:
            self._sums.note(made, value, roles_of(at.opview), self._requests, self._last)
        single = all(operand.channels is None for operand in self._last)
        if self._context.asked and single and is_narrow(at.results[0].type):
            formats = [request.format for request in self._requests]
            terms = [request.value for request in self._requests]
            made = scaled_result(made, scale_of_terms(self._last, formats, at), terms, at)
        return self._rounded(made, at)

    def _rounded(self, value: ir.Value, at: ir.Operation) -> ir.Value:
        output = self._recipe.matmul.output
        return value if output in (KEEP, "f32") else emit.convert(value, element_of(output), at)

    def finish(self, report: Report) -> None:
        """See `CastStrategy`."""
        if self._sums is not None:
            self._sums.join()
        report.remarks += self._without_rows.values()
        super().finish(report)
