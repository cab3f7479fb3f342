"""Passes that move the scales of channels and blocks through a program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.index import ModuleIndex
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import Remark, UsageError
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.locations import remark
from scalify_hlo.ir.value_map import run_native
from scalify_hlo.passes.base import MainPass
from scalify_hlo.report.model import Report
from scalify_hlo.scaling.arrays.boundary import join, split


@dataclass(frozen=True)
class SplitScaleArraysPass(MainPass):
    """Splits arrays of scales in one scale and factors of the blocks, and moves the factors.

    Ops that keep blocks whole are done before their operands are multiplied by the factors; see
    `scalify_hlo.scaling.arrays.walk`. Calls with such operands are inlined.
    `scalify-join-scale-arrays` makes the scale and the factors one argument again.

    Attributes:
        told: Whether there is a remark for each matrix whose factors wait behind no matmul.
    """

    name: ClassVar[str] = "scalify-split-scale-arrays"
    told: bool = False

    def edit(self, main: ir.OpView, index: ModuleIndex, report: Report) -> None:
        """See `MainPass.edit`."""
        if not attributes.any_argument_has(main, attributes.SCALE_SHAPE):
            return
        _refuse_moments(main)
        module = main.operation.parent
        functions = functions_in(module)
        early = split(main, {name: op.operation for name, op in functions.items()})
        if self.told:
            report.remarks += _multiplied_early(main, early)
        run_native("builtin.module(symbol-dce)", module, verify=False)
        index.invalidate()


def _refuse_moments(main: ir.OpView) -> None:
    """Raises an error for a moment that the recipe stores with other blocks."""
    marks = attributes.argument_attributes(main)
    for name, mark in zip(attributes.argument_names(main), marks, strict=True):
        if attributes.PACKED in mark and attributes.SCALE_SHAPE in mark:
            raise UsageError(
                f"{name} has an array of scales, and the recipe stores it with other blocks",
                hint="leave moments out of inputs.blocks, or set state.moment_scales=tensor",
            )


def _multiplied_early(main: ir.OpView, numbers: list[int]) -> Iterator[Remark]:
    """Returns a remark for each matrix whose scales do not help its casts; moments have none."""
    marks, names = attributes.argument_attributes(main), attributes.argument_names(main)
    for number in numbers:
        mark = marks[number]
        role = attributes.role_of(mark) or "weight"
        if main.regions[0].blocks[0].arguments[number].type.rank > 1 and role == "weight":
            message = f"multiplies {names[number]} with the scales of its blocks before any matmul"
            yield remark(main, message, _APART)


_APART: Final = (
    "give blocks that divide no dimension which the matmuls sum, and leave scaling.kind at "
    "propagated"
)


@dataclass(frozen=True)
class JoinScaleArraysPass(MainPass):
    """Joins the scales and the factors that `scalify-split-scale-arrays` split.

    The scale of such an argument becomes an array, from which the program computes its largest
    scale and the factors of the blocks. State that replaces the argument has such an array too.
    """

    name: ClassVar[str] = "scalify-join-scale-arrays"

    def edit(self, main: ir.OpView, _: ModuleIndex, __: Report) -> None:
        """See `MainPass.edit`."""
        if attributes.any_argument_has(main, attributes.SCALE_FACTORS):
            join(main)
