"""scalify-round-results: casts results of matmuls to f8 where kernels of matmuls can write f8."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.analysis.index import ModuleIndex
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.passes.base import Pass
from scalify_hlo.quantize.collapse_dims import on_one_device
from scalify_hlo.quantize.rounded_results import round_results
from scalify_hlo.report.model import Report


@dataclass(frozen=True)
class RoundResultsPass(Pass):
    """Moves casts to f8 right behind the matmuls whose results they round.

    It comes after scale propagation, which leaves factors between a matmul and a cast.
    """

    name: ClassVar[str] = "scalify-round-results"

    def apply(self, module: ir.Operation, _: ModuleIndex, __: Report) -> None:
        """See `Pass.apply`."""
        main = main_function(module)
        if main is not None and main.regions[0].blocks and on_one_device(module):
            round_results(main.regions[0].blocks[0])
