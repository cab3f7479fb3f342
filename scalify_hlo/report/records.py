"""Records the formats that a recipe gave to each matmul, for the report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.report.matmuls import OperandScale
from scalify_hlo.report.model import MatmulReport, Report, Wide


class Records:
    """Records the outcome for each matmul, by the number that `scalify-roles` wrote on it.

    Copies of a matmul, from the inlined calls of its function, are merged while their outcomes are
    the same.

    Args:
        report: The report with the matmuls of the program; `finish` updates it.
        inlined: Whether each call of a function with matmuls was replaced by a copy of it.

    Attributes:
        before: The matmuls of the program, before a recipe was applied.
        complete: Whether the report has all matmuls; False if their roles are from another run.
    """

    def __init__(self, report: Report, *, inlined: bool) -> None:
        self._report, self._inlined = report, inlined
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
            found_formats = *formats, found_formats[2]
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
                found[0] = replace(found[0], formats=formats_of(op))

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
