"""What a recipe did with each matmul, for the report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.passes.report import MatmulReport, Report, Wide


class Records:
    """Notes outcomes by the number that `scalify-roles` wrote on each matmul.

    Copies of one matmul, in the places of the calls of its function, count as one as long as the
    same became of them.

    Args:
        report: Has the matmuls of the program; `finish` puts them there with what became of them.
        inlined: Whether each call of a function with matmuls was replaced by a copy of it.

    Attributes:
        complete: Whether the report has all matmuls: not if their roles come from another run.
    """

    def __init__(self, report: Report, *, inlined: bool) -> None:
        self._report, self._inlined = report, inlined
        self._found: dict[int, list[MatmulReport]] = {}
        self.complete = True

    def note(self, op: ir.OpView, wide: Wide | None) -> None:
        """Notes what stands in the place of a matmul, and why that is wide if it is."""
        number = number_of(op)
        if number is None:
            return
        if number >= len(self._report.matmuls):
            self.complete = False
            return
        known = self._report.matmuls[number]
        calls = 1 if self._inlined else known.calls
        made = replace(known, formats=formats_of(op), wide=wide, calls=calls)
        found = self._found.setdefault(number, [])
        for i, other in enumerate(found):
            if replace(other, calls=calls) == made:
                found[i] = replace(other, calls=other.calls + calls)
                return
        found.append(made)

    def update(self, ops: Iterable[ir.OpView]) -> None:
        """Notes formats that changed after the choice was made."""
        for op in ops:
            number = number_of(op)
            found = [] if number is None else self._found.get(number, [])
            if len(found) == 1:
                found[0] = replace(found[0], formats=formats_of(op))

    def finish(self) -> None:
        """Puts what was noted into the report, in program order."""
        before = self._report.matmuls
        self._report.matmuls = [
            each for number, known in enumerate(before) for each in self._found.get(number, [known])
        ]


def number_of(op: ir.OpView) -> int | None:
    """The number of a matmul in the report; None if it has none."""
    if attributes.MATMUL not in op.attributes:
        return None
    number: int = op.attributes[attributes.MATMUL].value
    return number


def formats_of(op: ir.OpView) -> tuple[str, str, str]:
    """The formats of a matmul's operands and of its result."""
    lhs, rhs = list(op.operands)[:2]
    lhs, rhs, result = (str(v.type.element_type) for v in (lhs, rhs, op.results[0]))
    return lhs, rhs, result
