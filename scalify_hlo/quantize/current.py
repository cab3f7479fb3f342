"""Current scales: of what operands are when the program runs, as in Transformer Engine."""

from __future__ import annotations

from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.quantize.constant_operands import ConstantOperands
from scalify_hlo.quantize.operand_scales import Operand, QuantizeRequest, Quantizing, inverse_scale
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.model import Report
from scalify_hlo.rules.devices import devices_of
from scalify_hlo.rules.placement import share_sharding
from scalify_hlo.rules.statistics import Emitter, statistic


class Current:
    """An amax for each operand; constants of the program have theirs worked out.

    Args:
        recipe: Has the options.
        constants: Those of the program.
    """

    def __init__(self, recipe: Recipe, constants: ConstantOperands) -> None:
        self._recipe, self._constants, self._count = recipe, constants, 0

    def operand(self, wanted: QuantizeRequest) -> Operand:
        """See `scalify_hlo.quantize.operand_scales.ScaleProvider`."""
        scaling = self._recipe.scaling
        constant = self._constants.operand(wanted) if scaling.power_2_scale else None
        if constant is not None:
            return constant
        self._count += 1
        quantizing, channels = Quantizing(wanted, self._recipe), wanted.channels
        kept = quantizing.emitter.kept(wanted.value)
        share_sharding(wanted.value, kept)
        dims = () if channels is None else channels.dims
        devices = devices_of(quantizing.at.opview)
        amax = statistic(kept, "max", quantizing.at, wide=False, devices=devices, kept=dims)
        emitter = Emitter(quantizing.at, wide=False, shape=amax.type.shape)
        largest = emitter.number(FORMATS[wanted.format].max_finite * 2.0**-scaling.margin)
        inverse = inverse_scale(amax, largest, emitter, scaling)
        one = emitter.number(1.0)
        if scaling.power_2_scale:
            # Both are quotients, which XLA copies into no other kernel.
            scale = emitter.kept(emitter.divide(one, inverse))
            inverse = emitter.divide(one, scale)
            return quantizing.operand(kept, inverse, scale)
        return quantizing.operand(
            kept, *emitter.kept_together(inverse, emitter.divide(one, inverse))
        )

    def finish(self, report: Report) -> None:
        """Erases the constants that nothing takes any more, and reports the statistics."""
        self._constants.clean()
        report.statistics += self._count
