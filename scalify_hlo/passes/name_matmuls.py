"""scalify-name-matmuls: writes the numbers of matmuls into their locations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from scalify_hlo._compat import ir
from scalify_hlo.casts.matmuls import marked_ops
from scalify_hlo.dataflow.index import LISTING, ModuleIndex
from scalify_hlo.dialect.matmul_names import named
from scalify_hlo.ir import traits
from scalify_hlo.passes.base import Pass
from scalify_hlo.report.model import Report
from scalify_hlo.report.records import number_of

_FOLDED: Final = traits.RESHAPES | traits.REORDERS | {"stablehlo.convert"}


@dataclass(frozen=True)
class NameMatmulsPass(Pass):
    """Names the location of each matmul by its number in the report.

    XLA keeps the name of a location as the ``op_name`` of an instruction, so that the kernel that
    computes a matmul can be told. Ops that take the place of a matmul have its location. A
    transpose of its result is named too: XLA makes one matmul of both, with its name.
    """

    name: ClassVar[str] = "scalify-name-matmuls"
    preserves: ClassVar[frozenset[str]] = frozenset({LISTING})

    def apply(self, module: ir.Operation, index: ModuleIndex, _: Report) -> None:
        """See `Pass.apply`."""
        for op in marked_ops(module, index.listing):
            number = number_of(op)
            if number is not None:
                _name(op.operation, number)


def _name(op: ir.Operation, number: int) -> None:
    """Names an op, and the moves of its result that a compiler may fold into it."""
    op.location = named(number, op.location)
    users = [use.owner.operation for use in op.results[0].uses]
    if len(users) == 1 and users[0].name in _FOLDED:
        _name(users[0], number)
