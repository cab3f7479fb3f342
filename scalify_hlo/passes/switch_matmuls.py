"""scalify-switch-matmuls: keeps a wide copy beside each matmul, and a switch for each site."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.casts.matmuls import LEFT, MARKS, Site, clear, marked_ops
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.traits import MATMULS
from scalify_hlo.ir.value_map import replace_uses
from scalify_hlo.passes.base import Pass
from scalify_hlo.report.model import Report


@dataclass(frozen=True)
class SwitchMatmulsPass(Pass):
    """Selects the result of each matmul with roles, or that of a copy without roles.

    The copy stays wide, so that a quantized matmul and a wide one read the same values. The switch
    is a constant, true for the matmul, that has the name of its site: ``scalify.switch``. A select
    passes bits, so the program computes what it computes without copies. `blame` replaces the
    constants, and runs one program with any sites in low precision.
    """

    name: ClassVar[str] = "scalify-switch-matmuls"

    def apply(self, module: ir.Operation, index: ModuleIndex, _: Report) -> None:
        """See `Pass.apply`."""
        i1 = emit.scalar_type(ir.IntegerType.get_signless(1))
        for op in marked_ops(module, index.listing):
            if op.operation.name in MATMULS and attributes.ROLES in op.attributes:
                _switch(op, i1)


def _switch(op: ir.OpView, i1: ir.Type) -> None:
    """Selects the result of a matmul or of a copy, which takes the place of the result."""
    where, result = emit.after(op.results[0]), op.results[0]
    copy = op.operation.clone(ip=where["ip"]).opview
    clear(copy, (*MARKS, *LEFT))
    switch = emit.constant_of(i1, emit.splat_attribute(i1, True), **where)
    switch.owner.attributes[attributes.SWITCH] = ir.StringAttr.get(Site.of(op).name)
    # The uses are replaced before the select is one of them.
    chosen = stablehlo.select(switch, copy.results[0], copy.results[0], **where)
    replace_uses(result, chosen)
    chosen.owner.operands[1] = result
    if attributes.STATE_GRADIENT in op.attributes:
        attributes.mark_gradient(chosen)
        clear(op, [attributes.STATE_GRADIENT])
