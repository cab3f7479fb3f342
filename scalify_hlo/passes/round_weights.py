"""scalify-round-weights: rounds weights up or down at random where they are cast for storage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from scalify_hlo._compat import ir
from scalify_hlo.analysis.index import ModuleIndex
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.passes.base import Pass
from scalify_hlo.quantize.blocks.stochastic import FIRST_WEIGHT, Steps, drawn, rounded
from scalify_hlo.report.model import Report
from scalify_hlo.rules import emit

_CONVERT: Final = "stablehlo.convert"


@dataclass(frozen=True)
class RoundWeightsPass(Pass):
    """Rounds the weights that `scalify-narrow-state` marked, after `scalify-propagate`.

    Only then the data have the scale at which they are stored. They are rounded to numbers of the
    format of the cast, which the cast keeps.
    """

    name: ClassVar[str] = "scalify-round-weights"

    def apply(self, module: ir.Operation, _: ModuleIndex, __: Report) -> None:
        """See `Pass.apply`."""
        main = main_function(module)
        if main is None or not main.regions[0].blocks:
            return
        marked = attributes.ROUNDED
        casts = [
            op.operation
            for op in main.regions[0].blocks[0].operations
            if op.operation.name == _CONVERT and marked in op.attributes
        ]
        steps = Steps(module) if casts else None
        for op in casts:
            number = ir.IntegerAttr(op.attributes[marked]).value
            del op.attributes[marked]
            if steps is not None:
                _round(op, number, steps)


def _round(op: ir.Operation, number: int, steps: Steps) -> None:
    """Rounds the operand of a cast to a number of the format of its result."""
    wide = emit.convert(op.operands[0], ir.F32Type.get(), op)
    words = drawn(steps.word(wide, op), FIRST_WEIGHT + number)
    op.operands[0] = rounded(wide, str(op.results[0].type.element_type), words, op)
