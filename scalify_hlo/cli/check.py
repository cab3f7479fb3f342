"""`scalify-hlo check`: run a program and its rewritten form, and compare their results."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal

from scalify_hlo.cli import console
from scalify_hlo.cli.command import command
from scalify_hlo.cli.options import WithEntry, WithRows
from scalify_hlo.cli.running import OnInputs
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.recipes.fields import Amount, Count, option
from scalify_hlo.results.model import cells, headers

if TYPE_CHECKING:
    from scalify_hlo.commands.check.check import Checked
    from scalify_hlo.commands.check.comparison import CheckedResult, Comparison, Inside, Limits
    from scalify_hlo.commands.check.parting import ComparedValue
    from scalify_hlo.commands.check.training import Training
    from scalify_hlo.profile.model import Profile
    from scalify_hlo.program.program import Program
    from scalify_hlo.run.differences import Difference


@command("scalify-hlo check step.mlir scaled.mlir --rtol 1e-5 --seed 1")
class Check(WithEntry, WithRows, OnInputs):
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

    With --steps N, both programs train for N steps from the state in --inputs, each with state of
    its own. Losses and updates are judged instead: a loss may be 2 % of the first apart, and state
    has to move about as far.

    Earlier rewrites that a program records are listed. With --format json, everything is printed,
    the values that exceed a limit included.

    Attributes:
        inputs: Inputs: arrays by argument name, or arr_0, arr_1 ...; by default, they are random.
            With --steps, repeat it for further steps; the first one follows the last.
        steps: Train for so many steps, with the state of the inputs, and compare losses.
        seed: The seed of random inputs.
        input_scale: A further declared size to compare with --inputs.
        scale: The scale of all arguments that are pairs.
        backend: XLA on the CPU, or the reference interpreter of StableHLO.
        rtol: The largest relative error that passes.
        max_ulp: The largest distance in ulps that passes.
        min_snr: The smallest signal-to-noise ratio that passes.
        per_value: Compare the values inside of the programs too, and name the first that exceeds a
            limit.
        profile: The profile with which REWRITTEN was rewritten, for --per-value.
    """

    original: str = option(metavar="ORIGINAL", argument=True, reads=True)
    rewritten: str = option(metavar="REWRITTEN", argument=True, reads=True)
    steps: Count = 1
    seed: Amount = 0
    input_scale: tuple[str, ...] = option((), metavar="PATTERN=2^k")
    scale: str | None = option(None, metavar="2^k")
    backend: Literal["xla", "interpreter"] = "xla"
    rtol: float | None = option(None, metavar="E")
    max_ulp: float | None = option(None, metavar="U")
    min_snr: float | None = option(None, metavar="DB")
    per_value: bool = False
    profile: str | None = option(None, metavar="PROFILE.JSON", reads=True)

    def run(self) -> None:
        """See `Command.run`."""
        if self.input_scale and not self.inputs:
            raise UsageError("--input-scale has no effect without --inputs", hint="give both")
        if self.steps == 1 and len(self.inputs) > 1:
            raise UsageError("one step takes one file of inputs", hint="give --steps a number")
        if self.seed and self.inputs and self.steps == 1:
            raise UsageError("--seed has no effect with --inputs", hint="give one of them")
        if self.profile and not self.per_value:
            raise UsageError("--profile has no effect without --per-value", hint="give both")
        power = _scale(self.scale) if self.scale else None
        if self.steps > 1:
            self._train()
            return
        from scalify_hlo.commands.check.check import checked
        from scalify_hlo.commands.check.comparison import Comparison, Limits, bound_of
        from scalify_hlo.profile.file import profile_of

        programs = self.read_from(self.original), self.read_from(self.rewritten)
        bound = bound_of(*(p.module for p in programs))
        given, inside = (self.rtol, self.max_ulp, self.min_snr), None
        with console.progress("Running"):
            done = checked(
                *programs,
                inputs=self.arrays(programs[0])[0] if self.inputs else None,
                sizes=self.sizes,
                seed=self.seed,
                scale=power,
                backend=self.backend,
                declared=self.input_scale,
            )
            if self.per_value:
                limits = Limits(*given, None if bound is None else bound.of_values)
                inside = _inside(programs, done, profile_of(self.profile), limits)
        found = Comparison(programs, done.differences, Limits(*given, bound), inside, done.wrong)
        console.echo(self.text(found, _lines(found, self.rows)))
        _refuse_failed(found)

    def _train(self) -> None:
        """Compares losses and updates over steps of training."""
        from scalify_hlo.commands.check.comparison import Comparison, Limits
        from scalify_hlo.commands.check.training import trained

        self._refuse_of_one_step()
        programs = self.read_from(self.original), self.read_from(self.rewritten)
        arrays = self.arrays(programs[0])
        with console.progress("Training"):
            training = trained(*programs, arrays, self.steps, self.backend)
        found = Comparison(programs, (), Limits(None, None, None, None), None, (), training)
        console.echo(self.text(found, _training_lines(found, training, self.rows)))
        if training.failed:
            raise InputError(
                f"{len(training.failed)} of {training.count} losses and updates are not within "
                "the bounds",
                location=programs[1].name,
                hint="`scalify-hlo blame` names the matmuls that cost accuracy",
            )

    def _refuse_of_one_step(self) -> None:
        """Refuses options that have no effect on steps of training."""
        if not self.inputs:
            raise UsageError(
                "--steps has no effect without --inputs",
                hint="give the state and the batch of the first step",
            )
        for name in ("seed", "scale", "rtol", "max_ulp", "min_snr", "per_value", "input_scale"):
            if getattr(self, name):
                flag = f"--{name.replace('_', '-')}"
                raise UsageError(f"{flag} has no effect with --steps", hint=f"leave {flag} out")


def _training_lines(found: Comparison, training: Training, rows: int) -> Iterator[str]:
    """Yields the losses and the updates over the steps, the worst first."""
    for columns, judged in ((_LOSSES, training.losses), (_UPDATES, training.updates)):
        cells_ = [(*cells(each, columns), "ok" if each.passed else "DIFFERS") for each in judged]
        yield from console.table((*headers(columns), "verdict"), cells_, rows)
        yield ""
    for program in found.programs:
        yield from console.rewrites(program)
    within = training.count - len(training.failed)
    yield f"{within} of {training.count} losses and updates within the bounds"


_LOSSES: Final = "loss=name first:.4g last=last.0:.4g rewritten=last.1:.4g apart:.2%"
_UPDATES: Final = "update=name moved:.2f error:.2f"


def _inside(
    programs: tuple[Program, Program], done: Checked, profile: Profile | None, limits: Limits
) -> Inside:
    """Compares the values inside of the programs."""
    from scalify_hlo.commands.check.comparison import Inside
    from scalify_hlo.commands.check.parting import compare_values
    from scalify_hlo.program.record import recorded_options

    rewritten = programs[1]
    options = recorded_options(rewritten.module, rewritten.name, profile)
    return Inside(tuple(compare_values(done.original, options, done)), limits)


def _lines(found: Comparison, rows: int) -> Iterator[str]:
    """Yields the comparison of values, if there is one, and of results, the worst first."""
    if found.inside is not None:
        yield from _inside_lines(found.inside)
    worst = sorted(found.checked, key=lambda d: (d.passed, d.difference.snr_db))
    results = [(d.difference.name, *_row(d.difference), _verdict(d)) for d in worst]
    yield from console.table(("result", *_HEADER, "verdict"), results, rows, less=_LESS)
    for program in found.programs:
        yield from console.rewrites(program)
    yield from map(str, found.wrong)
    total = len(found.results)
    yield f"{total - len(found.failed)} of {total} results within {found.limits}"


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


def _inside_lines(inside: Inside) -> Iterator[str]:
    """Yields the values that exceed a limit, and their number."""
    if inside.parted:
        yield console.Heading(f"The first values that are not within {inside.limits}:")
        distinct = list({each.id: each for each in reversed(inside.parted)}.values())[::-1]
        rows = [
            (each.op or "argument", *_row(each.difference), each.location or each.name)
            for each in distinct[:_SHOWN]
        ]
        yield from console.table(("value", *_HEADER, "at"), rows, less=_LESS)
        yield ""
    within, count = inside.counts
    yield f"{within} of {count} values within {inside.limits}"


def _named(value: ComparedValue) -> str:
    name = f" {value.name}" if value.name else ""
    turns = "".join(f", in {turn}" for turn in reversed(value.loops))
    return f"{value.op or 'the argument'}{name}, with {value.difference.snr_db:.1f} dB{turns}"


_COLUMNS = "type max_ulp:.0f rel_error=relative_error:.3g SNR_dB=snr_db:.1f"
_HEADER = (*headers(_COLUMNS), "non-finite")
_LESS = ("max ulp", "type", "non-finite")


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
