"""scalify-quantize-constants: folds casts of constants into constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.casts.constant_folding import CONVERT, Quantizer, is_cast
from scalify_hlo.dataflow.index import LISTING, ModuleIndex
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.base import Pass
from scalify_hlo.report.model import Report


@dataclass(frozen=True)
class QuantizePass(Pass):
    """Replaces casts of constants, which a recipe inserted, by constants of low precision.

    The pass does nothing if `scalify-normalize` found no constant other than splats.

    Attributes:
        saturate: Whether numbers beyond the range of a format become its largest number.
    """

    name: ClassVar[str] = "scalify-quantize-constants"
    preserves: ClassVar[frozenset[str]] = frozenset({LISTING})
    saturate: bool = True

    def apply(self, module: ir.Operation, index: ModuleIndex, _: Report) -> None:
        """See `Pass.apply`."""
        if index.counted and not index.dense:
            return
        found = _casts(module)
        if not found:
            return
        index.invalidate()
        casts = Quantizer(module, saturate=self.saturate)
        if casts.functions.hoist_casts():
            found = _casts(module)
        for op in found:
            casts.cast(op)
        casts.clean()


def _casts(module: ir.Operation) -> list[ir.Operation]:
    """Returns the casts that a recipe inserted, without those of second moments and of values.

    The scales of these are chosen in another way.
    """
    functions = functions_in(module).values()
    return [op for function in functions for op in ops_in(function, {CONVERT}, where=is_cast)]
