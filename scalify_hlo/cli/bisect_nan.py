"""The command `scalify-hlo bisect-nan`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from scalify_hlo.cli import console
from scalify_hlo.cli.options import (
    format_option,
    optional_rewrite,
    read,
    read_arrays,
    step_options,
    to_optional,
    with_measured,
)
from scalify_hlo.errors import InputError
from scalify_hlo.results.model import cells, headers
from scalify_hlo.storage.files import STREAM, same_file

if TYPE_CHECKING:
    from scalify_hlo.observe.nan_report import NanReport, NonFiniteOp, ValueRange


@click.command(
    name="bisect-nan", epilog="Example: scalify-hlo bisect-nan step.jax_export --inputs x.npz"
)
@click.argument("program", metavar="IN")
@step_options
@click.option(
    "--only",
    type=click.Choice(["any", "nan", "inf"]),
    default="any",
    show_default=True,
    help="What to find: NaN and infinities, or one of them.",
)
@click.option(
    "--anywhere",
    is_flag=True,
    help="Find ops too whose NaN and infinities flow to no result.",
)
@format_option("Print text, or everything as JSON.")
@optional_rewrite
def command(
    program: str,
    inputs: Sequence[str],
    steps: int,
    carry: str,
    only: str,
    anywhere: bool,
    form: str,
    recipe: str | None,
    signature: str,
    input_scale: Sequence[str],
    settings: Sequence[str],
    profile: str | None,
) -> None:
    """Run the program IN, and find the op that makes its first NaN or infinity.

    The first op is that of the order of execution, in loops by turns, among those whose NaN or
    infinities flow to a result. Constants that are infinite on purpose, as in masks, are left out.
    If a NaN comes from infinities that an op makes, both ops are printed. Each is printed with the
    ranges of its operands, in the turn in which it made the element. With several steps, the search
    ends at the first step with such an op. With --recipe, the rewritten program is searched. The
    program runs on XLA CPU, in two compiled runs.

    The exit status is 1 if an op was found, and 0 otherwise.
    """
    if [program, *inputs].count(STREAM) > 1:
        same_file(STREAM, STREAM)
    asked = (signature, input_scale, settings, profile)
    options = to_optional(recipe, *asked)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    from scalify_hlo.observe.find_nan import Search, find_nan
    from scalify_hlo.observe.nan_report import dump_nan_report

    search = Search(steps, carry == "state", only, anywhere)
    source = read(program)
    arrays = [read_arrays(path) for path in inputs]
    if options is not None:
        options = with_measured(options, source, arrays[0])
    with console.progress("Running") as progress:
        report = find_nan(source, arrays, search, options, progress)
    if form == "json":
        console.echo(dump_nan_report(report), nl=False)
    else:
        console.echo("\n".join(_lines(report)))
    if report.step is not None:
        found = (*report.origins, *report.elsewhere)[0]
        step = f", in step {report.step}" if steps > 1 else ""
        raise InputError(
            f"{found.sentence}{step}", location=found.location or source.name, hint=_hint(found)
        )


def _hint(found: NonFiniteOp) -> str:
    name = f"its name stack is {found.name}; " if found.op and found.name else ""
    if found.source == "argument":
        return "look at the inputs: they are not finite before the program runs"
    if found.source == "constant":
        return f"{name}the constant is meant to mark elements for which there is no result"
    turns = ", and turns are counted from 0" if found.loops else ""
    return f"{name}the table has the ranges of its operands{turns}"


def _lines(report: NanReport) -> Iterator[str]:
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
    yield console.heading(f"{found.location}: {found.sentence}".removeprefix(": "))
    if found.op and found.name:
        yield f"  {found.name}"
    rows = [_row(f"operand {i}", each) for i, each in enumerate(found.operands)]
    rows.append(_row("result" if found.op else "argument", found.result))
    yield console.table(("value", *headers(_COLUMNS), "from"), rows)


_COLUMNS = "type smallest:.4g largest:.4g zeros infinities NaN=nans"


def _row(what: str, value: ValueRange) -> Sequence[str]:
    made = (value.op or "argument", value.location or value.name)
    return (what, *cells(value, _COLUMNS), " ".join(filter(None, made)))
