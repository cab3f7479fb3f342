"""scalify-normalize: brings a program to the ops that have rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scalify_hlo._compat import ir, passmanager, register_passes
from scalify_hlo.passes.base import Pass
from scalify_hlo.passes.report import Report


@dataclass(frozen=True)
class NormalizePass(Pass):
    """Counts the ops of the program, and expands CHLO if there is any."""

    name: ClassVar[str] = "scalify-normalize"

    def apply(self, module: ir.Operation, report: Report) -> None:
        """See `Pass.apply`."""
        _count(module, report)
        if any(op.startswith("chlo.") for op in report.ops):
            register_passes()
            pipeline = "builtin.module(func.func(chlo-legalize-to-stablehlo))"
            passmanager.PassManager.parse(pipeline).run(module)


def _count(operation: ir.Operation, report: Report) -> None:
    counts = report.ops
    for region in operation.regions:
        for block in region.blocks:
            for op in block.operations:
                inner = op.operation
                counts[inner.name] += 1
                if len(inner.regions):
                    _count(inner, report)
