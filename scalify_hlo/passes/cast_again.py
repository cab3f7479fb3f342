"""scalify-cast-again: computes casts that are read in two orders where no wide copy is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.analysis.frames import named
from scalify_hlo.analysis.index import ModuleIndex
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.passes.base import Pass
from scalify_hlo.quantize.collapse_dims import on_one_device
from scalify_hlo.quantize.normalized_arguments import part_statistics
from scalify_hlo.quantize.second_casts import cast_again
from scalify_hlo.report.model import Report


@dataclass(frozen=True)
class CastAgainPass(Pass):
    """Casts large weights a second time, so that no copy is kept for the backward pass.

    Nor is a wide copy kept of an argument that is normalized before it is cast. The pass is for
    devices that read both operands of an FP8 matmul along the summed dimension. It comes after
    scale propagation, which visits each cast once.
    """

    name: ClassVar[str] = "scalify-cast-again"

    def apply(self, module: ir.Operation, _: ModuleIndex, __: Report) -> None:
        """See `Pass.apply`."""
        main = main_function(module)
        if main is not None and main.regions[0].blocks and on_one_device(module):
            block = main.regions[0].blocks[0]
            ops = named(block)
            cast_again(block, ops)
            part_statistics(ops)
