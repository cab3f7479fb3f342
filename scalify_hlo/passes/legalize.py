"""scalify-legalize: what is left of CHLO becomes StableHLO, for consumers that know no CHLO."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.passes.base import Pass
from scalify_hlo.passes.chlo import expand
from scalify_hlo.passes.ragged import raise_composites
from scalify_hlo.passes.report import Report


@dataclass(frozen=True)
class LegalizePass(Pass):
    """Expands the ops of CHLO that are left, unless `scalify-normalize` saw none.

    Attributes:
        expand: Whether it does so.
        composites: Whether ragged matmuls become composites, those that were if nothing is
            expanded, and else all.
    """

    name: ClassVar[str] = "scalify-legalize"
    expand: bool = True
    composites: bool = False

    def apply(self, module: ir.Operation, report: Report) -> None:
        """See `Pass.apply`."""
        if report.ops and not any(op.startswith("chlo.") for op in report.ops):
            return
        if self.composites:
            raise_composites(module, every=self.expand)
        if self.expand:
            expand(module)
