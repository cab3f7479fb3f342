"""scalify-optimize: replaces ops by others of the same value that compilers run faster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from scalify_hlo._compat import ir
from scalify_hlo.analysis.index import ModuleIndex
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.errors import InputError, Remark
from scalify_hlo.passes.base import Pass
from scalify_hlo.report.model import Report
from scalify_hlo.transforms.matmul_dims import order_dims
from scalify_hlo.transforms.scatter import replace_scatters


@dataclass(frozen=True)
class OptimizePass(Pass):
    """Replaces scatters of single numbers into a constant by selects, bit for bit.

    The gradient of a cross-entropy with integer labels is such a scatter. For GPUs, matmuls have
    their dimensions in the order in which transposes read them; see `matmul_dims`. Both have
    nothing to do with formats: they make the original faster too. The pass comes after all passes
    that choose scales and formats, so that it changes none of them.

    Attributes:
        strict: Whether it is an error that there is nothing to replace.
        gpu: Whether the program is for GPUs, and no other pass orders its matmuls.
    """

    name: ClassVar[str] = "scalify-optimize"
    strict: bool = False
    gpu: bool = False

    def apply(self, module: ir.Operation, _: ModuleIndex, report: Report) -> None:
        """See `Pass.apply`."""
        report.optimized = replace_scatters(module)
        if self.gpu:
            report.ordered += order_dims(module, sums=False)
        if report.optimized or report.ordered:
            return
        main = main_function(module)
        location = str((module if main is None else main).location)
        told = _NOTHING + _NO_MATMUL * self.gpu
        if self.strict:
            raise InputError(told, location=location, hint=_LEAVE_OUT)
        report.remarks.append(Remark(told, location, "func.func", _LEAVE_OUT))


_NOTHING: Final = "--optimize has no effect: no scatter puts single numbers into a constant"
_NO_MATMUL: Final = ", and no matmul makes its result in another order than its reader"
_LEAVE_OUT: Final = "leave out --optimize (optimize=True)"
