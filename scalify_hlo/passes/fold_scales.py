"""scalify-fold-scales: removes what the split left behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scalify_hlo._compat import ir, passmanager
from scalify_hlo.passes.base import Pass
from scalify_hlo.passes.report import Report


@dataclass(frozen=True)
class FoldScalesPass(Pass):
    """Drops private functions of which only scaled copies are called."""

    name: ClassVar[str] = "scalify-fold-scales"

    def apply(self, module: ir.Operation, report: Report) -> None:
        """See `Pass.apply`."""
        del report
        if len(module.regions[0].blocks[0].operations) > 1:
            passmanager.PassManager.parse("builtin.module(symbol-dce)").run(module)
