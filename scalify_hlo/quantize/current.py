"""Current scales: they follow from the amax of operands at run time, as in Transformer Engine."""

from __future__ import annotations

from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.algebra.limits import MOST_MARGIN, SMALLEST_AMAX
from scalify_hlo.quantize.constant_operands import ConstantOperands
from scalify_hlo.quantize.operand_scales import Operand, QuantizeRequest, Quantizing, inverse_scale
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.model import Report
from scalify_hlo.rules.devices import devices_of
from scalify_hlo.rules.statistics import Emitter, statistic


class Current:
    """The provider of scales from the amax of each operand; constants are folded.

    Args:
        recipe: The recipe.
        constants: The constant operands of the program.
    """

    def __init__(self, recipe: Recipe, constants: ConstantOperands) -> None:
        self._recipe, self._constants, self._count = recipe, constants, 0

    def operand(self, request: QuantizeRequest) -> Operand:
        """See `scalify_hlo.quantize.operand_scales.ScaleProvider`."""
        scaling = self._recipe.scaling
        constant = self._constants.operand(request) if scaling.power_2_scale else None
        if constant is not None:
            return constant
        self._count += 1
        quantizing, channels = Quantizing(request, self._recipe), request.channels
        value = request.value
        dims = () if channels is None else channels.dims
        devices = devices_of(quantizing.at.opview)
        amax = statistic(value, "max", quantizing.at, wide=False, devices=devices, kept=dims)
        emitter = Emitter(quantizing.at, wide=False, shape=amax.type.shape)
        largest = FORMATS[request.format].scaled_amax * 2.0**-scaling.margin
        if scaling.power_2_scale and 0 <= scaling.margin <= MOST_MARGIN:
            bounded = emitter.maximum(emitter.kept(amax), emitter.number(SMALLEST_AMAX))
            inverse = emitter.inverse_scale(bounded, largest)
            return quantizing.operand(value, inverse, emitter.reciprocal(inverse))
        inverse = inverse_scale(amax, emitter.number(largest), emitter, scaling)
        return quantizing.operand(
            value, *emitter.kept_together(inverse, emitter.divide(emitter.number(1.0), inverse))
        )

    def finish(self, report: Report) -> None:
        """Erases the constants without uses, and reports the statistics."""
        self._constants.clean()
        report.statistics += self._count
