"""scalify-late-factors: applies the scales of partial sums behind the exchange of the parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.analysis.index import ModuleIndex
from scalify_hlo.passes.base import Pass
from scalify_hlo.quantize.collapse_dims import on_one_device
from scalify_hlo.report.model import Report
from scalify_hlo.transforms.late_factors import LateFactors


@dataclass(frozen=True)
class LateFactorsPass(Pass):
    """Moves scales of FP8 matmuls behind sums and shardings in programs for several devices.

    It comes after scale propagation, which leaves factors behind matmuls.
    """

    name: ClassVar[str] = "scalify-late-factors"

    def apply(self, module: ir.Operation, _: ModuleIndex, __: Report) -> None:
        """See `Pass.apply`."""
        if not on_one_device(module):
            LateFactors().move(module)
