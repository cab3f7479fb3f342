"""The command `scalify-hlo stats`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from scalify_hlo.cli import console
from scalify_hlo.cli.options import optional_rewrite, read, read_arrays, to_options
from scalify_hlo.errors import UsageError
from scalify_hlo.storage.files import STREAM, require_writable, same_file, write_file

if TYPE_CHECKING:
    from scalify_hlo.io.program import Program
    from scalify_hlo.passes.pipeline import Options
    from scalify_hlo.storage.arrays import StoredArray


@click.command(
    name="stats",
    epilog="Example: scalify-hlo stats step.jax_export --inputs x.npz --recipe fp8 -o stats.html",
)
@click.argument("program", metavar="IN")
@click.option(
    "--inputs",
    metavar="F.NPZ",
    multiple=True,
    required=True,
    help="Arrays by argument name, or arr_0, arr_1 ... If given several times, those of one step "
    "after another, again from the first after the last.",
)
@click.option(
    "--steps", type=int, default=1, show_default=True, metavar="N", help="How many steps to run."
)
@click.option(
    "--carry",
    type=click.Choice(["none", "state"]),
    default="none",
    show_default=True,
    help="Pass results that are arguments of the next call on to the next step.",
)
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
@click.option("-q", "--quiet", is_flag=True, help="Print no remarks.")
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
    options = _options(recipe, *asked)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    from scalify_hlo.observe.output import form_of, rendered
    from scalify_hlo.observe.run import Request, collect_stats

    form = form_of(output)
    request = Request(steps, carry == "state", values, turns)
    source = read(program)
    arrays = [read_arrays(path) for path in inputs]
    if options is not None:
        options = _measured(options, source, arrays[0])
    with console.progress("Running") as progress:
        record = collect_stats(source, arrays, request, options, progress)
    if not quiet:
        for remark in record.remarks:
            console.report_summary(f"remark: {remark}")
    write_file(output, rendered(record, form))


def _options(
    recipe: str | None,
    signature: str,
    input_scale: Sequence[str],
    settings: Sequence[str],
    profile: str | None,
) -> Options | None:
    """The options of the rewrite; None without a recipe."""
    if recipe is not None:
        return to_options(recipe, signature, input_scale, settings, profile)
    given = {"--input-scale": input_scale, "--set": settings, "--profile": profile}
    for name, value in given.items():
        if value:
            raise UsageError(
                f"{name} is for a rewrite, and there is no --recipe",
                hint="give --recipe, or leave it out",
            )
    return None


def _measured(options: Options, source: Program, arrays: dict[str, StoredArray]) -> Options:
    """The options with measured scales of inputs, if the recipe predicts sizes from them."""
    from scalify_hlo.recipes.model import NONE
    from scalify_hlo.run.input_scales import scales_by_name

    if options.recipe.predict == NONE or options.recipe.inputs.scale:
        return options
    measured = scales_by_name(source, arrays)
    return replace(options, input_scale=measured | dict(options.input_scale))
