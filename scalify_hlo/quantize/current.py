"""Current scales: they follow from the amax of operands at run time, as in Transformer Engine."""

from __future__ import annotations

from scalify_hlo.algebra.formats import FORMATS
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
        largest = emitter.number(FORMATS[request.format].max_finite * 2.0**-scaling.margin)
        inverse = inverse_scale(amax, largest, emitter, scaling)
        one = emitter.number(1.0)
        if scaling.power_2_scale:
            # Both are quotients, which XLA does not copy into other kernels.
            scale = emitter.kept(emitter.divide(one, inverse))
            inverse = emitter.divide(one, scale)
            return quantizing.operand(value, inverse, scale)
        return quantizing.operand(
            value, *emitter.kept_together(inverse, emitter.divide(one, inverse))
        )

    def finish(self, report: Report) -> None:
        """Erases the constants without uses, and reports the statistics."""
        self._constants.clean()
        report.statistics += self._count
