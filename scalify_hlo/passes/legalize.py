"""scalify-legalize: what is left of CHLO becomes StableHLO, for consumers that know no CHLO."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.passes.base import Pass
from scalify_hlo.passes.chlo import expand
from scalify_hlo.passes.report import Report


@dataclass(frozen=True)
class LegalizePass(Pass):
    """Expands the ops of CHLO that are left, unless `scalify-normalize` saw none."""

    name: ClassVar[str] = "scalify-legalize"

    def apply(self, module: ir.Operation, report: Report) -> None:
        """See `Pass.apply`."""
        if not report.ops or any(op.startswith("chlo.") for op in report.ops):
            expand(module)
