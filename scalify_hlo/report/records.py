"""Records the formats that a recipe gave to each matmul, for the report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.patterns import matches
from scalify_hlo.recipes.formats import KEEP
from scalify_hlo.recipes.toml import parse_input_scale
from scalify_hlo.report.matmuls import ASSUMED, DECLARED, OperandScale
from scalify_hlo.report.model import MatmulReport, Report, Wide
from scalify_hlo.rules.reported_scales import CastScale


class Records:
    """Records the outcome for each matmul, by the number that `scalify-roles` wrote on it.

    Copies of a matmul, from the inlined calls of its function, are merged while their outcomes are
    the same.

    Args:
        report: The report with the matmuls of the program; `finish` updates it.
        inlined: Whether each call of a function with matmuls was replaced by a copy of it.
        output: The format to which the recipe rounds results, perhaps after the op.

    Attributes:
        before: The matmuls of the program, before a recipe was applied.
        complete: Whether the report has all matmuls; False if their roles are from another run.
    """

    def __init__(self, report: Report, *, inlined: bool, output: str = KEEP) -> None:
        self._report, self._inlined, self._output = report, inlined, output
        self.before = report.matmuls
        self._found: dict[int, list[MatmulReport]] = {}
        self.complete = True

    def note(
        self,
        number: int | None,
        op: ir.OpView,
        wide: Wide | None,
        scales: tuple[OperandScale | None, OperandScale | None],
        formats: tuple[str, str] | None,
    ) -> None:
        """Records what became of a matmul.

        Args:
            number: Its number; None if it has none.
            op: The op that replaces it.
            wide: Why it is not quantized; None if it is.
            scales: The scales of its operands; None if they are not quantized.
            formats: The formats of its operands; None if it stays as it is.
        """
        if number is None:
            return
        if number >= len(self.before):
            self.complete = False
            return
        known = self.before[number]
        calls = 1 if self._inlined else known.calls
        found_formats = formats_of(op)
        if formats is not None:
            result = found_formats[2] if self._output == KEEP else self._output
            found_formats = *formats, result
        made = replace(known, formats=found_formats, wide=wide, calls=calls, scales=scales)
        found = self._found.setdefault(number, [])
        for i, other in enumerate(found):
            if replace(other, calls=calls) == made:
                found[i] = replace(other, calls=other.calls + calls)
                return
        found.append(made)

    def update(self, ops: Iterable[ir.OpView]) -> None:
        """Records formats that changed after `note`."""
        for op in ops:
            number = number_of(op)
            found = [] if number is None else self._found.get(number, [])
            if len(found) == 1:
                lhs, rhs, result = formats_of(op)
                kept = found[0].wide is None and self._output != KEEP
                formats = lhs, rhs, found[0].formats[2] if kept else result
                found[0] = replace(found[0], formats=formats)

    def finish(self) -> None:
        """Writes the records to the report, in program order."""
        self._report.matmuls = [
            each
            for number, known in enumerate(self.before)
            for each in self._found.get(number, [known])
        ]


def number_of(op: ir.OpView) -> int | None:
    """Returns the number of a matmul in the report; None if it has none."""
    if attributes.MATMUL not in op.attributes:
        return None
    number: int = op.attributes[attributes.MATMUL].value
    return number


def formats_of(op: ir.OpView) -> tuple[str, str, str]:
    """Returns the formats of the operands and the result that a matmul has in the program."""
    operands = op.operands
    lhs, rhs = operands[0].type.element_type, operands[1].type.element_type
    if attributes.SWAPPED in op.attributes:
        lhs, rhs = rhs, lhs
    result = op.results[0].type.element_type
    text = str(lhs)  # Comparing types is faster than printing them.
    return text, text if rhs == lhs else str(rhs), text if result == lhs else str(result)


# Enters the scales that propagation found at casts into the report.


def fill_in_scales(report: Report, declarations: Iterable[str]) -> None:
    """Enters the scales of the casts of operands into the matmuls of a report.

    A function has a copy for each combination of scales of its calls. If the copies of a cast
    differ, the report has the scale of the most uncertain size.

    Args:
        report: The report of a rewrite, with its `casts`.
        declarations: The declared scales of inputs, as ``PATTERN=NUMBER``.
    """
    patterns = [parse_input_scale(text)[0] for text in declarations]
    declared = {
        value.name
        for i, value in enumerate(report.arguments)
        if any(matches(pattern, value.name, i) for pattern in patterns)
    }
    found: dict[int, OperandScale] = {}
    for cast in report.casts:
        scale = _operand_scale(cast, declared)
        for reader in cast.readers:
            known = found.get(reader)
            if known is None or scale.uncertainty > known.uncertainty:
                found[reader] = scale
    for i, matmul in enumerate(report.matmuls):
        lhs, rhs = (
            found.get(2 * matmul.number + side, scale) if scale is not None else None
            for side, scale in enumerate(matmul.scales)
        )
        report.matmuls[i] = replace(matmul, scales=(lhs, rhs))


def _operand_scale(cast: CastScale, declared: set[str]) -> OperandScale:
    origin = cast.origin
    if origin == "input":
        origin = DECLARED if cast.argument in declared else ASSUMED
    return OperandScale(
        origin, cast.scale, cast.octaves, cast.room, remark=cast.remark, argument=cast.argument
    )
