"""The command `scalify-hlo check`."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from scalify_hlo.cli import console
from scalify_hlo.cli.options import format_option, inputs_option, read, read_arrays
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.results.model import cells, dump, headers
from scalify_hlo.storage.files import same_file

if TYPE_CHECKING:
    from scalify_hlo.cli.check_model import CheckedResult, Comparison, Inside, Limits
    from scalify_hlo.io.program import Program
    from scalify_hlo.observe.parting import ComparedValue
    from scalify_hlo.run.check import Checked
    from scalify_hlo.run.compare import Difference


@click.command(
    name="check", epilog="Example: scalify-hlo check step.mlir scaled.mlir --rtol 1e-5 --seed 1"
)
@click.argument("original", metavar="ORIGINAL")
@click.argument("rewritten", metavar="REWRITTEN")
@inputs_option("Inputs")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of random inputs.")
@click.option(
    "--input-scale",
    metavar="PATTERN=2^k",
    multiple=True,
    help="A further declared size to compare with --inputs.",
)
@click.option("--scale", metavar="2^k", help="The scale of all arguments that are pairs.")
@click.option(
    "--backend",
    type=click.Choice(["xla", "interpreter"]),
    default="xla",
    show_default=True,
    help="XLA on the CPU, or the reference interpreter of StableHLO.",
)
@click.option("--rtol", type=float, help="The largest relative error that passes.")
@click.option("--max-ulp", type=float, help="The largest distance in ulps that passes.")
@click.option(
    "--min-snr", type=float, metavar="DB", help="The smallest signal-to-noise ratio that passes."
)
@click.option(
    "--per-value",
    is_flag=True,
    help="Compare the values inside of the programs too, and name the first that exceeds a limit.",
)
@click.option(
    "--profile",
    metavar="PROFILE.JSON",
    help="The profile with which REWRITTEN was rewritten, for --per-value.",
)
@format_option("Print tables, or everything as JSON.")
def command(
    original: str,
    rewritten: str,
    inputs: str | None,
    seed: int,
    input_scale: tuple[str, ...],
    scale: str | None,
    backend: str,
    rtol: float | None,
    max_ulp: float | None,
    min_snr: float | None,
    per_value: bool,
    profile: str | None,
    form: str,
) -> None:
    """Run ORIGINAL and REWRITTEN on the same inputs and compare their results.

    A float argument or result of REWRITTEN may be a pair of data and scale. The argument X is then
    passed as X / s and s, and the result is data times scale.

    The relative error is the largest absolute difference, divided by the largest magnitude of the
    result. Infinite and NaN elements have to be at the same places. Without a limit, a relative
    error of 64 times the epsilon of the dtype passes. REWRITTEN may have casts to formats of less
    precision that ORIGINAL does not have. Then the signal-to-noise ratio of each result has to be
    that of as many independent casts, less 6 dB, and at least 3 dB. The exit status is 1 if a
    result exceeds a limit.

    Random inputs are normal, and not negative where ORIGINAL takes their root or logarithm. State
    of delayed scales is that before the first step, after steps until its scales do not change.

    With --per-value, ORIGINAL is rewritten as REWRITTEN records, and its values are compared with
    data times scale, in program order. The limit on values is 6 dB less than that on results.

    With --inputs, each declared size that is wrong by an octave or more is printed: those that
    REWRITTEN records, and those of --input-scale.

    Earlier rewrites that a program records are listed. With --format json, everything is printed,
    the values that exceed a limit included.
    """
    same_file(original, rewritten)
    _refuse_alone(input_scale, inputs)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    power = _scale(scale) if scale else None
    from scalify_hlo.cli.check_model import Comparison, Limits
    from scalify_hlo.run.bounds import bound_of
    from scalify_hlo.run.check import checked

    programs = read(original), read(rewritten)
    bound = bound_of(*(p.module for p in programs))
    given, inside = (rtol, max_ulp, min_snr), None
    with console.progress("Running"):
        done = checked(
            *programs,
            inputs=read_arrays(inputs) if inputs else None,
            seed=seed,
            scale=power,
            backend="interpreter" if backend == "interpreter" else "xla",
            declared=input_scale,
        )
        if per_value:
            limits = Limits(*given, None if bound is None else bound.of_values)
            inside = _inside(programs, done, profile, limits)
    found = Comparison(programs, done.differences, Limits(*given, bound), inside, done.wrong)
    if form == "json":
        console.echo(dump(found), nl=False)
    else:
        _show(found)
    _refuse_failed(found)


def _refuse_alone(input_scale: Sequence[str], inputs: str | None) -> None:
    if input_scale and not inputs:
        raise UsageError("--input-scale has no effect without --inputs", hint="give both")


def _inside(
    programs: tuple[Program, Program], done: Checked, profile: str | None, limits: Limits
) -> Inside:
    """Compares the values inside of the programs."""
    from scalify_hlo.cli.check_model import Inside
    from scalify_hlo.observe.parting import compare_values
    from scalify_hlo.passes.record import recorded_options
    from scalify_hlo.profile.file import load_profile

    original, rewritten = programs
    seen = None if profile is None else load_profile(profile)
    options = recorded_options(rewritten.module, rewritten.name, seen)
    return Inside(tuple(compare_values(original, options, done)), limits)


def _show(found: Comparison) -> None:
    """Prints the comparison of values, if there is one, and of results."""
    if found.inside is not None:
        _show_inside(found.inside)
    rows = [(d.difference.name, *_row(d.difference), _verdict(d)) for d in found.checked]
    console.echo(console.table(("result", *_HEADER, "verdict"), rows))
    for program in found.programs:
        console.show_rewrites(program)
    for wrong in found.wrong:
        console.echo(str(wrong))
    total = len(found.results)
    console.echo(f"{total - len(found.failed)} of {total} results within {found.limits}")


def _refuse_failed(found: Comparison) -> None:
    """Raises an error if a result exceeds the limits."""
    if not found.failed:
        return
    parted = found.inside.parted[:1] if found.inside is not None else ()
    first = "".join(f"; the first such value is of {_named(each)}" for each in parted)
    raise InputError(
        f"{len(found.failed)} of {len(found.results)} results are not within {found.limits}{first}",
        location=next((each.location for each in parted), "") or found.programs[1].name,
        hint=_hint(per_value=found.inside is not None),
    )


def _hint(*, per_value: bool) -> str:
    more = "" if per_value else "--per-value names the first value that differs; "
    return f"{more}--rtol, --max-ulp and --min-snr set what may differ"


_SHOWN = 5
"""The most values that are shown."""


def _show_inside(inside: Inside) -> None:
    """Prints the values that exceed a limit, and their number."""
    if inside.parted:
        console.echo(console.heading(f"The first values that are not within {inside.limits}:"))
        distinct = list({each.id: each for each in reversed(inside.parted)}.values())[::-1]
        rows = [
            (each.op or "argument", *_row(each.difference), each.location or each.name)
            for each in distinct[:_SHOWN]
        ]
        console.echo(console.table(("value", *_HEADER, "at"), rows))
        console.echo()
    within, count = inside.counts
    console.echo(f"{within} of {count} values within {inside.limits}")


def _named(value: ComparedValue) -> str:
    name = f" {value.name}" if value.name else ""
    turns = "".join(f", in {turn}" for turn in reversed(value.loops))
    return f"{value.op or 'the argument'}{name}, with {value.difference.snr_db:.1f} dB{turns}"


_COLUMNS = "type max_ulp:.0f rel_error=relative_error:.3g SNR_dB=snr_db:.1f"
_HEADER = (*headers(_COLUMNS), "non-finite")


def _row(difference: Difference) -> tuple[str, ...]:
    before, after = difference.nonfinite
    return (*cells(difference, _COLUMNS), f"{before} / {after}")


def _verdict(checked: CheckedResult) -> str:
    if not checked.passed:
        return "DIFFERS"
    return "ok" if checked.difference.relative_error else "equal"


def _scale(text: str) -> float:
    from scalify_hlo.recipes.toml import parse_input_scale

    scale = parse_input_scale(f"*={text}")[1]
    if math.frexp(scale)[0] != 0.5:
        raise UsageError(f"the scale {text} is not a power of two", hint="write it as 2^k")
    return scale
