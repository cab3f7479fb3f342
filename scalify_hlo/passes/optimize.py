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
from scalify_hlo.transforms.scatter import replace_scatters


@dataclass(frozen=True)
class OptimizePass(Pass):
    """Replaces scatters of single numbers into a constant by selects, bit for bit.

    The gradient of a cross-entropy with integer labels is such a scatter. This has nothing to do
    with formats: it makes the original faster too. It comes after all passes that choose scales and
    formats, so that it changes none of them.

    Attributes:
        strict: Whether it is an error that there is no such scatter.
    """

    name: ClassVar[str] = "scalify-optimize"
    strict: bool = False

    def apply(self, module: ir.Operation, _: ModuleIndex, report: Report) -> None:
        """See `Pass.apply`."""
        report.optimized = replace_scatters(module)
        if report.optimized:
            return
        main = main_function(module)
        location = str((module if main is None else main).location)
        if self.strict:
            raise InputError(_NOTHING, location=location, hint=_LEAVE_OUT)
        report.remarks.append(Remark(_NOTHING, location, "func.func", _LEAVE_OUT))


_NOTHING: Final = "--optimize has no effect: no scatter puts single numbers into a constant"
_LEAVE_OUT: Final = "leave out --optimize (optimize=True)"
