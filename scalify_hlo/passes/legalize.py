"""scalify-legalize: expands CHLO into StableHLO, for consumers that do not have CHLO."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.passes.base import Pass
from scalify_hlo.report.model import Report
from scalify_hlo.transforms.chlo import expand
from scalify_hlo.transforms.ragged import raise_composites


@dataclass(frozen=True)
class LegalizePass(Pass):
    """Expands ops of CHLO, unless `scalify-normalize` found none.

    Attributes:
        expand: Whether ops are expanded.
        composites: Whether ragged matmuls become composites: all of them if ops are expanded, and
            otherwise those that were composites in the original program.
    """

    name: ClassVar[str] = "scalify-legalize"
    expand: bool = True
    composites: bool = False

    def apply(self, module: ir.Operation, index: ModuleIndex, _: Report) -> None:
        """See `Pass.apply`."""
        if index.counted and not any(op.startswith("chlo.") for op in index.ops):
            return
        if self.composites:
            raise_composites(module, every=self.expand)
        if self.expand:
            expand(module)
