"""`scalify-hlo bisect-nan`: run a program, and find the op that makes its first NaN or infinity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from scalify_hlo.cli import console
from scalify_hlo.cli.command import command
from scalify_hlo.cli.options import WithForm
from scalify_hlo.cli.running import WithOptionalRuns
from scalify_hlo.errors import InputError, leading
from scalify_hlo.results.model import cells, headers

if TYPE_CHECKING:
    from scalify_hlo.commands.nan.nan_report import NanReport, NonFiniteOp, ValueRange


@command("scalify-hlo bisect-nan step.jax_export --inputs x.npz")
class BisectNan(WithOptionalRuns, WithForm):
    """Run the program IN, and find the op that makes its first NaN or infinity.

    The first op is that of the order of execution, in loops by turns, among those whose NaN or
    infinities flow to a result. Constants that are infinite on purpose, as in masks, are left out.
    If a NaN comes from infinities that an op makes, both ops are printed. Each is printed with the
    ranges of its operands, in the turn in which it made the element. With several steps, the search
    ends at the first step with such an op. With --recipe, the rewritten program is searched. The
    program runs on XLA CPU, in two compiled runs.

    The exit status is 1 if an op was found, and 0 otherwise.

    Attributes:
        only: What to find: NaN and infinities, or one of them.
        anywhere: Find ops too whose NaN and infinities flow to no result.
    """

    only: Literal["any", "nan", "inf"] = "any"
    anywhere: bool = False

    def run(self) -> None:
        """See `Command.run`."""
        from scalify_hlo.commands.nan.find_nan import Search, find_nan

        search = Search(self.steps, self.carry == "state", self.only, self.anywhere)
        source, arrays, options = self.sources()
        with console.progress("Running") as progress:
            report = find_nan(source, arrays, search, options, progress)
        console.echo(self.text(report, lines(report)))
        if report.step is not None:
            found = (*report.origins, *report.elsewhere)[0]
            step = f", in step {report.step}" if self.steps > 1 else ""
            raise InputError(
                f"{found.sentence}{step}",
                location=found.location or source.name,
                hint=_hint(found),
            )


def _hint(found: NonFiniteOp) -> str:
    name = f"its name is {found.name}; " if found.op and found.name else ""
    if found.source == "argument":
        return "look at the inputs: they are not finite before the program runs"
    if found.source == "constant":
        return f"{name}the constant is meant to mark elements for which there is no result"
    turns = ", and turns are counted from 0" if found.loops else ""
    return f"{name}the table has the ranges of its operands{turns}"


def lines(report: NanReport, _: int = 0) -> Iterator[str]:
    """Yields the lines on the first op that makes NaN or infinities, and its operands."""
    yield report.summary
    for found in report.origins:
        yield from ("", *_section(found))
    if report.elsewhere and report.step is not None:
        for found in report.elsewhere:
            yield from ("", *_section(found))
    elif report.elsewhere:
        found = report.elsewhere[0]
        yield (
            f"{found.op} at {found.location or found.name} makes NaN or infinities that flow to no "
            "result; --anywhere prints its operands"
        )


def _section(found: NonFiniteOp) -> Iterator[str]:
    yield console.Heading(f"{leading(found.location)}: {found.sentence}".removeprefix(": "))
    if found.op and found.name:
        yield f"  {found.name}"
    rows = [_row(f"operand {i}", each) for i, each in enumerate(found.operands)]
    rows.append(_row("result" if found.op else "argument", found.result))
    yield from console.table(("value", *headers(_COLUMNS), "from"), rows)


_COLUMNS = "type smallest:.4g largest:.4g zeros infinities NaN=nans"


def _row(what: str, value: ValueRange) -> Sequence[str]:
    made = (value.op or "argument", value.location or value.name)
    return (what, *cells(value, _COLUMNS), " ".join(filter(None, made)))
