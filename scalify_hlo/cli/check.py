"""The command `scalify-hlo check`."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from scalify_hlo.cli import console
from scalify_hlo.cli.options import inputs_option, read, read_arrays
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.storage.files import same_file

if TYPE_CHECKING:
    from scalify_hlo.io.program import Program
    from scalify_hlo.observe.parting import ComparedValue
    from scalify_hlo.run.bounds import Bound
    from scalify_hlo.run.check import Checked
    from scalify_hlo.run.compare import Difference

_DEFAULT_EPSILONS = 64


@click.command(
    name="check", epilog="Example: scalify-hlo check step.mlir scaled.mlir --rtol 1e-5 --seed 1"
)
@click.argument("original", metavar="ORIGINAL")
@click.argument("rewritten", metavar="REWRITTEN")
@inputs_option("Inputs")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of random inputs.")
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
def command(
    original: str,
    rewritten: str,
    inputs: str | None,
    seed: int,
    scale: str | None,
    backend: str,
    rtol: float | None,
    max_ulp: float | None,
    min_snr: float | None,
    per_value: bool,
    profile: str | None,
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

    Earlier rewrites that a program records are listed.
    """
    same_file(original, rewritten)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    power = _scale(scale) if scale else None
    from scalify_hlo.run.bounds import bound_of
    from scalify_hlo.run.check import checked

    programs = read(original), read(rewritten)
    bound = bound_of(*(p.module for p in programs))
    limits = Limits(rtol, max_ulp, min_snr, bound)
    done = checked(
        *programs,
        inputs=read_arrays(inputs) if inputs else None,
        seed=seed,
        scale=power,
        backend="interpreter" if backend == "interpreter" else "xla",
    )
    parted = None
    if per_value:
        inside = Limits(rtol, max_ulp, min_snr, None if bound is None else bound.of_values)
        parted = _first_parted(programs, done, profile, inside)
    _report(programs, done.differences, limits, parted, per_value=per_value)


def _report(
    programs: tuple[Program, Program],
    differences: Sequence[Difference],
    limits: Limits,
    parted: ComparedValue | None,
    *,
    per_value: bool,
) -> None:
    """Prints the comparison of results, and raises an error if one exceeds the limits."""
    failed = [d.name for d in differences if not limits.allow(d)]
    console.echo(console.table(_HEADER, [_row(d, d.name not in failed) for d in differences]))
    for program in programs:
        console.show_rewrites(program)
    passed = len(differences) - len(failed)
    console.echo(f"{passed} of {len(differences)} results within {limits}")
    if failed:
        first = "" if parted is None else f"; the first such value is of {_named(parted)}"
        raise InputError(
            f"{len(failed)} of {len(differences)} results are not within {limits}{first}",
            location=(parted.location if parted is not None else "") or programs[1].name,
            hint=_hint(per_value=per_value),
        )


def _hint(*, per_value: bool) -> str:
    more = "" if per_value else "--per-value names the first value that differs; "
    return f"{more}--rtol, --max-ulp and --min-snr set what may differ"


_SHOWN = 5
"""The most values that are shown."""


def _first_parted(
    programs: tuple[Program, Program], done: Checked, profile: str | None, limits: Limits
) -> ComparedValue | None:
    """Compares values, prints those that exceed a limit, and returns the first of them."""
    from scalify_hlo.observe.parting import compare_values
    from scalify_hlo.passes.record import recorded_options
    from scalify_hlo.profile.file import load_profile

    original, rewritten = programs
    seen = None if profile is None else load_profile(profile)
    options = recorded_options(rewritten.module, rewritten.name, seen)
    values = compare_values(original, options, done)
    parted = [each for each in values if not limits.allow(each.difference)]
    if parted:
        console.echo(console.heading(f"The first values that are not within {limits}:"))
        distinct = list({each.id: each for each in reversed(parted)}.values())[::-1]
        rows = [
            (each.op or "argument", *_row(each.difference, False)[1:-1], each.location or each.name)
            for each in distinct[:_SHOWN]
        ]
        console.echo(console.table(("value", *_HEADER[1:-1], "at"), rows))
        console.echo()
    count = len({each.id for each in values})
    within = count - len({each.id for each in parted})
    console.echo(f"{within} of {count} values within {limits}")
    return parted[0] if parted else None


def _named(value: ComparedValue) -> str:
    name = f" {value.name}" if value.name else ""
    turns = "".join(f", in {turn}" for turn in reversed(value.loops))
    return f"{value.op or 'the argument'}{name}, with {value.difference.snr_db:.1f} dB{turns}"


class Limits:
    """The limits on the differences of results.

    Args:
        rtol: The largest relative error; None for no limit.
        max_ulp: The largest distance in ulps; None for no limit.
        min_snr: The smallest signal-to-noise ratio in dB; None for no limit.
        bound: The limit without any of these; None for one in epsilons.
    """

    def __init__(
        self,
        rtol: float | None,
        max_ulp: float | None,
        min_snr: float | None,
        bound: Bound | None,
    ) -> None:
        self._rtol, self._max_ulp, self._min_snr = rtol, max_ulp, min_snr
        self._bound = bound
        if rtol is max_ulp is min_snr is None and bound is not None:
            self._min_snr = bound.snr_db

    def allow(self, difference: Difference) -> bool:
        """Whether a difference is within the limits, or within the default if there are none."""
        if difference.mismatched:
            return False
        if self._rtol is self._max_ulp is self._min_snr is None:
            return difference.relative_error <= _DEFAULT_EPSILONS * difference.epsilon
        return (
            (self._rtol is None or difference.relative_error <= self._rtol)
            and (self._max_ulp is None or difference.max_ulp <= self._max_ulp)
            and (self._min_snr is None or difference.snr_db >= self._min_snr)
        )

    def __str__(self) -> str:
        limits = {"rtol": self._rtol, "max-ulp": self._max_ulp, "min-snr": self._min_snr}
        if self._bound is not None and self._min_snr == self._bound.snr_db:
            return str(self._bound)
        given = [f"{name} {value:g}" for name, value in limits.items() if value is not None]
        return ", ".join(given) or f"{_DEFAULT_EPSILONS} epsilon"


_HEADER = ("result", "type", "max ulp", "rel error", "SNR dB", "non-finite", "verdict")


def _row(difference: Difference, passed: bool) -> Sequence[str]:
    before, after = difference.nonfinite
    return (
        difference.name,
        difference.type,
        f"{difference.max_ulp:.0f}",
        f"{difference.relative_error:.3g}",
        f"{difference.snr_db:.1f}",
        f"{before} / {after}",
        "equal" if passed and not difference.relative_error else "ok" if passed else "DIFFERS",
    )


def _scale(text: str) -> float:
    from scalify_hlo.recipes.toml import parse_input_scale

    scale = parse_input_scale(f"*={text}")[1]
    if math.frexp(scale)[0] != 0.5:
        raise UsageError(f"the scale {text} is not a power of two", hint="write it as 2^k")
    return scale
