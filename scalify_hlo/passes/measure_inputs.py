"""scalify-measure-inputs: measures inputs at run time if casts depend on their sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import MEASURED_BOUND
from scalify_hlo.analysis.cast_reach import reaches_narrow_cast
from scalify_hlo.analysis.frames import Frame
from scalify_hlo.analysis.index import ModuleIndex
from scalify_hlo.dialect import attributes, markers
from scalify_hlo.dialect.formats import are_floats
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.dialect.patterns import matches
from scalify_hlo.errors import Remark, UsageError, nearest
from scalify_hlo.passes.base import Pass
from scalify_hlo.report.model import MEASURED, Report, SiteReport
from scalify_hlo.rules.marker_ops import PEAK
from scalify_hlo.transforms.marker_barriers import rescaled_argument

_NOT_NEEDED: Final = "is not measured: no cast to a narrow format depends on its size"


@dataclass(frozen=True)
class MeasureInputsPass(Pass):
    """Inserts a marker on each named input if a cast depends on its size.

    The scale of the input then follows from its amax, for all of its uses. A declared size of such
    an input has no effect.

    Attributes:
        inputs: Patterns of argument names.
        every: Whether each pattern has to match a float argument. It is false for a vjp, whose
            arguments are not those of the program for which the recipe was written.
    """

    name: ClassVar[str] = "scalify-measure-inputs"
    inputs: tuple[str, ...] = ()
    every: bool = True

    def apply(self, module: ir.Operation, index: ModuleIndex, report: Report) -> None:
        """See `Pass.apply`."""
        main = main_function(module)
        if main is None:
            return
        frame = Frame.of(main)
        for name, argument in self._matched(main).items():
            if not reaches_narrow_cast(frame.place(argument)):
                report.remarks.append(
                    Remark(f"{name} {_NOT_NEEDED}", str(argument.location), main.operation.name)
                )
                continue
            measure(argument)
            index.markers += 1
            report.sites.append(SiteReport(MEASURED, name, "max", 1))
        frame.release()

    def _matched(self, main: ir.OpView) -> Mapping[str, ir.Value]:
        """Returns the float arguments that the patterns match, by name.

        Raises:
            UsageError: A pattern matches no float argument.
        """
        arguments, names = main.regions[0].blocks[0].arguments, attributes.argument_names(main)
        floats = are_floats([argument.type for argument in arguments])
        found: dict[str, ir.Value] = {}
        for pattern in self.inputs:
            matched = [i for i, n in enumerate(names) if floats[i] and matches(pattern, n, i)]
            if self.every and not matched:
                known = [name for name, is_float in zip(names, floats, strict=True) if is_float]
                raise UsageError(
                    f"{MEASURED} {pattern!r} matches no float argument{nearest(pattern, known)}",
                    hint="`scalify-hlo inspect --arguments` lists the arguments and their names",
                )
            found |= {names[i]: arguments[i] for i in matched}
        return found


def measure(argument: ir.Value) -> None:
    """Inserts a marker on an argument, so that its data are near unit."""
    marker = rescaled_argument(argument, "max").owner
    i64 = ir.IntegerType.get_signless(64)
    marker.attributes[markers.HEADROOM] = ir.IntegerAttr.get(i64, PEAK)
    marker.attributes[markers.BOUND] = ir.IntegerAttr.get(i64, MEASURED_BOUND)
    marker.attributes[markers.PEAK] = ir.StringAttr.get(markers.UNKNOWN)
