"""scalify-cast-again: casts weights again where they are updated, for the backward pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.analysis.index import ModuleIndex
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.passes.base import Pass
from scalify_hlo.quantize.collapse_dims import on_one_device
from scalify_hlo.quantize.second_casts import cast_again
from scalify_hlo.report.model import Report


@dataclass(frozen=True)
class CastAgainPass(Pass):
    """Casts large weights a second time, so that no copy is kept for the backward pass.

    It is for devices that read both operands of an FP8 matmul along the summed dimension. It comes
    after scale propagation, which visits each cast once.
    """

    name: ClassVar[str] = "scalify-cast-again"

    def apply(self, module: ir.Operation, _: ModuleIndex, __: Report) -> None:
        """See `Pass.apply`."""
        main = main_function(module)
        if main is not None and main.regions[0].blocks and on_one_device(module):
            cast_again(main.regions[0].blocks[0])
