"""scalify-verify: checks that the output is valid StableHLO without attributes of the passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import InputError
from scalify_hlo.ir.functions import main_function
from scalify_hlo.ir.locations import source_location
from scalify_hlo.passes.base import Pass
from scalify_hlo.report.model import Report
from scalify_hlo.transforms.strip_attributes import casts_left


@dataclass(frozen=True)
class VerifyPass(Pass):
    """Checks that a program is ready for any consumer of StableHLO."""

    name: ClassVar[str] = "scalify-verify"

    def apply(self, module: ir.Operation, index: ModuleIndex, _: Report) -> None:
        """See `Pass.apply`."""
        _verify(module)
        if index.casts:
            _refuse_casts(module)
        main = main_function(module)
        if main is None:
            return
        left = attributes.remaining_attributes(main)
        if left:
            raise InputError(
                f"attributes of the rewriter are left on @main: {', '.join(left)}",
                hint="before it, run scalify-propagate, scalify-join-scale-arrays and "
                "scalify-pack-moments",
            )


def _refuse_casts(module: ir.Operation) -> None:
    """Raises an error for a cast that was not rewritten, and therefore does not saturate."""
    left = casts_left(module)
    if left:
        raise InputError(
            "a cast of the recipe, or a constant in its place, is left as it was",
            location=source_location(left[0].location),
            hint="run scalify-propagate after scalify-quantize-matmuls, with the same recipe, and "
            "scalify-round-state after it",
        )


def _verify(module: ir.Operation) -> None:
    try:
        module.verify()
    except ir.MLIRError as error:
        first = error.error_diagnostics[0]
        raise InputError(
            f"the module is not valid: {first.message}",
            location=source_location(first.location),
            hint="if the input is valid, this is a fault of the rewriter; please report it",
        ) from None
