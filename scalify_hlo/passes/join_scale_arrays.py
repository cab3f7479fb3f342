"""scalify-join-scale-arrays: makes arrays of scales arguments and results of a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scalify_hlo._compat import ir
from scalify_hlo.analysis.index import ModuleIndex
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.passes.base import Pass
from scalify_hlo.report.model import Report
from scalify_hlo.scaling.arrays.joining import join


@dataclass(frozen=True)
class JoinScaleArraysPass(Pass):
    """Joins the scales and the factors that `scalify-split-scale-arrays` split.

    The scale of such an argument becomes an array, from which the program computes its largest
    scale and the factors of the blocks. State that replaces the argument has such an array too.
    """

    name: ClassVar[str] = "scalify-join-scale-arrays"

    def apply(self, module: ir.Operation, _: ModuleIndex, report: Report) -> None:
        """See `Pass.apply`."""
        main = main_function(module)
        if main is None or not attributes.any_argument_has(main, attributes.SCALE_FACTORS):
            return
        arguments, results = join(main)
        del report.arguments[len(report.arguments) - arguments :]
        del report.results[len(report.results) - results :]
