"""scalify-order-dims: orders the dimensions of matmuls so that no large tensor is transposed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.analysis.index import ModuleIndex
from scalify_hlo.passes.base import Pass
from scalify_hlo.quantize.collapse_dims import on_one_device
from scalify_hlo.report.model import Report
from scalify_hlo.transforms.cast_order import order_casts
from scalify_hlo.transforms.matmul_dims import order_dims


@dataclass(frozen=True)
class OrderDimsPass(Pass):
    """Orders the dimensions of matmuls as those of their largest tensor, for GPUs.

    It comes after all casts and scales, between a matmul and what reads it, are in their places.
    """

    name: ClassVar[str] = "scalify-order-dims"

    def apply(self, module: ir.Operation, _: ModuleIndex, report: Report) -> None:
        """See `Pass.apply`."""
        report.ordered += order_dims(module, sums=True)
        if on_one_device(module):
            order_casts(module)
