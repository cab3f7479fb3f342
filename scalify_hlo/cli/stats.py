"""The command `scalify-hlo stats`."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from scalify_hlo.cli import console
from scalify_hlo.cli.options import (
    optional_rewrite,
    quiet_option,
    read,
    read_arrays,
    step_options,
    to_optional,
    with_measured,
)
from scalify_hlo.storage.files import STREAM, require_writable, same_file, write_file


@click.command(
    name="stats",
    epilog="Example: scalify-hlo stats step.jax_export --inputs x.npz --recipe fp8 -o stats.html",
)
@click.argument("program", metavar="IN")
@step_options
@click.option(
    "--values",
    metavar="PATTERN",
    default="*",
    show_default=True,
    help="The values to measure, by name stacks or argument names, as in '*attention*'.",
)
@click.option(
    "--turns",
    type=click.Choice(["pooled", "each"]),
    default="pooled",
    show_default=True,
    help="Whether the turns of a loop share a record.",
)
@optional_rewrite
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    default="-",
    help="Where to write: JSON, or .html for a page, or .png for a figure.  [default: -]",
)
@quiet_option
def command(
    program: str,
    inputs: Sequence[str],
    steps: int,
    carry: str,
    values: str,
    turns: str,
    recipe: str | None,
    signature: str,
    input_scale: Sequence[str],
    settings: Sequence[str],
    profile: str | None,
    output: str,
    quiet: bool,
) -> None:
    """Run the program IN, and write statistics of all its float values.

    Each value has its rms, its largest and smallest magnitude, exact counts of zeros, subnormals,
    saturated and non-finite elements, and a histogram; each operand of a matmul has the effect of
    low-precision formats on it. With --recipe, the rewritten program runs too, and its values have
    scales. The program runs on XLA CPU. The output is written whole or not at all.
    """
    if [program, *inputs].count(STREAM) > 1:
        same_file(STREAM, STREAM)
    require_writable(output)
    asked = (signature, input_scale, settings, profile)
    options = to_optional(recipe, *asked)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    from scalify_hlo.observe.output import form_of, rendered
    from scalify_hlo.observe.run import Request, collect_stats

    form = form_of(output)
    request = Request(steps, carry == "state", values, turns)
    source = read(program)
    arrays = [read_arrays(path) for path in inputs]
    if options is not None:
        options = with_measured(options, source, arrays[0])
    with console.progress("Running", quiet=quiet) as progress:
        record = collect_stats(source, arrays, request, options, progress)
    if not quiet:
        for remark in record.remarks:
            console.report_summary(f"remark: {remark}")
    write_file(output, rendered(record, form))
