"""The command `scalify-hlo rewrite`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from scalify_hlo.cli import console
from scalify_hlo.cli.estimate import Estimator
from scalify_hlo.cli.options import (
    output_option,
    read,
    read_arrays,
    rewrite_options,
    to_options,
    version_option,
)
from scalify_hlo.errors import UsageError
from scalify_hlo.storage.files import require_writable, save_file, write_file

if TYPE_CHECKING:
    from scalify_hlo.io.program import Program
    from scalify_hlo.passes.pipeline import Options
    from scalify_hlo.report.model import Report
    from scalify_hlo.report.requirements import Requirement
    from scalify_hlo.targets.description import Target


@click.command(
    name="rewrite",
    epilog="Example: scalify-hlo rewrite step.mlir --recipe unit --input-scale '*=2^-4'",
)
@click.argument("program", metavar="IN")
@output_option
@rewrite_options
@click.option(
    "--input-values",
    metavar="F.NPZ",
    help="Measure the scales of inputs from arrays by argument name, or arr_0, arr_1 ...",
)
@version_option
@click.option(
    "--report",
    metavar="R.JSON",
    help="Write a list of all matmuls, with the reason if one stays wide.",
)
@click.option(
    "--require",
    "required",
    metavar="BOUNDS",
    help="Fail unless these bounds hold, as in 'narrow>=0.9,statistics<=2'.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Make each remark an error, such as one on a matmul that stays wide.",
)
@click.option(
    "--optimize",
    is_flag=True,
    help="Replace ops by faster ones of the same value, whatever the recipe does.",
)
@click.option(
    "--target",
    metavar="NAME",
    help="The device to rewrite for: cpu, h100, h200, b200, tpu-v5e, tpu-v6e or tpu7x.",
)
@click.option("--again", is_flag=True, help="Accept a program that was rewritten before.")
@click.option(
    "-q", "--quiet", is_flag=True, help="Print no remarks, no summary and no progress bar."
)
def command(
    program: str,
    output: str,
    recipe: str | None,
    signature: str,
    input_scale: Sequence[str],
    input_values: str | None,
    settings: Sequence[str],
    profile: str | None,
    target_version: str | None,
    report: str | None,
    required: str | None,
    strict: bool,
    optimize: bool,
    target: str | None,
    again: bool,
    quiet: bool,
) -> None:
    """Rewrite the program IN into scaled form.

    The output is of the same kind as the input: MLIR text or bytecode, a portable artifact, or a
    jax.export file with its pytrees and its vjp. If the command fails, no output is written.

    The attribute scalify.rewritten of the module records the version, the recipe and the options.
    A program with this attribute is refused unless --again is given.

    --optimize replaces scatters of single numbers into a constant, such as the gradient of a
    cross-entropy with integer labels, by selects. This changes no bit of the result. For targets
    that are GPUs, matmuls have their dimensions in the order in which transposes read them. They
    have the same sums, which a compiler may add up in another order.

    --target sets the target of the recipe: for h100, h200 and b200, matmuls stay wide that FP8 is
    not estimated to make faster. If the compiler of the device is installed, the program and its
    original in bf16 are compiled for it. A line on standard error and the report have the estimated
    speed; `explain` has each matmul.

    With --require, the program is written only if all bounds hold; the report is always written. A
    bound is a name, one of >=, <=, ==, > and <, and a number. The names are narrow, narrow-forward,
    narrow-backward and narrow-flops, which are shares of the matmuls; matmuls and wide, which are
    numbers of matmuls; statistics (for each forward matmul with a weight) and statistics-total;
    state-bytes, over those of the original; assumed, the number of arguments that are quantized at
    a scale that was not declared; and remarks.
    """
    requirements = _requirements(required)
    device, settings = _for_device(target, settings)
    options = to_options(recipe, signature, input_scale, settings, profile, strict=strict)
    options = replace(options, again=again, optimize=optimize)
    require_writable(output)
    _require_report(report, output)
    from scalify_hlo.frontend.rewriting import rewrite_program
    from scalify_hlo.io.program import is_text, save_program
    from scalify_hlo.passes.summary import dump_report, summary

    source = read(program)
    options = _with_measured(options, source, input_values)
    options = replace(options, listed=report is not None or bool(requirements))
    estimator = Estimator(device, source.module, options, source.name)
    with console.progress("Rewriting", quiet=quiet):
        rewritten, done = rewrite_program(source, options)
    if not quiet:
        console.report_remarks(done.remarks, rewritten.name)
    console.refuse_terminal(output, text=is_text(rewritten, target_version))
    done.estimate = estimator.make(quiet=quiet)
    if report is not None:
        write_file(report, dump_report(done, rewritten.name))
    _check(done, requirements, rewritten.name)
    save_file(output, lambda file: save_program(rewritten, file, target_version))
    if not quiet:
        console.report_summary(summary(done))


def _for_device(target: str | None, settings: Sequence[str]) -> tuple[Target | None, Sequence[str]]:
    """Returns a device, and the options of the recipe with its target."""
    if target is None:
        return None, settings
    from scalify_hlo.explaining.device import KEY, for_device
    from scalify_hlo.targets.description import load_target

    given = {key: text for key, _, text in (each.partition("=") for each in settings)}
    return load_target(target), [*settings, f"{KEY}={for_device(target, given)[KEY]}"]


def _with_measured(options: Options, source: Program, values: str | None) -> Options:
    """Returns options with the scales of the arrays of a file."""
    if values is None:
        return options
    from scalify_hlo.run.input_scales import scales_by_name

    measured = scales_by_name(source, read_arrays(values))
    return replace(options, input_scale=measured | dict(options.input_scale))


def _requirements(text: str | None) -> list[Requirement]:
    if text is None:
        return []
    from scalify_hlo.report.requirements import parse_requirements

    return parse_requirements(text)


def _check(report: Report, requirements: list[Requirement], name: str) -> None:
    if requirements:
        from scalify_hlo.report.requirements import check_requirements

        check_requirements(report.totals, requirements, name)


def _require_report(report: str | None, output: str) -> None:
    """Refuses a report that cannot be written, or that would overwrite the program."""
    if report is None:
        return
    require_writable(report)
    if report == output:
        raise UsageError(
            f"the program and its report have the same output file {report!r}",
            hint="give --report and -o different files",
        )
