"""scalify-quantize-constants: folds casts of constants into constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.analysis.index import LISTING, ModuleIndex
from scalify_hlo.passes.base import Pass
from scalify_hlo.quantize.constants import CONVERT, Calls, Functions, Quantizer, is_cast
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
        found = _find(module)
        if not found.casts:
            return
        index.invalidate()
        functions = Functions(module)
        if functions.hoist_casts(found.calls):
            found = _find(module)
        casts = Quantizer(functions, saturate=self.saturate)
        for op in found.casts:
            casts.cast(op)
        casts.clean()
        functions.clean()


class _Found(NamedTuple):
    """The casts and the calls of a module.

    Attributes:
        casts: The casts that a recipe inserted, without those of second moments and of values,
            whose scales are chosen in another way.
        calls: The calls of each function to which only calls refer.
    """

    casts: list[ir.Operation]
    calls: Calls


def _find(module: ir.Operation) -> _Found:
    casts: list[ir.Operation] = []
    calls: Calls = {}
    others: set[str] = set()
    go_on = ir.WalkResult.ADVANCE

    def visit(op: ir.Operation) -> ir.WalkResult:
        name = op.name
        if name == CONVERT:
            if is_cast(op):
                casts.append(op)
        elif name == "func.call":
            calls.setdefault(op.attributes["callee"].value, []).append(op)
        elif name == "builtin.module" and op.parent is not None:
            return ir.WalkResult.SKIP  # A nested module has its own symbols.
        elif name == "stablehlo.composite":
            others.add(op.attributes["decomposition"].value)
        elif name == "stablehlo.custom_call" and "called_computations" in op.attributes:
            others.update(a.value for a in op.attributes["called_computations"])
        return go_on

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return _Found(casts, {name: ops for name, ops in calls.items() if name not in others})
